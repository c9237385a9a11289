"""Rows from a known distribution and labels with a known probability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.bayes.distributions import Rows, UniformDistribution, as_rows
from surefit.bayes.joint import JointModel, seeded
from surefit.core.errors import InvalidData


class LabelModel(JointModel):
    r"""Rows from a distribution, and labels 0 or 1 with a known probability of 1.

    .. math:: X \sim \mu, \qquad P(Y = 1 | X = x) = r(x), \qquad L^* = E \min(r(X), 1 - r(X))

    Guarantee: no rule has a risk below :math:`L^*` (theory: :ref:`bayes-risk`). Risks are sums for finite
    distributions, quadrature in one dimension, and simulated means of conditional probabilities otherwise.

    Parameters
    ----------
    regression : callable
        The function :math:`r`, which maps rows of shape (n, d) to n probabilities.
    rows : distribution or None, default=None
        Distribution :math:`\mu` of the rows: :class:`surefit.UniformDistribution`, :class:`surefit.FiniteDistribution` or a frozen
        distribution of ``scipy.stats``; None is uniform on [0, 1].

    Examples
    --------
    >>> from surefit import LabelModel
    >>> model = LabelModel(lambda x: x[:, 0])
    >>> round(model.bayes_risk().value, 12), round(model.excess_risk(lambda x: x[:, 0] > 0.7).value, 12)
    (0.25, 0.04)
    """

    def __init__(self, regression: Callable[[np.ndarray], np.ndarray], rows=None):
        self.regression = regression
        self.rows = UniformDistribution() if rows is None else rows
        self._read = Rows(self.rows)
        share = float(self._mean(lambda x: self._r(x), (), 200_000, 0).value)
        self.priors = np.array([1 - share, share])

    def _r(self, x: np.ndarray) -> np.ndarray:
        r = np.asarray(self.regression(x), dtype=np.float64).ravel()
        if not np.all((r >= 0) & (r <= 1)):
            raise InvalidData(f"LabelModel: regression must return numbers from 0 to 1; got {r[(r < 0) | (r > 1)][0]}.")
        return r

    def posterior(self, x) -> np.ndarray:
        """Return the probabilities of the labels 0 and 1 given each row."""
        r = self._r(as_rows(x))
        return np.stack([1 - r, r], axis=1)

    def sample(self, n: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and labels."""
        rng = seeded(random_state)
        X = self._read.rvs(n, rng)
        return X, (rng.random(n) < self._r(X)).astype(np.int64)

    def _finite(self):
        found = self._read.finite
        return None if found is None else (found.points, found.weights)

    def _line(self):
        if self._read.line is None:
            return None
        return self._read.quantiles(), lambda x: np.exp(self._read.logpdf(x))
