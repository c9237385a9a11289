"""Rows of a partition sorted by the nodes of a growing tree, so that a histogram reads only the rows of its node.

Every node is divided once: a pass continues from the order that the last pass left, which is kept beside the scores. If a
partition was computed again on another worker, its rows are sorted from the root.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.boosting.grower import left_codes
from surefit.solvers.boosting.histograms import add_all, add_some
from surefit.solvers.boosting.tasks import join_rows, part_rows


class Splits(NamedTuple):
    """Splits of a growing tree. A right child follows its left sibling, and children have larger indices than their parent."""

    feature: np.ndarray  # -1: a leaf
    bin: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray  # -1: the node has no children yet
    subset: np.ndarray  # categories that go left; no lines if no column is categorical


class Request(NamedTuple):
    """Nodes whose smaller children need histograms; without nodes, the histogram of all rows."""

    splits: Splits
    nodes: np.ndarray
    to_left: np.ndarray  # whether the smaller child is the left one


class Order(NamedTuple):
    """Rows sorted by node, then by index; a divided node has its left rows before ``middle``."""

    rows: np.ndarray
    first: np.ndarray
    middle: np.ndarray  # -1: not divided
    last: np.ndarray


class Orders(dict[int, Order]):
    """The current order of each growing tree. It can be computed from the splits, so it is neither saved nor sent."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Orders, ()


def histograms(
    words: np.ndarray, by_row: np.ndarray, cells: np.ndarray, asked: Request, order: Order | None
) -> np.ndarray:
    """Return the requested histograms over the rows of one partition, in an order from :func:`ordered`; None: of all rows."""
    groups = len(words)
    found = np.empty((max(len(asked.nodes), 1), 4 * groups, 256, 2), dtype=np.int64)
    if order is None:
        add_all(words, cells, 0, groups, found[0])
        return found
    for own, node, to_left in zip(found, asked.nodes.tolist(), asked.to_left.tolist(), strict=True):
        start, stop = (order.first, order.middle) if to_left else (order.middle, order.last)
        add_some(by_row, cells, order.rows[start[node] : stop[node]], 0, groups, own)
    return found


def ordered(words: np.ndarray, splits: Splits, nodes: np.ndarray, orders: Orders, tree: int) -> Order:
    """Divide ``nodes`` and all nodes with children; continue from the order of an earlier pass of the same tree, if there is one."""
    n, count = words.shape[1], len(splits.feature)
    order = orders.pop(tree, None)  # put back at the end, so that an interrupt leaves no unfinished order
    if order is None or len(order.first) > count:
        root = np.zeros(1, dtype=np.int64)
        order = Order(np.arange(n, dtype=np.uint32), root, root - 1, root + n)
    new = np.full(count - len(order.first), -1)
    order = order._replace(**{name: np.append(getattr(order, name), new) for name in Order._fields[1:]})
    divided = splits.left >= 0
    divided[nodes] = True
    _divide(words, splits, divided, order, np.empty(n, dtype=np.uint32))
    orders[tree] = order
    return order


@compiled
def _divide(words, splits, divided, order, slack):
    """Divide the rows of the marked nodes, keeping their order, and pass their ranges to their children."""
    rows, first, middle, last = order
    for node in range(len(divided)):
        if not divided[node]:
            continue
        if middle[node] < 0:
            own, parted = rows[first[node] : last[node]], slack[: last[node] - first[node]]
            left = part_rows(words, splits.feature[node], left_codes(splits, node), own, parted)
            join_rows(parted, left, own, own[left:])
            middle[node] = first[node] + left
        child = splits.left[node]
        if child >= 0:
            first[child], last[child] = first[node], middle[node]
            first[child + 1], last[child + 1] = middle[node], last[node]


def leaves_of(splits: Splits, order: Order) -> np.ndarray:
    """Return the leaf of each row of a complete tree."""
    found = np.empty(len(order.rows), dtype=np.int64)
    for leaf in np.flatnonzero(splits.feature < 0).tolist():
        found[order.rows[order.first[leaf] : order.last[leaf]]] = leaf
    return found
