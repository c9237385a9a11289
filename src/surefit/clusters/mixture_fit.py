"""From the parameters of ``GaussianMixture`` to starts, the best fit by EM, and the fitted attributes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from surefit.clusters.mixture_claims import make_claims
from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.core.threads import one_blas_thread
from surefit.core.validation import read_data, read_weights
from surefit.solvers.gaussian_covariances import (
    SHAPES,
    from_covariances,
    from_precisions,
    public_factors,
    public_precisions,
)
from surefit.solvers.gaussian_em import MixtureFit, Parameters, Rows, as_rows, maximise, stationarity
from surefit.solvers.gaussian_tiles import as_mixture, log_densities
from surefit.solvers.lloyd import lloyd
from surefit.solvers.points import read_points
from surefit.solvers.seeding import canonical_groups, distinct_points, k_means_plus_plus

LARGEST = 1e150  # distances from the mean beyond this have squares that overflow when they are added up


def fit_mixture(estimator, X, sample_weight) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    who = type(estimator).__name__
    X = read_data(estimator, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
    n, d = X.shape
    if n < estimator.n_components:
        raise InvalidData(
            f"{who}: Expected n_samples >= n_components but got {n} rows, {estimator.n_components} components."
        )
    given = read_weights(estimator, sample_weight, n)
    kind, floor = estimator.covariance_type, float(estimator.reg_covar)
    random = generator(estimator.random_state)
    warm = estimator.warm_start and getattr(estimator, "means_", np.empty(0)).shape == (estimator.n_components, d)
    reporter = progress_reporter(estimator, X, None)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, one_blas_thread():
        rows = as_rows(X, np.ones(n) if given is None else given.copy(), estimator.n_jobs, kind == "tied")
        if not np.max(np.abs(rows.X - rows.shift)) < LARGEST:
            raise InvalidData(
                f"{who}: the squares of X overflow; divide X by its largest absolute value and fit again."
            )
        runs: list[MixtureFit] = []
        try:
            wanted = 1 if warm else estimator.n_init
            while len(runs) < wanted and budget.stopped is None:
                start = _last_parameters(estimator) if warm else _start(estimator, rows, random)
                runs.append(_run(estimator, rows, start, budget))
            best = max(runs, key=lambda run: run.value)
            at_end = stationarity(rows, best.parameters, kind, floor)
        except np.linalg.LinAlgError as error:
            raise InvalidData(
                f"{who}: the covariance of component {error} is not positive definite; raise reg_covar, lower n_components, or "
                f"scale the features.{_far_row(rows)}"
            ) from None
    if reporter is not None:
        reporter.finish()
    _record(estimator, X, given, best, at_end, len(runs), budget.stopped if len(runs) < wanted else None)
    return estimator


def _far_row(rows: Rows) -> str:
    """Name a row so far from the others that its squares hide theirs; nothing if there is none."""
    away = np.max(np.abs(rows.X - np.median(rows.X, axis=0)), axis=1)
    if np.max(away) <= 1e6 * np.median(away):
        return ""
    row = int(np.argmax(away))
    return f" Row {row} is {np.max(away):.2g} away from the median, most rows {np.median(away):.2g}: is it right?"


def weighted_log_densities(estimator, X) -> np.ndarray:
    """Return log(weight times density) of the fitted components, one row a row."""
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


def generator(random_state) -> Any:
    """Return the generator of random numbers that a parameter ``random_state`` stands for."""
    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def _run(estimator, rows: Rows, start: Parameters, budget: Budget) -> MixtureFit:
    if estimator.max_iter == 0:
        return MixtureFit(start, np.zeros(0), 0.0, 0, Reason.MAX_ITER)
    return maximise(
        rows, start, estimator.covariance_type, floor=float(estimator.reg_covar), tol=estimator.tol, budget=budget
    )


def _last_parameters(estimator) -> Parameters:
    kind = estimator.covariance_type
    shape = from_covariances(kind, estimator.covariances_)
    return Parameters(estimator.weights_, estimator.means_, estimator.covariances_, shape)


def _start(estimator, rows: Rows, random) -> Parameters:
    """Return the starting parameters: given ones where there are, the rest by ``init_params``."""
    kind, k, d = estimator.covariance_type, estimator.n_components, rows.X.shape[1]
    weights = _given(estimator, "weights_init", (k,))
    means = _given(estimator, "means_init", (k, d))
    precisions = _given(
        estimator, "precisions_init", {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    )
    if weights is not None and not (np.all(weights >= 0) and np.isclose(weights.sum(), 1.0)):
        raise InvalidParameter(type(estimator).__name__, "weights_init", "numbers >= 0 that add up to 1", weights)
    drawn: Any = None
    if weights is None or means is None or precisions is None:
        drawn = _drawn_start(estimator, rows, random)
    if precisions is None:
        covariances, shape = drawn.covariances, drawn.shape
    else:
        shape = _shape_of_given(estimator, kind, precisions)
        covariances = np.linalg.inv(precisions) if kind in ("full", "tied") else 1.0 / precisions
    return Parameters(
        drawn.weights if weights is None else weights, drawn.means if means is None else means, covariances, shape
    )


def _given(estimator, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    value = getattr(estimator, name)
    if value is None:
        return None
    array = check_array(value, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name)
    if array.shape != shape:
        raise InvalidParameter(type(estimator).__name__, name, f"an array of shape {shape}", f"shape {array.shape}")
    return array


def _shape_of_given(estimator, kind: str, precisions: np.ndarray) -> Any:
    matrices = precisions if kind == "full" else precisions[None] if kind == "tied" else None
    try:
        symmetric = matrices is None or np.allclose(matrices, np.swapaxes(matrices, 1, 2))
        if symmetric and (matrices is not None or np.all(precisions > 0)):
            return from_precisions(kind, precisions)
    except np.linalg.LinAlgError:
        pass
    raise InvalidParameter(
        type(estimator).__name__,
        "precisions_init",
        "symmetric and positive definite",
        f"an array of shape {precisions.shape}",
    )


def _drawn_start(estimator, rows: Rows, random) -> Parameters:
    kind, floor, k = estimator.covariance_type, float(estimator.reg_covar), estimator.n_components
    d = rows.X.shape[1]
    how = estimator.init_params
    if how == "random":
        groups = canonical_groups(rows.X, rows.weights)
        draws = random.random((groups.max() + 1, k))
        return _from_responsibilities(rows, (draws / draws.sum(axis=1, keepdims=True))[groups], kind, floor)
    points, summary = read_points(rows.X, rows.weights, rows.n_jobs)
    if how == "random_from_data":
        seeds = distinct_points(points, rows.weights, k, random)
    else:
        seeds = k_means_plus_plus(points, rows.weights, k, random, rows.n_jobs)
    if how == "kmeans":
        tolerance = 1e-4 * summary.scatter / (summary.total_weight * d)
        found = lloyd(points, rows.weights, summary, seeds, tolerance=tolerance, budget=Budget(300), n_jobs=rows.n_jobs)
        return _from_responsibilities(rows, np.eye(k)[found.labels], kind, floor)
    variance = floor if floor > 0 else 1e-6
    covariances = {
        "full": np.broadcast_to(variance * np.eye(d), (k, d, d)).copy(),
        "tied": variance * np.eye(d),
        "diag": np.full((k, d), variance),
        "spherical": np.full(k, variance),
    }[kind]
    return Parameters(np.full(k, 1.0 / k), seeds, covariances, from_covariances(kind, covariances))


def _from_responsibilities(rows: Rows, table: np.ndarray, kind: str, floor: float) -> Parameters:
    """Return the parameters of given responsibilities, by their definition."""
    table = table * rows.weights[:, None]
    masses = table.sum(axis=0) + 10 * np.finfo(float).eps
    means = table.T @ (rows.X - rows.shift) / masses[:, None] + rows.shift
    matrices = []
    for c, mean in enumerate(means):
        used = np.flatnonzero(table[:, c])
        about = rows.X[used] - mean
        weighted = table[used, c, None] * about
        matrices.append(weighted.T @ about if kind in ("full", "tied") else np.sum(weighted * about, axis=0))
    covariances = np.array(matrices)
    if kind == "tied":
        covariances = covariances.sum(axis=0) / masses.sum()
    else:
        covariances /= masses.reshape(-1, *([1] * (covariances.ndim - 1)))
    if kind in ("full", "tied"):
        covariances = covariances + floor * np.eye(rows.X.shape[1])
    else:
        covariances = covariances + floor
        covariances = covariances if kind == "diag" else covariances.mean(axis=1)
    return Parameters(masses / masses.sum(), means, covariances, from_covariances(kind, covariances))


def _record(estimator, X, weights, best: MixtureFit, at_end, n_starts: int, stopped: Reason | None) -> None:
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
        make_claims(best, at_end, float(estimator.tol), float(estimator.reg_covar)),
        problem={"covariance_type": estimator.covariance_type, "reg_covar": float(estimator.reg_covar)},
        model=("weights_", "means_", "covariances_", "precisions_cholesky_"),
        data=data_fingerprint(X, None, weights),
        run={
            "solver": "expectation maximisation",
            "reason": str(stopped or best.reason),
            "passes": best.n_iter,
            "starts": n_starts,
        },
    )
    if stopped is not None:
        warnings.warn(
            f"{type(estimator).__name__}: only {n_starts} of the starts were run: {stopped.sentence()}.",
            ConvergenceWarning,
            stacklevel=4,
        )
    elif best.reason is not Reason.CONVERGED and estimator.max_iter > 0:
        changed = abs(best.log[-1] - best.log[-2]) if len(best.log) > 1 else float("inf")
        warnings.warn(
            f"{type(estimator).__name__}: the last step changed the mean log-likelihood by {changed:.2g} > "
            f"{estimator.tol:.2g} wanted: {best.reason.sentence()}.",
            ConvergenceWarning,
            stacklevel=4,
        )
