r"""Impurities of all nodes of a tree from their definitions, with bounds on the rounding.

The total impurity of a node is its weight times its impurity. For squared errors a node's total is that of its children
plus :math:`\sum_c W_c (\bar y_c - \bar y)^2`, so totals of large nodes are sums of small positive terms without
cancellation.
"""

from __future__ import annotations

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.trees.nodes import LEAF, Routed, added_up, by_node
from surefit.checks.trees.spread import Shape


class Totals(NamedTuple):
    """Weight, total impurity and its decrease by the split, for every node."""

    weight: np.ndarray
    total: Enclosed
    decrease: Enclosed  # zero at leaves


def totals(shape: Shape, criterion: str) -> Totals:
    """Return the impurities of all nodes, averaged over the outputs."""
    found = [_of_one(part, criterion) for part, _ in shape.outputs()]
    if len(found) == 1:
        return found[0]
    return Totals(found[0].weight, _mean([each.total for each in found]), _mean([each.decrease for each in found]))


def _mean(parts: list[Enclosed]) -> Enclosed:
    k, mids, radii = len(parts), np.array([part.mid for part in parts]), np.array([part.rad for part in parts])
    ratio = gamma(k + 2)
    return Enclosed(mids.mean(axis=0), (radii.mean(axis=0) + ratio * np.abs(mids).mean(axis=0)) * (1 + 4 * ratio))


def _of_one(shape: Shape, criterion: str) -> Totals:
    classes, m = shape.sample.n_classes, len(shape.parent)
    if classes:
        weight, *lines = shape.at_nodes(weight_and_classes, classes)
        counts = np.array(lines)
        radius = counts_radius(shape.whole, classes, shape.n_rows + m)
        total = Enclosed(of_counts(counts, criterion), weight * radius)
        return Totals(weight, total, by_difference(shape, total))
    if criterion == "absolute_error":
        assert isinstance(shape, Routed)
        total = _distances(shape)
        return Totals(shape.at_nodes(weight_values)[0], total, by_difference(shape, total))
    return _of_sums(shape, criterion)


def weight_values(y: np.ndarray, w: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the weights of the rows."""
    return (w,)


def weight_and_classes(y: np.ndarray, w: np.ndarray, kept: np.ndarray, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return the weight of each row, and its weight in each class."""
    return w, *(w * (y == k) for k in range(n_classes))


def moment_values(y: np.ndarray, w: np.ndarray, kept: np.ndarray, center: float) -> tuple[np.ndarray, ...]:
    """Return weights, weighted differences from the center, and their absolute values."""
    off = y - center
    return w, w * off, w * np.abs(off)


def square_values(y: np.ndarray, w: np.ndarray, kept: np.ndarray, center: float, mean: np.ndarray) -> tuple[np.ndarray]:
    """Return the weighted squared distances from the mean of the node."""
    return (w * ((y - center) - mean[kept]) ** 2,)


def deviance_values(y: np.ndarray, w: np.ndarray, kept: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the terms of the Poisson deviance, and bounds on their sizes for rounding."""
    positive, mine = y > 0, mean[kept]
    share = np.where(positive, y, 1.0) / np.where(mine > 0, mine, 1.0)
    return np.where(positive, w * y * np.log(share), 0.0), w * y * (np.abs(np.log(share)) + 1)


def by_difference(shape: Any, total: Enclosed) -> Enclosed:
    """Return the decrease of each split as the total of the node minus those of its children."""
    inner = shape.tree.kind != LEAF
    radii = total.rad[1:] * (1 + gamma(300)) + gamma(300) * np.abs(total.mid[1:])
    below, radius = by_node((total.mid[1:], radii), shape.parent[1:], len(inner))
    return Enclosed(
        np.where(inner, total.mid - below, 0.0), np.where(inner, total.rad + radius + 4 * UNIT * total.mid, 0)
    )


def _of_sums(shape: Shape, criterion: str) -> Totals:
    """Return totals of squared error or Poisson deviance from sums of targets (centered for squared error)."""
    n, m = shape.n_rows, len(shape.parent)
    center = shape.center if criterion == "squared_error" else 0.0
    ratio = gamma(n + m + 4)
    held, *sums = shape.own(moment_values, center)
    weight, moment, size = added_up(shape.parent, np.array([held, *sums]))
    mean = moment / weight
    error = ratio * size / weight * (1 + 4 * ratio)  # of each mean
    if criterion == "squared_error":
        (own,) = shape.own(square_values, center, mean)
        own_doubt = 4 * ratio * own + held * error**2  # the mean of a node minimizes its sum of squares
    else:
        own, sizes = shape.own(deviance_values, mean)
        own_doubt = 8 * ratio * sizes
    fall, spread = falls(shape.parent, weight, mean, error, ratio, criterion)
    total = added_up(shape.parent, own + fall)
    radius = added_up(shape.parent, own_doubt + spread) * (1 + 2 * ratio) + gamma(m + 4) * np.abs(total)
    return Totals(weight, Enclosed(total, radius), Enclosed(fall, spread * (1 + 2 * ratio) + gamma(300) * np.abs(fall)))


def falls(
    parent: np.ndarray, weight: np.ndarray, mean: np.ndarray, error: np.ndarray, ratio: float, criterion: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much the split of each node lowers squared errors or Poisson deviance, and the rounding in it.

    Means are known up to ``error``, sums up to ``ratio``, relatively.
    """
    up = np.maximum(parent, 0)
    if criterion == "squared_error":
        step, gap = mean - mean[up], error + error[up]
        jump = weight * step**2
        doubt = weight * (2 * np.abs(step) * gap + gap**2) + 4 * ratio * jump
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            jump = np.where(mean > 0, weight * mean * np.log(mean / mean[up]), 0.0)
        doubt = 8 * ratio * (np.abs(jump) + weight * mean)
    fall, spread = by_node((jump[1:], doubt[1:]), parent[1:], len(parent))
    return fall, spread


def _distances(shape: Routed) -> Enclosed:
    """Return the sums of distances from the median for every node."""
    total, radius = np.zeros(len(shape.parent)), np.zeros(len(shape.parent))
    for node in range(len(total)):
        mine = shape.of(node)
        if len(mine):
            y, w = shape.sample.y[mine], shape.sample.w[mine]
            total[node] = float(w @ np.abs(y - weighted_median(y, w)))
            radius[node] = gamma(4 * len(mine) + 16) * total[node]  # also if rounding of the weights changes the median
    return Enclosed(total, radius)


def counts_radius(whole: bool, n_classes: int, n: int) -> float:
    """Bound the rounding error of an impurity of class counts, per unit of weight.

    Sums of ``whole`` numbers are exact; others have a relative error of ``gamma(n)``. A few operations per class are
    added.
    """
    relative = 0.0 if whole else gamma(n + 2)
    return (2 * relative + 16 * (n_classes + 4) * UNIT) * (1 + math.log2(max(n_classes, 1)))


def of_counts(counts: np.ndarray, criterion: str) -> np.ndarray:
    """Return the total impurity of columns of class weights (n_classes, ...)."""
    total = counts.sum(axis=0)
    safe = np.where(total > 0, total, 1.0)
    if criterion == "gini":
        # w (1 - sum p^2) as a sum of products of different classes, without cancellation
        return (counts * (total - counts)).sum(axis=0) / safe
    if criterion == "entropy":
        share = np.where(counts > 0, counts / safe, 1.0)
        return -(counts * np.log2(share)).sum(axis=0)
    return total - counts.max(axis=0)


def weighted_median(y: np.ndarray, w: np.ndarray) -> float:
    """Return the midpoint of the interval of weighted medians."""
    order = np.argsort(y, kind="stable")
    y, below = y[order], np.cumsum(w[order])
    k = int(np.searchsorted(below, below[-1] / 2))
    exact = below[k] == below[-1] / 2 and k + 1 < len(y)
    return float(y[k] / 2 + y[k + 1] / 2) if exact else float(y[k])


def prefix_distances(y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the sums of distances from a median for every prefix of (y, w), and the number of running updates.

    Two heaps hold half of the weight each.
    """
    low: list[tuple[float, float]] = []  # largest first
    high: list[tuple[float, float]] = []
    low_weight = low_sum = high_weight = high_sum = 0.0
    moves = len(y)
    found = np.empty(len(y))
    for i, (value, weight) in enumerate(zip(y.tolist(), w.tolist(), strict=True)):
        if low and value > -low[0][0]:
            heapq.heappush(high, (value, weight))
            high_weight, high_sum = high_weight + weight, high_sum + weight * value
        else:
            heapq.heappush(low, (-value, weight))
            low_weight, low_sum = low_weight + weight, low_sum + weight * value
        while high and low_weight < high_weight:
            v, each = heapq.heappop(high)
            heapq.heappush(low, (-v, each))
            low_weight, low_sum = low_weight + each, low_sum + each * v
            high_weight, high_sum, moves = high_weight - each, high_sum - each * v, moves + 1
        while low and low_weight - low[0][1] >= high_weight + low[0][1]:
            v, each = heapq.heappop(low)
            heapq.heappush(high, (-v, each))
            low_weight, low_sum = low_weight - each, low_sum + each * v
            high_weight, high_sum, moves = high_weight + each, high_sum - each * v, moves + 1
        median = -low[0][0]
        found[i] = median * low_weight - low_sum + high_sum - median * high_weight
    return found, moves


def root_impurity(found: Totals) -> float:
    """Return a lower bound on the total impurity of the root, the unit of shortfalls."""
    return max(float(found.total.mid[0] - found.total.rad[0]), 0.0)
