"""Several outputs of one tree: the impurity of a node is the mean over the outputs, each a target with one column.

Classes and real targets are stored as arrays of shape (outputs, n). A cut has one decrease per output. These are summed
for all places of a column before the best place is chosen.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.solvers.trees.criteria import class_spread, decrease
from surefit.solvers.trees.histograms import best_bin, fill_bins, has_bins, n_bin_sums
from surefit.solvers.trees.segments import NEW, ROW
from surefit.solvers.trees.targets import (
    Classes,
    Cut,
    Sums,
    best_cut,
    n_orders,
    n_sums,
    order_key,
    prepare,
    summarize,
)


class Several(NamedTuple):
    """Targets of one kind; output ``o`` has the sums from ``starts[o]`` up to ``starts[o + 1]``."""

    all: Any  # Sums, Classes or Absolute with one line per output
    starts: np.ndarray  # (outputs + 1,) int64


@generic
def output(targets, which):
    """Return the target with index ``which`` of several targets."""


@generic
def add_decreases(target, segment, missing, weight, sums, limits, score):
    """Add the decrease of the total impurity by each cut to ``score[side, place]``; missing values go right (side 0) or left (side 1)."""


@output.register(Sums)
def _(targets, which):
    return Sums(targets.y[which], targets.weights, targets.criterion)


@output.register(Classes)
def _(targets, which):
    return Classes(targets.y[which], targets.weights, targets.criterion, targets.n_classes)


@add_decreases.register(Sums)
def _(target, segment, missing, weight, sums, limits, score):
    n, total, weighted = len(segment), sums[0], len(target.weights) > 0
    present = n - missing
    for side in range(2 if missing > 0 else 1):
        left_weight, left_sum = 0.0, 0.0
        for p in range(present if side == 0 else n):  # missing values that go left come first
            at = p if side == 0 else (p + present if p < missing else p - missing)
            row = segment[at] & ROW
            each = target.weights[row] if weighted else 1.0
            left_weight += each
            left_sum += each * target.y[row]
            place = at + 1
            if place > present or place + side * missing >= n or (place < present and segment[place] < NEW):
                continue
            score[side, place] += decrease(target.criterion, left_weight, left_sum, weight, total)


@add_decreases.register(Classes)
def _(target, segment, missing, weight, sums, limits, score):
    n, weighted = len(segment), len(target.weights) > 0
    present = n - missing
    whole = class_spread(target.criterion, sums, weight)
    left, right = np.empty(len(sums)), np.empty(len(sums))
    for side in range(2 if missing > 0 else 1):
        left[:] = 0.0
        left_weight = 0.0
        for p in range(present if side == 0 else n):
            at = p if side == 0 else (p + present if p < missing else p - missing)
            row = segment[at] & ROW
            each = target.weights[row] if weighted else 1.0
            left_weight += each
            left[target.y[row]] += each
            place = at + 1
            if place > present or place + side * missing >= n or (place < present and segment[place] < NEW):
                continue
            for k in range(len(sums)):
                right[k] = sums[k] - left[k]
            inside = class_spread(target.criterion, left, left_weight)
            inside += class_spread(target.criterion, right, weight - left_weight)
            score[side, place] += whole - inside


@compiled
def best_place(weights, segment, missing, weight, limits, score, scale):
    """Return the cut with the largest ``scale * score`` among those that satisfy the limits on rows and weights."""
    n, weighted = len(segment), len(weights) > 0
    present = n - missing
    best, at, missing_left = -math.inf, -1, False
    for side in range(2 if missing > 0 else 1):
        left_weight, extra = 0.0, 0
        if side == 1:
            extra = missing
            for p in range(present, n):
                left_weight += weights[segment[p] & ROW] if weighted else 1.0
        for p in range(present if side == 0 and missing > 0 else present - 1):
            left_weight += weights[segment[p] & ROW] if weighted else 1.0
            rows = p + 1 + extra
            if p + 1 < present and segment[p + 1] < NEW:
                continue
            if rows < limits.min_rows or (limits.only >= 0 and limits.only != p + 1):
                continue
            if n - rows < limits.min_rows:
                break
            if left_weight < limits.min_weight or weight - left_weight < limits.min_weight:
                continue
            if scale * score[side, p + 1] > best + limits.tie:
                best, at, missing_left = scale * score[side, p + 1], p + 1, side == 1
    return Cut(best, at, missing_left)


@n_sums.register(Several)
def _(target):
    return target.starts[len(target.starts) - 1]


@has_bins.register(Several)
def _(target):
    return False


@fill_bins.register(Several)
def _(target, codes, rows, histogram):
    return None


@best_bin.register(Several)
def _(target, histogram, n, weight, sums, limits):
    return Cut(-math.inf, -1, False)  # never used: the rows of a node are sorted by their bins


@n_bin_sums.register(Several)
def _(target):
    return 1


@n_orders.register(Several)
def _(target):
    return target.starts[len(target.starts) - 1]


@order_key.register(Several)
def _(target, segment, which):
    o = 0
    while target.starts[o + 1] <= which:
        o += 1
    return order_key(output(target.all, o), segment, which - target.starts[o])


@prepare.register(Several)
def _(target, segment):
    for o in range(len(target.starts) - 1):
        prepare(output(target.all, o), segment)


@summarize.register(Several)
def _(target, segment, sums):
    weight, spread, pure = 0.0, 0.0, True
    outputs = len(target.starts) - 1
    for o in range(outputs):
        mine = sums[target.starts[o] : target.starts[o + 1]]
        weight, each, same = summarize(output(target.all, o), segment, mine)
        spread += each
        pure &= same
    return weight, spread / outputs, pure


@best_cut.register(Several)
def _(target, segment, missing, weight, sums, limits):
    score = np.zeros((2, len(segment) + 1))
    outputs = len(target.starts) - 1
    for o in range(outputs):
        mine = sums[target.starts[o] : target.starts[o + 1]]
        add_decreases(output(target.all, o), segment, missing, weight, mine, limits, score)
    return best_place(target.all.weights, segment, missing, weight, limits, score, 1.0 / outputs)
