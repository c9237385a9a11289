r"""Mini-batch k-means (Sculley 2010): centers move toward the means of small samples of the rows.

Rows of a batch are drawn with probability proportional to their weights, in an order that depends only on their
coordinates. A row of weight two and two equal rows therefore give the same batches for the same seed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.solvers.clustering.nearest import TILE, Centers, screen
from surefit.solvers.clustering.points import add_point, coordinates_of, room, squared_distance
from surefit.solvers.clustering.seeding import canonical_order, drawn

TIE = 1e-11  # relative difference of squared distances that rounding may cause
REASSIGN_EVERY = 10  # rows drawn per cluster between two reassignments of clusters with few rows


class Steps(NamedTuple):
    """Stopping rules and batch size."""

    batch_size: int
    most: int
    rows: float  # weight of all rows
    tolerance: float  # squared movement of the centers; zero: not used
    patience: int | None  # number of batches without a smaller average inertia after which to stop
    ratio: float  # fraction of the largest count below which a center is reassigned


class State(NamedTuple):
    """Centers, and the number of rows assigned to each so far; every batch changes both in place."""

    centers: np.ndarray
    counts: np.ndarray


class Draws(NamedTuple):
    """The rows as points, and how to draw them by their weights."""

    points: Any
    weights: np.ndarray
    cumulated: np.ndarray | None  # weights in the order of the draws, summed; None: equal weights
    order: np.ndarray
    random: Any

    def rows(self, size: int) -> np.ndarray:
        """Return the indices of ``size`` rows."""
        return drawn(self.cumulated, self.order, self.random.random(size))


def draws_of(points: Any, weights: np.ndarray, random: Any) -> Draws:
    """Return draws that do not depend on the order of the rows."""
    order = canonical_order(points, len(weights))
    return Draws(points, weights, None if (weights == 1.0).all() else weights[order].cumsum(), order, random)


def run_batches(draws: Draws, state: State, steps: Steps, budget: Budget) -> tuple[int, Reason]:
    """Run mini-batch steps on ``state``; return the number of batches and the stopping reason."""
    rate = min(2.0 * steps.batch_size / (steps.rows + 1.0), 1.0)
    average = least = None
    idle, since = 0, 0
    ones = np.ones(steps.batch_size)
    for step in range(1, steps.most + 1):
        rows = draws.rows(steps.batch_size)
        before = state.centers.copy() if steps.tolerance > 0 else state.centers
        inertia = one_batch(draws.points, rows, ones, state)
        since += len(rows)
        if steps.ratio > 0 and (since >= REASSIGN_EVERY * len(state.counts) or not state.counts.all()):
            since = 0
            if state.counts.min() < steps.ratio * state.counts.max():
                reassign(draws, rows, state, steps.ratio)
        reason = budget.spent(step, inertia)
        if reason is not None:
            return step, reason
        if step == 1:  # the inertia of the initial centers is ignored
            continue
        average = inertia if average is None else (1.0 - rate) * average + rate * inertia
        if steps.tolerance > 0 and float(np.sum((state.centers - before) ** 2)) <= steps.tolerance:
            return step, Reason.CONVERGED
        idle = 0 if least is None or average < least else idle + 1
        least = average if least is None else min(least, average)
        if steps.patience is not None and idle >= steps.patience:
            return step, Reason.CONVERGED
    return steps.most, Reason.CONVERGED if steps.tolerance == 0 else Reason.MAX_ITER


def one_batch(points: Any, rows: np.ndarray, weights: np.ndarray, state: State) -> float:
    """Move every center to the running mean of all rows assigned to it so far; return the mean inertia before the move."""
    total = float(weights.sum())
    inertia = _move_centers(points, rows, weights, state.centers, state.counts)
    return inertia / total if total else 0.0


@compiled(relaxed=True)
def _move_centers(points, rows, weights, values, counts):
    k, d = values.shape
    scaled, halves, sums, new = np.empty((k, d)), np.zeros(k), np.zeros((k, d)), np.zeros(k)
    for c in range(k):
        for j in range(d):
            scaled[c, j] = (values[c, j] - points.shift[j]) * points.scale
            halves[c] += 0.5 * scaled[c, j] * scaled[c, j]
    centers = Centers(values, halves, scaled, np.ascontiguousarray(scaled.T), halves, 0.0, 0.0)
    scratch = np.empty((TILE, room(points)))
    inertia, longest = 0.0, 2.0 * halves.max()
    for tile in range(0, len(rows), TILE):
        size = min(len(rows) - tile, TILE)
        norms, best, second, index = screen(points, centers, rows, tile, size, scratch)
        for r in range(size):
            nearest, weight = np.int64(index[r]), weights[tile + r]
            if second[r] - best[r] <= TIE * (norms[r] + longest):
                nearest = _first_of_nearest(points, rows[tile + r], values)
            add_point(points, rows[tile + r], weight, sums[nearest])
            new[nearest] += weight
            inertia += weight * max(norms[r] + 2.0 * best[r], 0.0)
    for c in range(k):
        counts[c] += new[c]
        if counts[c] > 0.0:
            for j in range(d):
                values[c, j] += (sums[c, j] - new[c] * (values[c, j] - points.shift[j])) / counts[c]
    return inertia / (points.scale * points.scale)


@compiled(relaxed=True)
def _first_of_nearest(points, row, values):
    """Return the nearest center; of centers that are equally near within rounding, the first, so that storage has no effect."""
    squares, least, largest = np.empty(len(values)), np.inf, 0.0
    for c in range(len(values)):
        norm = 0.0
        for j in range(values.shape[1]):
            norm += values[c, j] * values[c, j]
        squares[c] = squared_distance(points, row, values[c], norm)
        least, largest = min(least, squares[c]), max(largest, norm)
    c = 0
    while squares[c] > least + TIE * (least + largest):
        c += 1
    return c


def reassign(draws: Draws, rows: np.ndarray, state: State, ratio: float) -> None:
    """Replace centers with few rows by random rows of the batch, using at most half of them."""
    few = np.flatnonzero(state.counts < ratio * state.counts.max())
    few = few[np.argsort(state.counts[few], kind="stable")][: len(rows) // 2]
    chosen = rows[draws.random.permutation(len(rows))[: len(few)]]
    state.centers[few] = coordinates_of(draws.points, chosen)
    state.counts[few] = np.delete(state.counts, few).min()
