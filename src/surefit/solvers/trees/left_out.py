"""Out-of-bag errors of a forest on rows in partitions: one pass evaluates each tree on the rows that it did not draw."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, exact_sum, weights_in
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes
from surefit.solvers.trees.descend import apply
from surefit.solvers.trees.flat import FlatTree
from surefit.solvers.trees.sampling import Line

BLOCK = 4096  # number of rows per block when pairs of trees are counted


class LeftOut(NamedTuple):
    """Exact sums over the rows of positive weight that are out of bag for some tree, and counts for pairs of trees."""

    rows: int
    always: int  # number of rows that every tree drew
    weight: int
    loss: int  # weighted misclassifications, or weighted squared errors
    moment: int  # weighted targets, centered
    square: int
    pairs: np.ndarray  # (trees, trees): number of rows that are out of bag for both
    wrong: np.ndarray  # number of these rows that both misclassify


def left_out(
    part: Part, trees: list[FlatTree], line: Line, seeds: np.ndarray, classes: list[Any] | None, center: float
) -> LeftOut:
    """Return the out-of-bag sums of a partition."""
    assert part.y is not None
    y, w = read_target(part.y), weights_in(part)
    y = y if classes is None else class_codes(y, classes)
    out = line.counts(part, seeds) == 0
    sums, err = np.zeros((len(y), trees[0].values.shape[1])), np.zeros_like(out)
    for tree, own, wrong in zip(trees, out, err, strict=True):
        rows = np.flatnonzero(own)
        values = tree.values[apply(tree, part.X[rows])]
        sums[rows] += values
        wrong[rows] = classes is not None and values.argmax(axis=1) != y[rows]
    heard = out.sum(axis=0)
    used = (heard > 0) & (w > 0)
    means, target, w = sums[used] / heard[used, None], y[used], w[used]
    losses = (means[:, 0] - target) ** 2 if classes is None else (means.argmax(axis=1) != target).astype(np.float64)
    off = np.zeros(0) if classes is not None else target - center
    return LeftOut(
        int(np.count_nonzero(used)),
        int(np.count_nonzero((heard == 0) & (weights_in(part) > 0))),
        exact_sum(w),
        exact_sum(w * losses),
        exact_sum(w[: len(off)] * off),
        exact_sum(w[: len(off)] * off**2),
        _pairs(out if classes is not None else out[:0]),
        _pairs(err if classes is not None else err[:0]),
    )


def _pairs(marks: np.ndarray) -> np.ndarray:
    """Return the number of rows that are marked for both trees, for every pair of trees."""
    found = np.zeros((len(marks), len(marks)))
    for start in range(0, marks.shape[1], BLOCK):
        part = marks[:, start : start + BLOCK].astype(np.float64)
        found += part @ part.T  # integers: sums are exact in any order
    return found
