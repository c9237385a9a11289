"""Conjugate priors for the mean, the variance, and both parameters of a normal distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy import stats
from scipy.special import gammaln

from surefit.bayes.conjugate.base import Conjugate, Mode


@dataclass(frozen=True)
class NormalNormal(Conjugate):
    r"""Normal prior for the mean of a normal distribution with known variance.

    The posterior has the precision :math:`1/\tau_n^2 = 1/\tau^2 + n/\sigma^2` and the mean :math:`\tau_n^2
    (\mu_0/\tau^2 + \sum_i x_i / \sigma^2)`.

    Examples
    --------
    >>> from surefit import conjugate
    >>> conjugate.NormalNormal(0.0, 1.0, noise_variance=1.0).update([2.0])
    NormalNormal(location=1.0, variance=0.5, noise_variance=1.0)
    """

    location: float = 0.0
    variance: float = 1.0
    noise_variance: float = 1.0

    def __post_init__(self):
        self._positive(variance=self.variance, noise_variance=self.noise_variance)

    def update(self, x) -> NormalNormal:
        """Return the posterior after observations."""
        x = self._read(x)
        precision = 1 / self.variance + len(x) / self.noise_variance
        location = (self.location / self.variance + math.fsum(x) / self.noise_variance) / precision
        return replace(self, location=location, variance=1 / precision)

    @property
    def distribution(self):
        """The distribution of the mean."""
        return stats.norm(self.location, math.sqrt(self.variance))

    @property
    def mode(self) -> Mode:
        """Most probable value."""
        return Mode(self.location, True)

    def predictive(self):
        """Return the distribution of the next observation."""
        return stats.norm(self.location, math.sqrt(self.variance + self.noise_variance))

    def log_evidence(self, x) -> float:
        """Return the logarithm of the joint density of the observations."""
        x, posterior, total = self._read(x), self, 0.0
        for value in x:
            total += float(posterior.predictive().logpdf(value))
            posterior = posterior.update([value])
        return total


@dataclass(frozen=True)
class InverseGammaNormal(Conjugate):
    r"""Inverse-gamma prior for the variance of normal data with known mean.

    The posterior is :math:`IG(a + n/2, b + \tfrac12 \sum_i (x_i - \mu)^2)`.

    Examples
    --------
    >>> from surefit import conjugate
    >>> conjugate.InverseGammaNormal(2.0, 1.0, location=0.0).update([1.0, -1.0])
    InverseGammaNormal(shape=3.0, scale=2.0, location=0.0)
    """

    shape: float = 1.0
    scale: float = 1.0
    location: float = 0.0

    def __post_init__(self):
        self._positive(shape=self.shape, scale=self.scale)

    def update(self, x) -> InverseGammaNormal:
        """Return the posterior after observations."""
        x = self._read(x)
        scale = self.scale + 0.5 * math.fsum((x - self.location) ** 2)
        return replace(self, shape=self.shape + len(x) / 2, scale=scale)

    @property
    def distribution(self):
        """The distribution of the variance."""
        return stats.invgamma(self.shape, scale=self.scale)

    @property
    def mode(self) -> Mode:
        """Most probable variance."""
        return Mode(self.scale / (self.shape + 1), True)

    def predictive(self):
        """Return the distribution of the next observation: Student's t."""
        return stats.t(2 * self.shape, self.location, math.sqrt(self.scale / self.shape))

    def log_evidence(self, x) -> float:
        """Return the logarithm of the joint density of the observations."""
        after, n = self.update(x), len(self._read(x))
        constant = (
            -0.5 * n * math.log(2 * math.pi) + self.shape * math.log(self.scale) - after.shape * math.log(after.scale)
        )
        return float(constant + gammaln(after.shape) - gammaln(self.shape))


@dataclass(frozen=True)
class NormalInverseGamma(Conjugate):
    r"""Joint prior for the mean and the variance of normal data.

    The prior is :math:`\mu | \sigma^2 \sim N(m, \sigma^2/\kappa)`, :math:`\sigma^2 \sim IG(a, b)`.

    Examples
    --------
    >>> from surefit import conjugate
    >>> conjugate.NormalInverseGamma(0.0, 1.0, 1.0, 1.0).update([2.0])
    NormalInverseGamma(location=1.0, count=2.0, shape=1.5, scale=2.0)
    """

    location: float = 0.0
    count: float = 1.0
    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self):
        self._positive(count=self.count, shape=self.shape, scale=self.scale)

    def update(self, x) -> NormalInverseGamma:
        """Return the posterior after observations."""
        x = self._read(x)
        n = len(x)
        if n == 0:
            return self
        mean = math.fsum(x) / n
        count = self.count + n
        spread = math.fsum((x - mean) ** 2) + self.count * n / count * (mean - self.location) ** 2
        location = (self.count * self.location + n * mean) / count
        return NormalInverseGamma(location, count, self.shape + n / 2, self.scale + 0.5 * spread)

    @property
    def distribution(self):
        """The marginal distribution of the mean."""
        return stats.t(2 * self.shape, self.location, math.sqrt(self.scale / (self.shape * self.count)))

    @property
    def variance_distribution(self):
        """The distribution of the variance."""
        return stats.invgamma(self.shape, scale=self.scale)

    @property
    def mode(self) -> Mode:
        """Most probable pair of mean and variance."""
        return Mode((self.location, self.scale / (self.shape + 1.5)), True)

    def predictive(self):
        """Return the distribution of the next observation: Student's t."""
        return stats.t(2 * self.shape, self.location, math.sqrt(self.scale * (1 + 1 / self.count) / self.shape))

    def log_evidence(self, x) -> float:
        """Return the logarithm of the joint density of the observations."""
        after, n = self.update(x), len(self._read(x))
        gammas = gammaln(after.shape) - gammaln(self.shape)
        scales = self.shape * math.log(self.scale) - after.shape * math.log(after.scale)
        return float(gammas + scales + 0.5 * math.log(self.count / after.count) - 0.5 * n * math.log(2 * math.pi))
