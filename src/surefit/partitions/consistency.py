"""How far a rule on cells can be from the best rule: the pieces of the consistency theorem, and a world in which to see it."""

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
    >>> from surefit.partitions.consistency import binomial_deviation
    >>> [round(value, 4) for value in binomial_deviation(10, 0.3)]
    [0.1121, 0.1449]
    """
    if not (m >= 1 and 0 <= q <= 1):
        raise InvalidParameter("binomial_deviation", "m, q", "an integer >= 1 and a number from 0 to 1", (m, q))
    counts = np.arange(m + 1)
    return float(np.sum(binom.pmf(counts, m, q) * np.abs(counts / m - q))), math.sqrt(q * (1 - q) / m)


def cells_meeting_ball(radius: float, side: float, d: int) -> float:
    r"""Return an upper bound of how many cubes of a grid meet a ball: :math:`(2 \rho / h + 2)^d`."""
    return (2 * radius / side + 2) ** d


def cell_count_bound(n: int, M: int, cells: float, outside: float = 0.0) -> float:
    r"""Bound the probability that the cell of a new row holds at most M of n training rows.

    .. math:: P(N(X) \le M) \le \frac{2M + 4}{n} c(S) + \mu(S^c)

    for any set S that meets c(S) cells and has probability :math:`1 - \mu(S^c)`. Assumes rows drawn independently from one law and a
    partition fixed in advance. A value of at least 1 says nothing.

    Parameters
    ----------
    n : int
        Training rows.
    M : int
        Rows in the cell.
    cells : float
        Cells that meet S.
    outside : float, default=0.0
        Probability outside S.

    Examples
    --------
    Uniform on [0, 1], cells of side 0.01:

    >>> from surefit.partitions.consistency import cell_count_bound
    >>> cell_count_bound(1000, 2, 100), cell_count_bound(10_000, 2, 100)
    (0.8, 0.08)
    """
    if n < 1 or M < 0 or cells < 0 or not 0 <= outside <= 1:
        expected = "n >= 1, M >= 0, cells >= 0 and a probability"
        raise InvalidParameter("cell_count_bound", "n, M, cells, outside", expected, (n, M, cells, outside))
    return (2 * M + 4) * cells / n + outside


class UniformLaw(NamedTuple):
    """Rows uniform on the unit cube, labels 0 or 1 with a known probability of 1: a world whose best rule is known."""

    regression: Callable[[np.ndarray], np.ndarray]  # (n, d) -> P(label 1)
    d: int = 1

    def sample(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and labels."""
        X = rng.random((n, self.d))
        return X, (rng.random(n) < self.regression(X)).astype(np.int64)

    def risks(self, labels: np.ndarray, X: np.ndarray) -> tuple[float, float]:
        """Return the mean probability of error of predicted ``labels`` on the rows X, and that of the best rule on them."""
        r = self.regression(X)
        return float(np.mean(np.where(labels == 1, 1 - r, r))), float(np.mean(np.minimum(r, 1 - r)))


class ConsistencyStudy(NamedTuple):
    """Excess of the risk over that of the best rule, by sample size."""

    sizes: np.ndarray
    excess: np.ndarray  # (sizes, repeats)
    bayes_risk: float

    @property
    def mean_excess(self) -> np.ndarray:
        """Mean over the repeats."""
        return self.excess.mean(axis=1)


def consistency_study(
    learner: Callable[[int], Any],
    law: UniformLaw,
    sizes: Sequence[int],
    *,
    repeats: int = 10,
    test_size: int = 20_000,
    random_state: int = 0,
) -> ConsistencyStudy:
    """Fit rules to growing samples of a known law and measure how far they are from the best rule.

    Errors are probabilities, computed from the law on rows that are the same for all rules; no label is drawn for them.

    Parameters
    ----------
    learner : callable
        Takes the sample size, returns an unfitted classifier of labels 0 and 1.
    law : UniformLaw
        The world; anything with ``sample`` and ``risks``.
    sizes : sequence of int
        Sample sizes.
    repeats : int, default=10
        Samples of each size.
    test_size : int, default=20000
        Rows on which risks are averaged.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ConsistencyStudy
        ``excess`` has one row a size and one column a repeat.

    Examples
    --------
    >>> from surefit import HistogramClassifier, consistency_study
    >>> from surefit.partitions.consistency import UniformLaw
    >>> law = UniformLaw(lambda X: 0.9 * (X[:, 0] < 0.5) + 0.05)
    >>> study = consistency_study(lambda n: HistogramClassifier(n ** (-1 / 3)), law, [50, 5000], repeats=5)
    >>> bool(study.mean_excess[1] < study.mean_excess[0])
    True
    """
    rng = np.random.default_rng(random_state)
    points, _ = law.sample(test_size, rng)
    excess = np.empty((len(sizes), repeats))
    best = 0.0
    for i, n in enumerate(sizes):
        for j in range(repeats):
            X, y = law.sample(int(n), rng)
            risk, best = law.risks(np.asarray(learner(int(n)).fit(X, y).predict(points)), points)
            excess[i, j] = risk - best
    return ConsistencyStudy(np.asarray(sizes), excess, best)
