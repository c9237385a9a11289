"""Fitting of support vector machines with ``nu``: dual problems, their solutions, and the range of feasible ``nu``."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import DataWarning, InvalidData, SurefitError
from surefit.core.threads import one_blas_thread
from surefit.core.warn import warn
from surefit.kernel_machines.svc_training import TwoClasses, require_finite
from surefit.kernel_machines.svm_inputs import Sample
from surefit.solvers.smo import nu_pairs
from surefit.solvers.smo.evaluation import combine
from surefit.solvers.smo.minimize import SMALL, DualFit, minimize
from surefit.solvers.smo.nu import VANISHED, Judged, Solved, judge_classes, judge_one_class, judge_targets, search
from surefit.solvers.smo.problem import BoxProblem, classification, regression
from surefit.solvers.smo.rows import LinearRows, solver_rows, stored

INNER = 0.1  # fraction of the tolerance to which the problems of the search are solved
ROUNDED = 1e-12  # relative rounding error of sums of weights


@contextmanager
def _kernel_rows(estimator, sample: Sample):
    """Yield the kernel rows and the solver options within the budget of the fit."""
    reporter = progress_reporter(estimator, sample.X, sample.y)
    limit = None if estimator.max_iter == -1 else estimator.max_iter
    with Budget(limit, estimator.max_time, reporter) as budget, one_blas_thread():
        gram, rows32 = solver_rows(sample.kernel, sample.X)
        require_finite(type(estimator).__name__, gram)
        options: dict[str, Any] = {
            "budget": budget,
            "megabytes": float(estimator.cache_size),
            "shrinking": bool(estimator.shrinking),
            "n_jobs": estimator.n_jobs,
        }
        yield gram, rows32, options
    if reporter is not None:
        reporter.finish()


def fit_classes(estimator, sample: Sample, problems: list[TwoClasses]) -> list[tuple[Judged, DualFit]]:
    """Solve every two-class problem; the ``costs`` of a problem are the weights of its rows."""
    nu, tol, who = float(estimator.nu), float(estimator.tol), type(estimator).__name__
    found = []
    with _kernel_rows(estimator, sample) as (gram, rows32, options):
        for problem in problems:
            t, s = problem.signs, problem.costs
            sides = np.array([s[t < 0].sum(), s[t > 0].sum()])
            total = nu * float(s.sum())
            if total / 2 > sides.min() * (1 + ROUNDED):
                warn(
                    f"{who}: nu = {nu:g} requires more rows of a class than there are; the largest possible nu of these two classes, "
                    f"{2 * sides.min() / sides.sum():.6g}, is used for them.",
                    DataWarning,
                )
            total = min(total, 2 * float(sides.min()))
            whole = len(problem.rows) == gram.n
            own, own32 = (gram, rows32) if whole else (gram.take(problem.rows), rows32.take(problem.rows))
            judge = partial(judge_classes, t, s, total)
            if sample.kernel.positive_semidefinite is not False and nu_pairs.fits(own, options["megabytes"]):
                order = np.argsort(-t, kind="stable")
                signed = nu_pairs.Signed(order, s[order], int(np.count_nonzero(t > 0)))
                direct = nu_pairs.solve(own, own32, np.zeros(len(t)), signed, total, judge, tol, options)
                if direct[1].reason is not Reason.STALLED:
                    _require_margin(who, *direct)
                    found.append(direct)
                    continue
            beta = t * s * (total / 2) / sides[(t > 0).astype(int)]
            scores = combine(own, beta, options["n_jobs"])
            typical = float(np.median(t * (scores - np.median(scores))))
            guess = max(typical, 1e-3 * float(np.max(np.abs(scores))), 1e-6 * total * float(np.max(own.diagonal)))
            if not guess > 0.0:
                raise _no_margin(who, nu)

            def solve(rho: float, start: np.ndarray, own=own, own32=own32, t=t, s=s) -> tuple[Solved, DualFit]:
                box = classification(t, s / rho, True)
                fit = minimize(own, own32, box, tol=INNER * tol, beta=start / rho, **options)
                return Solved(rho, rho * fit.point.beta, rho * fit.point.scores), fit

            found.append(search(solve, judge, Solved(guess, beta, scores), total, tol))
            judged, fit = found[-1]
            _require_margin(who, judged, fit)
            # A gap above the objective proves nothing: the search has ended at margins too small to be solved for.
            useless = judged.level <= VANISHED * guess or judged.point.gap >= judged.point.primal
            if (fit.reason is Reason.STALLED and useless) or not np.isfinite(judged.point.gap):
                raise _no_margin(who, nu)
    return found


def _require_margin(who: str, judged: Judged, fit: DualFit) -> None:
    """Raise an error if the fit was stopped at a point without a positive margin, which no model belongs to."""
    if np.isfinite(judged.point.gap) or fit.reason in (Reason.CONVERGED, Reason.STALLED):
        return
    if fit.reason is Reason.INTERRUPTED:
        raise KeyboardInterrupt
    raise SurefitError(f"{who}: the fit ended before a positive margin was found; increase max_time or max_iter.")


def _no_margin(who: str, nu: float) -> InvalidData:
    return InvalidData(
        f"{who}: nu = {nu:g} is too small for these rows: the classes overlap, and a positive margin, if there is one, is too small "
        "to be computed. Raise nu, or choose a kernel that separates them."
    )


def fit_targets(estimator, sample: Sample, rows: np.ndarray, c: np.ndarray) -> tuple[Judged, DualFit]:
    """Solve the regression on ``rows``, which have positive weight; ``c`` is C times their weights."""
    y, total, tol = sample.y[rows], float(estimator.nu) * float(c.sum()), float(estimator.tol)
    with _kernel_rows(estimator, sample) as (gram, rows32, options):
        if len(rows) < gram.n:
            gram, rows32 = gram.take(rows), rows32.take(rows)
        judge = partial(judge_targets, y, c, total)
        if sample.kernel.positive_semidefinite is not False and nu_pairs.fits(gram, options["megabytes"]):
            each = np.arange(len(y))
            signed = nu_pairs.Signed(np.concatenate([each, each]), np.concatenate([c, c]), len(y))
            direct = nu_pairs.solve(gram, rows32, y, signed, total, judge, tol, options)
            if direct[1].reason is not Reason.STALLED:
                return direct
        widest = judge_targets(y, c, total, np.zeros(len(y)), np.zeros(len(y))).level

        def solve(at: float, start: np.ndarray) -> tuple[Solved, DualFit]:
            fit = minimize(gram, rows32, regression(y, c, -at, True), tol=INNER * tol, beta=start, **options)
            return Solved(at, fit.point.beta, fit.point.scores), fit

        start = Solved(-0.25 * widest, np.zeros(len(y)), np.zeros(len(y)))
        return search(solve, judge, start, total, tol)


def fit_one_class(estimator, sample: Sample, rows: np.ndarray, s: np.ndarray) -> DualFit:
    """Solve the one-class dual: coefficients between 0 and the weights, with sum ``nu`` times the total weight.

    The solver's variables are the deviations from a vector with this sum, which is nonzero on the first rows only; the
    deviations sum to zero.
    """
    nu, tol = float(estimator.nu), float(estimator.tol)
    total = nu * float(s.sum())
    base = nu_pairs.filled(s, total)
    with _kernel_rows(estimator, sample) as (gram, rows32, options):
        if len(rows) < gram.n:
            gram, rows32 = gram.take(rows), rows32.take(rows)
        gram = stored(gram) if gram.n <= SMALL and not isinstance(gram, LinearRows) else gram
        if nu == 1.0:
            point = judge_one_class(s, total, s, combine(gram, s, options["n_jobs"])).point
            return DualFit(point, Reason.CONVERGED, 0, [(0.0, 0, point.gap)], ("closed form",))
        box = BoxProblem(-combine(gram, base, options["n_jobs"]), -base, s - base, 0.0, True)
        fit = minimize(gram, rows32, box, tol=INNER * tol, **options)
        move = fit.point.beta
        beta = np.where(move <= box.low, 0.0, np.where(move >= box.high, s, np.clip(base + move, 0.0, s)))
        point = judge_one_class(s, total, beta, combine(gram, beta, options["n_jobs"])).point
    stalled = fit.reason in (Reason.CONVERGED, Reason.STALLED)
    met = point.gap <= tol * point.primal
    reason = (Reason.CONVERGED if met else Reason.STALLED) if stalled else fit.reason
    return fit._replace(point=point, reason=reason)
