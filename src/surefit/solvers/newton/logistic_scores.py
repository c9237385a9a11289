"""Logistic loss of one score per row, evaluated for many rows at once; few rows use the compiled loops of the base class."""

from __future__ import annotations

import numpy as np

from surefit.core.threads import blocks, sum_blocks
from surefit.losses import Logistic
from surefit.solvers.newton.scalar_scores import CONSTANT_STEPS, ScalarScores

FEW = 2_000  # number of rows below which array operations cost more than the loops
BLOCK = 8_192  # rows per block, whose arrays stay in the cache
TINY = np.finfo(np.float64).tiny


class LogisticScores(ScalarScores):
    r"""Logistic loss :math:`\sum_i c_i \ln(1 + e^{-y_i z_i})` with labels -1 and 1."""

    def __init__(self, y: np.ndarray, weights: np.ndarray):
        super().__init__(Logistic(), y, weights)

    def evaluate(self, Z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the total loss, its derivatives (n, 1) and curvatures (n,)."""
        n = len(self.y)
        if n < FEW:
            return super().evaluate(Z)
        z, derivatives, curvatures = Z[:, 0], np.empty(n), np.empty(n)

        def work(start: int, stop: int) -> float:
            rows = slice(start, stop)
            y, c = self.y[rows], self.weights[rows]
            u = y * z[rows]
            e = np.exp(-np.abs(u))
            _differentiate(y, c, u, e, derivatives[rows], curvatures[rows])
            return _losses(c, u, e)

        return float(sum_blocks(work, n, BLOCK)), derivatives[:, None], curvatures

    def value(self, Z: np.ndarray) -> float:
        """Return the total loss."""
        if len(self.y) < FEW:
            return super().value(Z)

        def work(start: int, stop: int) -> float:
            u = self.y[start:stop] * Z[start:stop, 0]
            return _losses(self.weights[start:stop], u, np.exp(-np.abs(u)))

        return float(sum_blocks(work, len(self.y), BLOCK))

    def young(self, Z: np.ndarray, derivatives: np.ndarray) -> float:
        """Return the sum of the relative entropies of the labels under the dual derivatives and under ``Z``."""
        if len(self.y) < FEW or not np.all(self.weights > 0.0):
            return super().young(Z, derivatives)
        total = 0.0
        for start, stop in blocks(len(self.y), BLOCK):
            y, c = self.y[start:stop], self.weights[start:stop]
            u, p = y * Z[start:stop, 0], np.clip(-derivatives[start:stop, 0] * y / c, 0.0, 1.0)
            soft, other = np.log1p(np.exp(-np.abs(u))), 1.0 - p
            terms = soft + p * np.maximum(u, 0.0) + other * np.maximum(-u, 0.0)
            terms += p * np.log(np.maximum(p, TINY)) + other * np.log(np.maximum(other, TINY))
            total += float(c @ np.maximum(terms, 0.0))
        return total

    def best_shift(self, Z: np.ndarray) -> np.ndarray:
        """Return the constant to add to the scores that minimizes the loss, by Newton's method within a bracket."""
        if len(self.y) < FEW:
            return super().best_shift(Z)
        low, high, shift = -np.inf, np.inf, 0.0
        for _ in range(CONSTANT_STEPS):
            slope, size, curvature = self._sums_at(Z[:, 0], shift)
            if abs(slope) <= 1e-15 * size:
                break
            low, high = (low, shift) if slope > 0.0 else (shift, high)
            new = shift - slope / curvature if curvature > 0.0 else np.nan
            if not low < new < high:
                return super().best_shift(Z)
            if new == shift:
                break
            shift = new
        return np.array([shift])

    def _sums_at(self, z: np.ndarray, shift: float) -> list[float]:
        """Return the sums of the derivatives, of their absolute values and of the curvatures at ``z + shift``, without storing these."""
        first, second = np.empty((2, min(BLOCK, len(z))))

        def work(start: int, stop: int) -> np.ndarray:
            y, c = self.y[start:stop], self.weights[start:stop]
            u, m = y * (z[start:stop] + shift), stop - start
            _differentiate(y, c, u, np.exp(-np.abs(u)), first[:m], second[:m])
            return np.array([first[:m].sum(), np.abs(first[:m]).sum(), second[:m].sum()])

        return sum_blocks(work, len(z), BLOCK).tolist()

    def part(self, step: int) -> LogisticScores:
        """Return the loss of every ``step``-th row, with scaled weights."""
        return LogisticScores(self.y[::step], self.weights[::step] * step)


def _differentiate(
    y: np.ndarray, c: np.ndarray, u: np.ndarray, e: np.ndarray, first: np.ndarray, second: np.ndarray
) -> None:
    """Write the derivatives and the curvatures of rows with margins ``u`` and ``e = exp(-|u|)``."""
    q = 1.0 / (1.0 + e)
    small = e * q
    np.multiply(-c * y, np.where(u >= 0.0, small, q), out=first)
    np.multiply(c * small, q, out=second)


def _losses(c: np.ndarray, u: np.ndarray, e: np.ndarray) -> float:
    return float(c @ np.log1p(e)) - float(c @ np.minimum(u, 0.0))
