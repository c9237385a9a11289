r"""Single moves after Lloyd's algorithm (Hartigan): move a row to another cluster if this lowers the objective.

Moving a row of weight w from cluster a to b, with both means updated, changes :math:`J` by :math:`w n_b d_b^2 / (n_b + w) - w n_a d_a^2 /
(n_a - w)`. If no move lowers :math:`J`, every row is assigned to its nearest mean, so the result is also a fixed point
of Lloyd's algorithm; the converse is false. Equal rows move together, in lexicographic order, so that the result
depends neither on the order of the rows nor on whether a row is repeated or weighted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Reason
from surefit.core.distinct import unique_rows
from surefit.core.jit import compiled
from surefit.solvers.clustering.assignments import fresh_sums
from surefit.solvers.clustering.lloyd import Partition, lloyd
from surefit.solvers.clustering.points import DensePoints, Summary, add_point, coordinates_of, squared_distance

MOST_ROUNDS = 100
MOST_WORK = 10_000_000  # limit on passes times rows times clusters times columns, before Lloyd's algorithm runs again


def with_single_moves(
    points: Any, weights: np.ndarray, summary: Summary, found: Partition, **options: Any
) -> Partition:
    """Alternate single moves and Lloyd's algorithm until no single move improves the partition or the budget is spent."""
    budget, groups = options["budget"], None
    for _ in range(MOST_ROUNDS):
        if found.reason is not Reason.CONVERGED or budget.stopped is not None:
            break
        if groups is None:
            groups = _distinct(points, weights)
        labels, d = found.labels[groups.first], len(points.shift)
        totals = fresh_sums(groups.points, groups.weights, labels, len(found.sizes))
        sums, sizes = totals[:, :d].copy(), totals[:, d].copy()
        passes = max(1, MOST_WORK // (labels.size * sums.size))
        if not _move_until_none(groups, labels, sums, sizes, points.shift, passes):
            break
        filled = sizes > 0
        centers = found.centers.copy()
        centers[filled] = sums[filled] / sizes[filled, None] + points.shift
        after = lloyd(points, weights, summary, centers, **options)
        if not after.inertia < found.inertia:
            break
        history = np.vstack([found.history, after.history])
        found = after._replace(
            n_iter=found.n_iter + after.n_iter, n_reseeded=found.n_reseeded + after.n_reseeded, history=history
        )
    return found


def _move_until_none(groups: Groups, labels, sums, sizes, shift, passes: int) -> bool:
    """Repeat passes over the rows until no row moves, at most ``passes`` times; return whether any row moved."""
    for done in range(passes):
        if _move_rows(groups.points, groups.weights, labels, sums, sizes, shift) == 0:
            return done > 0
    return True


class Groups(NamedTuple):
    """Distinct rows in lexicographic order."""

    points: DensePoints
    weights: np.ndarray  # total weight of equal rows
    first: np.ndarray  # index of one row of each group


def _distinct(points: Any, weights: np.ndarray) -> Groups:
    rows = np.flatnonzero(weights > 0)
    values = coordinates_of(points, rows)
    first = np.argsort(values[:, 0], kind="stable")
    distinct, total = values[first], weights[rows[first]]
    if not np.all(distinct[1:, 0] > distinct[:-1, 0]):  # otherwise, the first column determines the order
        distinct, first, inverse = unique_rows(values, return_index=True, return_inverse=True)
        total = np.bincount(np.ravel(inverse), weights=weights[rows], minlength=len(distinct))
    return Groups(DensePoints(np.ascontiguousarray(distinct, dtype=np.float64), points.shift, 1.0), total, rows[first])


@compiled
def _move_rows(points, weights, labels, sums, sizes, shift):
    """Move each row once to the best cluster; return the number of moves."""
    k, d = sums.shape
    means, norms = np.empty((k, d)), np.empty(k)
    for c in range(k):
        _place(c, sums, sizes, shift, means, norms)
    moved = 0
    for i in range(len(weights)):
        a, w = np.int64(labels[i]), weights[i]
        if w <= 0.0 or sizes[a] <= w * (1.0 + 1e-12):
            continue
        own = squared_distance(points, i, means[a], norms[a])
        leaving = w * sizes[a] / (sizes[a] - w) * own
        best, target = leaving * (1.0 - 1e-10), np.int64(-1)  # a literal would compile another _place
        for c in range(k):
            if c != a:
                cost = (
                    w * sizes[c] / (sizes[c] + w) * squared_distance(points, i, means[c], norms[c])
                    if sizes[c] > 0
                    else 0.0
                )
                if cost < best:
                    best, target = cost, np.int64(c)
        if target >= 0:
            add_point(points, i, -w, sums[a])
            add_point(points, i, w, sums[target])
            sizes[a] -= w
            sizes[target] += w
            labels[i] = target
            moved += 1
            _place(a, sums, sizes, shift, means, norms)
            _place(target, sums, sizes, shift, means, norms)
    return moved


@compiled
def _place(c, sums, sizes, shift, means, norms):
    total = 0.0
    for j in range(sums.shape[1]):
        value = shift[j] + (sums[c, j] / sizes[c] if sizes[c] > 0 else 0.0)
        means[c, j] = value
        total += value * value
    norms[c] = total
