"""Distributions of rows under one interface: finite, uniform on a box, or any frozen distribution of SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from surefit.bayes.divergence import probabilities
from surefit.core.distinct import unique_rows
from surefit.core.errors import InvalidData, InvalidParameter

TAIL = 1e-15  # probability omitted when the support of a discrete SciPy distribution is truncated


class FiniteDistribution:
    """A distribution on finitely many points.

    Parameters
    ----------
    points : array of shape (m,) or (m, d)
        The points, all different.
    weights : array of shape (m,)
        Their probabilities.

    Examples
    --------
    >>> from surefit import FiniteDistribution
    >>> FiniteDistribution([0.0, 1.0], [0.25, 0.75]).logpdf([[1.0], [2.0]]).round(4)
    array([-0.2877,    -inf])
    """

    def __init__(self, points, weights):
        points = np.asarray(points, dtype=np.float64)
        self.points = points[:, None] if points.ndim == 1 else points
        self.weights = probabilities("FiniteDistribution", "weights", weights)
        different = len(unique_rows(self.points))
        if different != len(self.weights):
            raise InvalidData(
                f"FiniteDistribution: {len(self.weights)} different points are needed; got {different}. "
                "Add up the weights of equal points."
            )

    def logpdf(self, x) -> np.ndarray:
        """Return the logarithm of the probability of each row."""
        x = as_rows(x)
        hit = np.all(x[:, None, :] == self.points[None, :, :], axis=2)
        with np.errstate(divide="ignore"):
            return np.log(hit @ self.weights)

    def rvs(self, size: int, random_state=None) -> np.ndarray:
        """Draw rows."""
        rng = np.random.default_rng(random_state)
        return self.points[rng.choice(len(self.weights), size, p=self.weights)]


class UniformDistribution:
    """The uniform distribution on a box.

    Parameters
    ----------
    low, high : float or array of shape (d,), default=0.0 and 1.0
        Ends of the box, per column.
    d : int >= 1, default=1
        Number of columns, if the ends are numbers.

    Examples
    --------
    >>> from surefit import UniformDistribution
    >>> UniformDistribution(0.0, [1.0, 2.0]).logpdf([[0.5, 0.5], [0.5, 3.0]]).round(4)
    array([-0.6931,    -inf])
    """

    def __init__(self, low=0.0, high=1.0, *, d: int = 1):
        size = max(np.size(low), np.size(high), d)
        self.low = np.broadcast_to(np.asarray(low, dtype=np.float64), size)
        self.high = np.broadcast_to(np.asarray(high, dtype=np.float64), size)
        if not np.all(self.low < self.high):
            raise InvalidParameter("UniformDistribution", "low, high", "ends with low < high", (low, high))

    def logpdf(self, x) -> np.ndarray:
        """Return the logarithm of the density at each row."""
        x = as_rows(x)
        inside = np.all((x >= self.low) & (x <= self.high), axis=1)
        return np.where(inside, -math.fsum(np.log(self.high - self.low)), -np.inf)

    def rvs(self, size: int, random_state=None) -> np.ndarray:
        """Draw rows."""
        rng = np.random.default_rng(random_state)
        return self.low + (self.high - self.low) * rng.random((size, len(self.low)))


class Rows:
    """Validated distribution: log-density and draws of rows, and its points or quantiles if available."""

    def __init__(self, given: Any):
        self.given = given
        if not hasattr(given, "rvs") or not (hasattr(given, "logpdf") or hasattr(given, "logpmf")):
            raise InvalidParameter("Rows", "distribution", "an object with logpdf (or logpmf) and rvs", given)
        self.finite: Any = given if isinstance(given, FiniteDistribution) else _discrete_on_a_line(given)
        self.line: Any = None if self.finite is not None else _continuous_on_a_line(given)

    def logpdf(self, x: np.ndarray) -> np.ndarray:
        """Return the log-density of each row."""
        function = getattr(self.given, "logpdf", None) or self.given.logpmf
        x = x[:, 0] if hasattr(self.given, "ppf") and x.shape[1] == 1 else x
        return np.asarray(function(x), dtype=np.float64).reshape(len(x))

    def rvs(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw rows."""
        return as_rows(self.given.rvs(size=size, random_state=int(rng.integers(2**31))))

    def quantiles(self) -> np.ndarray:
        """Return increasing points with little mass between neighbors, including both ends of the support."""
        tails = 10.0 ** np.arange(-13, -2)
        inner = np.linspace(0.01, 0.99, 99)
        ends = [self.line.ppf(0.0), self.line.isf(0.0)]
        found = np.concatenate([ends, self.line.ppf(tails), self.line.ppf(inner), self.line.isf(tails)])
        return np.unique(found[np.isfinite(found)])


def _continuous_on_a_line(given: Any):
    if isinstance(given, UniformDistribution):
        return stats.uniform(given.low[0], given.high[0] - given.low[0]) if len(given.low) == 1 else None
    if hasattr(given, "pdf") and hasattr(given, "ppf") and hasattr(given, "isf"):
        return given
    moments = normal_moments(given)
    if moments is not None and len(moments[0]) == 1:
        return stats.norm(moments[0][0], math.sqrt(moments[1][0, 0]))
    return None


def _discrete_on_a_line(given: Any) -> FiniteDistribution | None:
    """Return a discrete SciPy distribution as a finite one; the omitted points have probability below ``TAIL``."""
    if not (hasattr(given, "pmf") and hasattr(given, "ppf")):
        return None
    first, last = given.support()
    first = first if np.isfinite(first) else given.ppf(TAIL)
    last = last if np.isfinite(last) else given.isf(TAIL)
    if last - first > 1e6:
        return None
    points = np.arange(first, last + 1)
    weights = given.pmf(points)
    return FiniteDistribution(points, weights / math.fsum(weights))


def normal_moments(given: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the mean and covariance of a normal distribution of SciPy; None for other distributions."""
    if getattr(getattr(given, "dist", None), "name", "") == "norm":
        return np.array([float(given.mean())]), np.array([[float(given.var())]])
    if hasattr(given, "mean") and hasattr(given, "cov_object"):
        return np.atleast_1d(given.mean), np.atleast_2d(given.cov_object.covariance)
    return None


def as_rows(x) -> np.ndarray:
    """Return rows as a two-dimensional array; a list of numbers is one column."""
    x = np.asarray(x, dtype=np.float64)
    return x.reshape(-1, 1) if x.ndim <= 1 else x
