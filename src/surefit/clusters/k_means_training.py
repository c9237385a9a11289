"""Fitting of ``KMeans``: starts, the best partition, its lower bound, and the fitted attributes."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array, check_random_state

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, DataWarning, InvalidData, InvalidParameter
from surefit.core.randomness import seeded
from surefit.core.threads import one_blas_thread
from surefit.core.validation import read_data, read_weights
from surefit.core.warn import warn
from surefit.problems import pose
from surefit.problems.clusters import affordable
from surefit.solvers.clustering.assignments import inertia_at
from surefit.solvers.clustering.bounds import semidefinite_bound
from surefit.solvers.clustering.hartigan import with_single_moves
from surefit.solvers.clustering.line import best_on_line
from surefit.solvers.clustering.lloyd import Partition, lloyd
from surefit.solvers.clustering.nearest import nearest
from surefit.solvers.clustering.points import Summary, as_points, power_of_two, read_points
from surefit.solvers.clustering.seeding import distinct_points, k_means_plus_plus

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
MOST_ROWS_FOR_SDP = 1000
FEW_ROWS = 10_000  # number of rows up to which single moves are used by default
EQUAL = 1e-10  # starts within this relative difference are tied and the first is kept, so that rounding has no effect


def fit_k_means(estimator, X, sample_weight) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    X = read_data(estimator, X, **READ)
    n = X.shape[0]
    given = read_weights(estimator, sample_weight, n)
    weights = np.ones(n) if given is None else given.copy()
    _require_possible(estimator, X)
    own = callable(estimator.init)  # such a function may keep its generator
    drawing: Any = nullcontext(generator(estimator.random_state)) if own else seeded(estimator.random_state)
    reporter = progress_reporter(estimator, X, None)
    with drawing as random, Budget(estimator.max_iter, estimator.max_time, reporter) as budget, one_blas_thread():
        points, summary = read_points(X, weights, estimator.n_jobs)
        tolerance = movement_wanted(estimator, summary)
        options = {"tolerance": tolerance, "budget": budget, "n_jobs": estimator.n_jobs, "dtype": X.dtype}

        def run() -> Partition:
            found = lloyd(points, weights, summary, start_of(estimator, X, points, weights, random), **options)
            if estimator.single_moves is True or (estimator.single_moves == "auto" and n <= FEW_ROWS):
                found = with_single_moves(points, weights, summary, found, **options)
            return found

        best = best_of_starts(estimator, run, budget)
        witness = {}
        if estimator.lower_bound == "sdp":
            found = semidefinite_bound(X, weights, summary, estimator.n_clusters, budget)
            witness = {"multipliers": np.asarray(found.multipliers)}
    if reporter is not None:
        reporter.finish()
    return record(estimator, X, given, best, summary, witness)


class Best(NamedTuple):
    """The best partition of several starts."""

    partition: Partition
    n_starts: int
    stopped: Reason | None  # reason why fewer starts were run than requested


def best_of_starts(estimator, run: Callable[[], Partition], budget: Budget) -> Best:
    """Run the requested number of starts, as far as the budget allows, but at least one."""
    runs: list[Partition] = []
    wanted = _count_starts(estimator)
    while len(runs) < wanted and (budget.stopped is None or not runs):
        runs.append(run())
    least = min(run.inertia for run in runs)
    best = next(run for run in runs if run.inertia <= least * (1 + EQUAL))
    return Best(best, len(runs), budget.stopped if len(runs) < wanted else None)


def movement_wanted(estimator, summary: Summary) -> float:
    """Return the squared movement of the centers at which ``tol`` stops the fit; raise an error if squares overflow."""
    if not math.isfinite(summary.scatter):
        raise InvalidData(
            f"{type(estimator).__name__}: the squares of X overflow; divide X by its largest absolute value and fit again."
        )
    return estimator.tol * summary.scatter / (summary.total_weight * len(summary.mean))


def labels_of(estimator, X) -> np.ndarray:
    """Return the nearest center of each row of ``X``."""
    with one_blas_thread():
        return nearest(_near_centers(estimator, X), X.shape[0], _centers(estimator), estimator.n_jobs)


def inertia_of(estimator, X, weights: np.ndarray | None) -> float:
    """Return the inertia of the rows of ``X`` at their nearest centers."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    return inertia_at(_near_centers(estimator, X), weights, _centers(estimator), labels_of(estimator, X))


def _near_centers(estimator, X) -> Any:
    centers = _centers(estimator)
    shift = centers.mean(axis=0)
    return as_points(X, shift, power_of_two(float(np.mean(np.sum((centers - shift) ** 2, axis=1)))))


def _centers(estimator) -> np.ndarray:
    return np.asarray(estimator.cluster_centers_, dtype=np.float64)


def _require_possible(estimator, X) -> None:
    who, n, d = type(estimator).__name__, X.shape[0], X.shape[1]
    if n < estimator.n_clusters:
        raise InvalidData(f"{who}: n_samples={n} should be >= n_clusters={estimator.n_clusters}.")
    if estimator.algorithm == "exact" and (d != 1 or not affordable(n, estimator.n_clusters)):
        raise InvalidParameter(
            who,
            "algorithm",
            f"'lloyd' unless X has one column and n_clusters * rows is moderate (X is {n} x {d})",
            "exact",
        )
    if estimator.lower_bound == "sdp" and n > MOST_ROWS_FOR_SDP:
        raise InvalidParameter(
            who, "lower_bound", f"'spectral' for more than {MOST_ROWS_FOR_SDP} rows (here {n})", estimator.lower_bound
        )


def generator(random_state) -> Any:
    """Return the random generator for a parameter ``random_state``."""
    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def _count_starts(estimator) -> int:
    given = not isinstance(estimator.init, str) and not callable(estimator.init)
    drawn = estimator.init == "random" if isinstance(estimator.init, str) else callable(estimator.init)
    if estimator.algorithm == "exact":
        return 1
    if estimator.n_init == "auto":
        return 10 if drawn else 1
    if given and estimator.n_init > 1:
        warn(
            f"{type(estimator).__name__}: with given starting centers every start is the same; "
            f"running one instead of n_init={estimator.n_init}.",
            DataWarning,
        )
        return 1
    return estimator.n_init


def start_of(estimator, X, points, weights: np.ndarray, random) -> np.ndarray:
    """Return the starting centers according to ``init``."""
    k, init = estimator.n_clusters, estimator.init
    if estimator.algorithm == "exact":
        column = X.toarray() if hasattr(X, "toarray") else X
        means = best_on_line(np.asarray(column, dtype=np.float64).ravel(), weights, k).means
        return np.resize(means, k).reshape(-1, 1)  # with fewer distinct values, some clusters stay empty
    if isinstance(init, str):
        if init == "random":
            return distinct_points(points, weights, k, random)
        return k_means_plus_plus(points, weights, k, random, estimator.n_jobs)
    return given_centers(estimator, init(X, k, random_state=random) if callable(init) else init, X.shape[1])


def given_centers(estimator, init: Any, d: int) -> np.ndarray:
    """Return the starting centers given by the user; raise an error if their shape is wrong."""
    centers, wanted = check_array(init, dtype=np.float64), (estimator.n_clusters, d)
    if centers.shape != wanted:
        raise InvalidData(
            f"{type(estimator).__name__}: The shape of the initial centers {centers.shape} does not match the number of clusters "
            f"and features {wanted}."
        )
    return centers


def record(estimator, X, weights, found: Best, summary: Summary, witness: dict[str, Any] | None = None) -> Any:
    """Set the fitted attributes, issue the certificate, and warn. Labels that stay in the partitions are not set."""
    best = found.partition
    estimator.cluster_centers_ = best.centers.astype(X.dtype)
    estimator.__dict__.pop("labels_", None)
    names, model = ["means", "single_move", "inertia"], ["cluster_centers_", "inertia_"]
    if best.labels is not None:
        estimator.labels_ = best.labels
        names, model = ["nearest", *names], ["cluster_centers_", "labels_", "inertia_"]
    estimator.inertia_ = best.inertia
    estimator.n_iter_ = best.n_iter
    estimator.cluster_sizes_ = best.sizes
    estimator.cluster_inertias_ = best.inertias
    estimator.total_scatter_ = summary.scatter
    estimator.objective_history_ = best.history
    problem = pose(estimator, X, None, weights)
    estimator._issue(
        "A" if problem["bound"] == "line" else "B",
        [Claim("k_means.gap", witness=witness or {}), *(Claim(f"k_means.{name}") for name in names)],
        problem=problem,
        model=tuple(model),
        sample=(X, None, weights),
        run={
            "solver": "dynamic programming" if estimator.algorithm == "exact" else "Lloyd's algorithm",
            "reason": str(found.stopped or best.reason),
            "passes": int(best.n_iter),
            "starts": found.n_starts,
            "reseeded": best.n_reseeded,
            "largest_rise": float(np.max(np.diff(best.history[:, 1:].ravel()), initial=0.0)),
            "seconds": float(best.history[-1, 0]),
        },
    )
    _warn(estimator, best, movement_wanted(estimator, summary), found.n_starts, found.stopped)
    return estimator


def _warn(estimator, best: Partition, tolerance: float, n_starts: int, stopped: Reason | None) -> None:
    who, empty = type(estimator).__name__, int(np.sum(best.sizes == 0))
    if empty:
        warn(
            f"{who}: X has only {len(best.sizes) - empty} distinct rows; {empty} of "
            f"{len(best.sizes)} clusters are empty. Lower n_clusters.",
            DataWarning,
        )
    if stopped is not None:
        warn(f"{who}: only {n_starts} of the starts were run: {_words(stopped)}.", ConvergenceWarning)
    elif best.reason is not Reason.CONVERGED:
        warn(
            f"{who}: the centers still moved by {best.residual:.2g}, more than the tolerance {tolerance:.2g} (sum of squares): "
            f"{_words(best.reason)}.",
            ConvergenceWarning,
        )


def _words(reason: Reason) -> str:
    """Return the reason why a fit stopped, and how to continue it from its last centers."""
    return reason.sentence().replace("continue with warm_start=True", "continue with init=cluster_centers_")
