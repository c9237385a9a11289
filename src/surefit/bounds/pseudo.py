r"""Pseudo-dimension: shattering by real-valued functions with witness thresholds.

Points are shattered by a class of functions if there are thresholds :math:`t_i` such that all sign patterns of
:math:`g(x_i) - t_i` occur. Equivalently the pseudo-dimension is the VC dimension of the sub-graphs :math:`\{(x, t) :
g(x) > t\}`, where every point has *its own* threshold. (A threshold common to all points gives another number; see the
theory page.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.bounds.base import Deviation
from surefit.bounds.growth import log_growth
from surefit.bounds.shatter_witness import MOST_SUBSETS, subsets_of
from surefit.bounds.three_forms import two_of_three
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, POSITIVE


@dataclass(frozen=True)
class PseudoShattering:
    """Largest pseudo-shattered set of a finite class: points, thresholds, and one member per pattern.

    ``members[i]`` is the row whose pattern above the thresholds is the binary number i.

    Examples
    --------
    >>> from surefit.bounds import pseudo_dimension
    >>> pseudo_dimension([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).dimension
    2
    """

    dimension: int
    points: tuple[int, ...]
    thresholds: tuple[float, ...]
    members: tuple[int, ...]


def pseudo_dimension(values: Any) -> PseudoShattering:
    """Return the exact pseudo-dimension of a finite class of functions, with thresholds and members as witnesses.

    Guarantee: the witness proves the lower bound; the upper bound is proved by exhaustive search (theory: :ref:`pseudo-dimension`).

    Parameters
    ----------
    values : array of shape (members, points)
        The functions as a table of values.

    Examples
    --------
    >>> from surefit.bounds import pseudo_dimension
    >>> pseudo_dimension([[0, 10], [0, 11], [1, 10], [1, 11]])
    PseudoShattering(dimension=2, points=(0, 1), thresholds=(0.5, 10.5), members=(0, 1, 2, 3))
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.size == 0 or not np.all(np.isfinite(table)):
        raise InvalidData("pseudo_dimension: values must be a table of finite numbers, one row per function.")
    best = PseudoShattering(0, (), (), (0,))
    for size in range(1, int(math.log2(len(table))) + 1):
        found = next(
            (w for c in subsets_of(table.shape[1], size) if (w := pseudo_shatters(table, c)) is not None), None
        )
        if found is None:
            break
        best = found
    return best


def pseudo_shatters(values: Any, points: Any) -> PseudoShattering | None:
    """Return thresholds and members that shatter the given columns of a table, or None if there are none.

    Candidate thresholds lie between neighboring values of a column, so that no value equals a threshold.

    Examples
    --------
    >>> from surefit.bounds import pseudo_shatters
    >>> pseudo_shatters([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], (0, 1)) is None  # a chain
    True
    """
    table, chosen = np.asarray(values, dtype=np.float64), tuple(int(p) for p in points)
    cells = _split([np.arange(len(table))], [table[:, p] for p in chosen], [])
    if cells is None:
        return None
    thresholds, groups = cells
    return PseudoShattering(len(chosen), chosen, tuple(thresholds), tuple(int(group[0]) for group in groups))


def _split(groups: list[np.ndarray], columns: list[np.ndarray], thresholds: list[float]) -> Any:
    """Split every group by one common threshold per column; each part must still contain enough functions."""
    if not columns:
        return thresholds, groups
    column, needed = columns[0], 1 << (len(columns) - 1)
    levels = np.unique(column)
    for cut in (levels[1:] + levels[:-1]) / 2:
        parts = [part for group in groups for part in (group[column[group] < cut], group[column[group] > cut])]
        if min(map(len, parts)) >= needed:
            found = _split(parts, columns[1:], [*thresholds, float(cut)])
            if found is not None:
                return found
    return None


def common_threshold_dimension(values: Any) -> int:
    """Return the VC dimension of the sets ``g > t`` with one threshold t for all points: *not* the pseudo-dimension in general.

    Examples
    --------
    >>> from surefit.bounds import common_threshold_dimension
    >>> common_threshold_dimension([[0, 10], [0, 11], [1, 10], [1, 11]])
    1
    """
    from surefit.bounds.shatter_witness import vc_dimension_of

    table = np.asarray(values, dtype=np.float64)
    levels = np.unique(table)
    cuts = np.concatenate([[levels[0] - 1], (levels[1:] + levels[:-1]) / 2, [levels[-1] + 1]])
    if len(cuts) * len(table) > MOST_SUBSETS:
        raise InvalidParameter("common_threshold_dimension", "values", f"at most {MOST_SUBSETS} sets", len(cuts))
    return vc_dimension_of(np.vstack([table > cut for cut in cuts])).dimension


def linear_pseudo_dimension(n_features: int, intercept: bool = True) -> int:
    """Return the pseudo-dimension of linear functions: ``n_features``, plus one with an intercept.

    Examples
    --------
    >>> from surefit.bounds import linear_pseudo_dimension
    >>> linear_pseudo_dimension(5), linear_pseudo_dimension(5, intercept=False)
    (6, 5)
    """
    if not COUNT.allows(n_features):
        raise InvalidParameter("linear_pseudo_dimension", "n_features", COUNT.words, n_features)
    return int(n_features) + bool(intercept)


def vector_space_pseudo_dimension(evaluations: Any) -> int:
    """Return the pseudo-dimension of a vector space of functions on given points: the rank of its basis evaluated there.

    Parameters
    ----------
    evaluations : array of shape (points, basis functions)
        Entry (i, j): basis function j at point i.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import vector_space_pseudo_dimension
    >>> x = np.arange(7.0)
    >>> vector_space_pseudo_dimension(np.column_stack([np.ones(7), x, x**2, 2 * x + 1]))
    3
    """
    matrix = np.asarray(evaluations, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or not np.all(np.isfinite(matrix)):
        raise InvalidData("vector_space_pseudo_dimension: evaluations must be a table of finite numbers.")
    return int(np.linalg.matrix_rank(matrix))


def squared_loss_pseudo_dimension(dimension: int) -> int:
    r"""Return an upper bound on the pseudo-dimension of the squared losses over a space of functions of dimension D.

    It is the smaller of :math:`D(D+3)/2` (the losses minus a fixed function lie in a space of that dimension) and the largest k with
    :math:`2^k \le (ek/D)^{2D}`, about 9.33 D (each pattern of losses combines two patterns of the space).

    Examples
    --------
    >>> from surefit.bounds import squared_loss_pseudo_dimension
    >>> [squared_loss_pseudo_dimension(d) for d in (1, 2, 6, 15, 16, 100)]
    [2, 5, 27, 135, 149, 932]
    """
    if not COUNT.allows(dimension):
        raise InvalidParameter("squared_loss_pseudo_dimension", "dimension", COUNT.words, dimension)
    d = int(dimension)
    k = 10 * d  # 2^10 = 1024 > (10 e)^2 = 739: already too many
    while k * math.log(2) > 2 * d * (1 + math.log(k / d)):
        k -= 1
    return min(d * (d + 3) // 2, k)


def pseudo_dimension_deviation(
    dimension: int,
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
    loss_bound: float = 1.0,
    form: str = "euler",
) -> Deviation:
    r"""Bound the uniform deviation of a bounded loss whose *losses* have pseudo-dimension d.

    .. math:: \sup (R - \hat R) \le 2M \sqrt{\frac{2 \ln \Pi}{m}} + M \sqrt{\frac{\ln(1/\delta)}{2m}}, \qquad
              \ln \Pi = d \ln \frac{em}{d} \text{ or } \ln \sum_{i \le d} \binom mi .

    Guarantee: with probability at least ``1 - delta``, one-sided, simultaneously for every member (theory: :ref:`pseudo-dimension`). The
    dimension is that of the losses: for squared loss over a space of dimension D, use ``squared_loss_pseudo_dimension(D)``, not D.

    Parameters
    ----------
    dimension : int >= 1
        Pseudo-dimension of the family of losses.
    n, radius, delta : two of the three
        Rows, deviation, failure probability.
    loss_bound : float > 0
        Bound M of the loss, declared before the data were seen.
    form : {"euler", "sauer", "power"}
        How patterns are counted; ``"sauer"`` gives the smallest bound.

    Examples
    --------
    >>> from surefit.bounds import pseudo_dimension_deviation
    >>> round(pseudo_dimension_deviation(3, n=10_000, delta=0.05).radius, 8)
    0.16011756
    """
    if not COUNT.allows(dimension):
        raise InvalidParameter("pseudo_dimension_deviation", "dimension", COUNT.words, dimension)
    if not POSITIVE.allows(loss_bound):
        raise InvalidParameter("pseudo_dimension_deviation", "loss_bound", POSITIVE.words, loss_bound)

    def complexity(size: int) -> float:
        return 2 * loss_bound * math.sqrt(2 * log_growth(size, dimension, form) / size)

    def log_tail(size: Any, eps: Any) -> Any:
        left = (eps - complexity(size)) / loss_bound
        return 0.0 if left <= 0 else -2 * size * left * left

    def radius_of(size: Any, log_delta: Any) -> Any:
        return complexity(size) + loss_bound * math.sqrt(-log_delta / (2 * size))

    count, eps, log_delta = two_of_three(
        "pseudo_dimension_deviation", n=n, radius=radius, delta=delta, log_tail=log_tail, radius_of=radius_of
    )
    about = "largest difference between a risk and its empirical risk"
    inputs = {"dimension": int(dimension), "form": form}
    assumptions = ("iid", "class_fixed_a_priori", "range_declared")
    return Deviation("pseudo_dimension", count, eps, log_delta, about, assumptions, 1, float(loss_bound), inputs)
