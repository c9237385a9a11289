"""Log-determinant maximization with a trace constraint (water-filling)."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.duality.base import Optimum, Program


class WaterFilling(Program):
    r"""Minimize :math:`-\log\det(X + K)` over :math:`X \succeq 0` with :math:`\operatorname{tr} X \le P`; :math:`K \succ 0`.

    In the eigenbasis of :math:`K` the optimum fills up to a level: :math:`x_i = (\mu - k_i)_+`, :math:`\sum_i x_i = P`, with
    multipliers :math:`\lambda = 1/\mu` of the trace and :math:`Y = \lambda I - (X + K)^{-1} \succeq 0` of :math:`X`. For any
    :math:`\lambda \ge 0`, :math:`Y \succeq 0` with :math:`M = \lambda I - Y \succ 0` the dual value is
    :math:`\log\det M + n - \operatorname{tr}(MK) - \lambda P`.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric positive definite.
    power : float
        The budget :math:`P > 0`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.duality import WaterFilling, kkt_report
    >>> program = WaterFilling(np.diag([1.0, 2.0]), power=2.0)
    >>> optimum = program.solve()
    >>> print(np.diag(optimum.x), optimum.multipliers[0])
    [1.5 0.5] 0.4
    >>> kkt_report(program, *optimum).optimal()
    True
    """

    def __init__(self, K, power: float):
        self.K, self.power = np.atleast_2d(np.asarray(K, float)), float(power)
        if self.K.shape[0] != self.K.shape[1] or not np.array_equal(self.K, self.K.T):
            raise InvalidData(f"WaterFilling: K must be a symmetric matrix; got shape {self.K.shape}.")
        if not np.linalg.eigvalsh(self.K)[0] > 0:
            raise InvalidData("WaterFilling: K must be positive definite; it has an eigenvalue that is not positive.")
        if not (self.power > 0 and math.isfinite(self.power)):
            raise InvalidParameter("WaterFilling", "power", "a finite number > 0", power)

    def solve(self) -> Optimum:
        """Return the optimum in closed form, with the multipliers ``(lambda, Y)``."""
        noise, U = np.linalg.eigh(self.K)  # ascending
        filled = np.arange(1, len(noise) + 1)
        levels = (self.power + np.cumsum(noise)) / filled
        level = levels[np.sum(levels > noise) - 1]  # the level of the largest prefix that lies below it
        X = (U * np.maximum(level - noise, 0.0)) @ U.T
        Y = (U * (1.0 / level - 1.0 / np.maximum(level, noise))) @ U.T
        return Optimum((X + X.T) / 2, (float(1.0 / level), (Y + Y.T) / 2), None)

    def objective(self, x) -> float:
        values = np.linalg.eigvalsh(np.asarray(x, float) + self.K)
        return -float(np.sum(np.log(values))) if values[0] > 0 else math.inf

    def infeasibility(self, x) -> float:
        x = np.asarray(x, float)
        return max(0.0, float(np.trace(x)) - self.power, -float(np.linalg.eigvalsh(x)[0]))

    def dual_infeasibility(self, multipliers, equality_multipliers) -> float:
        budget, Y = multipliers
        return max(0.0, -float(budget), -float(np.linalg.eigvalsh(np.asarray(Y, float))[0]))

    def stationarity(self, x, multipliers, equality_multipliers) -> float:
        return float(np.max(np.abs(np.linalg.inv(np.asarray(x, float) + self.K) - self._price(multipliers))))

    def complementarity(self, x, multipliers) -> float:
        x, (budget, Y) = np.asarray(x, float), multipliers
        return max(abs(float(np.sum(np.asarray(Y) * x))), abs(float(budget) * (float(np.trace(x)) - self.power)))

    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        M = self._price(multipliers)
        values = np.linalg.eigvalsh(M)
        if values[0] <= 0:
            return -math.inf
        return float(np.sum(np.log(values)) + len(M) - np.sum(M * self.K) - multipliers[0] * self.power)

    def slater_point(self) -> np.ndarray | None:
        """Return ``P / (2 n)`` times the identity, which is positive definite and has trace P/2."""
        n = len(self.K)
        return self.power / (2 * n) * np.eye(n)

    def _price(self, multipliers) -> np.ndarray:
        budget, Y = multipliers
        return float(budget) * np.eye(len(self.K)) - np.asarray(Y, float)
