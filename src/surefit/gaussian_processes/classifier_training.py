"""Gaussian-process classification: two-class problems, their kernels and modes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state, column_or_1d

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidData
from surefit.core.guards import memory
from surefit.core.threads import threads_instead_of_blas
from surefit.core.validation import check_labels, read_data, read_strings
from surefit.gaussian_processes.inputs import READ, kernel_for, reads_strings
from surefit.kernels import Kernel
from surefit.problems.processes import class_pairs
from surefit.solvers.gaussian_process.exact import Evidence, NotPositiveDefinite
from surefit.solvers.gaussian_process.laplace import ClassProblem, LaplaceEvidence, Mode, mode
from surefit.solvers.gaussian_process.search import maximize

THIN = 400  # number of rows above which the search starts on a subsample
SLOPE = 1e-5  # largest derivative of the log evidence per row at which a search ends


class TwoClasses(NamedTuple):
    """Fitted two-class problem: the two classes (-1 means all others), its rows, kernel and mode."""

    positive: int
    negative: int
    rows: np.ndarray
    X: Any
    targets: np.ndarray  # one for the class itself, zero for the others
    kernel: Kernel
    mode: Mode
    at: Evidence | None
    reason: Reason

    def latent_mean(self, Z) -> np.ndarray:
        """Return the mean of the latent function at new elements."""
        return self.kernel(Z, self.X) @ self.mode.dual

    def latent(self, Z) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the latent function at new elements, by the Laplace approximation."""
        across = self.kernel(Z, self.X)
        V = solve_triangular(self.mode.factor, (across * self.mode.roots).T, lower=True, check_finite=False)
        return across @ self.mode.dual, np.maximum(self.kernel.diag(Z) - np.einsum("ij,ij->j", V, V), 0.0)


def read_training(estimator, X, y) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, targets (numbers as float64), classes and the class index of each row."""
    who = type(estimator).__name__
    if reads_strings(estimator):
        X, y = read_strings(who, X), column_or_1d(np.asarray(y), warn=True)
        if len(y) != len(X):
            raise InvalidData(
                f"{who}: y must have one label per element of X; got {len(y)} labels for {len(X)} elements."
            )
    else:
        X, y = read_data(estimator, X, y, **READ)
    check_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidData(f"{who}: y must have at least two classes; got one class only, {classes.tolist()[0]!r}.")
    return X, y.astype(np.float64) if y.dtype.kind in "biuf" else y, classes, codes


def fit_problems(estimator, X, y, codes: np.ndarray, K: int) -> list[TwoClasses]:
    """Fit one problem per class or per pair of classes; with two classes, a single problem."""
    pairs = class_pairs(K, estimator.multi_class)
    kernel = kernel_for(estimator, X)
    memory.require(type(estimator).__name__, X.shape[0], memory.WITH_SEARCH + len(pairs), estimator.max_memory)
    reporter = progress_reporter(estimator, X, y)
    generator = check_random_state(estimator.random_state)
    with Budget(None, estimator.max_time, reporter) as budget, threads_instead_of_blas():
        fits = []
        for p, (i, j) in enumerate(pairs):
            rows = np.flatnonzero((codes == i) | (codes == j)) if j >= 0 else np.arange(len(codes))
            problem = ClassProblem(X[rows], (codes[rows] == i).astype(np.float64))
            fits.append(_fit_one(estimator, kernel, problem, (i, j, rows), budget, generator, p))
    if reporter is not None:
        reporter.finish()
    return fits


def _fit_one(estimator, kernel, problem, place, budget, generator, p: int) -> TwoClasses:
    evaluate = LaplaceEvidence(estimator.tol, estimator.max_iter_predict)
    at, reason = None, Reason.CONVERGED
    if estimator.optimizer is not None and len(kernel.theta):
        bounds = kernel.bounds
        starts = [np.clip(kernel.theta, bounds[:, 0], bounds[:, 1])]
        starts += [generator.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(estimator.n_restarts_optimizer)]
        if callable(estimator.optimizer):
            ends = [estimator.optimizer(_downhill(evaluate, kernel, problem), s, bounds=bounds) for s in starts]
            kernel = kernel.with_theta(min(ends, key=lambda end: end[1])[0])
            at = evaluate(kernel, problem)
        else:
            n = len(problem.targets)
            found = maximize(kernel, problem, starts, tol=SLOPE * n, budget=budget, evaluate=evaluate, thin_above=THIN)
            kernel, reason = kernel.with_theta(found.theta), found.reason
            at = found.evidence if found.evidence is not None else evaluate(kernel, problem)
    last = getattr(estimator, "dual_coef_", None) if estimator.warm_start else None
    start = last[p, place[2]] if last is not None and last.shape[1] > place[2][-1] and len(last) > p else None
    start = evaluate._last.get(len(problem.targets), start)
    tol = estimator.tol if at is None else evaluate.tol
    fitted = mode(kernel(problem.X), problem.targets, tol=tol, start=start, max_steps=estimator.max_iter_predict)
    positive, negative, rows = place
    return TwoClasses(positive, negative, rows, problem.X, problem.targets, kernel, fitted, at, reason)


def _downhill(evaluate: LaplaceEvidence, kernel: Kernel, problem: ClassProblem):
    def objective(theta, eval_gradient=True):
        try:
            found = evaluate(kernel.with_theta(theta), problem)
        except NotPositiveDefinite:
            return (np.inf, np.zeros(len(theta))) if eval_gradient else np.inf
        return (-found.value, -found.derivatives) if eval_gradient else -found.value

    return objective
