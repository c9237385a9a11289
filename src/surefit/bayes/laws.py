"""Two or more classes whose laws are known: posterior, the best rule, its risk, and samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from surefit.bayes.divergence import probabilities
from surefit.bounds.binomial import clopper_pearson_interval
from surefit.core.errors import InvalidData, InvalidParameter


class RiskValue(NamedTuple):
    """A probability of error, between two bounds; equal up to rounding where it is known in closed form."""

    value: float
    low: float
    high: float
    how: str  # "exact", "quadrature" (bounds are error estimates) or "simulation" (bounds hold with probability 0.99)


class FiniteLaw:
    """A law on finitely many points.

    Parameters
    ----------
    points : array of shape (m,) or (m, d)
        The points, all different.
    weights : array of shape (m,)
        Their probabilities.

    Examples
    --------
    >>> from surefit.bayes.laws import FiniteLaw
    >>> FiniteLaw([0.0, 1.0], [0.25, 0.75]).logpdf([[1.0], [2.0]]).round(4)
    array([-0.2877,    -inf])
    """

    def __init__(self, points, weights):
        points = np.asarray(points, dtype=np.float64)
        self.points = points[:, None] if points.ndim == 1 else points
        self.weights = probabilities("FiniteLaw", "weights", weights)
        if len(np.unique(self.points, axis=0)) != len(self.weights):
            raise InvalidData(
                f"FiniteLaw: {len(self.weights)} different points are needed; got {len(np.unique(self.points, axis=0))}."
            )

    def logpdf(self, x) -> np.ndarray:
        """Return the logarithm of the probability of each row."""
        x = _rows(x)
        hit = np.all(x[:, None, :] == self.points[None, :, :], axis=2)
        with np.errstate(divide="ignore"):
            return np.log(hit @ self.weights)

    def rvs(self, size: int, random_state=None) -> np.ndarray:
        """Draw rows."""
        rng = np.random.default_rng(random_state)
        return self.points[rng.choice(len(self.weights), size, p=self.weights)]


class ClassLaw:
    r"""The joint law of a class and a row: prior probabilities and one law a class.

    The best rule takes the class of largest :math:`p_k f_k(x)`, the first of equals. Guarantee: no rule, fitted or not, errs less often
    (theory: :ref:`bayes-risk`); on worlds of your own making this is the line below which no classifier can fall.

    Parameters
    ----------
    priors : array of shape (n_classes,)
        Probabilities of the classes.
    laws : sequence
        One law a class: frozen distributions of ``scipy.stats``, :class:`FiniteLaw`, or anything with ``logpdf`` (or ``logpmf``)
        and ``rvs``.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from surefit import ClassLaw
    >>> world = ClassLaw([0.5, 0.5], [norm(-2), norm(2)])
    >>> print(round(world.bayes_risk().value, 7), world.predict([[-0.1], [0.3]]))
    0.0227501 [0 1]
    """

    def __init__(self, priors, laws: Sequence[Any]):
        self.priors, self.laws = probabilities("ClassLaw", "priors", priors), list(laws)
        if len(self.priors) != len(self.laws):
            raise InvalidData(
                f"ClassLaw: one law a class is needed; got {len(self.priors)} priors and {len(self.laws)} laws."
            )

    @classmethod
    def gaussian(cls, means, covariances, priors=None) -> ClassLaw:
        """Return normal classes; one covariance matrix (or number) for all, or one a class."""
        means = [np.atleast_1d(np.asarray(m, dtype=np.float64)) for m in means]
        given = np.asarray(covariances, dtype=np.float64)
        d = len(means[0])
        each = list(given) if given.ndim == 3 or (given.ndim == 1 and d == 1) else [given] * len(means)
        priors = np.full(len(means), 1 / len(means)) if priors is None else priors
        matrices = [np.eye(d) * S if np.ndim(S) == 0 else np.asarray(S, dtype=np.float64) for S in each]
        return cls(priors, [stats.multivariate_normal(m, S) for m, S in zip(means, matrices, strict=True)])

    def log_joint(self, x) -> np.ndarray:
        """Return :math:`ln p_k f_k(x)`, one row a row and one column a class."""
        x = _rows(x)
        with np.errstate(divide="ignore"):
            prior = np.log(self.priors)
        return np.stack([prior[k] + _log_density(law, x) for k, law in enumerate(self.laws)], axis=1)

    def posterior(self, x) -> np.ndarray:
        """Return the probabilities of the classes given each row; the priors where no law has mass."""
        joint = self.log_joint(x)
        total = logsumexp(joint, axis=1, keepdims=True)
        impossible = np.isneginf(total)
        return np.where(impossible, self.priors, np.exp(joint - np.where(impossible, 0.0, total)))

    def predict(self, x) -> np.ndarray:
        """Return the best class of each row."""
        return np.argmax(self.log_joint(x), axis=1)

    def sample(self, n: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and classes."""
        rng = np.random.default_rng(random_state)
        y = rng.choice(len(self.priors), n, p=self.priors)
        parts = [
            _rows(law.rvs(size=max(int(np.sum(y == k)), 1), random_state=_seed(rng))) for k, law in enumerate(self.laws)
        ]
        X = np.empty((n, parts[0].shape[1]))
        for k, part in enumerate(parts):
            X[y == k] = part[: int(np.sum(y == k))]
        return X, y

    def bayes_risk(self, *, draws: int = 200_000, random_state=0) -> RiskValue:
        """Return the probability of error of the best rule.

        Exact for finite laws, for two normal laws with equal covariance and for two normal laws on a line; by quadrature on a line;
        else by simulation.
        """
        for attempt in (self._finite_risk, self._normal_risk, self._line_risk):
            found = attempt()
            if found is not None:
                return found
        return self.risk(self.predict, draws=draws, random_state=random_state)

    def risk(self, rule: Callable[[np.ndarray], np.ndarray], *, draws: int = 200_000, random_state=0) -> RiskValue:
        """Return the probability that ``rule`` errs: summed for finite laws, else simulated with an exact interval of confidence 0.99.

        Parameters
        ----------
        rule : callable
            Takes rows, returns class numbers.
        draws : int, default=200000
            Rows of the simulation.
        random_state : int, default=0
            Seed of the simulation.
        """
        if self._is_finite():
            points = self._points()
            joint = np.exp(self.log_joint(points))
            right = joint[np.arange(len(points)), np.asarray(rule(points), dtype=np.int64)]
            value = max(0.0, 1 - math.fsum(right))
            return RiskValue(value, value, value, "exact")
        X, y = self.sample(draws, random_state)
        errors = int(np.sum(np.asarray(rule(X)) != y))
        low, high = clopper_pearson_interval(errors, draws, 0.01)
        return RiskValue(errors / draws, float(low), float(high), "simulation")

    def _is_finite(self) -> bool:
        return all(isinstance(law, FiniteLaw) for law in self.laws)

    def _points(self) -> np.ndarray:
        return np.unique(np.concatenate([law.points for law in self.laws]), axis=0)

    def _finite_risk(self) -> RiskValue | None:
        return self.risk(self.predict) if self._is_finite() else None

    def _normal_risk(self) -> RiskValue | None:
        moments = [_normal_moments(law) for law in self.laws]
        if len(moments) != 2 or any(m is None for m in moments) or np.any(self.priors == 0):
            return None
        (m0, S0), (m1, S1) = moments  # type: ignore[misc]
        if np.array_equal(S0, S1):
            distance = math.sqrt(float((m1 - m0) @ np.linalg.solve(S0, m1 - m0)))
            odds = math.log(self.priors[1] / self.priors[0])
            if distance == 0:
                value = float(min(self.priors))
            else:
                shift = odds / distance
                value = self.priors[0] * stats.norm.cdf(-distance / 2 + shift) + self.priors[1] * stats.norm.cdf(
                    -distance / 2 - shift
                )
            return RiskValue(float(value), float(value), float(value), "exact")
        if len(m0) == 1:
            value = _two_normals_on_a_line(self.priors, m0[0], S0[0, 0], m1[0], S1[0, 0])
            return RiskValue(value, value, value, "exact")
        return None

    def _line_risk(self) -> RiskValue | None:
        from scipy.integrate import quad

        if not all(hasattr(law, "ppf") and hasattr(law, "pdf") for law in self.laws):
            return None
        ends = [law.ppf(q) for law in self.laws for q in (1e-12, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 1e-12)]
        ends = sorted({float(e) for e in ends if np.isfinite(e)})
        total, error = 0.0, 2e-12
        for left, right in pairwise(ends):
            piece, radius = quad(lambda t: float(np.max(np.exp(self.log_joint([[t]])))), left, right, limit=200)
            total, error = total + piece, error + radius
        return RiskValue(1 - total, max(0.0, 1 - total - error), min(1.0, 1 - total + error), "quadrature")


def _two_normals_on_a_line(priors, m0: float, v0: float, m1: float, v1: float) -> float:
    """Sum the smaller of two weighted normal densities: its pieces end where the quadratic log-ratio vanishes."""
    a = 0.5 / v0 - 0.5 / v1
    b = m1 / v1 - m0 / v0
    c = math.log(priors[1] / priors[0]) + 0.5 * math.log(v0 / v1) + 0.5 * m0**2 / v0 - 0.5 * m1**2 / v1
    roots = sorted(float(r.real) for r in np.roots([a, b, c]) if abs(r.imag) <= 1e-12 * (1 + abs(r)))
    cuts = [-math.inf, *roots, math.inf]
    first, second = stats.norm(m0, math.sqrt(v0)), stats.norm(m1, math.sqrt(v1))
    pieces = []
    for left, right in pairwise(cuts):
        pieces.append(
            min(priors[0] * (first.cdf(right) - first.cdf(left)), priors[1] * (second.cdf(right) - second.cdf(left)))
        )
    return float(math.fsum(pieces))


def _normal_moments(law) -> tuple[np.ndarray, np.ndarray] | None:
    name = getattr(getattr(law, "dist", None), "name", "")
    if name == "norm":
        return np.array([float(law.mean())]), np.array([[float(law.var())]])
    if hasattr(law, "mean") and hasattr(law, "cov_object"):
        return np.atleast_1d(law.mean), np.atleast_2d(law.cov_object.covariance)
    return None


def _log_density(law, x: np.ndarray) -> np.ndarray:
    function = getattr(law, "logpdf", None) or getattr(law, "logpmf", None)
    if function is None:
        raise InvalidParameter("ClassLaw", "laws", "objects with logpdf (or logpmf) and rvs", law)
    on_a_line = hasattr(law, "ppf") and x.shape[1] == 1
    return np.asarray(function(x[:, 0] if on_a_line else x), dtype=np.float64).reshape(len(x))


def _rows(x) -> np.ndarray:
    x = np.asarray(x, dtype=np.float64)
    return x.reshape(-1, 1) if x.ndim <= 1 else x


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))
