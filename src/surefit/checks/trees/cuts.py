r"""The best cut of a node by enumeration, including rounding errors.

For squared errors and centered targets a split lowers the total impurity by :math:`\sum_c s_c^2 / w_c` up to a
constant, with the sum :math:`s_c` and weight :math:`w_c` of each side. The error of a sum of n terms is at most
:math:`\gamma_n \sum |w y|`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.trees.impurity import counts_radius, of_counts, prefix_distances, weighted_median
from surefit.checks.trees.nodes import Rows, whole_weights
from surefit.checks.trees.searches import CODES, Targets, best_thresholds, prefix_worths

Places = np.ndarray | slice  # rows of a node, by their indices or as a range


class Limits(NamedTuple):
    """Requirements on both sides of a cut, and the allowed thresholds (None: all)."""

    rows: int
    weight: float
    edges: list[np.ndarray] | None


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
        targets, _, ratios = targets_of([self])
        mean = targets.mean[0]
        return prefix_worths(np.ascontiguousarray(order), targets._replace(ratio=float(ratios[0]), mean=mean))


class Worth:
    """Contribution of each side of a cut to the decrease of the impurity, from sums over its rows."""

    criterion: str
    classes: int
    ratio: Any  # relative rounding of a sum; an array if the sides belong to several nodes
    mean: Any  # of the targets of the node, for the Poisson deviance

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
        parts = np.array([self.side(places) for places in groups]).T
        low = float(self.worth(parts, -1).sum())
        return low, low if self.classes else float(self.worth(parts, 1).sum())

    def side(self, places: Places) -> Any:
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


def gains_of(nodes: Sequence[Node], groups: Sequence[Sequence[Places]]) -> list[tuple[float, float]]:
    """Return lower and upper bounds on the gains of the splits of several nodes into groups of indices."""
    first, pairs = nodes[0].parts[0], list(zip(nodes, groups, strict=True))
    if len(nodes[0].parts) > 1 or first.criterion == "absolute_error" or any(len(own) != 2 for own in groups):
        return [node.gain(own) for node, own in pairs]
    sides = np.array([node.parts[0].side(places) for node, own in pairs for places in own]).T
    both = Worth()
    both.criterion, both.classes = first.criterion, first.classes
    both.ratio, both.mean = (
        np.repeat([getattr(node.parts[0], name) for node in nodes], 2) for name in ("ratio", "mean")
    )
    low, high = (both.worth(sides, sign).reshape(-1, 2).sum(axis=1).tolist() for sign in (-1, 1))
    return list(zip(low, high, strict=True))


def targets_of(nodes: Sequence[Node]) -> tuple[Targets, np.ndarray, np.ndarray]:
    """Return the rows of all nodes in turn, in the form that compiled loops read, their first rows, and their ratios."""
    outputs = range(len(nodes[0].parts))
    y = [np.concatenate([node.parts[o].y for node in nodes], dtype=np.float64) for o in outputs]
    w = nodes[0].w if len(nodes) == 1 else np.concatenate([node.w for node in nodes])
    classes = np.array([part.classes for part in nodes[0].parts])
    means = np.array([[part.mean for part in node.parts] for node in nodes])
    starts = np.array([0, *accumulate(node.n for node in nodes)])
    ratios = np.array([node.ratio for node in nodes])
    return Targets(np.array(y), w, classes, CODES.index(nodes[0].criterion), 0.0, means), starts, ratios


def best_cuts(nodes: Sequence[Node], X: np.ndarray, columns: list[int], limits: Limits) -> list[float]:
    """Return the largest gain of a threshold on one of ``columns`` at each node; ``X`` has the rows of all nodes in turn.

    Missing values may go to either side.
    """
    if not columns:
        return [-np.inf] * len(nodes)
    table, levels = columns_of(X, columns, limits)
    if nodes[0].criterion != "absolute_error":
        targets, starts, ratios = targets_of(nodes)
        size = max(limits.rows, 1)
        return best_thresholds(table, levels, starts, targets, ratios, size, float(limits.weight)).tolist()
    ends = list(accumulate(node.n for node in nodes))
    parts = [slice(end - node.n, end) for end, node in zip(ends, nodes, strict=True)]
    pairs = zip(nodes, parts, strict=True)
    return [_best_by_medians(node, table[:, part], levels[:, part], limits) for node, part in pairs]


def columns_of(X: np.ndarray, columns: Sequence[int], limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    """Return some columns as lines, and their levels: values between which a threshold is allowed are different."""
    table = np.ascontiguousarray(X.T if len(columns) == X.shape[1] else X.T[columns], dtype=np.float64)
    if limits.edges is None:
        return table, table
    places = [np.searchsorted(limits.edges[j], line, side="left") for j, line in zip(columns, table, strict=True)]
    return table, np.array(places, dtype=np.float64)


def _best_by_medians(node: Node, table: np.ndarray, levels: np.ndarray, limits: Limits) -> float:
    """Return the largest gain of a threshold for absolute errors; each line of ``table`` is a column of the rows."""
    orders = np.argsort(table, axis=1, kind="stable")  # missing values last
    present = (table == table).sum(axis=1)
    best, n = -np.inf, table.shape[1]
    for order, line, known in zip(orders, levels, present.tolist(), strict=True):
        at = line[order]
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
