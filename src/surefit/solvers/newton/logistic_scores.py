"""Logistic loss of one score per row; few rows use the compiled loops of the base class.

Exponentials and logarithms of many rows are those of NumPy, which are vectorized; compiled loops compute the rest in one pass.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import sum_blocks
from surefit.losses import Logistic
from surefit.solvers.newton.scalar_scores import CONSTANT_STEPS, ScalarScores, row_threads

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
            e = _exponentials(z[rows], 0.0)
            given = self.y[rows], self.weights[rows], z[rows]
            return _evaluate(*given, e, np.log1p(e), derivatives[rows], curvatures[rows])

        return float(sum_blocks(work, n, BLOCK, row_threads(n))), derivatives[:, None], curvatures

    def value(self, Z: np.ndarray) -> float:
        """Return the total loss."""
        if len(self.y) < FEW:
            return super().value(Z)

        def work(start: int, stop: int) -> float:
            z = Z[start:stop, 0]
            return _loss(self.y[start:stop], self.weights[start:stop], z, np.log1p(_exponentials(z, 0.0)))

        return float(sum_blocks(work, len(self.y), BLOCK, row_threads(len(self.y))))

    def young(self, Z: np.ndarray, derivatives: np.ndarray) -> float:
        """Return the sum of the relative entropies of the labels under the dual derivatives and under ``Z``."""
        if len(self.y) < FEW or not np.all(self.weights > 0.0):
            return super().young(Z, derivatives)

        def work(start: int, stop: int) -> float:
            given = self.y[start:stop], self.weights[start:stop], Z[start:stop, 0]
            soft, logs = np.log1p(_exponentials(given[2], 0.0)), _shares(*given[:2], derivatives[start:stop, 0])
            return _young(*given, derivatives[start:stop, 0], soft, np.log(logs, out=logs))

        return float(sum_blocks(work, len(self.y), BLOCK, row_threads(len(self.y))))

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

        def work(start: int, stop: int) -> np.ndarray:
            rows = slice(start, stop)
            return _derivative_sums(self.y[rows], self.weights[rows], z[rows], shift, _exponentials(z[rows], shift))

        return sum_blocks(work, len(z), BLOCK, row_threads(len(z))).tolist()

    def part(self, step: int) -> LogisticScores:
        """Return the loss of every ``step``-th row, with scaled weights."""
        return LogisticScores(self.y[::step], self.weights[::step] * step)


def _exponentials(z: np.ndarray, shift: float) -> np.ndarray:
    """Return ``exp(-|z + shift|)``."""
    e = _minus_sizes(z, shift)
    return np.exp(e, out=e)


@compiled
def _minus_sizes(z, shift):
    out = np.empty(len(z))
    for i in range(len(z)):
        out[i] = -abs(z[i] + shift)
    return out


@compiled(relaxed=True)
def _evaluate(y, c, z, e, soft, first, second):
    """Write the derivatives and the curvatures, and return the loss, for ``e = exp(-|z|)`` and ``soft = log(1 + e)``."""
    total = 0.0
    for i in range(len(y)):
        u, q = y[i] * z[i], 1.0 / (1.0 + e[i])
        small = e[i] * q
        first[i] = -c[i] * y[i] * (small if u >= 0.0 else q)
        second[i] = c[i] * small * q
        total += c[i] * (soft[i] + (0.0 if u >= 0.0 else -u))
    return total


@compiled(relaxed=True)
def _loss(y, c, z, soft):
    total = 0.0
    for i in range(len(y)):
        u = y[i] * z[i]
        total += c[i] * (soft[i] + (0.0 if u >= 0.0 else -u))
    return total


@compiled(relaxed=True)
def _derivative_sums(y, c, z, shift, e):
    """Return the sums of the derivatives, of their absolute values and of the curvatures."""
    slope, size, curvature = 0.0, 0.0, 0.0
    for i in range(len(y)):
        q = 1.0 / (1.0 + e[i])
        small = e[i] * q
        part = c[i] * (small if y[i] * (z[i] + shift) >= 0.0 else q)
        slope, size, curvature = slope - y[i] * part, size + part, curvature + c[i] * small * q
    return np.array([slope, size, curvature])


@compiled
def _shares(y, c, derivatives):
    """Return the shares of the other and of the own label in the dual derivatives, positive for their logarithms."""
    out = np.empty((2, len(y)))
    for i in range(len(y)):
        p = _share(y[i], c[i], derivatives[i])
        out[0, i], out[1, i] = max(p, TINY), max(1.0 - p, TINY)
    return out


@compiled
def _share(y, c, derivative):
    p = -derivative * y / c
    return 0.0 if p < 0.0 else 1.0 if p > 1.0 else p


@compiled(relaxed=True)
def _young(y, c, z, derivatives, soft, logs):
    total = 0.0
    for i in range(len(y)):
        u, p = y[i] * z[i], _share(y[i], c[i], derivatives[i])
        term = soft[i] + (p * u if u > 0.0 else (p - 1.0) * u) + p * logs[0, i] + (1.0 - p) * logs[1, i]
        total += c[i] * (0.0 if term < 0.0 else term)
    return total
