"""From labels to problems of kernel logistic regression, and from their solutions to fitted attributes and claims."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.estimator import data_fingerprint, warn_unless_converged
from surefit.kernel_machines.kernel_reading import gram_of
from surefit.kernel_machines.svm_reading import Labels, Sample
from surefit.solvers.kernel_logistic import LogisticFit, minimise


def fit_problems(estimator, sample: Sample, labels: Labels) -> list[tuple[np.ndarray, LogisticFit]]:
    """Solve one problem, or one a class against the rest; returns the rows that count and the solution of each."""
    rows = np.flatnonzero(labels.weights > 0)
    c, codes = float(estimator.C) * labels.weights[rows], labels.codes[rows]
    K = gram_of(type(estimator).__name__, sample.kernel, sample.X)
    K = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
    count = len(labels.classes)
    ones = [1] if count == 2 else list(range(count))
    last = getattr(estimator, "dual_coef_", None) if estimator.warm_start else None
    if last is not None and last.shape != (len(ones), sample.X.shape[0]):
        last = None
    reporter = progress_reporter(estimator, sample.X, sample.y)
    fits = []
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        for k, one in enumerate(ones):
            fit = minimise(
                K,
                np.where(codes == one, 1.0, -1.0),
                c,
                offset=bool(estimator.fit_intercept),
                tol=float(estimator.tol),
                budget=budget,
                start=None if last is None else last[k, rows],
            )
            fits.append((rows, fit))
    if reporter is not None:
        reporter.finish()
    return fits


def record(estimator, sample: Sample, labels: Labels, fits: list[tuple[np.ndarray, LogisticFit]]):
    """Set the numbers of the fit, issue the certificate, and warn if a problem stopped early."""
    beta = np.zeros((len(fits), sample.X.shape[0]))
    for line, (rows, fit) in zip(beta, fits, strict=True):
        line[rows] = fit.beta
    estimator.dual_coef_, estimator.intercept_ = beta, np.array([fit.b for _, fit in fits])
    found = [fit for _, fit in fits]
    estimator.dual_gap_ = gap = float(sum(fit.gap for fit in found))
    estimator.objective_ = float(sum(fit.objective for fit in found))
    estimator.n_iter_ = max(fit.n_iter for fit in found)
    estimator.history_ = np.array([line for fit in found for line in fit.history]).reshape(-1, 3)
    limit = float(estimator.tol * estimator.objective_)
    reach = math.sqrt(2 * max(fit.gap for fit in found))
    assumptions = () if sample.kernel.positive_semidefinite else ("kernel_positive_semidefinite",)
    words = f"The objective is within {gap:.3g} of the smallest possible one."
    near = f"The function is within {reach:.3g} of the optimal one, in the norm of the kernel's space."
    late = [fit.reason for fit in found if fit.reason is not Reason.CONVERGED]
    reason = late[0] if late else Reason.CONVERGED
    numbers = {"objective": estimator.objective_}
    estimator._issue(
        "A",
        [
            Claim("kernel_logistic.gap", "optimality", words, value=gap, limit=limit, numbers=numbers,
                  assumptions=assumptions),
            Claim("kernel_logistic.distance", "optimality", near, value=reach, assumptions=assumptions),
        ],
        problem={
            "objective": "1/2 |f|^2 + C sum_i s_i ln(1 + exp(-t_i (f(x_i) + b))); the offset is never penalised",
            "C": float(estimator.C),
            "classes": labels.named,
            "class_weights": labels.class_weights.tolist(),
            "fit_intercept": bool(estimator.fit_intercept),
            "kernel": sample.kernel.to_record(),
        },
        model=("dual_coef_", "intercept_"),
        data=data_fingerprint(sample.X, sample.y, sample.sample_weight),
        run={
            "solver": "Newton's method, each step a kernel ridge problem",
            "reason": str(reason),
            "passes": int(sum(fit.n_iter for fit in found)),
            "seconds": float(found[-1].history[-1][0]),
        },
    )  # fmt: skip
    warn_unless_converged(type(estimator).__name__, reason, gap, limit)
    return estimator
