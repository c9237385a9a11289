"""Base class of known distributions of rows and classes: Bayes rule, risk of any rule, excess risk."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.bounds.tails import empirical_bernstein
from surefit.core.errors import InvalidData

PER_PANEL = 8  # points of a panel at which a rule is evaluated before jumps are bisected
_FINE, _COARSE = np.polynomial.legendre.leggauss(20), np.polynomial.legendre.leggauss(12)


class RiskValue(NamedTuple):
    """A probability or a mean with lower and upper bounds, which are equal up to rounding for closed forms."""

    value: float
    low: float
    high: float
    how: str  # "exact", "quadrature" (bounds are error estimates) or "simulation" (bounds hold with probability 0.99)


class JointModel(ABC):
    """A known joint distribution of a row and its class.

    Means over rows are sums for finite distributions, quadrature in one dimension (jumps of the rule are located by
    bisection), and simulation otherwise.
    """

    priors: np.ndarray

    @abstractmethod
    def posterior(self, x) -> np.ndarray:
        """Return the probabilities of the classes given each row."""

    @abstractmethod
    def sample(self, n: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and classes."""

    @abstractmethod
    def _finite(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the points and their probabilities, or None."""

    @abstractmethod
    def _line(self) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]] | None:
        """Return the ends of panels and the density of a row in one dimension, or None."""

    def predict(self, x) -> np.ndarray:
        """Return the most probable class of each row; ties go to the first."""
        return np.argmax(self.posterior(x), axis=1)

    def bayes_risk(self, *, draws: int = 200_000, random_state=0) -> RiskValue:
        r"""Return the probability of error of the Bayes rule, :math:`1 - E \max_k P(k | X)`."""
        return self._mean(lambda x: 1 - self.posterior(x).max(axis=1), (self.predict,), draws, random_state)

    def risk(self, rule: Callable[[np.ndarray], np.ndarray], *, draws: int = 200_000, random_state=0) -> RiskValue:
        """Return the probability that ``rule`` errs.

        Parameters
        ----------
        rule : callable
            Function that maps rows to class indices.
        draws : int, default=200000
            Number of simulated rows, if simulation is used.
        random_state : int, default=0
            Seed of the simulation.
        """
        return self._mean(lambda x: 1 - self._right(x, rule), (rule,), draws, random_state)

    def errors(self, rule: Callable[[np.ndarray], np.ndarray], *, draws: int = 200_000, random_state=0) -> np.ndarray:
        r"""Return :math:`P(h(X) \ne k | Y = k)` for every class (two classes: errors of the first and second kind).

        The sum of these errors, weighted by the priors, is the risk.
        """
        found = np.full(len(self.priors), np.nan)
        for k in np.flatnonzero(self.priors > 0):
            wrong = self._mean(
                lambda x, k=k: self.posterior(x)[:, k] * (_classes(rule, x) != k), (rule,), draws, random_state
            )
            found[k] = wrong.value / self.priors[k]
        return found

    def excess_risk(self, rule: Callable, *, draws: int = 200_000, random_state=0) -> RiskValue:
        r"""Return the risk of ``rule`` minus the Bayes risk.

        For two classes this is :math:`2 E |r(X) - \tfrac12| 1\{h(X) \ne h^*(X)\}`, with :math:`r(x) = P(Y = 1 | x)`; never negative.
        """

        def lost(x: np.ndarray) -> np.ndarray:
            return self.posterior(x).max(axis=1) - self._right(x, rule)

        return self._mean(lost, (rule, self.predict), draws, random_state)

    def plug_in_bound(self, regression: Callable, *, draws: int = 200_000, random_state=0) -> RiskValue:
        r"""Bound the excess risk of the rule :math:`1\{\hat r > 1/2\}` by :math:`2 E |r(X) - \hat r(X)|` (two classes).

        Parameters
        ----------
        regression : callable
            The function :math:`\hat r`, which maps rows to estimates of the probability of class 1.
        draws, random_state
            As for ``risk``.
        """
        if len(self.priors) != 2:
            raise InvalidData(f"plug_in_bound: two classes are needed; got {len(self.priors)}.")

        def distance(x: np.ndarray) -> np.ndarray:
            return 2 * np.abs(self.posterior(x)[:, 1] - np.asarray(regression(x), dtype=np.float64).ravel())

        def level(x: np.ndarray) -> np.ndarray:  # jumps of a step function are jumps of its value
            return np.asarray(regression(x), dtype=np.float64).ravel()

        return self._mean(distance, (level,), draws, random_state, most=2.0)

    def _right(self, x: np.ndarray, rule: Callable) -> np.ndarray:
        return self.posterior(x)[np.arange(len(x)), _classes(rule, x)]

    def _mean(self, function: Callable, rules: tuple, draws: int, random_state, most: float = 1.0) -> RiskValue:
        """Return the mean of a function of a row with values in [0, most]."""
        finite = self._finite()
        if finite is not None:
            value = max(0.0, math.fsum(finite[1] * function(finite[0])))
            return RiskValue(value, value, value, "exact")
        line = self._line()
        if line is not None:
            value, error = _integral(lambda x: function(x) * line[1](x), line[0], rules)
            return RiskValue(max(0.0, value), max(0.0, value - error), min(most, value + error), "quadrature")
        values = np.clip(function(self.sample(draws, random_state)[0]) / most, 0.0, 1.0)
        high = empirical_bernstein(values, 0.005).value
        low = 1 - empirical_bernstein(1 - values, 0.005).value
        return RiskValue(most * float(values.mean()), most * max(0.0, low), most * min(1.0, high), "simulation")


def _classes(rule: Callable, x: np.ndarray) -> np.ndarray:
    return np.asarray(rule(x)).astype(np.int64).ravel()


def _integral(function: Callable, ends: np.ndarray, rules: tuple) -> tuple[float, float]:
    """Return the integral by Gauss-Legendre panels split at the jumps of a rule, and an estimate of its error."""
    for rule in rules:
        ends = np.union1d(ends, _jumps(rule, ends))
    middle, half = (ends[:-1] + ends[1:]) / 2, (ends[1:] - ends[:-1]) / 2
    totals = []
    for nodes, weights in (_FINE, _COARSE):
        x = middle[:, None] + half[:, None] * nodes
        values = np.asarray(function(x.reshape(-1, 1)), dtype=np.float64).reshape(x.shape)
        totals.append(half * (values @ weights))
    return math.fsum(totals[0]), float(np.abs(totals[0] - totals[1]).sum()) + 1e-12


def _jumps(rule: Callable, ends: np.ndarray) -> np.ndarray:
    """Return the points where a step function jumps, to the last bit; a smooth function has no jumps."""
    steps = np.linspace(0, 1, PER_PANEL, endpoint=False)
    grid = np.append((ends[:-1, None] + (ends[1:] - ends[:-1])[:, None] * steps).ravel(), ends[-1])
    values = np.asarray(rule(grid[:, None]), dtype=np.float64).ravel()
    change = np.flatnonzero(values[1:] != values[:-1])
    if len(change) > len(grid) / 2:  # changes everywhere: smooth, not a step function
        return np.zeros(0)
    left, right, before = grid[change], grid[change + 1], values[change]
    for _ in range(64):
        if not len(change):
            break
        middle = (left + right) / 2
        same = np.asarray(rule(middle[:, None]), dtype=np.float64).ravel() == before
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return right


def seeded(random_state: Any) -> np.random.Generator:
    """Return a generator of random numbers."""
    return np.random.default_rng(random_state)
