"""The function of a dual point as the landmarks see it: its coordinates in their span, and what the span misses."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.kernel_subset_span import group_rows
from surefit.solvers.kernel_subset import PIECE, Span

SMALL_GROUP = 1000  # rows
MOST_VALUES = 5e8  # kernel values that dual="auto" takes where small groups do not need more


def count_groups(support: int, dual: str) -> int:
    """Return into how many groups the rows with a dual coefficient are dealt."""
    if dual == "exact":
        return 1
    most = SMALL_GROUP if dual == "bounded" else max(SMALL_GROUP, MOST_VALUES / max(support, 1))
    return max(1, math.ceil(support / most))


def image_of(span: Span, theta: np.ndarray, groups: int) -> tuple[np.ndarray, float]:
    """Return the coordinates of ``g``, and a bound of the norm of what the span misses of it."""
    rows, e, missed = span.kernel.rows(span.A), np.zeros(span.whiten.shape[1]), 0.0
    for support in group_rows(theta, groups):
        own, part = rows.take(support), theta[support]
        square = 0.0
        step = max(1, PIECE // len(support))
        for start in range(0, len(support), step):
            some = np.arange(start, min(start + step, len(support)))
            square += float(part[some] @ (own.block(some) @ part))
        image = np.zeros(len(span.whiten))
        for some, K in span.pieces(support):
            image += K.T @ part[some]
        image = span.whiten.T @ image
        e += image
        missed += math.sqrt(max(square - float(image @ image), 0.0))
    return e, missed
