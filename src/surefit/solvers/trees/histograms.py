"""Histograms of a node: the sums of a target in each bin of a column, and the best cut between two bins."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.core.loops import copy_into
from surefit.solvers.trees.criteria import class_spread, decrease
from surefit.solvers.trees.segments import ROW
from surefit.solvers.trees.targets import Classes, Cut, Sums

UNDECIDED = -2  # place of a cut that needs sorted rows


@generic
def has_bins(target):
    """Return whether a histogram is sufficient to find the best cut."""


@generic
def n_bin_sums(target):
    """Return the number of sums per bin; the first is the number of rows."""


@generic
def fill_bins(target, codes, rows, histogram):
    """Write the sums of the rows in each bin to ``histogram``: rows, weight, then those of the target."""


@generic
def best_bin(target, histogram, n, weight, sums, limits):
    """Return the best cut between two bins of a node with ``n`` rows, as a number of rows."""


@generic
def cut_at(target, codes, rows, last, weight, sums, limits):
    """Return the cut with codes up to ``last`` on the left, if no value is missing; ``UNDECIDED`` if this needs sorted rows."""


@generic
def cut_of_sums(target, left, c, n, weight, sums, limits):
    """Return the cut of a node with ``n`` rows and the sums ``left[:, c]`` on the left: rows, weight, then those of the target."""


@cut_at.register(object)
def _(target, codes, rows, last, weight, sums, limits):
    return Cut(-math.inf, np.int64(UNDECIDED), False)


@cut_at.register(Sums)
def _(target, codes, rows, last, weight, sums, limits):
    left_rows, left_weight, left_sum = 0, 0.0, 0.0
    if len(target.weights) == 0:
        for i in range(len(rows)):  # no branches; a zero does not change the sum
            row = rows[i] & ROW
            goes = codes[row] <= last
            left_rows += goes
            left_sum += target.y[row] if goes else 0.0
        left_weight = float(left_rows)
    else:
        for i in range(len(rows)):
            row = rows[i] & ROW
            goes = codes[row] <= last
            left_rows += goes
            left_weight += target.weights[row] if goes else 0.0
            left_sum += target.weights[row] * target.y[row] if goes else 0.0
    return _cut_of_sum(target.criterion, left_rows, left_weight, left_sum, len(rows), weight, sums[0], limits)


@cut_of_sums.register(Sums)
def _(target, left, c, n, weight, sums, limits):
    return _cut_of_sum(target.criterion, left[0, c], left[1, c], left[2, c], n, weight, sums[0], limits)


@compiled
def _cut_of_sum(criterion, left_rows, left_weight, left_sum, n, weight, total, limits):
    if _allowed(limits, left_rows, n, left_weight, weight):
        found = decrease(criterion, left_weight, left_sum, weight, total)
        left_mean, right_mean = left_sum / left_weight, (total - left_sum) / (weight - left_weight)
        rise = limits.direction * (right_mean - left_mean)
        low, high = min(left_mean, right_mean), max(left_mean, right_mean)
        if found > -math.inf and rise >= 0.0 and low >= limits.low and high <= limits.high:
            return Cut(found, np.int64(left_rows), False)
    return Cut(-math.inf, np.int64(-1), False)


@cut_at.register(Classes)
def _(target, codes, rows, last, weight, sums, limits):
    left, left_rows, left_weight = np.zeros(len(sums)), 0, 0.0
    weighted = len(target.weights) > 0
    for i in range(len(rows)):
        row = rows[i] & ROW
        if codes[row] <= last:
            each = target.weights[row] if weighted else 1.0
            left_rows += 1
            left_weight += each
            left[target.y[row]] += each
    return _cut_of_counts(target.criterion, left_rows, left_weight, left, len(rows), weight, sums, limits)


@cut_of_sums.register(Classes)
def _(target, left, c, n, weight, sums, limits):
    return _cut_of_counts(target.criterion, left[0, c], left[1, c], left[2:, c], n, weight, sums, limits)


@compiled
def _cut_of_counts(criterion, left_rows, left_weight, left, n, weight, sums, limits):
    if not _allowed(limits, left_rows, n, left_weight, weight):
        return Cut(-math.inf, np.int64(-1), False)
    whole, inside = class_spread(criterion, sums, weight), class_spread(criterion, left, left_weight)
    inside += class_spread(criterion, sums - left, weight - left_weight)
    return Cut(whole - inside, np.int64(left_rows), False)


@compiled
def _allowed(limits, left_rows, n, left_weight, weight):
    """Return whether both sides have enough rows and enough weight."""
    rows, least = min(left_rows, n - left_rows), min(left_weight, weight - left_weight)
    return rows >= max(limits.min_rows, 1) and least >= limits.min_weight


@has_bins.register(Sums)
def _(target):
    return True


@has_bins.register(Classes)
def _(target):
    return True


@n_bin_sums.register(Sums)
def _(target):
    return 3  # rows, weight, sum


@n_bin_sums.register(Classes)
def _(target):
    return 2 + target.n_classes


@compiled
def _fill_sums(codes, rows, y, weights, histogram):
    histogram[:] = 0.0
    if len(weights) == 0:
        for i in range(len(rows)):
            row = rows[i] & ROW
            code = codes[row]
            histogram[code, 0] += 1.0
            histogram[code, 2] += y[row]
        histogram[:, 1] = histogram[:, 0]
    else:
        for i in range(len(rows)):
            row = rows[i] & ROW
            code = codes[row]
            histogram[code, 0] += 1.0
            histogram[code, 1] += weights[row]
            histogram[code, 2] += weights[row] * y[row]


@fill_bins.register(Sums)
def _(target, codes, rows, histogram):
    _fill_sums(codes, rows, target.y, target.weights, histogram)


@fill_bins.register(Classes)
def _(target, codes, rows, histogram):
    histogram[:] = 0.0
    weighted = len(target.weights) > 0
    for i in range(len(rows)):
        row = rows[i] & ROW
        each = target.weights[row] if weighted else 1.0
        histogram[codes[row], 0] += 1.0
        histogram[codes[row], 1] += each
        histogram[codes[row], 2 + target.y[row]] += each


@best_bin.register(Sums)
def _(target, histogram, n, weight, sums, limits):
    total, missing = sums[0], histogram[255, 0]
    best, place, missing_left, floor = -math.inf, -1.0, False, -math.inf
    for side in range(2 if missing > 0.0 else 1):  # missing values go right, then left
        left_rows, left_weight, left_sum = 0.0, 0.0, 0.0
        extra = missing if side == 1 else 0.0
        if side == 1:
            left_weight, left_sum = histogram[255, 1], histogram[255, 2]
        for code in range(255):
            if histogram[code, 0] == 0.0:
                continue
            left_rows += histogram[code, 0]
            left_weight += histogram[code, 1]
            left_sum += histogram[code, 2]
            rest = n - left_rows - extra
            if rest < limits.min_rows or rest == 0.0:
                break
            if left_rows + extra < limits.min_rows or (limits.only >= 0 and limits.only != left_rows):
                continue
            if left_weight < limits.min_weight or weight - left_weight < limits.min_weight:
                continue
            found = decrease(target.criterion, left_weight, left_sum, weight, total)
            if found > floor:
                left_mean, right_mean = left_sum / left_weight, (total - left_sum) / (weight - left_weight)
                rise = limits.direction * (right_mean - left_mean)
                low, high = min(left_mean, right_mean), max(left_mean, right_mean)
                if rise >= 0.0 and low >= limits.low and high <= limits.high:
                    best, place, missing_left = found, left_rows, side == 1
                    floor = best + limits.tie
    return Cut(best, np.int64(place), missing_left)


@best_bin.register(Classes)
def _(target, histogram, n, weight, sums, limits):
    missing = histogram[255, 0]
    whole = class_spread(target.criterion, sums, weight)
    left, right = np.empty(len(sums)), np.empty(len(sums))
    best, place, missing_left = -math.inf, -1.0, False
    for side in range(2 if missing > 0.0 else 1):
        left_rows, left_weight = 0.0, 0.0
        extra = missing if side == 1 else 0.0
        left[:] = 0.0
        if side == 1:
            left_weight = histogram[255, 1]
            copy_into(left, histogram[255, 2:])
        for code in range(255):
            if histogram[code, 0] == 0.0:
                continue
            left_rows += histogram[code, 0]
            left_weight += histogram[code, 1]
            for k in range(len(left)):
                left[k] += histogram[code, 2 + k]
            rest = n - left_rows - extra
            if rest < limits.min_rows or rest == 0.0:
                break
            if left_rows + extra < limits.min_rows or (limits.only >= 0 and limits.only != left_rows):
                continue
            if left_weight < limits.min_weight or weight - left_weight < limits.min_weight:
                continue
            for k in range(len(sums)):
                right[k] = sums[k] - left[k]
            inside = class_spread(target.criterion, left, left_weight)
            inside += class_spread(target.criterion, right, weight - left_weight)
            if whole - inside > best + limits.tie:
                best, place, missing_left = whole - inside, left_rows, side == 1
    return Cut(best, np.int64(place), missing_left)
