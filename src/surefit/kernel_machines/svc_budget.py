r"""Soft margin with a slack budget: :math:`\min \tfrac12\|f\|^2` subject to a sum of slacks of at most B.

C is the multiplier of the budget constraint: the sum of slacks does not increase with C, and for any C and dual vector

.. math:: \tfrac12\|f\|^2 - \min \;\le\; \bigl(P_C(f, b) - D_C(\alpha)\bigr) + C\,\bigl(B - \textstyle\sum_i s_i \xi_i\bigr)

if :math:`f` satisfies the constraint. C is searched until the right-hand side is small.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.threads import one_blas_thread
from surefit.kernel_machines.svc_training import TwoClasses, require_finite, two_class_problems
from surefit.kernel_machines.svm_inputs import Labels, Sample
from surefit.kernels import Linear
from surefit.solvers.smo.minimize import DualFit, minimize
from surefit.solvers.smo.problem import classification
from surefit.solvers.smo.rows import solver_rows

LARGEST_C = 1e9
SEARCHES = 200


def fit_budget(estimator, sample: Sample, labels: Labels) -> tuple[float, TwoClasses, DualFit]:
    """Return the C at which the budget constraint is active, the problem with that C, and its solution."""
    B = float(estimator.budget)
    if len(labels.classes) != 2:
        raise InvalidParameter("SVC", "budget", "None for more than two classes", estimator.budget)
    problem = two_class_problems(labels, 1.0, "ovo")[0]
    t, s = problem.signs, problem.costs
    most = 2 * min(float(s[t > 0].sum()), float(s[t < 0].sum())) if estimator.fit_intercept else float(s.sum())
    if most <= B:
        raise InvalidParameter(
            "SVC", "budget", f"below {most:.6g}, the sum of slacks of the zero function", estimator.budget
        )
    estimator.budget_min_ = smallest_slack(sample, problem, bool(estimator.fit_intercept))
    if estimator.budget_min_ > B * (1 + 1e-9):
        raise InvalidParameter(
            "SVC", "budget", f"at least {estimator.budget_min_:.6g}, the smallest possible sum of slacks", B
        )
    reporter = progress_reporter(estimator, sample.X, sample.y)
    limit = None if estimator.max_iter == -1 else estimator.max_iter
    with Budget(limit, estimator.max_time, reporter) as budget, one_blas_thread():
        gram, rows32 = (rows.take(problem.rows) for rows in solver_rows(sample.kernel, sample.X))
        require_finite("SVC", gram)

        def at(C: float, start) -> DualFit:
            costs = classification(t, C * s, bool(estimator.fit_intercept))
            return minimize(gram, rows32, costs, tol=0.1 * estimator.tol, budget=budget,
                            megabytes=float(estimator.cache_size), beta=start, shrinking=bool(estimator.shrinking),
                            n_jobs=estimator.n_jobs)  # fmt: skip

        C, fit = _search(at, B, float(estimator.tol))
    if reporter is not None:
        reporter.finish()
    return C, problem._replace(costs=C * s), fit


def slack_of(fit: DualFit, C: float) -> float:
    """Return the weighted sum of slacks of a solution."""
    return max((fit.point.primal - 0.5 * float(fit.point.beta @ fit.point.scores)) / C, 0.0)


def _search(at, B: float, tol: float) -> tuple[float, DualFit]:
    """Bisect the logarithm of C until the budget constraint is active, with warm starts."""
    low, high, C = 0.0, math.inf, 1.0
    kept: tuple[float, DualFit] | None = None
    start = None
    for _ in range(SEARCHES):
        fit = at(C, start)
        slack = slack_of(fit, C)
        if slack <= B:
            high, kept = C, (C, fit)
            norm = 0.5 * float(fit.point.beta @ fit.point.scores)
            if fit.point.gap + C * (B - slack) <= tol * norm or high - low <= 1e-15 * high:
                return kept
        else:
            low = C
        if fit.reason in (Reason.MAX_TIME, Reason.INTERRUPTED, Reason.CALLBACK, Reason.MAX_ITER):
            return kept or (C, fit)
        if low >= LARGEST_C:
            raise InvalidData(
                f"SVC: budget={B:.6g} is exceeded even at C={low:.0e}, where the slacks still add up to {slack:.6g}; "
                "raise the budget."
            )
        before, C = C, (math.sqrt(low * high) if low > 0 and math.isfinite(high) else 4 * C if low > 0 else C / 4)
        start = fit.point.beta * min(1.0, C / before)
    return kept if kept is not None else (C, fit)


def smallest_slack(sample: Sample, problem: TwoClasses, intercept: bool) -> float:
    """Return the smallest possible sum of slacks from a linear program (linear kernel), or the lower bound zero."""
    if not isinstance(sample.kernel, Linear):
        return 0.0
    X = sample.kernel.read(sample.X)[problem.rows]
    X = X.toarray() if hasattr(X, "toarray") else X
    columns = np.column_stack([X, np.ones(len(X))]) if intercept else X
    n, d = columns.shape
    cost = np.concatenate([np.zeros(2 * d), problem.costs])
    signed = problem.signs[:, None] * columns
    rows = np.hstack([-signed, signed, -np.eye(n)])
    found = linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=(0, None), method="highs")
    return float(found.fun) if found.success else 0.0
