"""Fitting of ``GaussianMixture``: starts, the best fit by EM, and the fitted attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.clusters.k_means_training import generator
from surefit.clusters.mixture_start import last_parameters, starting_parameters
from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData
from surefit.core.guards import memory
from surefit.core.partitioned import PartitionedRows
from surefit.core.threads import one_blas_thread
from surefit.core.validation import read_data, read_weights
from surefit.core.warn import warn
from surefit.problems import pose
from surefit.solvers.mixture.covariances import SHAPES, public_factors, public_precisions
from surefit.solvers.mixture.em import MixtureFit, Parameters, Rows, as_rows, maximize
from surefit.solvers.mixture.tiles import as_mixture, log_densities

LARGEST = 1e150  # for larger distances from the mean, the sum of squares overflows


def fit_mixture(estimator, X, sample_weight) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    X = read_data(estimator, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
    return fit_rows(estimator, X, read_weights(estimator, sample_weight, X.shape[0]))


def fit_rows(estimator, X, given: np.ndarray | None) -> Any:
    """Fit validated rows with their weights, in memory or in partitions. Returns the estimator."""
    who, partitioned = type(estimator).__name__, isinstance(X, PartitionedRows)
    n, d = X.shape
    if n < estimator.n_components:
        raise InvalidData(
            f"{who}: Expected n_samples >= n_components but got {n} rows, {estimator.n_components} components."
        )
    kind = estimator.covariance_type
    if kind in ("full", "tied"):
        arrays = 1 + (estimator.n_components if kind == "full" else 1)
        memory.require(who, d, arrays, remedy='Use covariance_type="diag", or fewer columns.', what="columns")
    random = generator(estimator.random_state)
    warm = estimator.warm_start and getattr(estimator, "means_", np.empty(0)).shape == (estimator.n_components, d)
    reporter = None if partitioned else progress_reporter(estimator, X, None)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, one_blas_thread():
        weights = None if partitioned else np.ones(n) if given is None else given.copy()
        rows = as_rows(X, weights, estimator.n_jobs, kind == "tied")
        if not rows.largest < LARGEST:
            raise InvalidData(
                f"{who}: the squares of X overflow; divide X by its largest absolute value and fit again."
            )
        runs: list[MixtureFit] = []
        try:
            wanted = 1 if warm else estimator.n_init
            while len(runs) < wanted and budget.stopped is None:
                start = last_parameters(estimator) if warm else starting_parameters(estimator, rows, random)
                runs.append(_run(estimator, rows, start, budget, estimator.lower_bound_ if warm else -math.inf))
            best = max(runs, key=lambda run: run.value)
        except np.linalg.LinAlgError as error:
            raise InvalidData(
                f"{who}: the covariance of component {error} is not positive definite; raise reg_covar, lower n_components, or "
                f"scale the features.{_far_row(rows)}"
            ) from None
    if reporter is not None:
        reporter.finish()
    _record(estimator, X, given, best, len(runs), budget.stopped if len(runs) < wanted else None)
    return estimator


def _far_row(rows: Rows) -> str:
    """Return a hint about a row that is very far from the other rows, or an empty string."""
    if isinstance(rows.X, PartitionedRows):
        return ""
    away = np.max(np.abs(rows.X - np.median(rows.X, axis=0)), axis=1)
    if np.max(away) <= 1e6 * np.median(away):
        return ""
    row = int(np.argmax(away))
    return f" Row {row} is {np.max(away):.2g} away from the median, the median distance is {np.median(away):.2g}; check this row."


def weighted_log_densities(estimator, X) -> np.ndarray:
    """Return log(weight times density) of the fitted components, one row per observation."""
    factors = np.asarray(estimator.precisions_cholesky_, dtype=np.float64)
    kind = estimator.covariance_type
    factors = factors[None] if kind == "tied" else factors.reshape(-1, 1) if kind == "spherical" else factors
    shift = estimator.weights_ @ estimator.means_
    with one_blas_thread():
        mixture = as_mixture(estimator.weights_, estimator.means_, SHAPES[kind](np.ascontiguousarray(factors)), shift)
        return log_densities(np.ascontiguousarray(X, dtype=np.float64), shift, mixture, estimator.n_jobs)


def count_parameters(estimator) -> int:
    """Return the number of free parameters of the mixture."""
    k, d = estimator.means_.shape
    of_covariances = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
    return of_covariances[estimator.covariance_type] + k * d + k - 1


def _run(estimator, rows: Rows, start: Parameters, budget: Budget, before: float) -> MixtureFit:
    if estimator.max_iter == 0:
        return MixtureFit(start, np.zeros(0), 0.0, 0, Reason.MAX_ITER)
    kind, floor = estimator.covariance_type, float(estimator.reg_covar)
    return maximize(rows, start, kind, floor=floor, tol=estimator.tol, budget=budget, before=before)


def _record(estimator, X, weights, best: MixtureFit, n_starts: int, stopped: Reason | None) -> None:
    p = best.parameters
    estimator.weights_, estimator.means_, estimator.covariances_ = p.weights, p.means, p.covariances
    estimator.precisions_cholesky_ = public_factors(p.shape).copy()
    estimator.precisions_ = public_precisions(p.shape)
    estimator.converged_ = best.reason is Reason.CONVERGED
    estimator.n_iter_ = best.n_iter
    estimator.lower_bound_ = best.value
    estimator.lower_bounds_ = best.log.tolist()
    estimator._issue(
        "B",
        [Claim(f"mixture.{name}") for name in ("step", "score", "likelihood", "factors", "global")],
        problem=pose(estimator, X, None, weights),
        model=("weights_", "means_", "covariances_", "precisions_cholesky_"),
        sample=(X, None, weights),
        run={
            "solver": "expectation maximization",
            "reason": str(stopped or best.reason),
            "passes": best.n_iter,
            "starts": n_starts,
            "largest_fall": float(np.max(-np.diff(best.log), initial=0.0)),
            "fall_allowed_by_the_floor": float(best.allowed),
        },
    )
    if stopped is not None:
        warn(
            f"{type(estimator).__name__}: only {n_starts} of the starts were run: {stopped.sentence()}.",
            ConvergenceWarning,
        )
    elif best.reason is not Reason.CONVERGED and estimator.max_iter > 0:
        changed = abs(best.log[-1] - best.log[-2]) if len(best.log) > 1 else float("inf")
        warn(
            f"{type(estimator).__name__}: the last step changed the mean log-likelihood by {changed:.2g} > "
            f"{estimator.tol:.2g} wanted: {best.reason.sentence()}.",
            ConvergenceWarning,
        )
