"""Columns in at most 255 bins; the best cut among the bin edges of a column is found from its histogram."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import count_below
from surefit.solvers.trees.data import (
    category_of,
    cut_column,
    first_rows,
    is_constant,
    mark_left,
    missing_at,
    random_cut,
    random_place,
    segment_of,
    split_first,
    split_others,
    threshold_at,
)
from surefit.solvers.trees.draws import between, last_code
from surefit.solvers.trees.histograms import UNDECIDED, best_bin, cut_at, fill_bins, has_bins, n_bin_sums
from surefit.solvers.trees.presorted import presort
from surefit.solvers.trees.segments import NEW, ROW, note_left, partition
from surefit.solvers.trees.targets import at_place, best_cut

MISSING = 255  # code of a missing value
FEW = 24  # nodes with fewer rows are sorted instead of counted


class Bins(NamedTuple):
    """Columns as codes: the code of a value x is the first c with x <= edges[j, c], or the number of edges if there is none."""

    codes: np.ndarray  # (d, n) uint8; 255 is missing, a category is its own code
    edges: np.ndarray  # (d, 254) float64, inf beyond the last
    counts: np.ndarray  # (d,) int64, number of codes in use


class Binned(NamedTuple):
    """Binned columns as used by the grower."""

    codes: np.ndarray
    edges: np.ndarray
    rows: np.ndarray  # (n,) uint32, the rows of each node are adjacent; reordered while a tree grows
    buffer: np.ndarray  # (n,) uint32
    segment: np.ndarray  # (n,) uint32
    left: np.ndarray  # (n,) uint8
    histogram: np.ndarray  # (256, k)


def bin_columns(values: np.ndarray, max_bins: int = 255, categories=None, edges: list | None = None) -> Bins:
    """Bin the columns of ``values`` (d, n): one bin per value if there are few, otherwise bins of about equally many rows.

    An edge is the midpoint of two neighboring values, so cuts of up to ``max_bins`` distinct values are exact. ``edges``, one ascending
    list per column (None: from the data), fixes the thresholds in advance. Columns with ``categories[j] > 0`` keep their codes.
    """
    d, n = values.shape
    codes = np.empty((d, n), dtype=np.uint8)
    table, counts = np.full((d, 254), np.inf), np.empty(d, dtype=np.int64)
    for j in range(d):
        if categories is not None and categories[j] > 0:
            present = np.nan_to_num(values[j], nan=MISSING)
            codes[j], counts[j] = present.astype(np.uint8), categories[j]
        elif edges is not None and edges[j] is not None:
            cuts = np.asarray(edges[j], dtype=np.float64)
            table[j, : len(cuts)], counts[j] = cuts, len(cuts) + 1
            encode_column(values[j], cuts, codes[j])
        else:
            order = presort(values[j : j + 1])[0]
            counts[j] = _encode_sorted(values[j], order, int(max_bins), table[j], codes[j]) + 1
    return Bins(codes, table, counts)


@compiled
def _encode_sorted(column, order, max_bins, cuts, codes):
    """Divide a sorted column into bins of about equally many rows; write edges and codes, return the number of edges."""
    n = len(order)
    present = n
    while present > 0 and np.isnan(column[order[present - 1] & ROW]):
        present -= 1
        codes[order[present] & ROW] = MISSING
    distinct = min(present, 1)
    for i in range(1, present):
        distinct += order[i] >= NEW
    used, wanted = 0, 1  # edges so far; the next edge is due after this fraction of the rows
    for i in range(present):
        if i > 0 and order[i] >= NEW:  # a cut before row i is possible
            if distinct <= max_bins or i * max_bins >= wanted * present:
                low, high = column[order[i - 1] & ROW], column[order[i] & ROW]
                middle = low / 2.0 + high / 2.0
                cuts[used] = middle if low <= middle < high else low
                used += 1
                while wanted * present <= i * max_bins:
                    wanted += 1
        codes[order[i] & ROW] = used
    return used


def binned(bins: Bins, target, rows: np.ndarray | None = None) -> Binned:
    """Return binned columns for the grower, restricted to ``rows`` if given."""
    n = bins.codes.shape[1]
    rows = np.arange(n, dtype=np.uint32) if rows is None else np.array(rows, dtype=np.uint32)
    buffer, segment = np.empty(len(rows), dtype=np.uint32), np.empty(len(rows), dtype=np.uint32)
    histogram = np.zeros((256, n_bin_sums(target)))
    return Binned(bins.codes, bins.edges, rows, buffer, segment, np.zeros(n, dtype=np.uint8), histogram)


@compiled
def encode_column(column, cuts, codes):
    """Write the code of each value: the number of cuts below it; there are at most 255."""
    line = np.empty(256)
    for k in range(256):
        line[k] = cuts[k] if k < len(cuts) else np.inf
    for i in range(len(column)):
        x = column[i]
        codes[i] = MISSING if x != x else count_below(line, x)


@first_rows.register(Binned)
def _(data, start, stop):
    return data.rows[start:stop]


@segment_of.register(Binned)
def _(data, feature, start, stop):
    codes, rows, segment = data.codes[feature], data.rows[start:stop], data.segment[: stop - start]
    if len(rows) < FEW:
        for i in range(len(rows)):
            row, p = rows[i] & ROW, i
            while p > 0 and codes[segment[p - 1]] > codes[row]:
                segment[p] = segment[p - 1]
                p -= 1
            segment[p] = row
    else:
        places = np.zeros(257, dtype=np.int64)
        for i in range(len(rows)):
            places[np.int64(codes[rows[i] & ROW]) + 1] += 1
        for code in range(256):
            places[code + 1] += places[code]
        for i in range(len(rows)):
            row = rows[i] & ROW
            segment[places[codes[row]]] = row
            places[codes[row]] += 1
    for i in range(len(segment) - 1, 0, -1):
        if codes[segment[i]] != codes[segment[i - 1]]:
            segment[i] |= NEW
    return segment


@missing_at.register(Binned)
def _(data, feature, start, stop):
    codes, count = data.codes[feature], 0
    for i in range(start, stop):
        count += codes[data.rows[i] & ROW] == MISSING
    return count


@is_constant.register(Binned)
def _(data, feature, start, stop):
    codes = data.codes[feature]
    first = codes[data.rows[start] & ROW]
    for i in range(start + 1, stop):
        if codes[data.rows[i] & ROW] != first:
            return False
    return True


@random_place.register(Binned)
def _(data, feature, start, stop, share):
    """Return the number of rows left of a random cut; ``segment`` receives rows left and right of it, then rows with missing values."""
    codes, rows, segment, missing = data.codes[feature], data.rows[start:stop], data.segment, 0
    low: Any = np.int64(255)
    high: Any = np.int64(0)
    for i in range(len(rows)):  # no branches: (code + 1) & MISSING is zero for a missing value
        code = np.int64(codes[rows[i] & ROW])
        missing += code == MISSING
        low, high = min(low, code), max(high, (code + 1) & MISSING)
    high -= 1
    last = last_code(data.edges[feature], low, high, share)
    place, right, absent = 0, len(rows) - missing - 1, len(rows) - 1
    for i in range(len(rows)):
        row = rows[i] & ROW
        code = np.int64(codes[row])
        if code == MISSING:
            segment[absent] = row
            absent -= 1
            continue
        segment[right] = row  # no branches: write to both sides, and advance only one of the two positions
        segment[place] = row
        place += code <= last
        right -= code > last
    if place < len(rows) - missing:
        segment[place] |= NEW
    return place


@random_cut.register(Binned)
def _(data, target, feature, start, stop, share, weight, sums, limits):
    codes, rows = data.codes[feature], data.rows[start:stop]
    low: Any = np.int64(255)
    high: Any = np.int64(0)
    for i in range(len(rows)):
        code = np.int64(codes[rows[i] & ROW])
        low, high = min(low, code), max(high, code)
    if high < MISSING:
        last = last_code(data.edges[feature], low, high, share)
        cut = cut_at(target, codes, rows, last, weight, sums, limits)
        if cut.place != UNDECIDED:
            return cut
    only = random_place(data, feature, start, stop, share)
    return cut_column(data, target, feature, start, stop, weight, sums, at_place(limits, only))


@threshold_at.register(Binned)
def _(data, feature, segment, place, missing):
    if place == len(segment) - missing:
        return np.inf
    left, right = data.codes[feature, segment[place - 1] & ROW], data.codes[feature, segment[place] & ROW]
    return data.edges[feature, between(np.int64(left), np.int64(right))]


@category_of.register(Binned)
def _(data, feature, row):
    code = np.int64(data.codes[feature, row])
    return np.int64(-1) if code == MISSING else code


@mark_left.register(Binned)
def _(data, segment, place, missing, missing_left):
    return note_left(data.left, segment, place, missing, missing_left)


@cut_column.register(Binned)
def _(data, target, feature, start, stop, weight, sums, limits):
    if has_bins(target) and stop - start >= FEW and limits.only < 0:
        fill_bins(target, data.codes[feature], data.rows[start:stop], data.histogram)
        return best_bin(target, data.histogram, float(stop - start), weight, sums, limits)
    # if only one cut is considered, its rows are already divided
    segment = (
        data.segment[: stop - start]
        if limits.only >= 0 and has_bins(target)
        else segment_of(data, feature, start, stop)
    )
    missing = 0
    while missing < len(segment) and data.codes[feature, segment[len(segment) - 1 - missing] & ROW] == MISSING:
        missing += 1
    return best_cut(target, segment, missing, weight, sums, limits)


@split_first.register(Binned)
def _(data, start, stop):
    partition(data.rows[start:stop], data.buffer, data.left)


@split_others.register(Binned)
def _(data, start, stop):
    return None
