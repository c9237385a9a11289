"""Splits of a categorical column: a subset against its complement, or one branch per category.

Categories are sorted by their mean target (or the fraction of a class) and cut like numbers. For two classes and for
squared error, some best subset is a prefix of that order (Breiman et al. 1984); for more classes the orders of all
classes are tried.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.core.loops import ascending, copy_into
from surefit.solvers.trees import flat
from surefit.solvers.trees.data import category_of, missing_at, segment_of
from surefit.solvers.trees.segments import NEW, ROW
from surefit.solvers.trees.targets import Cut, Limits, best_cut, n_orders, order_key, summarize


class Numbers(NamedTuple):
    """Columns without categories. They have a type of their own, so that no code for categories is compiled."""

    n_codes: int  # 1


class Mixed(NamedTuple):
    """Columns of numbers and categories."""

    n_codes: int  # largest number of categories, plus one for missing values
    counts: np.ndarray  # (d,) int64, number of categories, 0 for numbers
    multiway: bool  # one branch per category


@generic
def is_category(columns, j):
    """Return whether column ``j`` is categorical."""


@generic
def cut_categories(columns, data, target, feature, start, stop, totals, sums, limits):
    """Return the best cut of a categorical column, the index of its order, and its kind; ``totals`` has the weight and the impurity."""


@generic
def subset_rows(columns, data, target, nodes, node, sets):
    """Return the rows of a node in the order of its subset split, and write the two sets of categories as bits."""


@generic
def lengthened(columns, values, used, more):
    """Return ``values`` with zeros for ``more`` entries after the first ``used``."""


@is_category.register(Numbers)
def _(columns, j):
    return False


@is_category.register(Mixed)
def _(columns, j):
    return columns.counts[j] > 0


@cut_categories.register(Numbers)
def _(columns, data, target, feature, start, stop, totals, sums, limits):
    return Cut(-math.inf, np.int64(-1), False), np.int64(0), flat.SUBSET  # never used


@cut_categories.register(Mixed)
def _(columns, data, target, feature, start, stop, totals, sums, limits):
    weight, impurity = totals
    limits = relaxed(limits)
    if columns.multiway:
        cut = best_multiway(data, target, feature, start, stop, impurity, sums, limits)
        return cut, np.int64(0), flat.MULTIWAY
    cut, order = best_subset(data, target, feature, start, stop, weight, sums, limits)
    return cut, order, flat.SUBSET


@subset_rows.register(Numbers)
def _(columns, data, target, nodes, node, sets):
    return segment_of(data, nodes[node].feature, nodes[node].first, nodes[node].last)  # never used


@subset_rows.register(Mixed)
def _(columns, data, target, nodes, node, sets):
    j, place = nodes[node].feature, nodes[node].place
    segment = by_mean(data, target, j, nodes[node].first, nodes[node].last, nodes[node].order)
    n_words = len(sets) // 2
    for i in range(len(segment)):
        if i == 0 or segment[i] >= NEW:
            category = category_of(data, j, segment[i] & ROW)
            category = columns.n_codes - 1 if category < 0 else category
            word = category // 64 + (0 if i < place else n_words)
            sets[word] |= np.uint64(1) << np.uint64(category % 64)
    return segment


@lengthened.register(Numbers)
def _(columns, values, used, more):
    return values


@lengthened.register(Mixed)
def _(columns, values, used, more):
    if used + more <= len(values):
        return values
    longer = np.zeros(2 * len(values) + more, dtype=values.dtype)
    copy_into(longer, values[:used])
    return longer


@compiled
def group_starts(segment):
    """Return the starts of the categories in a segment in the order of the column, and its length."""
    starts = np.empty(len(segment) + 1, dtype=np.int64)
    count = 0
    for i in range(len(segment)):
        if i == 0 or segment[i] >= NEW:
            starts[count] = i
            count += 1
    starts[count] = len(segment)
    return starts[: count + 1]


@compiled
def by_mean(data, target, feature, start, stop, which):
    """Copy the segment of a column with its categories in order ``which``."""
    segment = segment_of(data, feature, start, stop)
    starts = group_starts(segment)
    groups = len(starts) - 1
    keys = np.empty(groups)
    for g in range(groups):
        keys[g] = order_key(target, segment[starts[g] : starts[g + 1]], which)
    ordered = np.empty_like(segment)
    place = 0
    for g in ascending(keys):
        for i in range(starts[g], starts[g + 1]):
            ordered[place] = (segment[i] & ROW) | (NEW if i == starts[g] else np.uint32(0))
            place += 1
    return ordered


@compiled
def best_subset(data, target, feature, start, stop, weight, sums, limits):
    """Return the best cut over all orders of the categories, and the index of its order."""
    best = Cut(-np.inf, np.int64(-1), False)
    order: Any = np.int64(0)
    for which in range(n_orders(target)):
        segment = by_mean(data, target, feature, start, stop, which)
        cut = best_cut(target, segment, 0, weight, sums, limits)
        if cut.place > 0 and cut.decrease > best.decrease + limits.tie:
            best, order = cut, which
    return best, order


@compiled
def best_multiway(data, target, feature, start, stop, impurity, sums, limits):
    """Return the split into one branch per category as a cut whose place is the number of branches."""
    segment = segment_of(data, feature, start, stop)
    starts = group_starts(segment)
    scratch = np.empty_like(sums)
    total = impurity
    for g in range(len(starts) - 1):
        part = segment[starts[g] : starts[g + 1]]
        weight, spread, _ = summarize(target, part, scratch)
        if len(part) < limits.min_rows or weight < limits.min_weight:
            return Cut(-np.inf, -1, False)
        total -= spread
    missing = missing_at(data, feature, start, stop)
    return Cut(total, len(starts) - 1, missing > 0) if len(starts) > 2 else Cut(-np.inf, -1, False)


@compiled
def relaxed(limits):
    """Return the limits for a categorical column: no monotonicity constraint, and all places allowed."""
    return Limits(limits.min_rows, limits.min_weight, limits.tie, -1, 0, limits.low, limits.high)
