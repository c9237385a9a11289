"""Two or more classes with known distributions: posterior, Bayes rule, its risk, and samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from surefit.bayes.distributions import Rows, as_rows, normal_moments
from surefit.bayes.divergence import probabilities
from surefit.bayes.joint import JointModel, RiskValue, seeded
from surefit.core.distinct import unique_rows
from surefit.core.errors import InvalidData, InvalidParameter


class ClassDistribution(JointModel):
    r"""The joint distribution of a class and a row: class priors and class-conditional distributions.

    The Bayes rule takes the class of largest :math:`p_k f_k(x)`; ties go to the first class. Guarantee: no rule, fitted or not, has a
    smaller error probability (theory: :ref:`bayes-risk`). ``risk``, ``errors``, ``excess_risk`` and ``plug_in_bound``
    evaluate any other rule: exactly for finite distributions, by quadrature in one dimension, and by simulation
    otherwise.

    Parameters
    ----------
    priors : array of shape (n_classes,)
        Probabilities of the classes.
    distributions : sequence
        One distribution per class: frozen distributions of ``scipy.stats``, :class:`surefit.FiniteDistribution`,
        :class:`surefit.UniformDistribution`, or anything with ``logpdf`` (or ``logpmf``) and ``rvs``.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from surefit import ClassDistribution
    >>> world = ClassDistribution([0.5, 0.5], [norm(-2), norm(2)])
    >>> print(round(world.bayes_risk().value, 7), world.predict([[-0.1], [0.3]]))
    0.0227501 [0 1]
    >>> late = lambda x: (x[:, 0] > 1).astype(int)
    >>> world.errors(late).round(6), round(world.excess_risk(late).value, 6)
    (array([0.00135 , 0.158655]), 0.057252)
    """

    def __init__(self, priors, distributions: Sequence[Any]):
        self.priors, self.distributions = probabilities("ClassDistribution", "priors", priors), list(distributions)
        if len(self.priors) != len(self.distributions):
            raise InvalidData(
                f"ClassDistribution: there must be one distribution per class; got {len(self.distributions)} of them "
                f"and {len(self.priors)} priors."
            )
        for distribution in self.distributions:
            if not hasattr(distribution, "rvs") or not (
                hasattr(distribution, "logpdf") or hasattr(distribution, "logpmf")
            ):
                raise InvalidParameter(
                    "ClassDistribution", "distributions", "objects with logpdf (or logpmf) and rvs", distribution
                )
        self._rows = [Rows(distribution) for distribution in self.distributions]

    @classmethod
    def gaussian(cls, means, covariances, priors=None) -> ClassDistribution:
        """Return normal classes; one covariance matrix (or number) for all, or one per class."""
        means = [np.atleast_1d(np.asarray(m, dtype=np.float64)) for m in means]
        given = np.asarray(covariances, dtype=np.float64)
        d = len(means[0])
        each = list(given) if given.ndim == 3 or (given.ndim == 1 and d == 1) else [given] * len(means)
        priors = np.full(len(means), 1 / len(means)) if priors is None else priors
        matrices = [np.eye(d) * S if np.ndim(S) == 0 else np.asarray(S, dtype=np.float64) for S in each]
        return cls(priors, [stats.multivariate_normal(m, S) for m, S in zip(means, matrices, strict=True)])

    def log_joint(self, x) -> np.ndarray:
        r"""Return :math:`\ln p_k f_k(x)`, one row per row of ``X`` and one column per class."""
        x = as_rows(x)
        with np.errstate(divide="ignore"):
            prior = np.log(self.priors)
        return np.stack([prior[k] + rows.logpdf(x) for k, rows in enumerate(self._rows)], axis=1)

    def posterior(self, x) -> np.ndarray:
        """Return the probabilities of the classes given each row; the priors if all class densities are zero."""
        joint = self.log_joint(x)
        total = logsumexp(joint, axis=1, keepdims=True)
        impossible = np.isneginf(total)
        return np.where(impossible, self.priors, np.exp(joint - np.where(impossible, 0.0, total)))

    def predict(self, x) -> np.ndarray:
        """Return the best class of each row."""
        return np.argmax(self.log_joint(x), axis=1)

    def sample(self, n: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and classes."""
        rng = seeded(random_state)
        y = rng.choice(len(self.priors), n, p=self.priors)
        parts = [rows.rvs(max(int(np.sum(y == k)), 1), rng) for k, rows in enumerate(self._rows)]
        X = np.empty((n, parts[0].shape[1]))
        for k, part in enumerate(parts):
            X[y == k] = part[: int(np.sum(y == k))]
        return X, y

    def bayes_risk(self, *, draws: int = 200_000, random_state=0) -> RiskValue:
        """Return the probability of error of the Bayes rule.

        The value is exact for finite distributions, for two normal distributions with equal covariance, and for two
        normal distributions in one dimension. Otherwise, it is computed by quadrature in one dimension and by
        simulation in several.
        """
        found = self._normal_risk()
        return super().bayes_risk(draws=draws, random_state=random_state) if found is None else found

    def _finite(self) -> tuple[np.ndarray, np.ndarray] | None:
        if any(rows.finite is None for rows in self._rows):
            return None
        points = unique_rows(np.concatenate([rows.finite.points for rows in self._rows]))
        return points, np.exp(self.log_joint(points)).sum(axis=1)

    def _line(self):
        if any(rows.line is None for rows in self._rows):
            return None
        ends = np.unique(np.concatenate([rows.quantiles() for rows in self._rows]))
        return ends, lambda x: np.exp(self.log_joint(x)).sum(axis=1)

    def _normal_risk(self) -> RiskValue | None:
        moments = [normal_moments(distribution) for distribution in self.distributions]
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


def _two_normals_on_a_line(priors, m0: float, v0: float, m1: float, v1: float) -> float:
    """Integrate the smaller of two weighted normal densities between the zeros of the quadratic log-ratio."""
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
