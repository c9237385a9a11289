r"""Best stumps by weighted 0-1 error, found by scanning sorted columns.

For two classes with labels :math:`t_i = \pm1`, the stump that predicts + above a threshold has edge :math:`\sum_i w_i
t_i h(x_i) = T - 2c`, where :math:`T = \sum_i w_i t_i` and :math:`c` is the part of this sum at or below the threshold.
The negated stump has the opposite edge. The best stump has the largest :math:`|T - 2c|`, and one pass over each column
finds it.
"""

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.threads import map_blocks
from surefit.solvers.trees.presorted import presort

#: Edges that differ by at most this fraction of the total weight are tied: the earlier stump (column, threshold, sign) is kept.
TIE = 1e-13
COLUMNS = 4  # added up together: four independent sums hide latency
BLOCK = 256  # rows whose extreme sums decide whether they are scanned
ENTRIES = 2**17  # in a block of columns, which threads share: 0.1 ms, longer than a thread takes to start


class Stump(NamedTuple):
    """Stump that predicts ``left`` at or below ``threshold`` of column ``feature``, and ``right`` above."""

    feature: int
    threshold: float
    left: int
    right: int


def sorted_columns(X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the sorted row order of each column, (columns, rows); the lowest bit marks the end of a run of equal values."""
    order = presort(X.T, n_jobs=n_jobs)
    for line in order:
        starts = line[1:] >> 31  # where a value differs from the one before it
        line <<= 1
        line[:-1] |= starts
    return order


def best_stump(
    X: np.ndarray, order: np.ndarray, codes: np.ndarray, w: np.ndarray, n_classes: int, n_jobs: int | None = None
) -> Stump:
    """Return the stump with the smallest weighted 0-1 error; ties go to the lowest column, then threshold, then ``right > left``."""
    if n_classes <= 2:
        signed = np.where(codes == n_classes - 1, w, -w)
        j, k, positive = best_edge(order, signed, float(np.sum(w)), n_jobs)
        left, right = (0, n_classes - 1) if positive else (n_classes - 1, 0)
    else:
        j, k, left, right = _best_labels(order, codes, w, n_classes, float(np.sum(w)))
    return Stump(int(j), cut_after(X, order, j, k), int(left), int(right))


def cut_after(X: np.ndarray, order: np.ndarray, j: int, k: int) -> float:
    """Return the threshold between positions ``k`` and ``k + 1`` of sorted column ``j``; below all values for ``k = -1``."""
    if k < 0:
        return -np.inf
    low, high = float(X[order[j, k] >> 1, j]), float(X[order[j, k + 1] >> 1, j])
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low  # adjacent floats have no number between them


def best_edge(order: np.ndarray, signed: np.ndarray, total: float, n_jobs: int | None = None) -> tuple[int, int, bool]:
    """Return column, position in its order (-1: before all) and sign of the largest edge."""
    d, n = order.shape
    T, margin = float(np.sum(signed)), TIE * total

    def scan(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        return _scan_columns(order[start:stop], signed, T, margin)

    size = COLUMNS * max(1, ENTRIES // max(COLUMNS * n, 1))
    edges, where = (np.concatenate(parts) for parts in zip(*map_blocks(scan, d, size, n_jobs), strict=True))
    best, at, place, positive = abs(T), 0, -1, T >= 0.0
    for j, edge in enumerate(edges.tolist()):
        if abs(edge) > best + margin:
            best, at, place, positive = abs(edge), j, int(where[j]), edge >= 0.0
    return at, place, positive


@compiled
def _scan_columns(order, signed, T, margin):
    """Return the largest edge of each column, with its sign, and its position; -1 if all values are equal.

    The first pass keeps the extreme sums of blocks of rows; only blocks that may have the largest edge are scanned.
    """
    d, n = order.shape
    edges, where = np.empty(d), np.empty(d, dtype=np.int64)
    sums = np.empty((-(-n // BLOCK), 3, COLUMNS))  # before each block, and the largest and the smallest one in it
    for j in range(0, d, COLUMNS):
        end = d - 1  # the last column takes the places of those that do not exist
        _add_four(order[j], order[min(j + 1, end)], order[min(j + 2, end)], order[min(j + 3, end)], signed, sums)
        for c in range(min(COLUMNS, d - j)):
            edges[j + c], where[j + c] = _scan_blocks(order[j + c], signed, T, margin, sums, c)
    return edges, where


@compiled
def _scan(order, signed, T, margin, first, c, found):
    """Return the size, edge and position of the largest edge: those ``found`` before, or one in the block from ``first`` on."""
    best, edge_there, place = found
    for k in range(first, min(first + BLOCK, len(order))):
        entry = order[k]
        c += signed[entry >> 1]
        edge = T - 2.0 * c
        if abs(edge) > best + margin and entry & 1:
            best, place, edge_there = abs(edge), k, edge
    return best, edge_there, place


@compiled
def _scan_blocks(order, signed, T, margin, sums, c):
    """Return the largest edge of a column and its position, from the extreme sums of its blocks."""
    widest, largest = 0, -1.0
    for block in range(len(sums)):
        possible = max(abs(T - 2.0 * sums[block, 1, c]), abs(T - 2.0 * sums[block, 2, c]))
        if possible > largest:
            widest, largest = block, possible
    found = (-1.0, 0.0, -1)
    enough = _scan(order, signed, T, margin, widest * BLOCK, sums[widest, 0, c], found)[0] - margin
    for block in range(len(sums)):
        if max(abs(T - 2.0 * sums[block, 1, c]), abs(T - 2.0 * sums[block, 2, c])) >= enough:
            found = _scan(order, signed, T, margin, block * BLOCK, sums[block, 0, c], found)
    return found[1], found[2]


@compiled
def _add_four(o0, o1, o2, o3, signed, sums):
    """Write the sums before each block of four columns, and the extreme ones in it."""
    c0 = c1 = c2 = c3 = 0.0
    for block in range(len(sums)):
        before, high, low = sums[block, 0], sums[block, 1], sums[block, 2]
        before[0], before[1], before[2], before[3] = c0, c1, c2, c3
        h0 = h1 = h2 = h3 = -np.inf
        l0 = l1 = l2 = l3 = np.inf
        for k in range(np.uint64(block * BLOCK), np.uint64(min(block * BLOCK + BLOCK, len(o0)))):
            c0 += signed[o0[k] >> 1]
            c1 += signed[o1[k] >> 1]
            c2 += signed[o2[k] >> 1]
            c3 += signed[o3[k] >> 1]
            h0, l0 = c0 if c0 > h0 else h0, c0 if c0 < l0 else l0
            h1, l1 = c1 if c1 > h1 else h1, c1 if c1 < l1 else l1
            h2, l2 = c2 if c2 > h2 else h2, c2 if c2 < l2 else l2
            h3, l3 = c3 if c3 > h3 else h3, c3 if c3 < l3 else l3
        high[0], high[1], high[2], high[3] = h0, h1, h2, h3
        low[0], low[1], low[2], low[3] = l0, l1, l2, l3


@compiled
def _best_labels(order, codes, w, n_classes, total):
    d, n = order.shape
    whole = np.zeros(n_classes)
    for i in range(n):
        whole[codes[i]] += w[i]
    right = int(np.argmax(whole))
    best, at, place, left = whole[right], 0, -1, 0
    margin = TIE * total
    below = np.empty(n_classes)
    for j in range(d):
        below[:] = 0.0
        for k in range(n - 1):
            entry = order[j, k]
            row = entry >> 1
            below[codes[row]] += w[row]
            if entry & 1:
                a = b = 0
                for c in range(1, n_classes):
                    if below[c] > below[a]:
                        a = c
                    if whole[c] - below[c] > whole[b] - below[b]:
                        b = c
                if below[a] + whole[b] - below[b] > best + margin:
                    best, at, place, left, right = below[a] + whole[b] - below[b], j, k, a, b
    return at, place, left, right
