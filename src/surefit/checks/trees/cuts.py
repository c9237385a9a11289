r"""The best cut of a node by enumeration, including rounding errors.

For squared errors and centered targets a split lowers the total impurity by :math:`\sum_c s_c^2 / w_c` up to a
constant, with the sum :math:`s_c` and weight :math:`w_c` of each side. The error of a sum of n terms is at most
:math:`\gamma_n \sum |w y|`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.trees.impurity import counts_radius, of_counts, prefix_distances, weighted_median
from surefit.checks.trees.nodes import Rows, whole_weights
from surefit.core.jit import compiled

Places = np.ndarray | slice  # rows of a node, by their indices or as a range
#: Criteria of the compiled loop, by their index.
CODES = ("gini", "entropy", "misclassification", "squared_error", "poisson")


class Limits(NamedTuple):
    """Requirements on both sides of a cut, and the allowed thresholds (None: all)."""

    rows: int
    weight: float
    edges: list[np.ndarray] | None


class Targets(NamedTuple):
    """Data of the rows of a node for the compiled loops; ``code`` is the index of the criterion in ``CODES``."""

    y: np.ndarray  # (outputs, n)
    w: np.ndarray
    n_classes: np.ndarray  # of each output, 0 for numbers
    code: int
    ratio: float
    mean: np.ndarray  # of each output


class Node:
    """Rows of a node, for which the gain of every cut can be evaluated as a sum over the outputs.

    ``whole`` means that sums of the weights of the sample are known to be exact.
    """

    def __init__(self, sample: Rows, mine: np.ndarray, criterion: str, whole: bool = False) -> None:
        self.w, self.criterion, self.n = sample.w[mine], criterion, len(mine)
        self.parts = [Output(part, mine, self.w, criterion, whole) for part, _ in sample.outputs()]
        self.ratio = self.parts[0].ratio

    @property
    def doubt(self) -> float:
        """Bound on the rounding that ``gain`` and ``best`` do not include, with that of sums over the outputs."""
        k = len(self.parts)
        sums = 8 * gamma(k + 2) * sum(part.size for part in self.parts) if k > 1 else 0.0
        return sum(part.doubt for part in self.parts) + sums

    def gain(self, groups: Sequence[Places]) -> tuple[float, float]:
        """Return lower and upper bounds on the gain of a split into groups of indices."""
        found = [part.gain(groups) for part in self.parts]
        return sum(low for low, _ in found), sum(high for _, high in found)

    def best(self, order: np.ndarray, places: np.ndarray, limits: Limits) -> float:
        """Return an upper bound on the largest gain of a cut after ``places`` in ``order``; -inf if none is allowed."""
        size = limits.rows if limits.rows > 1 else 1
        places = places[(places >= size) & (self.n - places >= size)]
        if not len(places):
            return -np.inf
        (first, left), (second, right) = self._prefixes(order), self._prefixes(order[::-1])
        other = self.n - places - 1
        gains, room = first[places - 1] + second[other], 1 + 2 * self.ratio
        allowed = (left[places - 1] * room >= limits.weight) & (right[other] * room >= limits.weight)
        return float(np.max(gains[allowed], initial=-np.inf))

    def _prefixes(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return upper bounds on the contributions of the first 1, 2, ... rows in ``order``, and their weights."""
        if self.criterion == "absolute_error":
            w = self.w[order]
            return -np.sum([part.distances(part.y[order], w) for part in self.parts], axis=0), np.cumsum(w)
        return _prefix_worths(np.ascontiguousarray(order), self.targets)

    @property
    def targets(self) -> Targets:
        """The rows in the form that compiled loops read."""
        y = np.array([part.y for part in self.parts], dtype=np.float64)
        classes = np.array([part.classes for part in self.parts])
        means = np.array([part.mean for part in self.parts])
        return Targets(y, self.w, classes, CODES.index(self.criterion), self.ratio, means)


class Worth:
    """Contribution of each side of a cut to the decrease of the impurity, from sums over its rows."""

    criterion: str
    classes: int
    ratio: float  # relative rounding of a sum
    mean: float  # of the targets of the node, for the Poisson deviance

    def worth(self, sides: Any, sign: int) -> np.ndarray:
        """Return lower (-1) or upper (1) bounds on the contributions of sides with these sums."""
        if self.classes:
            return -of_counts(sides, self.criterion)
        weight, total = sides[0], sides[1]
        if self.criterion == "absolute_error":
            return -total
        if self.criterion == "squared_error":
            size = np.maximum(np.abs(total) + sign * self.ratio * sides[2], 0.0)
            return size**2 / weight * (1 + sign * 4 * (self.ratio + 4 * UNIT))
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(total > 0, total * np.log(total / weight / self.mean), 0.0)
        return worth + sign * self.ratio * (np.abs(worth) + total)


class Output(Worth):
    """One target of the rows of a node.

    ``gain`` returns lower and upper bounds on the part of the decrease that depends on the cut. ``doubt`` bounds the
    rounding that they do not include, ``size`` the contributions of both sides of a cut.
    """

    def __init__(self, sample: Rows, mine: np.ndarray, w: np.ndarray, criterion: str, whole: bool) -> None:
        self.w, self.criterion, self.classes, self.n = w, criterion, sample.n_classes, len(mine)
        y = sample.y[mine]
        self.ratio = gamma(2 * self.n + 8)
        self.total, self.mean = float(w.sum()), 0.0
        if self.classes:
            self.y = np.asarray(y, dtype=np.int64)
            self.doubt = 3 * counts_radius(whole or whole_weights(w), self.classes, self.n) * self.total
            self.size = self.total * (1 + math.log2(self.classes))
            return
        if criterion == "absolute_error":
            self.y = y - weighted_median(y, self.w)
            self.doubt = 0.0  # increases with the updates of the heaps
            self.size = 2 * float(self.w @ np.abs(self.y))
        elif criterion == "squared_error":
            self.y = y - float(self.w @ (y - y[0]) / self.total + y[0])
            # The constant S^2 / W of the centered node is at most gamma^2 times its sum of squares.
            left_over = float(self.w @ self.y)
            self.doubt = 4 * (left_over**2 + (self.ratio * float(self.w @ np.abs(self.y))) ** 2) / self.total
            self.size = 2 * float(self.w @ self.y**2)  # by the Cauchy-Schwarz inequality
        else:
            self.y = y
            self.mean = float(self.w @ y) / self.total
            self.doubt = gamma(16 * self.n + 64) * float(self.w @ y)
            # x log x >= -1 / e below; means are at most the largest target above
            self.size = 2 * float(self.w @ y) * max(1.0, math.log(float(y.max()) / self.mean) if self.mean > 0 else 0.0)

    def gain(self, groups: Sequence[Places]) -> tuple[float, float]:
        """Return lower and upper bounds on the gain of a split into groups of indices."""
        parts = np.array([self._side(places) for places in groups]).T
        low = float(self.worth(parts, -1).sum())
        return low, low if self.classes else float(self.worth(parts, 1).sum())

    def _side(self, places: Places) -> Any:
        """Return the sums over the rows at ``places``."""
        y, w = self.y[places], self.w[places]
        if self.classes:
            return np.bincount(y, weights=w, minlength=self.classes)
        if self.criterion == "absolute_error":
            return w.sum(), self.distances(y, w)[-1]
        return w.sum(), w @ y, w @ np.abs(y)

    def distances(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the sums of distances from the median for all prefixes of the rows, and update ``doubt``."""
        distances, moves = prefix_distances(y, w)
        self.doubt = max(self.doubt, gamma(8 * moves + 32) * 8 * float(w @ np.abs(y)))
        return distances


@compiled
def _prefix_worths(order: Any, targets: Any) -> tuple[Any, Any]:
    """Sum upper bounds of ``Worth.worth`` over the outputs for the first 1, 2, ... rows; forbidden sides get -inf."""
    worth, weight = np.zeros(len(order)), np.empty(len(order))
    for o in range(len(targets.y)):
        _add_worths(order, targets.y[o], targets.n_classes[o], targets.mean[o], targets, worth, weight)
    return worth, weight


@compiled
def _add_worths(order: Any, y: Any, n_classes: Any, mean: Any, targets: Any, worth: Any, weight: Any) -> None:
    """Add the contributions of one output."""
    _, w, _, code, ratio, _ = targets
    counts = np.zeros(max(n_classes, 1))
    total = sums = sizes = 0.0
    for k in range(len(order)):
        i = order[k]
        total += w[i]
        weight[k] = total
        if n_classes > 0:
            counts[int(y[i])] += w[i]
            inside = largest = 0.0
            for count in counts:
                if code == 0:
                    inside += count * (total - count)
                elif code == 1 and count > 0.0:
                    inside -= count * math.log2(count / total)
                largest = max(largest, count)
            worth[k] -= inside / total if code == 0 else inside if code == 1 else total - largest
            continue
        sums += w[i] * y[i]
        sizes += w[i] * abs(y[i])
        if code == 3:
            size = abs(sums) + ratio * sizes
            worth[k] += size * size / total * (1.0 + 4.0 * (ratio + 4.0 * UNIT))
        else:
            gain = sums * math.log(sums / total / mean) if sums > 0.0 else -math.inf
            worth[k] += gain + ratio * (abs(gain) + sums) if sums > 0.0 else gain


@compiled
def _best_thresholds(orders: Any, levels: Any, present: Any, targets: Any, rows: Any, weight: Any) -> Any:
    """Return the largest gain of a cut between different levels of a column; missing values may go to either side."""
    best, n, room = -math.inf, orders.shape[1], 1.0 + 2.0 * targets.ratio
    for j in range(len(orders)):
        known = present[j]
        for first in range(2 if known < n else 1):  # missing values last, then first
            order = np.roll(orders[j], n - known) if first else orders[j]
            ahead = n - known if first else 0
            left, left_weight = _prefix_worths(order, targets)
            right, right_weight = _prefix_worths(order[::-1].copy(), targets)
            for k in range(1, known + 1):
                here = k + ahead
                if here < rows or n - here < rows or n == here:
                    continue
                if (k < known and levels[j, k] > levels[j, k - 1]) or (k == known and not first):
                    heavy = left_weight[here - 1] * room >= weight
                    if heavy and right_weight[n - here - 1] * room >= weight:
                        best = max(best, left[here - 1] + right[n - here - 1])
    return best


def best_cut(node: Node, X: np.ndarray, columns: list[int], limits: Limits) -> float:
    """Return the largest gain of a threshold on one of ``columns``; missing values may go to either side."""
    if not columns:
        return -np.inf
    table = np.ascontiguousarray(X.T if len(columns) == X.shape[1] else X.T[columns], dtype=np.float64)
    orders = np.argsort(table, axis=1, kind="stable")  # missing values last
    levels = table[np.arange(len(table))[:, None], orders]
    present = (levels == levels).sum(axis=1)
    if limits.edges is not None:
        for k, j in enumerate(columns):
            levels[k, : present[k]] = np.searchsorted(limits.edges[j], levels[k, : present[k]], side="left")
    if node.criterion != "absolute_error":
        return _best_thresholds(orders, levels, present, node.targets, max(limits.rows, 1), float(limits.weight))
    best, n = -np.inf, table.shape[1]
    for order, at, known in zip(orders, levels, present.tolist(), strict=True):
        cut = np.flatnonzero(at[1:known] > at[: known - 1]) + 1  # number of rows that go left
        best = max(best, node.best(order, np.append(cut, known) if 0 < known < n else cut, limits))
        if known < n:  # missing values first: they go left
            best = max(best, node.best(np.roll(order, n - known), cut + n - known, limits))
    return best


def best_categories(node: Node, codes: np.ndarray, limits: Limits, multiway: bool) -> float:
    """Return the largest gain of a split by categories: one branch each, or a cut in order of their means."""
    known, group = np.unique(np.where(np.isnan(codes), -1.0, codes), return_inverse=True)
    if len(known) < 2:
        return -np.inf
    counts = np.bincount(group)
    weights = np.bincount(group, weights=node.w)
    if multiway:
        small = counts.min() < limits.rows or weights.min() * (1 + 2 * node.ratio) < limits.weight
        return -np.inf if small else node.gain([np.flatnonzero(group == g) for g in range(len(known))])[1]
    best = -np.inf
    for key in _keys(node, group, weights):
        ranks = np.argsort(key, kind="stable")
        order = np.concatenate([np.flatnonzero(group == g) for g in ranks])
        best = max(best, node.best(order, np.cumsum(counts[ranks])[:-1], limits))
    return best


def _keys(node: Node, group: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    if node.criterion == "absolute_error":
        groups = [group == g for g in range(len(weights))]
        return [np.array([weighted_median(part.y[g], node.w[g]) for g in groups]) for part in node.parts]
    targets: list[np.ndarray] = []
    for part in node.parts:
        targets += [part.y == k for k in range(part.classes)] if part.classes > 2 else [part.y]
    return [np.bincount(group, weights=node.w * target) / weights for target in targets]
