"""Targets of tree growing: summaries of nodes and best cuts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.solvers.trees.criteria import GINI, POISSON, SQUARED_ERROR, class_spread, decrease, spread
from surefit.solvers.trees.segments import NEW, ROW

#: Gains that differ by less than this fraction of the node's impurity are tied; the first one is kept.
TIE = 1e-12


class Cut(NamedTuple):
    """Cut of a segment: the number of rows with a value that go left; ``place`` < 0 if there is none."""

    decrease: float
    place: Any  # int64
    missing_left: bool


class Limits(NamedTuple):
    """Constraints on a cut."""

    min_rows: int  # on each side
    min_weight: float  # on each side
    tie: float  # a later cut must be better by more than this
    only: int  # the only place to consider, or -1 for all
    direction: Any  # int64; 1: means must increase from left to right, -1: decrease, 0: unconstrained
    low: float  # means of both sides must lie in low .. high
    high: float


@compiled
def at_place(limits, place):
    """Return the limits with one place to consider."""
    return Limits(
        limits.min_rows, limits.min_weight, limits.tie, place, limits.direction, limits.low, limits.high
    )  # fmt: skip


class Sums(NamedTuple):
    """Target that is summarized by weight and sum: real numbers, or two classes 0 and 1."""

    y: np.ndarray  # (n,) float64 or uint8, or (outputs, n) inside ``Several``
    weights: np.ndarray  # (n,) float64 > 0, or empty if every row counts once
    criterion: int


class Classes(NamedTuple):
    """Class numbers 0 .. n_classes - 1."""

    y: np.ndarray  # (n,) int32, or (outputs, n) inside ``Several``
    weights: np.ndarray
    criterion: int
    n_classes: int


@generic
def n_sums(target):
    """Return the number of sums that summarize a node."""


@generic
def prepare(target, segment):
    """Prepare the search for the best cut of a node."""


@generic
def summarize(target, segment, sums):
    """Write the summary of a node to ``sums``; return weight, total impurity, and whether all targets are equal."""


@generic
def best_cut(target, segment, missing, weight, sums, limits):
    """Return the best :class:`Cut` of a segment whose last ``missing`` rows have no value."""


@generic
def n_orders(target):
    """Return the number of orders in which categories are tried."""


@generic
def order_key(target, segment, which):
    """Return the sort key of a category with these rows in order ``which``."""


@n_sums.register(Sums)
def _(target):
    return 1


@n_sums.register(Classes)
def _(target):
    return target.n_classes


@prepare.register(Sums)
def _(target, segment):
    return None


@prepare.register(Classes)
def _(target, segment):
    return None


@n_orders.register(Sums)
def _(target):
    return 1


@n_orders.register(Classes)
def _(target):
    return target.n_classes


@order_key.register(Sums)
def _(target, segment, which):
    weight, total, weighted = 0.0, 0.0, len(target.weights) > 0
    for entry in segment:
        row = entry & ROW
        each = target.weights[row] if weighted else 1.0
        weight += each
        total += each * target.y[row]
    return total / weight


@order_key.register(Classes)
def _(target, segment, which):
    weight, total, weighted = 0.0, 0.0, len(target.weights) > 0
    for entry in segment:
        row = entry & ROW
        each = target.weights[row] if weighted else 1.0
        weight += each
        if target.y[row] == which:
            total += each
    return total / weight


@summarize.register(Sums)
def _(target, segment, sums):
    weight, total, weighted, pure = 0.0, 0.0, len(target.weights) > 0, True
    first = target.y[segment[0] & ROW]
    for entry in segment:
        row = entry & ROW
        each = target.weights[row] if weighted else 1.0
        weight += each
        total += each * target.y[row]
        pure &= target.y[row] == first
    sums[0] = total
    if pure:
        return weight, 0.0, True
    if target.criterion != SQUARED_ERROR and target.criterion != POISSON:
        return weight, spread(target.criterion, weight, total), False
    mean, impurity = total / weight, 0.0
    for entry in segment:
        row = entry & ROW
        each, y = target.weights[row] if weighted else 1.0, float(target.y[row])
        if target.criterion == SQUARED_ERROR:
            impurity += each * (y - mean) * (y - mean)
        elif y > 0.0:
            impurity += each * y * math.log(y / mean)
    return weight, max(impurity, 0.0), False


@summarize.register(Classes)
def _(target, segment, sums):
    sums[:] = 0.0
    weight, weighted, pure = 0.0, len(target.weights) > 0, True
    first = target.y[segment[0] & ROW]
    for entry in segment:
        row = entry & ROW
        each = target.weights[row] if weighted else 1.0
        weight += each
        sums[target.y[row]] += each
        pure &= target.y[row] == first
    return weight, 0.0 if pure else class_spread(target.criterion, sums, weight), pure


@compiled
def _quadratic_cut(y, weights, segment, weight, total, min_rows, tie):
    """Return the best place and score (shift^2 / (W_1 W_2)) of a cut, if only the number of rows on each side is constrained."""
    n, weighted = len(segment), len(weights) > 0
    best, place = -math.inf, -1
    left_weight, left_sum = 0.0, 0.0
    for p in range(n - min_rows):
        row = segment[p] & ROW
        if weighted:
            left_weight += weights[row]
            left_sum += weights[row] * y[row]
        else:
            left_weight += 1.0
            left_sum += y[row]
        if segment[p + 1] < NEW or p + 1 < min_rows:
            continue
        shift = left_sum * weight - total * left_weight
        found = shift * shift / (left_weight * (weight - left_weight))
        if found > best:
            best, place = found + tie, p + 1
    return best - tie, place


@best_cut.register(Sums)
def _(target, segment, missing, weight, sums, limits):
    n, total, weighted = len(segment), sums[0], len(target.weights) > 0
    quadratic = target.criterion == GINI or target.criterion == SQUARED_ERROR
    free = limits.only < 0 and limits.direction == 0 and limits.low == -math.inf and limits.high == math.inf
    if quadratic and free and missing == 0 and limits.min_weight <= 0.0:
        scale = (2.0 if target.criterion == GINI else 1.0) / weight
        score, place = _quadratic_cut(
            target.y, target.weights, segment, weight, total, limits.min_rows, limits.tie / scale
        )
        return Cut(scale * score, place, False)
    present = n - missing
    best, place, missing_left = -math.inf, -1, False
    floor = best
    for side in range(2 if missing > 0 else 1):  # missing values go right, then left
        left_weight, left_sum, extra = 0.0, 0.0, 0
        if side == 1:
            extra = missing
            for p in range(present, n):
                row = segment[p] & ROW
                each = target.weights[row] if weighted else 1.0
                left_weight += each
                left_sum += each * target.y[row]
        stop = present if side == 0 and missing > 0 else present - 1
        for p in range(min(stop, limits.only) if limits.only >= 0 else stop):
            row = segment[p] & ROW
            each = target.weights[row] if weighted else 1.0
            left_weight += each
            left_sum += each * target.y[row]
            if (limits.only >= 0 and limits.only != p + 1) or (p + 1 < present and segment[p + 1] < NEW):
                continue
            rows = p + 1 + extra
            if rows < limits.min_rows:
                continue
            if n - rows < limits.min_rows:
                break
            if left_weight < limits.min_weight or weight - left_weight < limits.min_weight:
                continue
            found = decrease(target.criterion, left_weight, left_sum, weight, total)
            if found > floor:
                left_mean, right_mean = left_sum / left_weight, (total - left_sum) / (weight - left_weight)
                rise = limits.direction * (right_mean - left_mean)
                low, high = min(left_mean, right_mean), max(left_mean, right_mean)
                if rise >= 0.0 and low >= limits.low and high <= limits.high:
                    best, place, missing_left = found, p + 1, side == 1
                    floor = best + limits.tie
    return Cut(best, place, missing_left)


@best_cut.register(Classes)
def _(target, segment, missing, weight, sums, limits):
    n, weighted = len(segment), len(target.weights) > 0
    present = n - missing
    best, place, missing_left = -math.inf, -1, False
    whole = class_spread(target.criterion, sums, weight)
    left, right = np.empty(len(sums)), np.empty(len(sums))
    for side in range(2 if missing > 0 else 1):
        left[:] = 0.0
        left_weight, extra = 0.0, 0
        if side == 1:
            extra = missing
            for p in range(present, n):
                row = segment[p] & ROW
                each = target.weights[row] if weighted else 1.0
                left_weight += each
                left[target.y[row]] += each
        stop = present if side == 0 and missing > 0 else present - 1
        for p in range(min(stop, limits.only) if limits.only >= 0 else stop):
            row = segment[p] & ROW
            each = target.weights[row] if weighted else 1.0
            left_weight += each
            left[target.y[row]] += each
            if (limits.only >= 0 and limits.only != p + 1) or (p + 1 < present and segment[p + 1] < NEW):
                continue
            rows = p + 1 + extra
            if rows < limits.min_rows:
                continue
            if n - rows < limits.min_rows:
                break
            if left_weight < limits.min_weight or weight - left_weight < limits.min_weight:
                continue
            for k in range(len(sums)):
                right[k] = sums[k] - left[k]
            inside = class_spread(target.criterion, left, left_weight)
            inside += class_spread(target.criterion, right, weight - left_weight)
            if whole - inside > best + limits.tie:
                best, place, missing_left = whole - inside, p + 1, side == 1
    return Cut(best, place, missing_left)
