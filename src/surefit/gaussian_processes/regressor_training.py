"""Fitting of Gaussian-process regression, and its certificate."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.estimator import complete, warn_unless_converged
from surefit.core.guards import memory
from surefit.core.threads import threads_instead_of_blas
from surefit.core.validation import read_data, read_strings
from surefit.core.warn import warn
from surefit.gaussian_processes.inputs import READ, kernel_for, reads_strings
from surefit.kernels import Kernel
from surefit.problems import pose
from surefit.solvers.gaussian_process.exact import NotPositiveDefinite, Posterior, Problem, evidence, posterior
from surefit.solvers.gaussian_process.search import Found, maximize


def fit_process(estimator, X, y) -> None:
    """Fit ``estimator`` and issue its certificate."""
    who = type(estimator).__name__
    X, y = _read(estimator, X, y)
    n, seen = X.shape[0], 1 if y.ndim == 1 else y.shape[1]
    if estimator.n_targets not in (None, seen):
        raise InvalidParameter(who, "n_targets", f"the number of columns of y, {seen}, or None", estimator.n_targets)
    kernel = kernel_for(estimator, X)
    searched = estimator.optimizer is not None and len(kernel.theta) > 0
    memory.require(who, n, memory.WITH_SEARCH if searched else memory.GIVEN, estimator.max_memory)
    mean, scale = _center_and_scale(y, bool(estimator.normalize_y))
    targets = ((y - mean) / scale).reshape(n, -1)
    problem = Problem(X, targets, _noise(estimator, n))
    reporter = progress_reporter(estimator, X, y)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, threads_instead_of_blas():
        start = _factorized(who, kernel, problem, 0.0)
        jitter = start.jitter
        found = _search(estimator, kernel, _with(problem, jitter), budget, start.evidence) if searched else None
        if found is not None:
            kernel = kernel.with_theta(found.theta)
            del start
            start = _factorized(who, kernel, problem, jitter)
            jitter = start.jitter
    if reporter is not None:
        reporter.finish()
    if jitter > 0:
        words = f"{who}: the covariance was not positive definite in floating point; {jitter:.2g} was added to its diagonal (jitter_)."
        warn(words + " Raise alpha if the targets are noisy.", DataWarning)
    estimator.kernel_, estimator.jitter_ = kernel, jitter
    estimator.X_train_ = X.copy() if estimator.copy_X_train else X
    estimator.y_train_, estimator.y_mean_, estimator.y_scale_ = targets.reshape(y.shape), mean, scale
    estimator.noise_ = np.asarray(estimator.alpha, dtype=np.float64) + jitter
    estimator.L_, estimator.alpha_ = start.factor, start.dual.reshape(y.shape)
    estimator.log_marginal_likelihood_value_ = start.evidence
    estimator.n_iter_ = 1 if found is None else found.n_evaluations
    _certify(estimator, _with(problem, jitter), found, y)


def _read(estimator, X, y):
    if reads_strings(estimator):
        X = read_strings(type(estimator).__name__, X)
        y = np.asarray(y, dtype=np.float64)
        if len(y) != len(X):
            raise InvalidData(
                f"{type(estimator).__name__}: y must have one target per element of X; got {len(y)} targets for {len(X)} elements."
            )
    else:
        X, y = read_data(estimator, X, y, y_numeric=True, multi_output=True, **READ)
    y = np.asarray(y, dtype=np.float64)
    return X, y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y


def _noise(estimator, n: int) -> np.ndarray:
    alpha = np.asarray(estimator.alpha, dtype=np.float64)
    if alpha.ndim == 1 and len(alpha) != n and len(alpha) != 1:
        raise InvalidData(
            f"{type(estimator).__name__}: alpha must be a number or one number per row of X; got {len(alpha)} entries for {n} rows."
        )
    if alpha.ndim > 1 or not np.all(np.isfinite(alpha)) or np.any(alpha < 0):
        raise InvalidParameter(type(estimator).__name__, "alpha", "a number >= 0, or one per row", estimator.alpha)
    return np.broadcast_to(alpha, (n,)).astype(np.float64)


def _center_and_scale(y: np.ndarray, wanted: bool):
    if not wanted:
        return np.zeros(y.shape[1:]), np.ones(y.shape[1:])
    scale = np.asarray(np.std(y, axis=0))
    return np.asarray(np.mean(y, axis=0)), np.where(scale > 10 * np.finfo(np.float64).eps, scale, 1.0)


def _with(problem: Problem, jitter: float) -> Problem:
    return problem._replace(noise=problem.noise + jitter)


def _factorized(who: str, kernel: Kernel, problem: Problem, jitter: float) -> Posterior:
    try:
        return posterior(kernel, problem, start=jitter)
    except NotPositiveDefinite:
        raise InvalidData(
            f"{who}: the covariance is not positive definite, even with 1e-4 of its diagonal added; raise alpha, remove repeated "
            f"rows, or use another kernel than {kernel!r}."
        ) from None


def _search(estimator, kernel: Kernel, problem: Problem, budget: Budget, at_start: float) -> Found:
    bounds = kernel.bounds
    starts = [np.clip(kernel.theta, bounds[:, 0], bounds[:, 1])]
    if estimator.n_restarts_optimizer:
        if not np.all(np.isfinite(bounds)):
            raise InvalidParameter(
                type(estimator).__name__,
                "n_restarts_optimizer",
                "0 if bounds are not finite",
                estimator.n_restarts_optimizer,
            )
        generator = check_random_state(estimator.random_state)
        starts += [generator.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(estimator.n_restarts_optimizer)]
    if not callable(estimator.optimizer):
        tol = estimator.tol * len(problem.targets)
        return maximize(kernel, problem, starts, tol=tol, budget=budget, at_start=at_start)
    return _external(estimator.optimizer, kernel, problem, starts)


def _external(optimizer, kernel: Kernel, problem: Problem, starts: list[np.ndarray]) -> Found:
    """Minimize the negative log evidence with the user's optimizer from each start, and keep the best result."""
    count = 0

    def objective(theta, eval_gradient=True):
        nonlocal count
        count += 1
        try:
            found = evidence(kernel.with_theta(theta), problem)
        except NotPositiveDefinite:
            return (np.inf, np.zeros(len(theta))) if eval_gradient else np.inf
        return (-found.value, -found.derivatives) if eval_gradient else -found.value

    ends = [optimizer(objective, start, bounds=kernel.bounds) for start in starts]
    theta = np.asarray(min(ends, key=lambda end: end[1])[0], dtype=np.float64)
    return Found(theta, evidence(kernel.with_theta(theta), problem), count, Reason.CONVERGED)


def _certify(estimator, problem: Problem, found: Found | None, y: np.ndarray) -> None:
    names = ["mean", "evidence", *(("stationary", "global") if found is not None else ())]
    reason = Reason.CONVERGED if found is None else found.reason
    chosen = ("alpha_", "noise_", "y_mean_", "y_scale_", "log_marginal_likelihood_value_")
    estimator._issue(
        "A",
        [Claim(f"gaussian_process.{name}") for name in names],
        problem=pose(estimator, problem.X, y, None, "hyperparameters_", "jitter_"),
        model=(*chosen, "hyperparameters_", "jitter_"),
        sample=(problem.X, y, None),
        run={"solver": "Cholesky", "evaluations": int(estimator.n_iter_), "stopped": str(reason)},
    )
    if found is not None and reason is not Reason.CONVERGED and not callable(estimator.optimizer):
        complete(estimator)
        stationary = estimator.certificate_["gaussian_process.stationary"]
        if not stationary.holds:  # derivatives below rounding errors are accepted
            warn_unless_converged(type(estimator).__name__, reason, stationary.value, stationary.limit)
