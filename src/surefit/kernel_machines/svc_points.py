"""What a fitted classifier says about each training row: slack, kind of point, and its part of the gap."""

from __future__ import annotations

import numpy as np

from surefit.kernel_machines.svc_fit import TwoClasses
from surefit.solvers.smo.minimise import DualFit
from surefit.solvers.smo.problem import row_gaps

KINDS = np.array(["outside", "on margin", "inside", "misclassified"])
ON_MARGIN = 1e-8  # least distance from the margin that counts as being off it


def set_points(estimator, n: int, problems: list[TwoClasses], fits: list[DualFit]) -> None:
    """Set ``slack_``, ``sample_gap_``, ``points_`` and the lists of support rows; one line a problem if there are several."""
    slack, gaps = np.full((len(fits), n), np.nan), np.zeros((len(fits), n))
    points = np.full((len(fits), n), "", dtype=KINDS.dtype)
    free, bound, edge = [], [], []
    for p, (problem, fit) in enumerate(zip(problems, fits, strict=True)):
        rows, point = problem.rows, fit.point
        margins = problem.signs * point.scale * (point.scores + point.b)
        alphas = np.abs(point.scale * point.beta)
        inner = (alphas > 0) & (alphas < problem.prices)
        off = np.abs(margins - 1)
        near = max(ON_MARGIN, float(np.max(off[inner], initial=0.0)))
        slack[p, rows] = np.maximum(1 - margins, 0.0)
        kinds = np.where(off <= near, 1, np.where(margins > 1, 0, np.where(margins >= 0, 2, 3)))
        points[p, rows] = KINDS[kinds]
        if np.isfinite(problem.prices).all():
            low, high = (
                np.where(problem.signs > 0, 0.0, -problem.prices),
                np.where(problem.signs > 0, problem.prices, 0.0),
            )
            gaps[p, rows] = row_gaps(problem.signs - point.scores, point.beta, low, high, 0.0, point.b)
        free.append(rows[inner])
        bound.append(rows[alphas >= problem.prices])
        edge.append(rows[off <= near])
    one = len(fits) == 1
    estimator.slack_ = slack[0] if one else slack
    estimator.sample_gap_ = gaps[0] if one else gaps
    estimator.points_ = points[0] if one else points
    estimator.free_support_ = free[0] if one else free
    estimator.bound_support_ = bound[0] if one else bound
    estimator.on_margin_ = edge[0] if one else edge
