"""Rows within a Euclidean radius of each query, by a scan of all rows: faster than a tree if many rows are near."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.jit import compiled

STRIP = 256  # rows whose distances are summed side by side
EDGE = 1e-9  # relative distance beyond the radius up to which the root is computed and compared


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
