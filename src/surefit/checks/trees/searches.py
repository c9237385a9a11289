"""Compiled search for the best threshold of every node, with bounds that include rounding errors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.core.jit import compiled
from surefit.core.loops import ascending, copy_into

#: Criteria of the compiled loops, by their index.
CODES = ("gini", "entropy", "misclassification", "squared_error", "poisson")


class Targets(NamedTuple):
    """Data of the rows of a node for the compiled loops; ``code`` is the index of the criterion in ``CODES``."""

    y: np.ndarray  # (outputs, n)
    w: np.ndarray
    n_classes: np.ndarray  # of each output, 0 for numbers
    code: int
    ratio: float
    mean: np.ndarray  # of each output


@compiled
def prefix_worths(order: Any, targets: Any) -> tuple[Any, Any]:
    """Sum upper bounds of ``Worth.worth`` over the outputs for the first 1, 2, ... rows; forbidden sides get -inf."""
    worth, weight = np.empty(len(order)), np.empty(len(order))
    _set_worths(order, targets, worth, weight)
    return worth, weight


@compiled
def _set_worths(order: Any, targets: Any, worth: Any, weight: Any) -> None:
    """Write the results of :func:`prefix_worths` to ``worth`` and ``weight``."""
    for k in range(len(order)):
        worth[k] = 0.0
    for o in range(len(targets.y)):
        _add_worths(order, targets.y[o], targets.n_classes[o], targets.mean[o], targets, worth, weight)


@compiled
def _add_worths(order: Any, y: Any, n_classes: Any, mean: Any, targets: Any, worth: Any, weight: Any) -> None:
    """Add the contributions of one output."""
    if n_classes > 0:
        _add_class_worths(order, y, targets.w, n_classes, targets.code, worth, weight)
        return
    _, w, _, code, ratio, _ = targets
    total = sums = sizes = 0.0
    for k in range(len(order)):
        i = order[k]
        total += w[i]
        weight[k] = total
        sums += w[i] * y[i]
        sizes += w[i] * abs(y[i])
        if code == 3:
            size = abs(sums) + ratio * sizes
            worth[k] += size * size / total * (1.0 + 4.0 * (ratio + 4.0 * UNIT))
        else:
            gain = sums * math.log(sums / total / mean) if sums > 0.0 else -math.inf
            worth[k] += gain + ratio * (abs(gain) + sums) if sums > 0.0 else gain


@compiled
def _add_class_worths(order: Any, y: Any, w: Any, n_classes: Any, code: Any, worth: Any, weight: Any) -> None:
    counts, total = np.zeros(n_classes), 0.0
    for k in range(len(order)):
        i = order[k]
        total += w[i]
        weight[k] = total
        counts[int(y[i])] += w[i]
        inside = largest = 0.0
        if code == 0:
            for c in range(n_classes):
                inside += counts[c] * (total - counts[c])
            worth[k] -= inside / total
            continue
        for count in counts:
            if code == 1 and count > 0.0:
                inside -= count * math.log2(count / total)
            largest = max(largest, count)
        worth[k] -= inside if code == 1 else total - largest


@compiled
def best_thresholds(table: Any, levels: Any, starts: Any, targets: Any, ratios: Any, rows: Any, weight: Any) -> Any:
    """Return the largest gain of a cut between different levels of a column at each node.

    Columns of the rows are the lines of ``table``; the rows of node t are those from ``starts[t]`` to ``starts[t + 1]``.
    ``targets.mean`` has one line per node.
    """
    best = np.empty(len(starts) - 1)
    for t in range(len(best)):
        a, b = starts[t], starts[t + 1]
        y, w, mean = targets.y[:, a:b].copy(), targets.w[a:b], targets.mean[t]
        own = Targets(y, w, targets.n_classes, targets.code, ratios[t], mean)
        best[t] = _best_threshold(table[:, a:b], levels[:, a:b], own, rows, weight)
    return best


@compiled
def _best_threshold(table: Any, levels: Any, targets: Any, rows: Any, weight: Any) -> Any:
    """Return the largest gain at one node; missing values may go to either side."""
    best, n, room = -math.inf, table.shape[1], 1.0 + 2.0 * targets.ratio
    order, forth, back = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    left, left_weight, right, right_weight = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for j in range(len(table)):
        known = _sort_known(table[j], order)
        for first in range(2 if known < n else 1):  # missing values last, then first
            ahead = n - known if first else 0
            for k in range(n):
                forth[k] = order[(k + known) % n] if first else order[k]
                back[n - 1 - k] = forth[k]
            _set_worths(forth, targets, left, left_weight)
            _set_worths(back, targets, right, right_weight)
            for k in range(1, known + 1):
                here = k + ahead
                if here < rows or n - here < rows or n == here:
                    continue
                apart = k < known and levels[j, order[k]] > levels[j, order[k - 1]]
                if apart or (k == known and not first):
                    heavy = left_weight[here - 1] * room >= weight
                    if heavy and right_weight[n - here - 1] * room >= weight:
                        best = max(best, left[here - 1] + right[n - here - 1])
    return best


@compiled
def _sort_known(values: Any, order: Any) -> Any:
    """Write the rows in ascending order of ``values`` to ``order``, missing ones last; return the number of the others."""
    n, known = len(values), 0
    for value in values:
        known += value == value
    if known == n:
        copy_into(order, ascending(values))
        return known
    present, places, last = np.empty(known), np.empty(known, dtype=np.int64), n
    known = 0
    for i in range(n):
        if values[i] == values[i]:
            present[known], places[known] = values[i], i
            known += 1
    ranks = ascending(present)
    for k in range(known):
        order[k] = places[ranks[k]]
    for i in range(n - 1, -1, -1):
        if values[i] != values[i]:
            last -= 1
            order[last] = i
    return known
