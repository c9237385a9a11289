"""Impurities by their definitions, and the best cut of a node by looking at all of them; shares nothing with the growers."""

from __future__ import annotations

import heapq

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.trees_nodes import Rows


def total_impurity(rows: Rows, mine: np.ndarray, criterion: str) -> float:
    """Weight times impurity of the rows ``mine``."""
    y, w = rows.y[mine], rows.w[mine]
    if not len(mine):
        return 0.0
    if rows.n_classes:
        counts = np.bincount(y, weights=w, minlength=rows.n_classes)
        return float(of_counts(counts[:, None], criterion)[0])
    if criterion == "absolute_error":
        return float(w @ np.abs(y - weighted_median(y, w)))
    mean = float(w @ y / w.sum())
    if criterion == "squared_error":
        off = y - mean  # the mean is rounded too, by more than they differ if targets are far from zero
        return float(w @ off**2) - float(w @ off) ** 2 / float(w.sum())
    positive = y > 0
    return float(w[positive] @ (y[positive] * np.log(y[positive] / mean)))


def counts_margin(rows: Rows) -> float:
    """Return a bound on the rounding error of a few impurities of class counts, per unit of weight; inf if sums are not exact.

    Sums of whole numbers below 2^53 are exact; what follows are some operations for each class, each off by at most a few units in the
    last place (two for a logarithm) of a number that is at most the weight.
    """
    exact = rows.n_classes > 0 and np.all(rows.w == np.floor(rows.w)) and float(rows.w.sum()) ** 2 < 2.0**53
    return 32 * (rows.n_classes + 4) * UNIT if exact else np.inf


def of_counts(counts: np.ndarray, criterion: str) -> np.ndarray:
    """Total impurity of columns of class weights (n_classes, k)."""
    total = counts.sum(axis=0)
    safe = np.where(total > 0, total, 1.0)
    if criterion == "gini":
        # w (1 - sum p^2) as a sum of products of different classes: no cancellation
        return (counts * (total - counts)).sum(axis=0) / safe
    if criterion == "entropy":
        share = np.where(counts > 0, counts / safe, 1.0)
        return -(counts * np.log2(share)).sum(axis=0)
    return total - counts.max(axis=0)


def weighted_median(y: np.ndarray, w: np.ndarray) -> float:
    """Return the middle of the interval of minimisers of the weighted sum of distances."""
    order = np.argsort(y, kind="stable")
    y, below = y[order], np.cumsum(w[order])
    k = int(np.searchsorted(below, below[-1] / 2))
    exact = below[k] == below[-1] / 2 and k + 1 < len(y)
    return float(y[k] / 2 + y[k + 1] / 2) if exact else float(y[k])


def best_decrease(
    rows: Rows, mine: np.ndarray, columns: list[int], criterion: str, least_rows: int, least_weight: float, edges=None
) -> float:
    """Largest decrease of the total impurity by a threshold on one of ``columns``; -inf if no cut is allowed.

    ``edges``, one array a column, restricts the thresholds.
    """
    best = -np.inf
    whole = total_impurity(rows, mine, criterion)
    for j in columns:
        x = rows.X[mine, j]
        order = np.argsort(x, kind="stable")  # missing values last
        x, ordered = x[order], mine[order]
        present = int(np.count_nonzero(~np.isnan(x)))
        n = len(x)
        if present == 0:
            continue
        cut = np.flatnonzero(x[1:present] > x[: present - 1]) + 1  # rows that go left
        if edges is not None:
            cell = np.searchsorted(edges[j], x[:present], side="left")  # x <= edge goes left
            cut = np.flatnonzero(cell[1:] > cell[:-1]) + 1
        sides = [(ordered, np.append(cut, present) if present < n else cut, 0)]
        if present < n:  # missing values first: they go left
            sides.append((np.concatenate([ordered[present:], ordered[:present]]), cut, n - present))
        for arranged, places, extra in sides:
            places = places + extra
            places = places[(places >= max(least_rows, 1)) & (n - places >= max(least_rows, 1))]
            if len(places):
                best = max(best, whole - _least_inside(rows, arranged, places, criterion, least_weight))
    return best


def _least_inside(rows: Rows, arranged: np.ndarray, places: np.ndarray, criterion: str, least_weight: float) -> float:
    """Least total impurity of the two sides over the cuts ``places`` of rows in a given arrangement."""
    y, w = rows.y[arranged], rows.w[arranged]
    weight = np.cumsum(w)
    left = weight[places - 1]
    allowed = (left >= least_weight) & (weight[-1] - left >= least_weight)
    if rows.n_classes:
        below = np.stack([np.cumsum(np.where(y == k, w, 0.0)) for k in range(rows.n_classes)])
        inside = of_counts(below[:, places - 1], criterion) + of_counts(below[:, -1:] - below[:, places - 1], criterion)
    elif criterion == "absolute_error":
        inside = prefix_distances(y, w)[places - 1] + prefix_distances(y[::-1], w[::-1])[len(y) - places - 1]
    elif criterion == "squared_error":
        centre = float(w @ y / weight[-1])
        shift = np.cumsum(w * (y - centre))
        square = float(w @ (y - centre) ** 2)
        first, second = shift[places - 1], shift[-1] - shift[places - 1]
        inside = square - first**2 / left - second**2 / (weight[-1] - left)
    else:
        total = np.cumsum(w * y)
        first, second = total[places - 1], total[-1] - total[places - 1]
        allowed &= (first > 0) & (second > 0)
        mean = total[-1] / weight[-1]
        whole = total_impurity(rows, arranged, criterion)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = first * np.log(first / left / mean) + second * np.log(second / (weight[-1] - left) / mean)
        inside = whole - gain
    return float(np.min(inside[allowed], initial=np.inf))


def prefix_distances(y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Sum of weighted distances from a median, for every initial part of (y, w): two heaps that share the weight in halves."""
    low: list[tuple[float, float]] = []  # largest first
    high: list[tuple[float, float]] = []
    low_weight = low_sum = high_weight = high_sum = 0.0
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
            high_weight, high_sum = high_weight - each, high_sum - each * v
        while low and low_weight - low[0][1] >= high_weight + low[0][1]:
            v, each = heapq.heappop(low)
            heapq.heappush(high, (-v, each))
            low_weight, low_sum = low_weight - each, low_sum + each * v
            high_weight, high_sum = high_weight + each, high_sum - each * v
        median = -low[0][0]
        found[i] = median * low_weight - low_sum + high_sum - median * high_weight
    return found


def best_category_decrease(
    rows: Rows, mine: np.ndarray, j: int, criterion: str, least_rows: int, least_weight: float, multiway: bool
) -> float:
    """Largest decrease by a categorical column: one branch a category, or the best cut of categories in order of their means."""
    code = np.where(np.isnan(rows.X[mine, j]), -1.0, rows.X[mine, j])
    groups = [mine[code == c] for c in np.unique(code)]
    if len(groups) < 2:
        return -np.inf
    whole = total_impurity(rows, mine, criterion)
    if multiway:
        small = any(len(g) < least_rows or rows.w[g].sum() < least_weight for g in groups)
        return -np.inf if small else whole - sum(total_impurity(rows, g, criterion) for g in groups)
    best = -np.inf
    for key in _keys(rows, groups, criterion):
        order = np.argsort(key, kind="stable")
        arranged = np.concatenate([groups[g] for g in order])
        places = np.cumsum([len(groups[g]) for g in order])[:-1]
        places = places[(places >= least_rows) & (len(mine) - places >= least_rows)]
        if len(places):
            best = max(best, whole - _least_inside(rows, arranged, places, criterion, least_weight))
    return best


def _keys(rows: Rows, groups: list[np.ndarray], criterion: str) -> list[np.ndarray]:
    if criterion == "absolute_error":
        return [np.array([weighted_median(rows.y[g], rows.w[g]) for g in groups])]
    targets = [rows.y == k for k in range(rows.n_classes)] if rows.n_classes > 2 else [rows.y]
    return [np.array([rows.w[g] @ t[g] / rows.w[g].sum() for g in groups]) for t in targets]
