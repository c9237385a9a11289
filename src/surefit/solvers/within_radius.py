"""Rows within a Euclidean radius of each query, without a tree: by a scan of few columns, or screened by a matrix product.

Both add the squares of a row in the order of the features, as SciPy's ``cdist`` does, and compare the root with the radius.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled

STRIP = 256  # rows whose distances are summed side by side
EDGE = 1e-9  # relative distance beyond the radius up to which the root is computed and compared
TINY = 1e-300  # above any error of products that underflow


@compiled
def scan(columns: Any, Q: Any, radius: Any, counts: Any, indices: Any, distances: Any) -> Any:
    """Store the rows within ``radius[i]`` of each query, in order, and their number; return the total.

    ``columns`` has one row per feature. The squares of a row are added in the order of the features.
    """
    d, n = columns.shape
    total, squares = 0, np.empty(STRIP)
    for i in range(len(Q)):
        before, limit = total, radius[i] * radius[i] * (1.0 + EDGE)
        for start in range(0, n, STRIP):
            size = min(STRIP, n - start)
            for r in range(size):
                squares[r] = 0.0
            for j in range(d):
                x = Q[i, j]
                for r in range(size):
                    gap = columns[j, start + r] - x
                    squares[r] += gap * gap
            for r in range(size):
                if squares[r] <= limit:
                    distance = np.sqrt(squares[r])
                    if distance <= radius[i]:
                        indices[total], distances[total] = start + r, distance
                        total += 1
        counts[i] = total - before
    return total


def screening_limits(Q: np.ndarray, squares: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Return limits that ``squares - 2 Q X.T`` exceeds only for rows beyond the radius; NaN or infinite if squares overflow.

    Sums and products of d terms have a relative error below d + 2 units of rounding; those of the three sums are at most
    4 (d + 2) units of the largest squared lengths. The factor 8 and the tiny constant leave room for the limit's own rounding and for
    underflow.
    """
    own, d = np.einsum("ij,ij->i", Q, Q), Q.shape[1]
    slack = 8 * (d + 8) * np.finfo(np.float64).eps * (own + squares.max(initial=0.0)) + TINY
    return radius * radius * (1.0 + EDGE) - own + slack


@compiled
def screen(
    X: Any, squares: Any, Q: Any, products: Any, limits: Any, radius: Any, counts: Any, indices: Any, distances: Any
) -> Any:
    """Store the rows within ``radius[i]`` of each query as :func:`scan` does; ``products`` are those of queries and rows."""
    total = 0
    for i in range(len(Q)):
        before = total
        for r in range(len(X)):
            if squares[r] - 2.0 * products[i, r] > limits[i]:  # false for NaN
                continue
            square = 0.0
            for j in range(X.shape[1]):
                gap = X[r, j] - Q[i, j]
                square += gap * gap
            distance = np.sqrt(square)
            if distance <= radius[i]:
                indices[total], distances[total] = r, distance
                total += 1
        counts[i] = total - before
    return total
