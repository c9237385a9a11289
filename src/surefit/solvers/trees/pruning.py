r"""Pruning of trees.

Cost-complexity pruning minimizes :math:`C_\alpha(\tau) = \sum_{t \in \text{leaves}} R(t) + \alpha |\tau|` over all prunings. The smallest
minimizers are nested, so a single number characterizes each node: the :math:`\alpha` from which it is a leaf (weakest
link). Reduced-error pruning repeatedly turns the node that lowers the validation errors most into a leaf, while there
is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.trees.flat import LEAF, FlatTree


class Path(NamedTuple):
    """Nested prunings of a tree: pruning ``k`` is optimal for all alpha from ``alphas[k]`` up to ``alphas[k + 1]``."""

    collapse_at: np.ndarray  # (m,) the alpha from which a node is a leaf or removed; inf at leaves of the whole tree
    alphas: np.ndarray  # (k,) ascending, the first is 0
    risks: np.ndarray  # (k,) sum of R over the leaves
    n_leaves: np.ndarray  # (k,)


def parents_of(end: np.ndarray) -> np.ndarray:
    """Return the parent of each node of a tree in preorder, -1 at the root."""
    return _parents(np.ascontiguousarray(end))


def weakest_links(tree: FlatTree, risk: np.ndarray) -> Path:
    """Return the path of smallest optimal prunings for the node risks ``risk`` (m,)."""
    tie = 1e-12 * float(np.max(np.abs(risk), initial=0.0))
    return Path(
        *_weakest_links(tree.kind == LEAF, tree.end, _parents(tree.end), np.asarray(risk, dtype=np.float64), tie)
    )


def reduced_error(
    tree: FlatTree, visits: np.ndarray, errors: np.ndarray, allow_zero_gain: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prune the node that lowers the validation errors most, until none does; ties go to the node with the most leaves below it.

    ``errors`` (m,) contains the validation errors of each node as a leaf, over the rows that reach it, and ``visits`` (m,) the errors of
    rows that stay at an inner node. Returns the marks of the nodes to collapse, their order, and the errors after each round.
    """
    leaf = tree.kind == LEAF
    return _reduced_error(leaf, tree.end, _parents(tree.end), visits, errors, allow_zero_gain)


@compiled
def _parents(end):
    parent = np.full(len(end), -1, dtype=np.int32)
    for node in range(len(end)):
        child = node + 1
        while child < end[node]:
            parent[child] = node
            child = end[child]
    return parent


@compiled
def _below(leaf, end, parent, risk):
    """Return the risk and the number of leaves of every subtree."""
    total, leaves = np.zeros(len(end)), np.zeros(len(end), dtype=np.int64)
    for node in range(len(end) - 1, -1, -1):
        if leaf[node]:
            total[node], leaves[node] = risk[node], 1
        if parent[node] >= 0:
            total[parent[node]] += total[node]
            leaves[parent[node]] += leaves[node]
    return total, leaves


@compiled
def _weakest(node, end, link, least):
    """Update the smallest link in a subtree from its root and its children."""
    least[node] = link[node]
    child = node + 1
    while child < end[node]:
        least[node] = min(least[node], least[child])
        child = end[child]


@compiled
def _weakest_links(leaf, end, parent, risk, tie):
    m = len(end)
    total, leaves = _below(leaf, end, parent, risk)
    link, least, collapse_at = np.full(m, np.inf), np.full(m, np.inf), np.full(m, np.inf)
    gone = leaf.copy()
    for node in range(m - 1, -1, -1):
        if not leaf[node]:
            link[node] = max(risk[node] - total[node], 0.0) / (leaves[node] - 1)
            _weakest(node, end, link, least)
    alphas, risks, sizes = np.empty(m + 1), np.empty(m + 1), np.empty(m + 1, dtype=np.int64)
    alphas[0], risks[0], sizes[0], count, alpha = 0.0, total[0], leaves[0], 1, 0.0
    while not gone[0]:
        if least[0] > alpha + tie:
            alpha = least[0]
            count += 1
            alphas[count - 1] = alpha
        node = 0
        while link[node] > alpha + tie:  # descend to the topmost node that is pruned
            child = node + 1
            while least[child] > alpha + tie:
                child = end[child]
            node = child
        for inner in range(node, end[node]):
            if not gone[inner]:
                collapse_at[inner], gone[inner] = alpha, True
                link[inner], least[inner] = np.inf, np.inf
        drop, fewer = risk[node] - total[node], leaves[node] - 1
        total[node], leaves[node] = risk[node], 1
        above = parent[node]
        while above >= 0:
            total[above] += drop
            leaves[above] -= fewer
            link[above] = max(risk[above] - total[above], 0.0) / (leaves[above] - 1)
            _weakest(above, end, link, least)
            above = parent[above]
        risks[count - 1], sizes[count - 1] = total[0], leaves[0]
    return collapse_at, alphas[:count].copy(), risks[:count].copy(), sizes[:count].copy()


@compiled
def _reduced_error(leaf, end, parent, kept, errors, allow_zero_gain):
    m = len(end)
    total, leaves = np.zeros(m), np.zeros(m, dtype=np.int64)
    for node in range(m - 1, -1, -1):
        total[node] += errors[node] if leaf[node] else kept[node]
        leaves[node] += 1 if leaf[node] else 0
        if parent[node] >= 0:
            total[parent[node]] += total[node]
            leaves[parent[node]] += leaves[node]
    gone, marks = leaf.copy(), np.zeros(m, dtype=np.bool_)
    order, trace, rounds = np.empty(m, dtype=np.int64), np.empty(m + 1), 0
    trace[0] = total[0]
    while True:
        best, most, chosen = 0.0, 0, -1
        for node in range(m):
            if gone[node]:
                continue
            gain = total[node] - errors[node]
            if gain > best or (gain == best and leaves[node] > most and (gain > 0.0 or allow_zero_gain)):
                best, most, chosen = gain, leaves[node], node
        if chosen < 0:
            break
        drop, fewer = total[chosen] - errors[chosen], leaves[chosen] - 1
        above = chosen
        while above >= 0:
            total[above] -= drop
            leaves[above] -= fewer
            above = parent[above]
        for inner in range(chosen, end[chosen]):
            gone[inner] = True
        marks[chosen] = True
        order[rounds] = chosen
        rounds += 1
        trace[rounds] = total[0]
    return marks, order[:rounds].copy(), trace[: rounds + 1].copy()


def held_out_losses(kept, parent, collapse_at, predicted, y, weights, alphas, zero_one: bool):
    """Return the sums over held-out rows of weighted losses and of their squares, for each of the ascending ``alphas``.

    ``kept`` is the node of the whole tree at which each row ends, ``predicted`` the prediction of each node.
    """
    y = np.asarray(y, dtype=np.float64)
    return _held_out_losses(kept, parent, collapse_at, predicted, y, weights, np.asarray(alphas), zero_one)


@compiled
def _held_out_losses(kept, parent, collapse_at, predicted, y, weights, alphas, zero_one):
    k = len(alphas)
    change, change_squares = np.zeros(k + 1), np.zeros(k + 1)  # changes of the sums from one alpha to the next
    for i in range(len(kept)):
        node, begin = kept[i], 0
        while begin < k:
            above = parent[node]
            stop = k
            if above >= 0:
                stop = max(begin, np.searchsorted(alphas, collapse_at[above]))
            loss = (1.0 if predicted[node] != y[i] else 0.0) if zero_one else (predicted[node] - y[i]) ** 2
            change[begin] += weights[i] * loss
            change_squares[begin] += weights[i] * loss * loss
            change[stop] -= weights[i] * loss
            change_squares[stop] -= weights[i] * loss * loss
            node, begin = above, stop
    return np.cumsum(change[:k]), np.cumsum(change_squares[:k])
