r"""Ward's agglomerative clustering by chains of nearest neighbors, without a matrix of distances.

The distance :math:`\sqrt{2 m k / (m + k)} \, \|\bar a - \bar b\|` of two clusters follows from their means and sizes. A chain goes from a
cluster to its nearest one, and so on; distances decrease along it, so it ends at two clusters that are nearest to each other. These two
are merged. No later merge comes nearer to a cluster than the merged ones were, so the order of the merges does not matter, and they are
sorted by distance at the end (Murtagh 1983). The time is of order :math:`n^2 d` and the memory of order :math:`n d`.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled

BLOCK = 512  # clusters whose distances stay in the cache while the columns are added
REMOVE_AT = 0.75  # merged clusters are removed from the arrays when this fraction is left


def ward_merges(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the merged nodes, shape (n - 1, 2), and their distances, nearest first; node ``n + i`` is the i-th merge."""
    pairs, squares = _chains(np.array(X.T, order="C"))
    order = np.argsort(squares, kind="stable")
    return _nodes(pairs[order]), np.sqrt(squares[order])


@compiled
def _chains(means):
    """Return the merged clusters, each named by one of its rows, and their squared distances, in the order of the chains.

    ``means`` has one column per cluster and is overwritten. Ties go to the previous cluster of the chain, then to the lowest index.
    """
    n = means.shape[1]
    names, sizes, squares = np.arange(n), np.ones(n), np.empty(n)
    chain, inside, length, left = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.bool_), 0, n
    pairs, found = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    for step in range(n - 1):
        if left < REMOVE_AT * means.shape[1]:
            means, sizes, names, inside, squares = _remaining(means, sizes, names, inside, chain[:length])
        if length == 0:
            chain[0] = _first(sizes, -1)
            inside[chain[0]], length = True, 1
        while True:
            a = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            b = _nearest(means, sizes, a, before, squares)
            if b == before:
                break
            if inside[b]:  # rounding brought a merged cluster nearer than its parts: start again from here
                inside[:] = False
                inside[a], chain[0], length = True, a, 1
                continue
            inside[b], chain[length] = True, b
            length += 1
        length -= 2
        inside[a] = inside[b] = False
        low, high = min(a, b), max(a, b)
        pairs[step, 0], pairs[step, 1], found[step] = names[low], names[high], squares[b]
        for j in range(means.shape[0]):
            means[j, high] = (sizes[low] * means[j, low] + sizes[high] * means[j, high]) / (sizes[low] + sizes[high])
        sizes[high] += sizes[low]
        sizes[low], left = 0.0, left - 1
    return pairs, found


@compiled
def _nearest(means, sizes, a, before, squares):
    """Set ``squares`` to the squared distances from cluster ``a``; return the nearest cluster, ``before`` if it is one of the nearest."""
    d, n = means.shape
    least, answer = np.inf, before
    for start in range(0, n, BLOCK):
        part = squares[start : start + BLOCK]  # indices that start at zero let the compiler vectorize the loops
        others = sizes[start : start + BLOCK]
        part[:] = 0.0
        for j in range(d):
            column, value = means[j, start : start + BLOCK], means[j, a]
            for i in range(len(part)):
                difference = column[i] - value
                part[i] += difference * difference
        for i in range(len(part)):
            part[i] *= 2.0 * (others[i] * sizes[a]) / (others[i] + sizes[a])
        for i in range(len(part)):
            if part[i] < least and others[i] > 0.0 and start + i != a:
                least, answer = part[i], start + i
    if before >= 0 and squares[before] <= least:
        return before
    return answer if answer >= 0 else _first(sizes, a)  # all squares overflow


@compiled
def _first(sizes, other):
    """Return the first cluster that is left, but not ``other``."""
    i = 0
    while sizes[i] == 0.0 or i == other:
        i += 1
    return i


@compiled
def _remaining(means, sizes, names, inside, chain):
    """Return the arrays without merged clusters, in the same order; the indices in ``chain`` are renumbered."""
    kept = np.flatnonzero(sizes > 0.0)
    place = np.empty(len(sizes), dtype=np.int64)
    for i in range(len(kept)):
        place[kept[i]] = i
    for i in range(len(chain)):
        chain[i] = place[chain[i]]
    smaller = np.empty((means.shape[0], len(kept)))
    for j in range(means.shape[0]):
        for i in range(len(kept)):
            smaller[j, i] = means[j, kept[i]]
    return smaller, sizes[kept], names[kept], inside[kept], np.empty(len(kept))


@compiled
def _nodes(pairs):
    """Replace the rows that name the merged clusters by nodes of the tree, the smaller one first."""
    n = len(pairs) + 1
    parent, children = np.arange(2 * n - 1), np.empty((n - 1, 2), dtype=np.int64)
    for i in range(n - 1):
        a, b = _root(parent, pairs[i, 0]), _root(parent, pairs[i, 1])
        children[i, 0], children[i, 1] = min(a, b), max(a, b)
        parent[a] = parent[b] = n + i
    return children


@compiled
def _root(parent, node):
    """Return the last merge of a node; the path to it is halved for later searches."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


def cut(children: np.ndarray, n: int, n_clusters: int) -> np.ndarray:
    """Return the clusters before the last ``n_clusters - 1`` merges, numbered by their first row."""
    return _cut(children[: n - n_clusters], n)


@compiled
def _cut(children, n):
    parent = np.arange(n + len(children))
    for i in range(len(children)):
        parent[children[i, 0]] = parent[children[i, 1]] = n + i
    numbers, labels, count = np.full(len(parent), -1), np.empty(n, dtype=np.int64), 0
    for row in range(n):
        root = _root(parent, row)
        if numbers[root] < 0:
            numbers[root], count = count, count + 1
        labels[row] = numbers[root]
    return labels
