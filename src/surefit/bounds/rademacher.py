r"""Empirical Rademacher complexity: exact by enumeration, by Monte Carlo with its error, and in closed form.

.. math:: \hat{\mathfrak R}(\mathcal G) = E_\sigma \sup_{g \in \mathcal G} \frac1m \sum_{i=1}^m \sigma_i g(x_i),
   \qquad \sigma_i = \pm 1 \text{ fair and independent.}
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.bounds.base import check_delta
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT

EXACT_UP_TO = 16  # number of points up to which all 2^m sign vectors are enumerated


@dataclass(frozen=True)
class Complexity:
    """Rademacher complexity: ``value``, and an upper bound ``upper`` that holds with probability at least ``1 - delta``.

    ``exact`` complexities have ``upper = value`` and ``delta = 0``.

    Examples
    --------
    >>> from surefit.bounds import linear_ball_rademacher
    >>> complexity = linear_ball_rademacher([[1.0], [1.0]])
    >>> complexity.value, complexity.exact, complexity.delta
    (0.5, True, 0.0)
    """

    value: float
    upper: float
    delta: float
    exact: bool
    m: int


def empirical_rademacher(
    predictions: Any,
    *,
    absolute: bool = False,
    exact: bool | None = None,
    draws: int = 1000,
    delta: float = 0.01,
    seed: int = 0,
) -> Complexity:
    r"""Return the empirical Rademacher complexity of a finite class.

    Guarantee: exact for at most 16 points; otherwise ``upper`` is an upper bound with probability at least ``1 - delta`` over the random
    signs (bounded differences; theory: :ref:`rademacher`).

    Parameters
    ----------
    predictions : array of shape (members, m)
        The functions, evaluated at the m points.
    absolute : bool
        Use absolute values of the sum (the symmetrized quantity of the VC proof).
    exact : bool, optional
        Whether to enumerate all signs; by default for m <= 16.
    draws, delta, seed
        Number of random sign vectors, failure probability and random seed for Monte Carlo.

    Examples
    --------
    >>> from surefit.bounds import empirical_rademacher
    >>> empirical_rademacher([[1, 1], [-1, -1], [1, -1], [-1, 1]]).value  # all labelings: sup is always 1
    1.0
    >>> empirical_rademacher([[1.0, 2.0, 3.0]]).value  # one function
    0.0
    """
    table = np.asarray(predictions, dtype=np.float64)
    if table.ndim != 2 or table.size == 0 or not np.all(np.isfinite(table)):
        raise InvalidData("empirical_rademacher: predictions must be a table of finite numbers, one row per function.")
    m = table.shape[1]

    def suprema(signs: np.ndarray) -> np.ndarray:
        sums = signs @ table.T / m
        return np.max(np.abs(sums) if absolute else sums, axis=1)

    return mean_over_signs(suprema, m, np.max(np.abs(table), axis=0), exact, draws, delta, seed)


def massart(predictions: Any) -> float:
    r"""Return Massart's bound :math:`\max_g \|g\|_2 \sqrt{2 \ln |\mathcal G|} / m` on the complexity of a finite class.

    Examples
    --------
    >>> from surefit.bounds import massart
    >>> round(massart([[1, 1], [-1, -1], [1, -1], [-1, 1]]), 6)  # sqrt(2) sqrt(2 ln 4) / 2
    1.17741
    """
    table = np.asarray(predictions, dtype=np.float64)
    return float(np.max(np.linalg.norm(table, axis=1))) * math.sqrt(2 * math.log(len(table))) / table.shape[1]


def mean_over_signs(
    suprema: Callable[[np.ndarray], np.ndarray],
    m: int,
    bounds: np.ndarray,
    exact: bool | None,
    draws: int,
    delta: float,
    seed: int,
) -> Complexity:
    """Return the mean of ``suprema(signs)`` over all sign vectors, or over random ones with a confidence radius.

    ``bounds[i]`` bounds every function at point i, so one sign changes the supremum by at most ``2 bounds[i] / m``.
    """
    if exact if exact is not None else m <= EXACT_UP_TO:
        if m > 24:
            raise InvalidParameter("rademacher", "exact", "False for more than 24 points", exact)
        total = 0.0
        for start in range(0, 1 << m, 1 << 14):
            numbers = np.arange(start, min(start + (1 << 14), 1 << m))
            signs = 1.0 - 2.0 * ((numbers[:, None] >> np.arange(m)) & 1)
            total += math.fsum(suprema(signs))
        value = total / (1 << m)
        return Complexity(value, value, 0.0, True, m)
    check_delta("rademacher", delta)
    if not COUNT.allows(draws):
        raise InvalidParameter("rademacher", "draws", COUNT.words, draws)
    signs = np.random.default_rng(seed).integers(0, 2, size=(draws, m)) * 2.0 - 1.0
    value = math.fsum(suprema(signs)) / draws
    radius = float(np.linalg.norm(bounds)) / m * math.sqrt(-2 * math.log(delta) / draws)
    return Complexity(value, value + radius, delta, False, m)
