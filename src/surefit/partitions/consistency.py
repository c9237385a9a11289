"""Distance of partitioning estimators from the Bayes rule: the terms of the consistency theorem, and a simulation study."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from surefit.core.errors import InvalidParameter


def binomial_deviation(m: int, q: float) -> tuple[float, float]:
    r"""Return :math:`E|B/m - q|` for :math:`B` binomial with parameters m, q, and its bound :math:`\sqrt{q(1-q)/m}`.

    Examples
    --------
    >>> from surefit import binomial_deviation
    >>> [round(value, 4) for value in binomial_deviation(10, 0.3)]
    [0.1121, 0.1449]
    """
    if not (m >= 1 and 0 <= q <= 1):
        raise InvalidParameter("binomial_deviation", "m, q", "an integer >= 1 and a number from 0 to 1", (m, q))
    counts = np.arange(m + 1)
    return float(np.sum(binom.pmf(counts, m, q) * np.abs(counts / m - q))), math.sqrt(q * (1 - q) / m)


def cells_meeting_ball(radius: float, side: float, d: int) -> float:
    r"""Return an upper bound on the number of cubes of a grid that intersect a ball: :math:`(2 \rho / h + 2)^d`.

    Parameters
    ----------
    radius : float > 0
        Radius of the ball.
    side : float > 0
        Side of the cubes.
    d : int >= 1
        Dimension.

    Examples
    --------
    >>> from surefit import cells_meeting_ball
    >>> cells_meeting_ball(0.5, 0.1, 1)
    12.0
    """
    return (2 * radius / side + 2) ** d


def cell_count_bound(n: int, M: int, cells: float, outside: float = 0.0) -> float:
    r"""Bound the probability that the cell of a new row contains at most M of n training rows.

    .. math:: P(N(X) \le M) \le \frac{2M + 4}{n} c(S) + \mu(S^c)

    for any set S that intersects c(S) cells and has probability :math:`1 - \mu(S^c)`. Assumes iid rows and a partition fixed in advance.
    A value of at least 1 is vacuous.

    Parameters
    ----------
    n : int
        Training rows.
    M : int
        Rows in the cell.
    cells : float
        Number of cells that intersect S.
    outside : float, default=0.0
        Probability outside S.

    Examples
    --------
    Uniform on [0, 1], cells of side 0.01:

    >>> from surefit import cell_count_bound
    >>> cell_count_bound(1000, 2, 100), cell_count_bound(10_000, 2, 100)
    (0.8, 0.08)
    """
    if n < 1 or M < 0 or cells < 0 or not 0 <= outside <= 1:
        expected = "n >= 1, M >= 0, cells >= 0 and a probability"
        raise InvalidParameter("cell_count_bound", "n, M, cells, outside", expected, (n, M, cells, outside))
    return (2 * M + 4) * cells / n + outside


class ConsistencyStudy(NamedTuple):
    """Excess risk over the Bayes risk, by sample size."""

    sizes: np.ndarray
    excess: np.ndarray  # (sizes, repeats)
    bayes_risk: float

    @property
    def mean_excess(self) -> np.ndarray:
        """Mean over the repeats."""
        return self.excess.mean(axis=1)


def consistency_study(
    learner: Callable[[int], Any],
    model: Any,
    sizes: Sequence[int],
    *,
    repeats: int = 10,
    test_size: int = 20_000,
    random_state: int = 0,
) -> ConsistencyStudy:
    """Fit classifiers to growing samples of a known distribution and measure their excess risk.

    Excess risks are computed from the distribution, not from labels: exactly for finitely many rows, and by quadrature
    in one dimension. Otherwise they are means of conditional probabilities over rows that are the same for all
    classifiers.

    Parameters
    ----------
    learner : callable
        Function of the sample size that returns an unfitted classifier for labels 0 and 1.
    model : LabelModel, ClassDistribution
        The distribution of rows and labels; an object with ``sample``, ``excess_risk`` and ``bayes_risk``.
    sizes : sequence of int
        Sample sizes.
    repeats : int, default=10
        Number of samples of each size.
    test_size : int, default=20000
        Number of rows over which risks are averaged if there is no closed form.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ConsistencyStudy
        ``excess`` has one row per size and one column per repeat.

    Examples
    --------
    >>> from surefit import HistogramClassifier, LabelModel, consistency_study
    >>> model = LabelModel(lambda X: 0.9 * (X[:, 0] < 0.5) + 0.05)
    >>> study = consistency_study(lambda n: HistogramClassifier(n ** (-1 / 3)), model, [50, 5000], repeats=5)
    >>> bool(study.mean_excess[1] < study.mean_excess[0])
    True
    """
    rng = np.random.default_rng(random_state)
    excess = np.empty((len(sizes), repeats))
    for i, n in enumerate(sizes):
        for j in range(repeats):
            X, y = model.sample(int(n), rng)
            fitted = learner(int(n)).fit(X, y)
            excess[i, j] = model.excess_risk(fitted.predict, draws=test_size, random_state=random_state).value
    best = model.bayes_risk(draws=test_size, random_state=random_state)
    return ConsistencyStudy(np.asarray(sizes), excess, best.value)
