r"""Poisson, gamma and Tweedie deviances, whose derivatives are differences of exponentials, evaluated for all rows at once.

With :math:`a = p - 1`, :math:`b = 2 - p` the derivative is :math:`e^{bz} - y e^{-az}`. The value, the derivative and the curvature share
these two exponentials, and the best constant has a closed form: :math:`a + b = 1`, so :math:`e^\delta` is the ratio of the two sums.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.losses import Tweedie
from surefit.solvers.newton.scalar_scores import ScalarScores


class ExponentialScores(ScalarScores):
    """Half the Tweedie deviance between the targets and the exponentials of the scores, with positive weights."""

    def __init__(self, loss: Any, y: np.ndarray, weights: np.ndarray):
        super().__init__(loss, y, weights)
        power = loss.power if isinstance(loss, Tweedie) else 1.0
        self.fall_rate, self.rise_rate = power - 1.0, 2.0 - power
        self._last: tuple[np.ndarray, tuple[Any, Any]] | None = None
        self.weighted_y = self.weights * self.y
        self.least = float(
            self.weights @ self._least(self.y)
        )  # constant that is subtracted, so that a perfect fit has loss zero

    def _least(self, y: np.ndarray) -> np.ndarray:
        a, b = self.fall_rate, self.rise_rate
        if a > 0.0 and b > 0.0:
            return y**b / (a * b)
        logs = np.log(np.maximum(y, np.finfo(np.float64).tiny))  # the logarithm of zero is multiplied by zero
        return 1.0 + logs if a > 0.0 else y - y * logs

    def _parts(self, Z: np.ndarray) -> tuple[Any, Any]:
        """Return the weighted exponentials ``c y exp(-a z)`` and ``c exp(b z)``; those of the last scores are cached."""
        if self._last is None or self._last[0] is not Z:
            a, b, z = self.fall_rate, self.rise_rate, Z[:, 0]
            fall = self.weighted_y * np.exp(-a * z) if a > 0.0 else self.weighted_y
            self._last = Z, (fall, self.weights * np.exp(b * z) if b > 0.0 else self.weights)
        return self._last[1]

    def _total(self, z: np.ndarray, fall: np.ndarray, rise: np.ndarray) -> float:
        a, b = self.fall_rate, self.rise_rate
        falling = float(fall.sum()) / a if a > 0.0 else -float(self.weighted_y @ z)
        rising = float(rise.sum()) / b if b > 0.0 else float(self.weights @ z)
        return falling + rising - self.least

    def evaluate(self, Z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the total loss, its derivatives (n, 1) and curvatures (n,)."""
        a, b, z = self.fall_rate, self.rise_rate, Z[:, 0]
        with np.errstate(over="ignore", invalid="ignore"):
            fall, rise = self._parts(Z)
            curvatures = rise if a == 0.0 else fall if b == 0.0 else a * fall + b * rise
            return self._total(z, fall, rise), (rise - fall)[:, None], curvatures

    def value(self, Z: np.ndarray) -> float:
        """Return the total loss."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._total(Z[:, 0], *self._parts(Z))

    def best_shift(self, Z: np.ndarray) -> np.ndarray:
        """Return the constant to add to the scores that minimizes the loss."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            fall, rise = (float(part.sum()) for part in self._parts(Z))
        if not (0.0 < fall < math.inf and 0.0 < rise < math.inf):
            return np.array([math.nan])
        return np.array([math.log(fall / rise) if abs(fall - rise) > 1e-15 * fall else 0.0])

    def part(self, step: int) -> ExponentialScores:
        """Return the loss of every ``step``-th row, with scaled weights."""
        return ExponentialScores(self.loss, self.y[::step], self.weights[::step] * step)
