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
COLUMNS = 4  # scanned together: four independent sums hide latency
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
    """Return the largest edge of each column, with its sign, and its position; -1 if all values are equal."""
    d = len(order)
    edges, where = np.empty(d), np.empty(d, dtype=np.int64)
    last = d - d % COLUMNS
    for j in range(0, last, COLUMNS):
        _scan_four(
            order[j], order[j + 1], order[j + 2], order[j + 3], signed, T, margin, edges[j : j + 4], where[j : j + 4]
        )
    for j in range(last, d):
        edges[j], where[j] = _scan(order[j], signed, T, margin)
    return edges, where


@compiled
def _scan(order, signed, T, margin):
    best, place, edge_there, c = -1.0, -1, 0.0, 0.0
    for k in range(len(order)):
        entry = order[k]
        c += signed[entry >> 1]
        edge = T - 2.0 * c
        if entry & 1 and abs(edge) > best + margin:
            best, place, edge_there = abs(edge), k, edge
    return edge_there, place


@compiled
def _scan_four(o0, o1, o2, o3, signed, T, margin, edges, where):
    c0 = c1 = c2 = c3 = 0.0
    b0 = b1 = b2 = b3 = -1.0
    for k in range(4):
        where[k], edges[k] = -1, 0.0
    for k in range(len(o0)):
        e0, e1, e2, e3 = o0[k], o1[k], o2[k], o3[k]
        c0 += signed[e0 >> 1]
        c1 += signed[e1 >> 1]
        c2 += signed[e2 >> 1]
        c3 += signed[e3 >> 1]
        if abs(T - 2.0 * c0) > b0 and e0 & 1:
            b0, where[0], edges[0] = abs(T - 2.0 * c0) + margin, k, T - 2.0 * c0
        if abs(T - 2.0 * c1) > b1 and e1 & 1:
            b1, where[1], edges[1] = abs(T - 2.0 * c1) + margin, k, T - 2.0 * c1
        if abs(T - 2.0 * c2) > b2 and e2 & 1:
            b2, where[2], edges[2] = abs(T - 2.0 * c2) + margin, k, T - 2.0 * c2
        if abs(T - 2.0 * c3) > b3 and e3 & 1:
            b3, where[3], edges[3] = abs(T - 2.0 * c3) + margin, k, T - 2.0 * c3


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
