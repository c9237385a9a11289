"""Families of distributions of several columns: multivariate normal, multinomial, and a user-defined density."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, xlogy

from surefit.bayes.families import Family, require
from surefit.core.errors import InvalidData, InvalidParameter


class MultivariateNormal(Family):
    """Multivariate normal distribution; the covariance estimate has divisor n."""

    names = ("mean", "covariance")
    columns = None

    def check(self, x):
        """Raise ``InvalidData`` for values that are not finite."""
        require("multivariate normal", "finite", np.all(np.isfinite(x)), x)

    def estimate(self, x, w):
        """Return mean and covariance."""
        mean = np.average(x, axis=0, weights=w)
        z = (x - mean) * np.sqrt(w / w.sum())[:, None]
        return mean, z.T @ z

    def named(self, theta):
        """Return the parameters by name."""
        return {"mean": theta[0], "covariance": theta[1]}

    def log_density(self, x, theta):
        """Return the log-density of each row."""
        sign, log_det = np.linalg.slogdet(theta[1])
        if sign <= 0:
            return np.full(len(x), math.inf)
        z = x - theta[0]
        return -0.5 * (
            len(theta[0]) * math.log(2 * math.pi) + log_det + np.sum(z * np.linalg.solve(theta[1], z.T).T, axis=1)
        )

    def scores(self, x, theta):
        """Return the derivatives of the log-densities with respect to the mean only."""
        return np.linalg.solve(theta[1], (x - theta[0]).T).T

    def information(self, theta):
        """Return the information about the mean."""
        return np.linalg.inv(theta[1])

    def inside(self, theta):
        """Whether the covariance is positive definite."""
        values = np.linalg.eigvalsh(theta[1])
        return bool(values[0] > 1e-13 * max(values[-1], 0.0) and values[-1] > 0)


class Multinomial(Family):
    """Multinomial distribution, from category indices 0, 1, ... or from rows of counts."""

    names = ("probabilities",)
    columns = None

    def check(self, x):
        """Raise an error for values that are not counts."""
        require("multinomial", "integers >= 0", np.all((x >= 0) & (x == np.floor(x))), x)
        if not np.any(x > 0):
            raise InvalidData("MaximumLikelihood: a multinomial distribution needs at least one count above zero.")

    def estimate(self, x, w):
        """Return the relative frequencies of the categories."""
        counts = w @ x
        return counts / counts.sum()

    def named(self, theta):
        """Return the parameters by name."""
        return {"probabilities": theta}

    def log_density(self, x, theta):
        """Return the log-probability of each row of counts."""
        return gammaln(x.sum(axis=1) + 1) - gammaln(x + 1).sum(axis=1) + xlogy(x, theta).sum(axis=1)

    def inside(self, theta):
        """Whether every category was observed."""
        return bool(np.all(theta > 0))


class OwnDensity(Family):
    """User-defined log-density ``f(x, theta)``, maximized numerically from ``start``."""

    columns = None

    def __init__(self, log_density: Callable, start, bounds=None):
        self.function, self.start = log_density, np.atleast_1d(np.asarray(start, dtype=np.float64))
        self.bounds = bounds
        self.names = tuple(f"theta{j}" for j in range(len(self.start)))
        if not np.all(np.isfinite(self.start)):
            raise InvalidParameter("MaximumLikelihood", "start", "finite numbers", start)

    def check(self, x):
        """Accept all observations, because the user-defined density determines the support."""

    def estimate(self, x, w):
        """Return the maximum that a search from ``start`` finds, polished by Newton steps."""

        def loss(theta: np.ndarray) -> float:
            value = float(w @ self.log_density(x, theta))
            return -value / w.sum() if np.isfinite(value) else 1e300

        method = "L-BFGS-B" if self.bounds is not None else "BFGS"
        found = minimize(loss, self.start, method=method, bounds=self.bounds, options={"gtol": 1e-10})
        rough = minimize(
            loss, found.x, method="Nelder-Mead", bounds=self.bounds, options={"xatol": 1e-10, "fatol": 1e-14}
        )
        theta = rough.x if rough.fun < found.fun else found.x
        for _ in range(10 if self.bounds is None else 0):
            s, H = w @ self.scores(x, theta), self._hessian(x, w, theta)
            step = np.linalg.lstsq(H, s, rcond=None)[0]
            if not np.all(np.isfinite(step)) or loss(theta + step) > loss(theta):
                break
            theta = theta + step
        return theta

    def log_density(self, x, theta):
        """Return the log-density of each observation."""
        return np.asarray(self.function(x, theta), dtype=np.float64).reshape(len(x))

    def scores(self, x, theta):
        """Return the derivative of each log-density by central differences."""
        columns = []
        for j, value in enumerate(theta):
            move = np.zeros(len(theta))
            move[j] = 1e-5 * (1 + abs(value))
            columns.append((self.log_density(x, theta + move) - self.log_density(x, theta - move)) / (2 * move[j]))
        return np.stack(columns, axis=1)

    def _hessian(self, x, w, theta) -> np.ndarray:
        rows = []
        for j, value in enumerate(theta):
            move = np.zeros(len(theta))
            move[j] = 1e-4 * (1 + abs(value))
            rows.append((w @ self.scores(x, theta - move) - w @ self.scores(x, theta + move)) / (2 * move[j]))
        return (np.array(rows) + np.array(rows).T) / 2

    def observed_information(self, x, w, theta) -> np.ndarray:
        """Return the observed information of one observation."""
        return self._hessian(x, w, theta) / w.sum()
