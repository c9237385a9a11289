r"""Mini-batch k-means (Sculley 2010): centers move toward the means of small samples of the rows.

Rows of a batch are drawn with probability proportional to their weights, in an order that depends only on their
coordinates. A row of weight two and two equal rows therefore give the same batches for the same seed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.solvers.clustering.seeding import drawn

REASSIGN_EVERY = 10  # rows drawn per cluster between two reassignments of clusters with few rows
FEW_CLUSTERS = 32  # up to this many clusters, products with a dense matrix are faster


class Steps(NamedTuple):
    """Stopping rules and batch size."""

    batch_size: int
    most: int
    rows: float  # weight of all rows
    tolerance: float  # squared movement of the centers; zero: not used
    patience: int | None  # number of batches without a smaller average inertia after which to stop
    ratio: float  # fraction of the largest count below which a center is reassigned


class State(NamedTuple):
    """Centers, and the number of rows assigned to each so far."""

    centers: np.ndarray
    counts: np.ndarray


def run_batches(
    X: Any, weights: np.ndarray, order: np.ndarray, centers: np.ndarray, random: Any, steps: Steps, budget: Budget
) -> tuple[State, int, Reason]:
    """Run mini-batch steps; return the last state, the number of batches and the stopping reason."""
    state = State(centers.copy(), np.zeros(len(centers)))
    rate = min(2.0 * steps.batch_size / (steps.rows + 1.0), 1.0)
    average = least = None
    idle, since = 0, 0
    cumulated = None if (weights == 1.0).all() else weights[order].cumsum()
    ones = np.ones(steps.batch_size)
    for step in range(1, steps.most + 1):
        rows = drawn(cumulated, order, random.random(steps.batch_size))
        before, B = state.centers, X[rows]
        state, inertia = one_batch(B, ones, state)
        since += len(rows)
        if steps.ratio > 0 and (since >= REASSIGN_EVERY * len(centers) or not state.counts.all()):
            state, since = reassign(B, state, steps.ratio, random), 0
        reason = budget.spent(step, inertia)
        if reason is not None:
            return state, step, reason
        if step == 1:  # the inertia of the initial centers is ignored
            continue
        average = inertia if average is None else (1.0 - rate) * average + rate * inertia
        if steps.tolerance > 0 and float(np.sum((state.centers - before) ** 2)) <= steps.tolerance:
            return state, step, Reason.CONVERGED
        idle = 0 if least is None or average < least else idle + 1
        least = average if least is None else min(least, average)
        if steps.patience is not None and idle >= steps.patience:
            return state, step, Reason.CONVERGED
    return state, steps.most, Reason.CONVERGED if steps.tolerance == 0 else Reason.MAX_ITER


def one_batch(B: Any, weights: np.ndarray, state: State) -> tuple[State, float]:
    """Move every center to the running mean of all rows assigned to it so far; return the mean inertia before the move."""
    labels, distances = _nearest(B, state.centers)
    new = np.bincount(labels, weights, minlength=len(state.centers))
    counts = state.counts + new
    sums = _members(labels, weights, len(state.centers), sparse.issparse(B)) @ B
    sums = sums.toarray() if sparse.issparse(sums) else sums
    moved = state.centers + (sums - new[:, None] * state.centers) / np.where(counts > 0, counts, 1.0)[:, None]
    total = float(weights.sum())
    return State(moved, counts), float(weights @ distances) / total if total else 0.0


def _members(labels: np.ndarray, weights: np.ndarray, k: int, as_sparse: bool) -> Any:
    """Return the matrix of row weights by cluster, shape (k, n); it is dense for few clusters, for which products are then faster."""
    if as_sparse or k > FEW_CLUSTERS:
        return sparse.csr_array((weights, (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    return (labels == np.arange(k)[:, None]) * weights


def reassign(B: Any, state: State, ratio: float, random: Any) -> State:
    """Replace centers with few rows by random rows of the batch, using at most half of them."""
    few = np.flatnonzero(state.counts < ratio * state.counts.max())
    if not len(few):
        return state
    few = few[np.argsort(state.counts[few], kind="stable")][: B.shape[0] // 2]
    if len(few) == len(state.counts):
        return state
    rows = B[random.permutation(B.shape[0])[: len(few)]]
    centers, counts = state.centers.copy(), state.counts.copy()
    centers[few] = rows.toarray() if sparse.issparse(rows) else rows
    counts[few] = np.delete(counts, few).min()
    return State(centers, counts)


def batch_inertia(B: Any, centers: np.ndarray) -> float:
    """Return the sum of squared distances of some rows to their nearest centers."""
    return float(_nearest(B, centers)[1].sum())


def _nearest(B: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest center of each row of a batch, and the squared distances; dense rows are shifted by the mean center."""
    if sparse.issparse(B):
        squares = np.asarray(B.multiply(B).sum(axis=1)).ravel()
        table = -2.0 * np.asarray(B @ centers.T)
    else:
        shift = centers.mean(axis=0)
        B, centers = B - shift, centers - shift
        squares, table = np.einsum("ij,ij->i", B, B), -2.0 * (B @ centers.T)
    table += np.einsum("kj,kj->k", centers, centers)
    labels = np.argmin(table, axis=1)
    return labels, np.maximum(table[np.arange(len(labels)), labels] + squares, 0.0)
