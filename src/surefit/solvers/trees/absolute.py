"""Absolute error as a criterion: medians of both sides of every cut, maintained in two binary indexed trees."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import ascending
from surefit.solvers.trees.histograms import best_bin, fill_bins, has_bins, n_bin_sums
from surefit.solvers.trees.outputs import add_decreases, best_place, output
from surefit.solvers.trees.segments import NEW, ROW
from surefit.solvers.trees.targets import Cut, best_cut, n_orders, n_sums, order_key, prepare, summarize


class Absolute(NamedTuple):
    """Real target with the sum of distances from the median as impurity."""

    y: np.ndarray  # (n,) float64, or (outputs, n) inside ``Several``
    weights: np.ndarray  # (n,) float64 > 0, or empty
    rank: np.ndarray  # (n,) int64, rank of a row's target within its node, filled by ``prepare``
    sorted_y: np.ndarray  # (n,) float64, sorted targets of the node, filled by ``prepare``


def absolute(y: np.ndarray, weights: np.ndarray) -> Absolute:
    """Return the target with its workspace."""
    return Absolute(y, weights, np.empty(y.shape, dtype=np.int64), np.empty(y.shape))


@n_sums.register(Absolute)
def _(target):
    return 1


@has_bins.register(Absolute)
def _(target):
    return False


@fill_bins.register(Absolute)
def _(target, codes, rows, histogram):
    return None


@best_bin.register(Absolute)
def _(target, histogram, n, weight, sums, limits):
    return Cut(-math.inf, -1, False)  # never used: medians need all rows


@n_bin_sums.register(Absolute)
def _(target):
    return 1


@n_orders.register(Absolute)
def _(target):
    return 1


@compiled
def _median(y, weights):
    """Return the weighted median (the midpoint of the minimizers), the sum of distances from it, and the total weight."""
    order = ascending(y)
    weight = 0.0
    for i in range(len(y)):
        weight += weights[i]
    below, median = 0.0, y[order[len(y) - 1]]
    for p in range(len(y)):
        below += weights[order[p]]
        if below == weight / 2.0 and p + 1 < len(y):
            median = y[order[p]] / 2.0 + y[order[p + 1]] / 2.0
            break
        if below > weight / 2.0:
            median = y[order[p]]
            break
    distance = 0.0
    for i in range(len(y)):
        distance += weights[i] * abs(y[i] - median)
    return median, distance, weight


@compiled
def _targets(target, segment):
    y, weights = np.empty(len(segment)), np.ones(len(segment))
    for i in range(len(segment)):
        y[i] = target.y[segment[i] & ROW]
        if len(target.weights) > 0:
            weights[i] = target.weights[segment[i] & ROW]
    return y, weights


@order_key.register(Absolute)
def _(target, segment, which):
    y, weights = _targets(target, segment)
    return _median(y, weights)[0]


@summarize.register(Absolute)
def _(target, segment, sums):
    y, weights = _targets(target, segment)
    median, distance, weight = _median(y, weights)
    sums[0] = median * weight  # the value of a node is sums / weight
    return weight, distance, y.min() == y.max()


@prepare.register(Absolute)
def _(target, segment):
    y, _ = _targets(target, segment)
    order = ascending(y)
    for p in range(len(order)):
        target.rank[segment[order[p]] & ROW] = p
        target.sorted_y[p] = y[order[p]]


@compiled
def _add(tree, place, weight, total):
    p = place + 1
    while p < len(tree):
        tree[p, 0] += weight
        tree[p, 1] += total
        p += p & -p


@compiled
def _distance(tree, sorted_y, weight, total):
    """Return the sum of distances from a median of the rows in a tree of (weight, weighted sum)."""
    p, step, below, below_sum = 0, 1, 0.0, 0.0
    while 2 * step < len(tree):
        step *= 2
    while step > 0:  # the longest prefix with less than half of the weight
        if p + step < len(tree) and below + tree[p + step, 0] < weight / 2.0:
            p += step
            below += tree[p, 0]
            below_sum += tree[p, 1]
        step //= 2
    median = sorted_y[min(p, len(sorted_y) - 1)]
    return median * below - below_sum + (total - below_sum) - median * (weight - below)


@compiled
def _middle(tree, sorted_y, weight):
    """Return the median (the midpoint of the minimizers) of the rows in a tree of (weight, weighted sum)."""
    ends = np.zeros(2)
    for which in range(2):  # the first row that reaches half of the weight, and the first that exceeds it
        p, step, below = 0, 1, 0.0
        while 2 * step < len(tree):
            step *= 2
        while step > 0:
            if p + step < len(tree):
                reached = below + tree[p + step, 0]
                if reached < weight / 2.0 or (which == 1 and reached == weight / 2.0):
                    p += step
                    below = reached
            step //= 2
        ends[which] = sorted_y[min(p, len(sorted_y) - 1)]
    return ends[0] / 2.0 + ends[1] / 2.0


@add_decreases.register(Absolute)
def _(target, segment, missing, weight, sums, limits, score):
    n, weighted = len(segment), len(target.weights) > 0
    free = limits.direction == 0 and limits.low == -math.inf and limits.high == math.inf
    present, sorted_y = n - missing, target.sorted_y[:n]
    center = sorted_y[n // 2]  # distances do not change when all targets are shifted
    sorted_y = sorted_y - center
    left, right = np.empty((n + 1, 2)), np.empty((n + 1, 2))
    whole = -1.0
    for side in range(2 if missing > 0 else 1):
        left[:], right[:] = 0.0, 0.0
        left_weight, left_sum, right_weight, right_sum, extra = 0.0, 0.0, 0.0, 0.0, 0
        for p in range(n):
            row = segment[p] & ROW
            each = target.weights[row] if weighted else 1.0
            y = target.y[row] - center
            if side == 1 and p >= present:
                extra += 1
                left_weight, left_sum = left_weight + each, left_sum + each * y
                _add(left, target.rank[row], each, each * y)
            else:
                right_weight, right_sum = right_weight + each, right_sum + each * y
                _add(right, target.rank[row], each, each * y)
        if side == 0:
            whole = _distance(right, sorted_y, right_weight, right_sum)
        stop = present if side == 0 and missing > 0 else present - 1
        for p in range(stop):
            row = segment[p] & ROW
            each = target.weights[row] if weighted else 1.0
            y = target.y[row] - center
            left_weight, left_sum = left_weight + each, left_sum + each * y
            right_weight, right_sum = right_weight - each, right_sum - each * y
            _add(left, target.rank[row], each, each * y)
            _add(right, target.rank[row], -each, -each * y)
            rows = p + 1 + extra
            if p + 1 < present and segment[p + 1] < NEW:
                continue
            if rows < limits.min_rows or (limits.only >= 0 and limits.only != p + 1):
                continue
            if n - rows < limits.min_rows:
                break
            inside = _distance(left, sorted_y, left_weight, left_sum)
            inside += _distance(right, sorted_y, right_weight, right_sum)
            score[side, p + 1] += whole - inside
            if not free:
                here, there = _middle(left, sorted_y, left_weight), _middle(right, sorted_y, right_weight)
                turned = limits.direction * (there - here) < 0.0
                if turned or min(here, there) + center < limits.low or max(here, there) + center > limits.high:
                    score[side, p + 1] = -math.inf


@best_cut.register(Absolute)
def _(target, segment, missing, weight, sums, limits):
    score = np.zeros((2, len(segment) + 1))
    add_decreases(target, segment, missing, weight, sums, limits, score)
    return best_place(target.weights, segment, missing, weight, limits, score, 1.0)


@output.register(Absolute)
def _(targets, which):
    return Absolute(targets.y[which], targets.weights, targets.rank[which], targets.sorted_y[which])
