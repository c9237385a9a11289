"""Families of laws with their maximum-likelihood estimates, scores and information."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import gammaln, xlogy

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import read_weights


class LikelihoodFit(NamedTuple):
    """A maximum-likelihood estimate with its evidence."""

    family: str
    parameters: dict[str, float]
    log_likelihood: float
    score: np.ndarray | None  # derivative of the log-likelihood at the estimate: zero inside, None where there is none
    information: np.ndarray | None  # of one observation, from the formula
    outer_product: np.ndarray | None  # the same from the scores of the observations
    standard_errors: dict[str, float] | None
    inside: bool  # False on the boundary of the parameters, where the normal approximation says nothing


class Family(ABC):
    """A parametric family of laws of one number."""

    names: tuple[str, ...] = ()

    @abstractmethod
    def check(self, x: np.ndarray) -> None:
        """Refuse observations that the family cannot produce."""

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
        """Whether the estimate is an inner point of the parameters."""
        return True


class _Bernoulli(Family):
    names = ("probability",)

    def check(self, x):
        _require("bernoulli", "0 or 1", np.all((x == 0) | (x == 1)), x)

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
        _require("normal", "finite", np.all(np.isfinite(x)), x)

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
        _require("laplace", "finite", np.all(np.isfinite(x)), x)

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
        _require("poisson", "integers >= 0", np.all((x >= 0) & (x == np.floor(x))), x)

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
        _require("exponential", "numbers >= 0, not all zero", np.all(x >= 0) and np.any(x > 0), x)

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
        _require("uniform", "numbers >= 0, not all zero", np.all(x >= 0) and np.any(x > 0), x)

    def estimate(self, x, w):
        return np.array([x[w > 0].max()])

    def log_density(self, x, theta):
        return np.where(x <= theta[0], -np.log(theta[0]), -np.inf)

    def inside(self, theta):
        return False  # the likelihood jumps at the estimate: it is no stationary point


FAMILIES: dict[str, Family] = {
    "bernoulli": _Bernoulli(),
    "exponential": _Exponential(),
    "laplace": _Laplace(),
    "normal": _Normal(),
    "poisson": _Poisson(),
    "uniform": _Uniform(),
}


class MaximumLikelihood:
    r"""The parameters under which the observations are most probable.

    .. math:: \hat\theta = \operatorname*{argmax}_\theta \sum_i w_i \ln p_\theta(x_i)

    Guarantee: closed forms; at an inner estimate the score is zero up to rounding, and the information is given by two routes, the formula
    :math:`-E \ell''` and the mean outer product of scores, whose difference says whether the family fits (theory:
    :ref:`maximum-likelihood`).

    Parameters
    ----------
    family : {"bernoulli", "exponential", "laplace", "normal", "poisson", "uniform"}, default="normal"
        "normal" has variance with divisor n; "uniform" is uniform on [0, end].

    Attributes
    ----------
    fit_ : LikelihoodFit
        Estimate, log-likelihood, score, information by two routes, standard errors.

    Examples
    --------
    >>> from surefit import MaximumLikelihood
    >>> model = MaximumLikelihood("normal").fit([1.0, 2.0, 3.0])
    >>> {name: round(value, 4) for name, value in model.fit_.parameters.items()}
    {'mean': 2.0, 'variance': 0.6667}
    """

    def __init__(self, family: str = "normal"):
        if family not in FAMILIES:
            raise InvalidParameter("MaximumLikelihood", "family", f"one of {', '.join(FAMILIES)}", family)
        self.family = family

    def fit(self, x, sample_weight=None) -> MaximumLikelihood:
        """Estimate the parameters. Returns the object."""
        x, family = np.asarray(x, dtype=np.float64).ravel(), FAMILIES[self.family]
        if len(x) == 0:
            raise InvalidData("MaximumLikelihood: no observation.")
        w = read_weights("MaximumLikelihood", sample_weight, len(x))
        w = np.ones(len(x)) if w is None else w
        x, w = x[w > 0], w[w > 0]
        family.check(x)
        theta, total = family.estimate(x, w), float(w.sum())
        inside = family.inside(theta)
        log_likelihood = float(w @ family.log_density(x, theta)) if inside or self.family != "normal" else math.inf
        scores = family.scores(x, theta) if inside else None
        information = family.information(theta) if inside else None
        errors = None
        if information is not None:
            errors = dict(zip(family.names, np.sqrt(np.diag(np.linalg.inv(information)) / total), strict=True))
        self.fit_ = LikelihoodFit(
            self.family,
            {name: float(value) for name, value in zip(family.names, theta, strict=True)},
            log_likelihood,
            None if scores is None else w @ scores,
            information,
            None if scores is None else (scores * w[:, None]).T @ scores / total,
            None if errors is None else {name: float(value) for name, value in errors.items()},
            inside,
        )
        return self

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return intervals estimate -+ z standard errors: an approximation for many observations, refused on the boundary."""
        found = self.fit_
        if found.standard_errors is None:
            raise InvalidData(
                f"MaximumLikelihood: the estimate of a {found.family} law is on the boundary or not a smooth maximum, where no normal "
                "approximation holds; use a conjugate prior for an interval."
            )
        z = float(stats.norm.ppf(0.5 + confidence / 2))
        return {
            n: (v - z * found.standard_errors[n], v + z * found.standard_errors[n]) for n, v in found.parameters.items()
        }


def _require(family: str, words: str, fine, x: np.ndarray) -> None:
    if not fine or not np.all(np.isfinite(x)):
        raise InvalidData(f"MaximumLikelihood: a {family} law needs observations that are {words}; got {x!r}.")
