"""Posterior of one or several parameters for any likelihood and prior: log-density, mode, normalization."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar

from surefit.bayes.laplace import LaplaceApproximation, laplace_approximation
from surefit.core.errors import InvalidData, InvalidParameter

GRID = 400  # points of the support at which the mode of one parameter is bracketed


class MAPEstimate(NamedTuple):
    """The mode of a posterior."""

    value: Any  # a number for one parameter, else an array
    log_likelihood: float
    log_prior: float
    inside: bool  # False at an end of the support

    @property
    def log_posterior(self) -> float:
        """Logarithm of the posterior density, up to the constant ln P(data)."""
        return self.log_likelihood + self.log_prior


class Posterior:
    r"""Posterior distribution of a parameter: :math:`\ln p(\theta | D) = \ln p(D | \theta) + \ln p(\theta) - \ln p(D)`.

    ``mode()`` is the MAP estimate; with a flat prior (None) it is the maximum-likelihood estimate. The mode depends on
    the parametrization. For one parameter, ``log_evidence()`` and ``density`` are computed by quadrature over
    ``support``; for several parameters, ``laplace()`` approximates them.

    Parameters
    ----------
    log_likelihood : callable
        Function that maps the parameter to :math:`\ln p(D | \theta)`.
    log_prior : callable, distribution of SciPy or None, default=None
        Function that maps the parameter to :math:`\ln p(\theta)`, or an object with ``logpdf``; None is a flat prior.
    support : pair of float, default=(-inf, inf)
        Lower and upper end of the parameter, if there is only one.
    start : array or None, default=None
        Starting point of the search, required for several parameters.

    Examples
    --------
    Two heads and a tail under a Beta(2, 2) prior:

    >>> import numpy as np
    >>> from scipy.stats import beta
    >>> from surefit import Posterior
    >>> after = Posterior(lambda t: 2 * np.log(t) + np.log1p(-t), beta(2, 2), support=(0, 1))
    >>> round(after.mode().value, 6), round(float(after.density(0.5)), 6), round(float(beta(4, 3).pdf(0.5)), 6)
    (0.6, 1.875, 1.875)
    """

    def __init__(self, log_likelihood: Callable, log_prior: Any = None, *, support=(-math.inf, math.inf), start=None):
        self.log_likelihood = log_likelihood
        self.log_prior = getattr(log_prior, "logpdf", log_prior) if log_prior is not None else (lambda theta: 0.0)
        self.support = (float(support[0]), float(support[1]))
        self.start = None if start is None else np.atleast_1d(np.asarray(start, dtype=np.float64))
        if not callable(log_likelihood) or not callable(self.log_prior):
            raise InvalidParameter("Posterior", "log_likelihood, log_prior", "functions of the parameter", log_prior)
        if not self.support[0] < self.support[1]:
            raise InvalidParameter("Posterior", "support", "two ends, the first below the second", support)

    def log_density(self, theta) -> float:
        r"""Return :math:`\ln p(D | \theta) + \ln p(\theta)`, the log-posterior up to the constant ``log_evidence()``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.squeeze(self.log_likelihood(theta))) + float(np.squeeze(self.log_prior(theta)))
        return -math.inf if math.isnan(value) else value

    def mode(self) -> MAPEstimate:
        """Return the MAP estimate."""
        if self.start is not None and len(self.start) > 1:
            found = minimize(lambda t: -max(self.log_density(t), -1e300), self.start, method="Nelder-Mead",
                             options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 40_000})  # fmt: skip
            return self._estimate(found.x, True)
        points = self._points()
        values = np.array([self.log_density(t) for t in points])
        if not np.any(values > -np.inf):
            raise InvalidData("Posterior: the density is zero on the whole support; check the prior and the support.")
        best = int(np.argmax(values))
        low, high = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
        found = minimize_scalar(lambda t: -max(self.log_density(t), -1e300), bounds=(low, high), method="bounded",
                                options={"xatol": 1e-12})  # fmt: skip
        candidates = [(self.log_density(t), -i, float(t)) for i, t in enumerate((points[best], found.x, *self.support))
                      if math.isfinite(t)]  # fmt: skip
        theta = max(candidates)[2]
        return self._estimate(theta, theta not in self.support)

    def log_evidence(self) -> float:
        r"""Return :math:`\ln p(D)`, by quadrature for one parameter and by Laplace's approximation for several."""
        if self.start is not None and len(self.start) > 1:
            return self.laplace().log_integral
        mode = self.mode()
        peak = mode.log_posterior if math.isfinite(mode.log_posterior) else 0.0
        breaks = [t for t in self._points()[:: GRID // 20] if self.support[0] < t < self.support[1]]
        total = 0.0
        ends = sorted({self.support[0], *breaks, float(mode.value), self.support[1]})
        for left, right in pairwise(ends):
            total += quad(lambda t: math.exp(min(self.log_density(t) - peak, 700.0)), left, right, limit=200)[0]
        return peak + math.log(total)

    def density(self, theta):
        """Return the posterior density at each value of one parameter; it integrates to one."""
        constant = self.log_evidence()
        return np.exp([self.log_density(t) - constant for t in np.atleast_1d(theta)]).reshape(np.shape(theta))

    def laplace(self) -> LaplaceApproximation:
        """Return the normal approximation at the mode."""
        return laplace_approximation(self.log_density, self.mode().value)

    def _estimate(self, theta, inside: bool) -> MAPEstimate:
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood, prior = (float(np.squeeze(f(theta))) for f in (self.log_likelihood, self.log_prior))
        return MAPEstimate(theta, likelihood, prior, inside)

    def _points(self) -> np.ndarray:
        low, high = self.support
        middle = 0.0 if self.start is None else float(self.start[0])
        inner = np.linspace(0, 1, GRID + 1)[1:-1]
        if math.isfinite(low) and math.isfinite(high):
            return low + (high - low) * inner
        far = np.concatenate([-np.geomspace(1e8, 1e-8, GRID // 2), [0.0], np.geomspace(1e-8, 1e8, GRID // 2)])
        if math.isfinite(low):
            return low + np.geomspace(1e-10, 1e10, GRID)
        if math.isfinite(high):
            return high - np.geomspace(1e10, 1e-10, GRID)
        return middle + far
