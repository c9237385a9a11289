"""From the parameters of ``KMeans`` to starts, the best partition, its lower bound, and the fitted attributes."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from surefit.clusters.k_means_claims import make_claims
from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import ConvergenceWarning, DataRemark, InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.core.threads import one_blas_thread
from surefit.core.validation import read_data, read_weights
from surefit.solvers.line_partition import affordable, best_on_line
from surefit.solvers.lloyd import Partition, inertia_at, lloyd
from surefit.solvers.nearest_centre import nearest
from surefit.solvers.partition_bounds import LARGEST_SPECTRUM, PartitionBound, semidefinite_bound, spectral_bound
from surefit.solvers.points import Summary, as_points, power_of_two, read_points
from surefit.solvers.seeding import distinct_points, k_means_plus_plus

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
MOST_ROWS_FOR_SDP = 1000
EQUAL = 1e-10  # starts that end so close are equal, and the first of them is kept: rounding must not choose


def fit_k_means(estimator, X, sample_weight) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    who = type(estimator).__name__
    X = read_data(estimator, X, **READ)
    n, d = X.shape
    given = read_weights(estimator, sample_weight, n)
    weights = np.ones(n) if given is None else given.copy()
    _require_possible(estimator, X)
    random = _generator(estimator.random_state)
    reporter = progress_reporter(estimator, X, None)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, one_blas_thread():
        points, summary = read_points(X, weights, estimator.n_jobs)
        if not math.isfinite(summary.scatter):
            raise InvalidData(
                f"{who}: the squares of X overflow; divide X by its largest absolute value and fit again."
            )
        tolerance = estimator.tol * summary.scatter / (summary.total_weight * d)
        options = {"tolerance": tolerance, "budget": budget, "n_jobs": estimator.n_jobs, "dtype": X.dtype}
        runs: list[tuple[Partition, np.ndarray]] = []
        wanted = _count_starts(estimator)
        while len(runs) < wanted and budget.stopped is None:
            start = _start(estimator, X, points, weights, random)
            runs.append((lloyd(points, weights, summary, start, **options), start))
        least = min(run.inertia for run, _ in runs)
        best, start = next(pair for pair in runs if pair[0].inertia <= least * (1 + EQUAL))
        bound = _bound(estimator, X, weights, summary, budget)
    if reporter is not None:
        reporter.finish()
    stopped = budget.stopped if len(runs) < wanted else None
    _record(estimator, X, given, best, start, bound, summary, tolerance, len(runs), stopped)
    return estimator


def labels_of(estimator, X) -> np.ndarray:
    """Return the nearest centre of each row of ``X``."""
    with one_blas_thread():
        return nearest(_near_centres(estimator, X), X.shape[0], _centres(estimator), estimator.n_jobs)


def inertia_of(estimator, X, weights: np.ndarray | None) -> float:
    """Return the inertia of the rows of ``X`` at their nearest centres."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    return inertia_at(_near_centres(estimator, X), weights, _centres(estimator), labels_of(estimator, X))


def _near_centres(estimator, X) -> Any:
    centres = _centres(estimator)
    shift = centres.mean(axis=0)
    return as_points(X, shift, power_of_two(float(np.mean(np.sum((centres - shift) ** 2, axis=1)))))


def _centres(estimator) -> np.ndarray:
    return np.asarray(estimator.cluster_centers_, dtype=np.float64)


def _require_possible(estimator, X) -> None:
    who, n, d = type(estimator).__name__, X.shape[0], X.shape[1]
    if n < estimator.n_clusters:
        raise InvalidData(f"{who}: n_samples={n} should be >= n_clusters={estimator.n_clusters}.")
    if estimator.algorithm == "exact" and (d != 1 or not affordable(n, estimator.n_clusters)):
        raise InvalidParameter(
            who,
            "algorithm",
            f"'lloyd' unless X has one column and n_clusters * rows is moderate (here {n} x {d})",
            "exact",
        )
    if estimator.lower_bound == "sdp" and n > MOST_ROWS_FOR_SDP:
        raise InvalidParameter(
            who, "lower_bound", f"'spectral' for more than {MOST_ROWS_FOR_SDP} rows (here {n})", estimator.lower_bound
        )


def _generator(random_state) -> Any:
    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def _count_starts(estimator) -> int:
    given = not isinstance(estimator.init, str) and not callable(estimator.init)
    drawn = estimator.init == "random" if isinstance(estimator.init, str) else callable(estimator.init)
    if estimator.algorithm == "exact":
        return 1
    if estimator.n_init == "auto":
        return 10 if drawn else 1
    if given and estimator.n_init > 1:
        warnings.warn(
            f"{type(estimator).__name__}: with given starting centres every start is the same; "
            f"doing one instead of n_init={estimator.n_init}.",
            DataRemark,
            stacklevel=4,
        )
        return 1
    return estimator.n_init


def _start(estimator, X, points, weights: np.ndarray, random) -> np.ndarray:
    k, init = estimator.n_clusters, estimator.init
    if estimator.algorithm == "exact":
        column = X.toarray() if hasattr(X, "toarray") else X
        means = best_on_line(np.asarray(column, dtype=np.float64).ravel(), weights, k).means
        return np.resize(means, k).reshape(-1, 1)  # fewer distinct values than clusters: the rest stays empty
    if isinstance(init, str):
        if init == "random":
            return distinct_points(points, weights, k, random)
        return k_means_plus_plus(points, weights, k, random, estimator.n_jobs)
    who = type(estimator).__name__
    centres = check_array(init(X, k, random_state=random) if callable(init) else init, dtype=np.float64)
    if centres.shape != (k, X.shape[1]):
        raise InvalidData(
            f"{who}: The shape of the initial centers {centres.shape} does not match the number of clusters and features "
            f"{(k, X.shape[1])}."
        )
    return centres


def _bound(estimator, X, weights, summary: Summary, budget: Budget) -> PartitionBound:
    k, how, (n, d) = estimator.n_clusters, estimator.lower_bound, X.shape
    if how is None:
        return PartitionBound(0.0, "none")
    if d == 1 and how == "auto" and affordable(n, k):
        column = X.toarray() if hasattr(X, "toarray") else X
        best = best_on_line(np.asarray(column, dtype=np.float64).ravel(), weights, k)
        return PartitionBound(max(best.value - best.rounding, 0.0), "line")
    if how == "sdp":
        return semidefinite_bound(X, weights, summary, k, budget)
    if how == "auto" and min(n, d) > LARGEST_SPECTRUM:
        return PartitionBound(0.0, "none")
    return spectral_bound(X, weights, summary, k, estimator.n_jobs)


def _record(estimator, X, weights, best: Partition, start, bound, summary, tolerance, n_starts, stopped) -> None:
    who = type(estimator).__name__
    estimator.cluster_centers_ = best.centres.astype(X.dtype)
    estimator.labels_ = best.labels
    estimator.inertia_ = best.inertia
    estimator.n_iter_ = best.n_iter
    estimator.lower_bound_ = float(min(bound.value, best.inertia))
    estimator.cluster_sizes_ = best.sizes
    estimator.cluster_inertias_ = best.inertias
    estimator.total_scatter_ = summary.scatter
    estimator.objective_history_ = best.history
    # A mean is stored with the digits of X, and was summed over blocks of rows: what that may change at most.
    spread = math.sqrt(summary.scatter / summary.total_weight)
    digits = 2 * float(np.finfo(X.dtype).eps) * np.abs(best.centres) + len(best.labels) ** 0.5 * 2**-48 * spread
    resolution = float(np.sum(digits**2))
    estimator._issue(
        "A" if bound.method == "line" else "B",
        make_claims(best, bound, start, tolerance, resolution, summary),
        problem={"n_clusters": int(estimator.n_clusters), "bound": bound.method},
        model=("cluster_centers_", "labels_", "inertia_"),
        data=data_fingerprint(X, None, weights),
        run={
            "solver": "dynamic programming" if estimator.algorithm == "exact" else "Lloyd's algorithm",
            "reason": str(stopped or best.reason),
            "passes": int(best.n_iter),
            "starts": n_starts,
            "reseeded": best.n_reseeded,
            "seconds": float(best.history[-1, 0]),
        },
    )
    empty = int(np.sum(best.sizes == 0))
    if empty:
        warnings.warn(
            f"{who}: X has only {len(best.sizes) - empty} distinct rows to put centres on; {empty} of "
            f"{len(best.sizes)} clusters are empty. Lower n_clusters.",
            DataRemark,
            stacklevel=4,
        )
    if stopped is not None:
        warnings.warn(
            f"{who}: only {n_starts} of the starts were run: {_words(stopped)}.", ConvergenceWarning, stacklevel=4
        )
    elif best.reason is not Reason.CONVERGED:
        warnings.warn(
            f"{who}: the centres still moved by {best.residual:.2g} > {tolerance:.2g} wanted (sum of squares): "
            f"{_words(best.reason)}.",
            ConvergenceWarning,
            stacklevel=4,
        )


def _words(reason: Reason) -> str:
    """Say why a fit stopped and what to do; the way to go on is to start from where it stopped."""
    return reason.sentence().replace("go on with warm_start=True", "go on with init=cluster_centers_")
