"""Fitting of ``MiniBatchKMeans``: starts, batches, and the partition of all rows by the last centers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.clusters.k_means_training import READ, generator, labels_of, start_of
from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.threads import one_blas_thread
from surefit.core.validation import read_data, read_weights
from surefit.problems import pose
from surefit.solvers.clustering.assignments import own_distances
from surefit.solvers.clustering.mini_batch import Draws, State, Steps, draws_of, one_batch, run_batches
from surefit.solvers.clustering.points import Summary, read_points


def fit_mini_batch(estimator, X, sample_weight) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    X = read_data(estimator, X, **READ)
    given, weights = _weights(estimator, X, sample_weight)
    total = float(weights.sum())
    rows = max(1, round(total))
    size = min(int(estimator.batch_size), rows)
    reporter = progress_reporter(estimator, X, None)
    with Budget(None, estimator.max_time, reporter) as budget, one_blas_thread():
        points, summary = _points(estimator, X, weights)
        draws = draws_of(points, weights, generator(estimator.random_state))
        start = _best_start(estimator, X, draws, rows)
        tolerance = float(estimator.tol) * summary.scatter / (summary.total_weight * X.shape[1])
        steps = Steps(
            size,
            max(1, estimator.max_iter * rows // size),
            total,
            tolerance,
            estimator.max_no_improvement,
            estimator.reassignment_ratio,
        )
        state = State(start.copy(), np.zeros(len(start)))
        n_steps, reason = run_batches(draws, state, steps, budget)
    if reporter is not None:
        reporter.finish()
    estimator.n_steps_, estimator.n_iter_ = n_steps, math.ceil(n_steps * size / rows)
    _record(estimator, X, given, points, weights, state, summary, reason)
    return estimator


def update_mini_batch(estimator, X, sample_weight) -> Any:
    """Update the centers with the given rows as one batch; the first call draws centers. Returns the estimator."""
    first = not hasattr(estimator, "cluster_centers_")
    X = read_data(estimator, X, reset=first, **READ)
    given, weights = _weights(estimator, X, sample_weight)
    with one_blas_thread():
        points, summary = _points(estimator, X, weights)
        if first:
            _require_rows(estimator, X.shape[0])
            centers = start_of(estimator, X, points, weights, generator(estimator.random_state))
            state, estimator.n_steps_ = State(centers.copy(), np.zeros(len(centers))), 0
        else:
            state = State(np.array(estimator.cluster_centers_, dtype=np.float64), estimator._counts.copy())
        one_batch(points, np.arange(X.shape[0]), weights, state)
    estimator.n_steps_ += 1
    _record(estimator, X, given, points, weights, state, summary, Reason.CONVERGED)
    return estimator


def _weights(estimator, X, sample_weight) -> tuple[np.ndarray | None, np.ndarray]:
    given = read_weights(estimator, sample_weight, X.shape[0])
    return given, np.ones(X.shape[0]) if given is None else given.copy()


def _points(estimator, X, weights: np.ndarray) -> tuple[Any, Summary]:
    points, summary = read_points(X, weights, estimator.n_jobs)
    if not math.isfinite(summary.scatter):
        raise InvalidData(
            f"{type(estimator).__name__}: the squares of X overflow; divide X by its largest absolute value and fit again."
        )
    return points, summary


def _require_rows(estimator, n: int) -> None:
    if n < estimator.n_clusters:
        raise InvalidData(f"{type(estimator).__name__}: n_samples={n} should be >= n_clusters={estimator.n_clusters}.")


def _best_start(estimator, X, draws: Draws, rows: int) -> np.ndarray:
    """Return the starting centers with the smallest inertia on rows that are drawn for the comparison."""
    _require_rows(estimator, X.shape[0])
    size = 3 * int(estimator.batch_size) if estimator.init_size is None else int(estimator.init_size)
    size = min(max(size, 3 * estimator.n_clusters), rows)
    given = not isinstance(estimator.init, str) and not callable(estimator.init)
    many = 1 if given or (isinstance(estimator.init, str) and estimator.init == "k-means++") else 3
    starts = many if estimator.n_init == "auto" or given else int(estimator.n_init)
    test, ones = draws.rows(size), np.ones(size)
    best, least = None, math.inf
    for _ in range(starts):
        part, w = (X, draws.weights) if size == rows else (X[draws.rows(size)], ones)
        points, _ = read_points(part, w, estimator.n_jobs)
        centers = start_of(estimator, part, points, w, draws.random)
        moved = State(centers.copy(), np.zeros(len(centers)))
        inertia = one_batch(draws.points, test, ones, moved) if starts > 1 else 0.0
        if inertia < least:
            best, least = centers, inertia
    assert best is not None
    return best


def _record(estimator, X, given, points: Any, weights: np.ndarray, state: State, summary: Summary, reason: Reason):
    estimator.cluster_centers_, estimator._counts = state.centers.astype(X.dtype), state.counts
    estimator.labels_ = labels_of(estimator, X)
    centers, k = np.asarray(estimator.cluster_centers_, dtype=np.float64), len(state.centers)
    distances = weights * own_distances(points, weights, estimator.labels_, centers)
    estimator.cluster_sizes_ = np.bincount(estimator.labels_, weights, minlength=k)
    estimator.cluster_inertias_ = np.bincount(estimator.labels_, distances, minlength=k)
    estimator.inertia_ = float(np.sum(distances))
    estimator.total_scatter_ = summary.scatter
    estimator._issue(
        "B",
        [Claim("k_means.gap"), Claim("k_means.nearest"), Claim("k_means.inertia")],
        problem=pose(estimator, X, None, given),
        model=("cluster_centers_", "labels_", "inertia_"),
        sample=(X, None, given),
        run={"solver": "mini-batch k-means", "reason": str(reason), "passes": int(estimator.n_steps_)},
    )
