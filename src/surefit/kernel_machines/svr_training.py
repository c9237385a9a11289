"""Fitting of support vector regression, and the fitted attributes of each row."""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.threads import one_blas_thread
from surefit.kernel_machines.svc_training import require_finite
from surefit.kernel_machines.svm_inputs import Sample
from surefit.solvers.smo.minimize import DualFit, minimize
from surefit.solvers.smo.problem import regression, row_gaps
from surefit.solvers.smo.rows import solver_rows

KINDS = np.array(["inside", "on tube", "above", "below"])
ON_TUBE = 1e-8  # rows within this distance of the edge, relative to the targets, are on the tube


def fit_tube(estimator, sample: Sample, start) -> tuple[np.ndarray, DualFit]:
    """Solve the dual on the rows of positive weight; return these rows and the solution."""
    n = sample.X.shape[0]
    s = np.ones(n) if sample.sample_weight is None else sample.sample_weight
    rows = np.flatnonzero(s > 0)
    reporter = progress_reporter(estimator, sample.X, sample.y)
    limit = None if estimator.max_iter == -1 else estimator.max_iter
    with Budget(limit, estimator.max_time, reporter) as budget, one_blas_thread():
        gram, rows32 = solver_rows(sample.kernel, sample.X)
        require_finite(type(estimator).__name__, gram)
        whole = len(rows) == n
        fit = minimize(
            gram if whole else gram.take(rows),
            rows32 if whole else rows32.take(rows),
            regression(sample.y[rows], float(estimator.C) * s[rows], estimator.epsilon, bool(estimator.fit_intercept)),
            tol=estimator.tol,
            budget=budget,
            megabytes=float(estimator.cache_size),
            beta=None if start is None else start[rows],
            shrinking=bool(estimator.shrinking),
            n_jobs=estimator.n_jobs,
        )
    if reporter is not None:
        reporter.finish()
    return rows, fit


def set_points(estimator, sample: Sample, rows: np.ndarray, fit: DualFit) -> None:
    """Set ``points_`` and ``sample_gap_``; for rows of weight zero these are empty and zero."""
    n, eps = sample.X.shape[0], float(estimator.epsilon)
    point, y = fit.point, sample.y
    residual = np.full(n, np.nan)
    residual[rows] = y[rows] - point.scores - point.b
    off = np.abs(np.abs(residual) - eps)
    s = np.ones(len(rows)) if sample.sample_weight is None else sample.sample_weight[rows]
    c = float(estimator.C) * s
    free = (point.beta != 0.0) & (np.abs(point.beta) < c)
    near = max(ON_TUBE * float(np.max(np.abs(y))), float(np.max(off[rows][free], initial=0.0)))
    kinds = np.where(off <= near, 1, np.where(np.abs(residual) < eps, 0, np.where(residual > 0, 2, 3)))
    estimator.points_ = KINDS[kinds]
    if len(rows) < n:
        estimator.points_[np.isnan(residual)] = ""
    estimator.sample_gap_ = np.zeros(n)
    estimator.sample_gap_[rows] = row_gaps(y[rows] - point.scores, point.beta, -c, c, eps, point.b)
