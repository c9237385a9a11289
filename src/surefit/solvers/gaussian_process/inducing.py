r"""Gaussian processes with inducing points, chosen greedily, with lower and upper bounds on the exact evidence.

With :math:`Q = K_{nm} K_{mm}^{-1} K_{mn}`, which is at most K, and :math:`t = \operatorname{tr}(K - Q)`,

.. math:: \ln N(y; 0, Q + \sigma^2 I) - \frac{t}{2 \sigma^2} \;\le\; \ln p(y) \;\le\;
          -\tfrac n2 \ln 2\pi - \tfrac12 \ln\det(Q + \sigma^2 I) - \tfrac12 y^\top (Q + (\sigma^2 + t) I)^{-1} y .
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from surefit.kernels import Kernel
from surefit.solvers.gaussian_process.exact import NotPositiveDefinite, noise_in

ROWS = 2048
JITTER = 1e-10  # relative to the mean diagonal; it makes Q smaller, so every bound stays valid
NEGLIGIBLE = 1e-12  # fraction of the largest variance below which no further point is chosen


class Bounds(NamedTuple):
    """Bounds on the log evidence, and the factors needed for predictions."""

    lower: float
    upper: float
    root: np.ndarray  # L with L L' = K_mm
    inner: np.ndarray  # factor of I + W W' / s, W = L^-1 K_mn
    weights: np.ndarray  # mean(x) = (L^-1 k_x)' weights


def choose(kernel: Kernel, X: Any, count: int) -> np.ndarray:
    """Choose rows one by one, each with the largest variance given the earlier ones (pivoted Cholesky)."""
    variances = kernel.diag(X) - noise_in(kernel)
    largest, chosen = float(np.max(variances)), []
    columns = np.empty((min(count, X.shape[0]), X.shape[0]))
    for j in range(len(columns)):
        i = int(np.argmax(variances))
        if variances[i] <= NEGLIGIBLE * largest:
            break
        column = kernel(X, X[i : i + 1])[:, 0] - columns[:j, i] @ columns[:j]
        columns[j] = column / math.sqrt(variances[i])
        variances = np.maximum(variances - columns[j] ** 2, 0.0)
        variances[i] = 0.0
        chosen.append(i)
    return np.array(chosen)


def bounds(kernel: Kernel, X: Any, y: np.ndarray, Z: Any, noise: float) -> Bounds:
    """Return the bounds for noise variance ``noise`` in addition to the kernel's; time n m^2, memory by blocks of rows."""
    s, n = noise + noise_in(kernel), len(y)
    inside = kernel(Z, Z)
    inside = (inside + inside.T) / 2
    inside.flat[:: len(inside) + 1] += JITTER * float(np.mean(np.diag(inside)))
    try:
        L = cholesky(inside, lower=True)
        G, pull, explained = np.zeros_like(L), np.zeros(len(L)), 0.0
        for start in range(0, n, ROWS):
            W = solve_triangular(L, kernel(X[start : start + ROWS], Z).T, lower=True, check_finite=False)
            G += W @ W.T
            pull += W @ y[start : start + ROWS]
            explained += float(np.vdot(W, W))
        left = max(math.fsum(kernel.diag(X)) - n * noise_in(kernel) - explained, 0.0)
        inner = cholesky(np.eye(len(G)) + G / s, lower=True)
        wider = cholesky(np.eye(len(G)) + G / (s + left), lower=True)
    except (np.linalg.LinAlgError, ValueError):
        raise NotPositiveDefinite from None
    squares = float(y @ y)
    part = solve_triangular(inner, pull, lower=True) / s
    determinant = 2 * math.fsum(np.log(np.diag(inner))) + n * math.log(s)
    base = -0.5 * n * math.log(2 * math.pi) - 0.5 * determinant
    lower = base - 0.5 * (squares / s - float(part @ part)) - 0.5 * left / s
    other = solve_triangular(wider, pull, lower=True) / (s + left)
    upper = base - 0.5 * (squares / (s + left) - float(other @ other))
    return Bounds(lower, upper, L, inner, solve_triangular(inner, part, lower=True, trans="T"))
