r"""Forward stagewise steps: the best function of a basis, then the best factor for it.

With derivatives :math:`g_i = s_i \varphi'(y_i, f_i)`, a function b with factor :math:`\beta` changes the loss by :math:`\beta \langle g,
b \rangle` to first order. The function with the largest :math:`|\langle g, b \rangle| / \|b\|_s` is chosen. For squared loss, and for
exponential loss with functions of values -1 and 1, this is also the function whose best factor decreases the loss most.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import blas_threads
from surefit.losses import slope, value
from surefit.solvers.boosting.stumps import best_edge, cut_after, sorted_columns

LARGEST = 1024.0  # largest change of a score, for losses that decrease without bound


class StumpBasis:
    """Functions with values -1 and 1 that change sign once along a column, and constants."""

    def __init__(self, X: np.ndarray):
        self.X = np.asfortranarray(X, dtype=np.float64)
        self.n_jobs = blas_threads()
        self.order = sorted_columns(self.X, self.n_jobs)

    def best(self, g: np.ndarray, s: np.ndarray) -> tuple[tuple[int, float], np.ndarray]:
        """Return (column, threshold) and values of the function with the largest absolute inner product with ``g``."""
        j, k, _ = best_edge(self.order, -g, float(np.sum(np.abs(g))), self.n_jobs)
        threshold = cut_after(self.X, self.order, j, k)
        return (int(j), threshold), np.where(self.X[:, j] > threshold, 1.0, -1.0)


class ColumnBasis:
    """The columns of a table as functions."""

    def __init__(self, B: np.ndarray):
        self.B = np.asarray(B, dtype=np.float64)
        self.norms: np.ndarray | None = None

    def best(self, g: np.ndarray, s: np.ndarray) -> tuple[tuple[int, float], np.ndarray]:
        """Return (column, nan) and values of the column with the largest absolute inner product with ``g`` relative to its norm."""
        if self.norms is None:
            self.norms = np.sqrt(np.einsum("ij,ij,i->j", self.B, self.B, s))
        products = np.abs(g @ self.B)
        scores = np.divide(products, self.norms, out=np.zeros_like(products), where=self.norms > 0)
        j = int(np.argmax(scores > scores.max() * (1 - 1e-12)))  # ties go to the first
        return (j, np.nan), self.B[:, j]


@compiled
def derivatives(loss, y, z, s, g):
    """Compute the weighted derivatives; return the weighted loss."""
    total = 0.0
    for i in range(len(y)):
        g[i] = s[i] * slope(loss, y[i], z[i])
        total += s[i] * value(loss, y[i], z[i])
    return total


@compiled
def derivative_along(loss, y, z, s, b, beta):
    """Return the derivative of the loss with respect to the factor of ``b``."""
    total = 0.0
    for i in range(len(y)):
        if b[i] != 0.0 and s[i] != 0.0:
            total += s[i] * slope(loss, y[i], z[i] + beta * b[i]) * b[i]
    return total


@compiled
def best_factor(loss, y, z, s, b, most):
    """Minimize the loss over the factor of ``b``, up to ``most``, by bisection of its derivative."""
    at_zero = derivative_along(loss, y, z, s, b, 0.0)
    if at_zero == 0.0:
        return 0.0
    sign = -1.0 if at_zero > 0.0 else 1.0
    low, high = 0.0, 1.0
    while sign * derivative_along(loss, y, z, s, b, sign * high) < 0.0:
        low, high = high, 2.0 * high
        if high > most:
            return sign * most
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle == low or middle == high:
            break
        if sign * derivative_along(loss, y, z, s, b, sign * middle) < 0.0:
            low = middle
        else:
            high = middle
    return sign * 0.5 * (low + high)
