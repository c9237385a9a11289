"""Fitting of Nyström classifiers: solve the problems in the span of the landmarks and issue the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import warn_unless_converged
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
)
from surefit.kernel_machines.kernel_inputs import KERNEL_RULES, PIECE, KernelSumMixin
from surefit.kernel_machines.nystroem_record import SubsetGapMixin, record_subset
from surefit.kernel_machines.svm_inputs import Sample, read_labels, read_rows, read_sample
from surefit.kernel_machines.svm_machine import support_vectors
from surefit.solvers.kernel_subset.landmarks import choose
from surefit.solvers.kernel_subset.margins import MachineFit, fit_machine
from surefit.solvers.kernel_subset.rows import SpanRows
from surefit.solvers.kernel_subset.softmax import fit_softmax
from surefit.solvers.kernel_subset.squares import span_of

RULES: dict[str, Rule] = {
    **{name: rule for name, rule in KERNEL_RULES.items() if name != "kernel_params"},
    "C": POSITIVE,
    "gamma": one_of("scale", "auto") | POSITIVE,
    "n_landmarks": COUNT,
    "landmarks": one_of("pivoted", "uniform"),
    "fit_intercept": BOOLEAN,
    "class_weight": NOTHING | one_of("balanced") | Rule("a dictionary", lambda v: isinstance(v, dict)),
    "tol": NON_NEGATIVE,
    "max_iter": COUNT,
    "max_time": NOTHING | POSITIVE,
    "dual": one_of("auto", "exact", "bounded"),
    "random_state": RANDOM_STATE,
}


class NystroemMixin(SubsetGapMixin, KernelSumMixin):
    """Mixin with the scores and predictions of functions in the span of the landmarks."""

    landmarks_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray
    X_fit_: Any

    def decision_function(self, X) -> np.ndarray:
        """Return the scores: one per row for two classes, one per row and class for more."""
        check_is_fitted(self)
        X = read_rows(self, X)
        scores, step = np.empty((X.shape[0], len(self.dual_coef_))), max(1, PIECE // len(self.landmarks_))
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            scores[part] = self.kernel_.combined(X[part], self.landmarks_, self.X_fit_, self.dual_coef_.T)
        scores += self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        """Return the class of each row; ties (for two classes, a score of zero) go to the first class."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def fit_classifier(estimator, X, y, sample_weight, loss: str):
    """Fit one binary or softmax problem, or one problem per class against the rest, and issue the certificate."""
    check_params(estimator)
    who = type(estimator).__name__
    sample = read_sample(estimator, X, y, sample_weight)
    labels = read_labels(estimator, sample)
    if loss == "logistic" and len(labels.classes) > 2 and estimator.multi_class == "multinomial":
        loss = "softmax"
    kernel = sample.kernel
    if kernel.positive_semidefinite is False:
        raise InvalidParameter(who, "kernel", "a positive semidefinite kernel", estimator.kernel)
    with np.errstate(over="ignore"):
        finite = np.all(np.isfinite(kernel.diag(sample.X)))  # |k(x, z)|^2 <= k(x, x) k(z, z)
    if not finite:
        raise InvalidData(f"{who}: some kernel values are not finite; scale the columns, or change the kernel.")
    counted = np.flatnonzero(labels.weights > 0)
    reporter = progress_reporter(estimator, sample.X, sample.y)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        A, draws = kernel.read(sample.X), check_random_state(estimator.random_state)
        landmarks = choose(kernel, A, counted, int(estimator.n_landmarks), estimator.landmarks, draws)
        span = span_of(kernel, A, landmarks)
        rows = SpanRows.of(span)
        c, offset, tol = float(estimator.C) * labels.weights, bool(estimator.fit_intercept), float(estimator.tol)
        if loss == "softmax":
            count = len(labels.classes)
            fits = [fit_softmax(span, rows, labels.codes, count, c, offset=offset, tol=tol, budget=budget)]
        else:
            positives = [1] if len(labels.classes) == 2 else range(len(labels.classes))
            signs = (np.where(labels.codes == k, 1.0, -1.0) for k in positives)
            fits = [fit_machine(span, rows, t, c, loss, offset=offset, tol=tol, budget=budget) for t in signs]
    if reporter is not None:
        reporter.finish()
    estimator.landmarks_, estimator.classes_, estimator.kernel_ = landmarks, labels.classes, kernel
    estimator.X_fit_ = support_vectors(sample.X, kernel, landmarks)
    dual = np.concatenate([fit.dual for fit in fits], axis=1)
    return record(estimator, sample, fits, {"dual": dual}, rows.shape[1])


def record(estimator, sample: Sample, fits: list[MachineFit], witness: dict[str, Any], rank: int):
    """Set the fitted attributes, issue the certificate, and warn if a problem stopped early."""
    estimator.dual_coef_ = np.concatenate([fit.a for fit in fits])
    estimator.intercept_ = np.concatenate([fit.b for fit in fits])
    estimator.objective_ = float(sum(fit.objective for fit in fits))
    estimator.rkhs_norm_ = np.sqrt(np.concatenate([fit.squares for fit in fits]))
    estimator.n_iter_ = max(fit.n_iter for fit in fits)
    estimator.history_ = np.array([line for fit in fits for line in fit.history], dtype=np.float64).reshape(-1, 3)
    late = [fit.reason for fit in fits if fit.reason is not Reason.CONVERGED]
    record_subset(
        estimator, sample, witness, rank,
        "Newton's method in coordinates of the span",
        reason=str(late[0] if late else Reason.CONVERGED),
        passes=int(sum(fit.n_iter for fit in fits)),
        seconds=float(fits[-1].history[-1][0]) if fits[-1].history else 0.0,
    )  # fmt: skip
    claim = estimator.certificate_["nystroem.gap"]
    if not claim.holds:
        reason = late[0] if late else Reason.STALLED
        warn_unless_converged(type(estimator).__name__, reason, claim.value, claim.limit)
    return estimator
