"""Parts of a fitted classifier, and quantities of each training row: slack, kind, and contribution to the gap."""

from __future__ import annotations

import numpy as np

from surefit.kernel_machines.svc_training import TwoClasses, assemble
from surefit.kernel_machines.svm_inputs import Labels, Sample
from surefit.kernel_machines.svm_machine import set_coefficients, support_vectors
from surefit.solvers.smo.minimize import DualFit
from surefit.solvers.smo.problem import row_gaps

KINDS = np.array(["outside", "on margin", "inside", "misclassified"])
ON_MARGIN = 1e-8  # least distance from the margin that counts as being off it


def set_model(estimator, sample: Sample, labels: Labels, problems: list[TwoClasses], fits: list[DualFit]) -> None:
    """Set the fitted numbers: support, coefficients and intercepts in scikit-learn's layout, intervals, norms and margins."""
    n = sample.X.shape[0]
    model = assemble(n, labels, problems, fits, estimator.multi_class)
    estimator.classes_, estimator.class_weight_ = labels.classes, labels.class_weights
    estimator.kernel_, estimator.shape_fit_, estimator.fit_status_ = sample.kernel, sample.X.shape, 0
    estimator.support_, estimator.n_support_ = model.support.astype(np.int32), model.n_support.astype(np.int32)
    estimator.support_vectors_ = support_vectors(sample.X, sample.kernel, model.support)
    set_coefficients(estimator, model.dual_coef, model.intercept)
    estimator._support_codes = labels.codes[model.support]
    estimator._duals = [(problem.rows, fit.point.beta) for problem, fit in zip(problems, fits, strict=True)]
    estimator.n_iter_ = np.array([fit.n_iter for fit in fits], dtype=np.int32)
    scales = np.array([fit.point.scale for fit in fits])
    estimator.intercept_interval_ = scales[:, None] * np.array([fit.point.interval for fit in fits])
    estimator.rkhs_norm_ = scales * np.sqrt([max(float(fit.point.beta @ fit.point.scores), 0.0) for fit in fits])
    with np.errstate(divide="ignore"):
        estimator.margin_ = 1.0 / estimator.rkhs_norm_
    estimator.margin_width_ = 2.0 * estimator.margin_


def set_points(estimator, n: int, problems: list[TwoClasses], fits: list[DualFit]) -> None:
    """Set ``slack_``, ``sample_gap_``, ``points_`` and the lists of support rows; one line a problem if there are several."""
    slack, gaps = np.full((len(fits), n), np.nan), np.zeros((len(fits), n))
    points = np.full((len(fits), n), "", dtype=KINDS.dtype)
    free, bound, edge = [], [], []
    for p, (problem, fit) in enumerate(zip(problems, fits, strict=True)):
        rows, point = problem.rows, fit.point
        margins = problem.signs * point.scale * (point.scores + point.b)
        alphas = np.abs(point.scale * point.beta)
        inner = (alphas > 0) & (alphas < problem.costs)
        off = np.abs(margins - 1)
        near = max(ON_MARGIN, float(np.max(off[inner], initial=0.0)))
        slack[p, rows] = np.maximum(1 - margins, 0.0)
        kinds = np.where(off <= near, 1, np.where(margins > 1, 0, np.where(margins >= 0, 2, 3)))
        points[p, rows] = KINDS[kinds]
        if np.isfinite(problem.costs).all():
            low, high = (
                np.where(problem.signs > 0, 0.0, -problem.costs),
                np.where(problem.signs > 0, problem.costs, 0.0),
            )
            gaps[p, rows] = row_gaps(problem.signs - point.scores, point.beta, low, high, 0.0, point.b)
        free.append(rows[inner])
        bound.append(rows[alphas >= problem.costs])
        edge.append(rows[off <= near])
    one = len(fits) == 1
    estimator.slack_ = slack[0] if one else slack
    estimator.sample_gap_ = gaps[0] if one else gaps
    estimator.points_ = points[0] if one else points
    estimator.free_support_ = free[0] if one else free
    estimator.bound_support_ = bound[0] if one else bound
    estimator.on_margin_ = edge[0] if one else edge
