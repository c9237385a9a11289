"""Conjugate prior for the rate of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import gammaln

from surefit.bayes.conjugate.base import Conjugate, Mode
from surefit.core.errors import InvalidData


@dataclass(frozen=True)
class GammaPoisson(Conjugate):
    r"""Gamma prior (shape a, rate b) for the rate of Poisson counts; posterior :math:`\Gamma(a + \sum_i x_i, b + n)`.

    Examples
    --------
    >>> from surefit import conjugate
    >>> conjugate.GammaPoisson(2.0, 1.0).update([3, 4])
    GammaPoisson(shape=9.0, rate=3.0)
    """

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self):
        self._positive(shape=self.shape, rate=self.rate)

    def update(self, x) -> GammaPoisson:
        """Return the posterior after counts."""
        x = self._read(x)
        if not np.all((x >= 0) & (x == np.floor(x))):
            raise InvalidData(f"GammaPoisson: counts must be integers >= 0; got {x!r}.")
        return GammaPoisson(float(self.shape + x.sum()), float(self.rate + len(x)))

    @property
    def distribution(self):
        """The distribution of the rate."""
        return stats.gamma(self.shape, scale=1 / self.rate)

    @property
    def mode(self) -> Mode:
        """Most probable rate; zero for a shape of 1 or less."""
        return Mode(max(self.shape - 1, 0.0) / self.rate, self.shape > 1)

    def predictive(self):
        """Return the distribution of the next count: negative binomial."""
        return stats.nbinom(self.shape, self.rate / (self.rate + 1))

    def log_evidence(self, x) -> float:
        """Return the logarithm of the probability of the counts, in this order."""
        after, x = self.update(x), self._read(x)
        factorials = math.fsum(gammaln(x + 1))
        rates = self.shape * math.log(self.rate) - after.shape * math.log(after.rate)
        return float(gammaln(after.shape) - gammaln(self.shape) + rates - factorials)
