"""Sorted columns with exact cuts: the order of every column is maintained node by node by stable partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import count_threads, map_blocks
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
from surefit.solvers.trees.segments import NEW, ROW, note_left, partition
from surefit.solvers.trees.targets import at_place, best_cut

LARGE = 2**18  # number of values from which threads are faster
MOVES = 6  # per row by insertion sort of equal leading bits; otherwise rows are first sorted by the trailing bits
LEADING, TRAILING = np.uint64(0), np.uint64(32)  # shifts to the left that leave these 32 bits of a value


class Presorted(NamedTuple):
    """Values by column, and the order of each; the rows of a node are a range of every order."""

    values: np.ndarray  # (d, n) float64, nan where missing; best a view of rows, of which few values are read
    order: np.ndarray  # (d, n) uint32 segments, reordered while a tree grows
    buffer: np.ndarray  # (n,) uint32
    left: np.ndarray  # (n,) uint8: 1 for rows that go left
    incomplete: np.ndarray  # (d,) bool: whether the column has missing values


def presort(values: np.ndarray, rows: np.ndarray | None = None, n_jobs: int | None = None) -> np.ndarray:
    """Sort every column of ``values`` (d, n); return the segments (d, n), restricted to ``rows`` (ascending) if given."""
    d, n = values.shape
    rows = np.arange(n, dtype=np.uint32) if rows is None else np.asarray(rows, dtype=np.uint32)
    order = np.empty((d, len(rows)), dtype=np.uint32)

    def sort(start: int, stop: int) -> None:
        keys, slack = np.empty(len(rows), dtype=np.uint64), np.empty(len(rows), dtype=np.uint64)
        counts = np.empty((3, 2048), dtype=np.int64)
        for j in range(start, stop):
            column = np.ascontiguousarray(values[j], dtype=np.float64)
            bits = column.view(np.uint64)
            if not _sort_column(column, bits, rows, LEADING, counts, keys, slack, order[j]):
                _sort_column(column, bits, rows, TRAILING, counts, keys, slack, order[j])
                _sort_column(column, bits, order[j], LEADING, counts, keys, slack, order[j])

    threads = count_threads(n_jobs) if order.size >= LARGE else 1
    map_blocks(sort, d, max(d, 1) if threads == 1 else -(-d // (2 * threads)), threads)
    return order


def presorted(values: np.ndarray, order: np.ndarray) -> Presorted:
    """Return sorted columns for the grower; ``order`` is modified."""
    d, n = values.shape
    last = order[:, -1] & ROW
    buffer, left = np.empty(order.shape[1], dtype=np.uint32), np.zeros(n, dtype=np.uint8)
    return Presorted(values, order, buffer, left, np.isnan(values[np.arange(d), last]))


@compiled
def _sort_column(column, bits, rows, shift, counts, keys, slack, order):
    """Sort ``rows`` stably by the value (or its trailing bits, as ``shift`` says); return False if too many leading bits are equal."""
    _write_keys(column, bits, rows, shift, slack)
    _sort_leading(counts, slack, keys)
    low = np.uint64(0xFFFFFFFF)
    if shift > 0:
        for i in range(len(keys)):
            order[i] = keys[i] & low
        return True
    left = MOVES * len(keys)
    for i in range(len(keys)):  # insertion sort is stable, and no row passes one with other leading bits
        row, p = keys[i] & low, i
        value = column[row]
        while p > 0 and column[order[p - 1]] > value:
            order[p] = order[p - 1]
            p -= 1
        order[p] = row
        left -= i - p
        if left < 0:
            return False
    for i in range(len(keys) - 1, 0, -1):
        before, here = column[order[i - 1]], column[order[i]]
        if before < here or (np.isnan(here) and not np.isnan(before)):
            order[i] |= NEW
    return True


@compiled
def _write_keys(column, bits, rows, shift, keys):
    """Write keys that consist of 32 bits of the value (after a shift to the left), in numerical order, and the row."""
    sign, low = np.uint64(1 << 63), np.uint64(0xFFFFFFFF)
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        if np.isnan(column[row]):
            keys[i] = (~low) | row  # missing values come last
            continue
        key = bits[row] if column[row] != 0.0 else np.uint64(0)  # -0.0 equals 0.0
        key = ~key if key & sign else key | sign
        keys[i] = ((key << shift) & ~low) | row


@compiled
def _sort_leading(counts, source, aim):
    """Sort ``source`` stably by the upper 32 bits into ``aim``: three rounds of counting sort, by 11, 11 and 10 bits."""
    mask = np.uint64(2047)
    for digit in range(3):
        for value in range(2048):
            counts[digit, value] = 0
    for i in range(len(source)):
        key = source[i] >> np.uint64(32)
        counts[0, key & mask] += 1
        counts[1, (key >> np.uint64(11)) & mask] += 1
        counts[2, (key >> np.uint64(22)) & mask] += 1
    for digit in range(3):
        place = counts[digit]
        total = 0
        for value in range(2048):
            here = place[value]
            place[value] = total
            total += here
        shift = np.uint64(32 + 11 * digit)
        for i in range(len(source)):
            key = source[i]
            value = (key >> shift) & mask
            aim[place[value]] = key
            place[value] += 1
        source, aim = aim, source


@segment_of.register(Presorted)
def _(data, feature, start, stop):
    return data.order[feature, start:stop]


@first_rows.register(Presorted)
def _(data, start, stop):
    return data.order[0, start:stop]


@missing_at.register(Presorted)
def _(data, feature, start, stop):
    count = 0
    while (
        data.incomplete[feature]
        and count < stop - start
        and np.isnan(data.values[feature, data.order[feature, stop - 1 - count] & ROW])
    ):
        count += 1
    return count


@is_constant.register(Presorted)
def _(data, feature, start, stop):
    segment = data.order[feature, start:stop]
    for i in range(1, len(segment)):  # marks are adjacent in memory, values are not
        if segment[i] >= NEW:
            return False
    return True


@random_place.register(Presorted)
def _(data, feature, start, stop, share):
    column, segment = data.values[feature], data.order[feature, start:stop]
    present = stop - start - missing_at(data, feature, start, stop)
    low, high = column[segment[0] & ROW], column[segment[present - 1] & ROW]
    cut = low + share * (high - low)
    first, last = 1, present
    while first < last:  # the number of values <= cut
        middle = (first + last) // 2
        if column[segment[middle] & ROW] <= cut:
            first = middle + 1
        else:
            last = middle
    while 1 < first < present and column[segment[first - 1] & ROW] == high:
        first -= 1
    return first


@random_cut.register(Presorted)
def _(data, target, feature, start, stop, share, weight, sums, limits):
    only = random_place(data, feature, start, stop, share)
    return cut_column(data, target, feature, start, stop, weight, sums, at_place(limits, only))


@threshold_at.register(Presorted)
def _(data, feature, segment, place, missing):
    low = data.values[feature, segment[place - 1] & ROW]
    if place == len(segment) - missing:  # values against missing values
        return np.inf
    high = data.values[feature, segment[place] & ROW]
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low


@category_of.register(Presorted)
def _(data, feature, row):
    value = data.values[feature, row]
    return -1 if np.isnan(value) else np.int64(value)


@mark_left.register(Presorted)
def _(data, segment, place, missing, missing_left):
    return note_left(data.left, segment, place, missing, missing_left)


@cut_column.register(Presorted)
def _(data, target, feature, start, stop, weight, sums, limits):
    missing = missing_at(data, feature, start, stop)
    return best_cut(target, data.order[feature, start:stop], missing, weight, sums, limits)


@split_first.register(Presorted)
def _(data, start, stop):
    partition(data.order[0, start:stop], data.buffer[start:stop], data.left)


@split_others.register(Presorted)
def _(data, start, stop):
    for j in range(1, data.order.shape[0]):
        partition(data.order[j, start:stop], data.buffer[start:stop], data.left)
