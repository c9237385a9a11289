"""Univariate families of distributions, with maximum-likelihood estimates in closed form, scores and information."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from scipy.special import gammaln, xlogy

from surefit.core.errors import InvalidData


class Family(ABC):
    """A parametric family of distributions."""

    names: tuple[str, ...] = ()
    columns: int | None = 1  # None: determined by the columns

    def named(self, theta: np.ndarray) -> dict:
        """Return the parameters by name."""
        return {name: float(value) for name, value in zip(self.names, theta, strict=True)}

    @abstractmethod
    def check(self, x: np.ndarray) -> None:
        """Raise ``InvalidData`` for observations outside the support."""

    @abstractmethod
    def estimate(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the maximum-likelihood estimate in closed form."""

    @abstractmethod
    def log_density(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return the log-density of each observation."""

    def scores(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray | None:
        """Return the derivative of each log-density, (n, parameters); None if the density is not smooth in them."""
        return None

    def information(self, theta: np.ndarray) -> np.ndarray | None:
        """Return the Fisher information of one observation."""
        return None

    def inside(self, theta: np.ndarray) -> bool:
        """Whether the estimate is in the interior of the parameter space."""
        return True


class _Bernoulli(Family):
    names = ("probability",)

    def check(self, x):
        require("bernoulli", "0 or 1", np.all((x == 0) | (x == 1)), x)

    def estimate(self, x, w):
        return np.array([np.average(x, weights=w)])

    def log_density(self, x, theta):
        return xlogy(x, theta[0]) + xlogy(1 - x, 1 - theta[0])

    def scores(self, x, theta):
        return ((x - theta[0]) / (theta[0] * (1 - theta[0])))[:, None]

    def information(self, theta):
        return np.array([[1 / (theta[0] * (1 - theta[0]))]])

    def inside(self, theta):
        return bool(0 < theta[0] < 1)


class _Normal(Family):
    names = ("mean", "variance")

    def check(self, x):
        require("normal", "finite", np.all(np.isfinite(x)), x)

    def estimate(self, x, w):
        mean = np.average(x, weights=w)
        return np.array([mean, np.average((x - mean) ** 2, weights=w)])

    def log_density(self, x, theta):
        with np.errstate(divide="ignore", invalid="ignore"):
            return -0.5 * np.log(2 * math.pi * theta[1]) - 0.5 * (x - theta[0]) ** 2 / theta[1]

    def scores(self, x, theta):
        z = x - theta[0]
        return np.stack([z / theta[1], -0.5 / theta[1] + 0.5 * z**2 / theta[1] ** 2], axis=1)

    def information(self, theta):
        return np.diag([1 / theta[1], 0.5 / theta[1] ** 2])

    def inside(self, theta):
        return bool(theta[1] > 0)


class _Laplace(Family):
    names = ("location", "scale")

    def check(self, x):
        require("laplace", "finite", np.all(np.isfinite(x)), x)

    def estimate(self, x, w):
        order = np.argsort(x)
        below = np.cumsum(w[order]) / w.sum()
        median = x[order][np.searchsorted(below, 0.5 - 1e-15)]  # the lower of two medians
        return np.array([median, np.average(np.abs(x - median), weights=w)])

    def log_density(self, x, theta):
        with np.errstate(divide="ignore", invalid="ignore"):
            return -np.log(2 * theta[1]) - np.abs(x - theta[0]) / theta[1]

    def information(self, theta):
        return np.diag([1 / theta[1] ** 2, 1 / theta[1] ** 2])

    def inside(self, theta):
        return bool(theta[1] > 0)


class _Poisson(Family):
    names = ("rate",)

    def check(self, x):
        require("poisson", "integers >= 0", np.all((x >= 0) & (x == np.floor(x))), x)

    def estimate(self, x, w):
        return np.array([np.average(x, weights=w)])

    def log_density(self, x, theta):
        return xlogy(x, theta[0]) - theta[0] - gammaln(x + 1)

    def scores(self, x, theta):
        return (x / theta[0] - 1)[:, None]

    def information(self, theta):
        return np.array([[1 / theta[0]]])

    def inside(self, theta):
        return bool(theta[0] > 0)


class _Exponential(Family):
    names = ("rate",)

    def check(self, x):
        require("exponential", "numbers >= 0, not all zero", np.all(x >= 0) and np.any(x > 0), x)

    def estimate(self, x, w):
        return np.array([1 / np.average(x, weights=w)])

    def log_density(self, x, theta):
        return np.log(theta[0]) - theta[0] * x

    def scores(self, x, theta):
        return (1 / theta[0] - x)[:, None]

    def information(self, theta):
        return np.array([[1 / theta[0] ** 2]])


class _Uniform(Family):
    names = ("end",)

    def check(self, x):
        require("uniform", "numbers >= 0, not all zero", np.all(x >= 0) and np.any(x > 0), x)

    def estimate(self, x, w):
        return np.array([x[w > 0].max()])

    def log_density(self, x, theta):
        return np.where(x <= theta[0], -np.log(theta[0]), -np.inf)

    def inside(self, theta):
        return False  # the likelihood jumps at the estimate, which is not a stationary point


ON_A_LINE: dict[str, Family] = {
    "bernoulli": _Bernoulli(),
    "exponential": _Exponential(),
    "laplace": _Laplace(),
    "normal": _Normal(),
    "poisson": _Poisson(),
    "uniform": _Uniform(),
}


def require(family: str, words: str, fine, x: np.ndarray) -> None:
    """Raise ``InvalidData`` for observations outside the support of a family."""
    if not fine or not np.all(np.isfinite(x)):
        raise InvalidData(f"MaximumLikelihood: a {family} distribution needs observations that are {words}; got {x!r}.")
