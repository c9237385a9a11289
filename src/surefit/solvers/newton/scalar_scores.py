"""One score per row: loss, derivatives and curvatures over all rows, the best constant, and the width of smoothed losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import blas_threads, sum_blocks
from surefit.solvers.newton.terms import score_terms, young

BLOCK = 16_384  # rows per block
MANY = 65_536  # number of rows from which threads share them
CONSTANT_STEPS = 60  # iterations of the safeguarded search for the best constant


def row_threads(n: int) -> int | None:
    """Return the number of threads that share ``n`` rows."""
    return blas_threads() if n >= MANY else None


class ScalarScores:
    """Loss of one score per row, ``sum_i c_i loss(y_i, z_i)``.

    Parameters
    ----------
    loss : a term with ``score_terms`` and ``young``
        The loss; a loss with a ``width`` is smoothed, and the solver reduces the width.
    y, weights : ndarray of shape (n_rows,)
        Targets and weights ``c``.
    """

    n_scores = 1

    def __init__(self, loss: Any, y: np.ndarray, weights: np.ndarray):
        self.loss = loss
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)

    def evaluate(self, Z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the total loss, its derivatives (n, 1) and curvatures (n,)."""
        n, z = len(self.y), Z[:, 0]
        derivatives, curvatures = np.empty(n), np.empty(n)

        def work(start: int, stop: int) -> float:
            rows = slice(start, stop)
            return loss_terms(self.loss, self.y[rows], self.weights[rows], z[rows], derivatives[rows], curvatures[rows])

        total = sum_blocks(work, n, BLOCK, row_threads(n))
        return float(total), derivatives[:, None], curvatures

    def value(self, Z: np.ndarray) -> float:
        """Return the total loss."""

        def work(start: int, stop: int) -> float:
            return _value(self.loss, self.y[start:stop], self.weights[start:stop], Z[start:stop, 0])

        return float(sum_blocks(work, len(self.y), BLOCK, row_threads(len(self.y))))

    def young(self, Z: np.ndarray, derivatives: np.ndarray) -> float:
        """Return the sum of the Fenchel-Young terms of ``Z`` and dual derivatives; infinite outside the domain."""
        z, v = Z[:, 0], np.ascontiguousarray(derivatives[:, 0])

        def work(start: int, stop: int) -> float:
            rows = slice(start, stop)
            return young_sum(self.loss, self.y[rows], self.weights[rows], z[rows], v[rows])

        return float(sum_blocks(work, len(self.y), BLOCK, row_threads(len(self.y))))

    def best_shift(self, Z: np.ndarray) -> np.ndarray:
        """Return the constant to add to the scores that minimizes the loss."""
        return np.array([best_constant(self.loss, self.y, self.weights, Z[:, 0], CONSTANT_STEPS)])

    def hessian_block(self, curvatures: np.ndarray, k: int, m: int) -> tuple[float, np.ndarray]:
        """Return sign and weights of the second derivative in scores ``k`` and ``m``."""
        return 1.0, curvatures

    def hessian_times(self, curvatures: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return the second derivative of the loss times ``V``, row by row."""
        return curvatures[:, None] * V

    def diagonal(self, curvatures: np.ndarray, k: int) -> np.ndarray:
        """Return second derivatives in score ``k``."""
        return curvatures

    @property
    def width(self) -> float:
        """Width of the smoothed regions; zero if nothing is smoothed."""
        return getattr(self.loss, "width", 0.0)

    def sharpen(self, width: float) -> None:
        """Set the width of the smoothed regions."""
        self.loss = self.loss._replace(width=float(width))

    def part(self, step: int) -> ScalarScores:
        """Return the loss of every ``step``-th row, with scaled weights."""
        return ScalarScores(self.loss, self.y[::step], self.weights[::step] * step)


@compiled
def loss_terms(loss, y, c, z, derivatives, curvatures):
    """Return the total loss, and store the weighted derivatives and curvatures."""
    total = 0.0
    for i in range(len(y)):
        value, derivative, curvature = score_terms(loss, y[i], z[i])
        total += c[i] * value
        derivatives[i] = c[i] * derivative
        curvatures[i] = c[i] * curvature
    return total


@compiled
def _value(loss, y, c, z):
    total = 0.0
    for i in range(len(y)):
        total += c[i] * score_terms(loss, y[i], z[i])[0]
    return total


@compiled
def loss_along(loss, y, c, z, moves, t):
    """Return the total loss at scores ``z + t moves``, and its derivative with respect to ``t``."""
    total, slope = 0.0, 0.0
    for i in range(len(y)):
        value, derivative, _ = score_terms(loss, y[i], z[i] + t * moves[i])
        total += c[i] * value
        slope += c[i] * derivative * moves[i]
    return total, slope


@compiled
def young_sum(loss, y, c, z, v):
    """Return the weighted sum of the Fenchel-Young terms at scores ``z`` and weighted derivatives ``v``."""
    total = 0.0
    for i in range(len(y)):
        if c[i] > 0.0:
            total += c[i] * young(loss, y[i], z[i], v[i] / c[i])
    return total


@compiled
def best_constant(loss, y, c, z, steps):
    """Return the minimizer by Newton's method in one variable, safeguarded by a bracket."""
    low, high, shift = -np.inf, np.inf, 0.0
    for _ in range(steps):
        derivative, curvature, size = 0.0, 0.0, 0.0
        for i in range(len(y)):
            _, g, h = score_terms(loss, y[i], z[i] + shift)
            derivative += c[i] * g
            size += c[i] * abs(g)
            curvature += c[i] * h
        if abs(derivative) <= 1e-15 * size or size == 0.0:
            if curvature == 0.0:  # flat: take the middle, where rows of both classes are equally far from their kinks
                middle = 0.0
                for sign in (-1.0, 1.0):
                    middle += 0.5 * _edge(loss, y, c, z, shift, sign)
                if np.isfinite(middle):
                    shift = middle
            break
        if derivative > 0.0:
            high = shift
        else:
            low = shift
        step = -derivative / curvature if curvature > 0.0 else np.inf * -np.sign(derivative)
        new = shift + step
        if not low < new < high:
            if low > -np.inf and high < np.inf:
                new = 0.5 * (low + high)
            else:
                new = shift - np.sign(derivative) * max(1.0, 2.0 * abs(shift))
        if new == shift:
            break
        shift = new
    return shift


@compiled
def _edge(loss, y, c, z, start, sign):
    """Return the end, on the side of ``sign``, of the interval of constants over which the loss is constant."""
    near, step = start, 1e-3 * (1.0 + abs(start))
    far = np.inf
    for _ in range(100):
        trial = near + sign * step if not np.isfinite(far) else 0.5 * (near + far)
        derivative, size = 0.0, 0.0
        for i in range(len(y)):
            g = score_terms(loss, y[i], z[i] + trial)[1]
            derivative += c[i] * g
            size += c[i] * abs(g)
        if abs(derivative) > 1e-15 * size:
            far = trial
        else:
            near = trial
            step *= 2.0
        if np.isfinite(far) and abs(far - near) <= 1e-3 * abs(far - start):
            return near
    return sign * np.inf
