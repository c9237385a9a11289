"""Random cuts of a node: columns drawn, one cut each, and the sums of the rows on the left of each cut; nothing is sorted.

The bins of a node are a table with one line per row and one column per column considered. Loops over rows contain loops
over columns, which are independent of each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.core.loops import ascending
from surefit.solvers.trees.draws import FEW, between, last_code, next_random, next_share
from surefit.solvers.trees.targets import Classes, Sums

#: Bins of a column at a node: the smallest, the largest, and the largest on the left of its cut.
LOW, HIGH, LAST = range(3)


@compiled
def draw_columns(codes, rows, columns, bins, state, wanted, drawn, places):
    """Draw columns until enough are not constant at a node, and copy them to ``drawn``; return their number."""
    d, taken, useful = codes.shape[1], 0, 0
    while taken < d and useful < wanted:
        start = taken
        taken = min(start + wanted - useful, d)
        for k in range(start, taken):
            other = k + next_random(state, d - k)
            columns[0, k], columns[0, other] = columns[0, other], columns[0, k]
        for i in range(len(rows)):
            row = rows[i]
            for c in range(start, taken):
                drawn[i, c] = codes[row, columns[0, c]]
        write_ranges(drawn, places[: len(rows)], start, taken, bins)
        for c in range(start, taken):
            useful += bins[LOW, c] < bins[HIGH, c]
    _sort(columns, taken)
    return taken


@compiled
def _sort(columns, count):
    """Sort the columns drawn in ascending order, so that ties go to the lowest column; note where each was drawn."""
    if count > FEW:
        numbers = np.empty(count)
        for k in range(count):
            numbers[k] = columns[0, k]
        ranks = ascending(numbers)
        for k in range(count):
            columns[0, k], columns[1, k] = np.int64(numbers[ranks[k]]), ranks[k]
        return
    for k in range(count):
        column, p = columns[0, k], k
        while p > 0 and columns[0, p - 1] > column:
            columns[0, p], columns[1, p] = columns[0, p - 1], columns[1, p - 1]
            p -= 1
        columns[0, p], columns[1, p] = column, k


@compiled
def write_ranges(table, places, start, stop, bins):
    """Write the smallest and the largest bin of the columns ``start .. stop`` of a table."""
    for c in range(start, stop):
        bins[LOW, c], bins[HIGH, c] = 255, 0
    for i in range(len(places)):
        p = places[i]
        for c in range(start, stop):
            code = table[p, c]
            bins[LOW, c], bins[HIGH, c] = min(bins[LOW, c], code), max(bins[HIGH, c], code)


@compiled
def draw_cuts(columns, edges, bins, count, state):
    """Draw a cut of each column that is not constant; all rows are on the left of the cut of a constant column."""
    for k in range(count):
        c = columns[1, k]
        low, high = np.int64(bins[LOW, c]), np.int64(bins[HIGH, c])
        bins[LAST, c] = high
        if low < high:
            bins[LAST, c] = last_code(edges[columns[0, k]], low, high, next_share(state))


@generic
def add_left(target, rows, table, places, bins, count, left):
    """Write the sums of the rows on the left of each cut to ``left``: rows, weight, then those of the target."""


@add_left.register(Sums)
def _(target, rows, table, places, bins, count, left):
    y, weights = target.y, target.weights
    for c in range(count):
        left[0, c], left[1, c], left[2, c] = 0.0, 0.0, 0.0
    if len(weights) == 0:
        for i in range(len(rows)):
            p, value = places[i], float(y[rows[i]])
            for c in range(count):  # no branches; a zero does not change the sum
                goes = table[p, c] <= bins[LAST, c]
                left[0, c] += 1.0 if goes else 0.0
                left[2, c] += value if goes else 0.0
        for c in range(count):
            left[1, c] = left[0, c]
        return
    for i in range(len(rows)):
        p, each = places[i], weights[rows[i]]
        value = each * y[rows[i]]
        for c in range(count):
            goes = table[p, c] <= bins[LAST, c]
            left[0, c] += 1.0 if goes else 0.0
            left[1, c] += each if goes else 0.0
            left[2, c] += value if goes else 0.0


@add_left.register(Classes)
def _(target, rows, table, places, bins, count, left):
    y, weights = target.y, target.weights
    for k in range(len(left)):
        for c in range(count):
            left[k, c] = 0.0
    for i in range(len(rows)):
        p, k = places[i], 2 + y[rows[i]]
        each = weights[rows[i]] if len(weights) > 0 else 1.0
        for c in range(count):
            goes = table[p, c] <= bins[LAST, c]
            left[0, c] += 1.0 if goes else 0.0
            left[1, c] += each if goes else 0.0
            left[k, c] += each if goes else 0.0


@compiled
def divide(codes, rows, feature, last, buffer):
    """Move rows with bins up to ``last`` to the front; return their number and the bin in the middle between both sides."""
    a, b = 0, 0
    highest: Any = np.int64(0)
    lowest: Any = np.int64(255)
    for i in range(len(rows)):  # no branches: write to both sides, and advance only one of the two positions
        row = rows[i]
        code = np.int64(codes[row, feature])
        goes = code <= last
        highest, lowest = max(highest, code if goes else 0), min(lowest, 255 if goes else code)
        rows[a] = row
        buffer[b] = row
        a += goes
        b += not goes
    for i in range(b):
        rows[a + i] = buffer[i]
    return a, between(highest, lowest)
