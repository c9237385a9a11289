"""Unpenalized logistic regression without a finite estimate: find and certify a separating direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning
from surefit.core.warn import warn
from surefit.linear.logistic.limiting import limiting_fit
from surefit.problems import pose
from surefit.separation.separability import separability

LEAST_SHARE = 1e-6  # a smaller dual weight does not prove overlap in view of rounding
LARGEST_LIFTED = 2e7  # maximum number of entries of the difference rows of several classes
SHORTEST_TIME = 1.0  # minimum time for the proof in seconds, even if the budget is spent


def suspicious(frame, scores, fit) -> bool:
    """Whether some row is fitted so well that the optimum may lie at infinity.

    If all dual weights are well above rounding, a positive combination of all rows vanishes, so no separating direction
    exists. Otherwise an exact test must decide.
    """
    Z = frame.rows.times(fit.coef) + frame.inward(fit.coef, fit.intercept)
    _, slopes, _ = scores.evaluate(Z)
    used = scores.weights > 0
    if scores.n_scores == 1:
        shares = np.abs(slopes[used, 0]) / scores.weights[used]
        return bool(np.min(shares, initial=1.0) < LEAST_SHARE)
    P = scores._parts(Z)[1][used]
    return bool(np.min(P) < LEAST_SHARE)


def find_direction(data, intercept: bool, problem, fit, budget: Budget) -> np.ndarray | None:
    """Return a direction along which the likelihood keeps increasing (one row per class, intercept last), or None."""
    left = None if budget.max_time is None else max(budget.max_time - budget.seconds, SHORTEST_TIME)
    used = np.flatnonzero(data.weights > 0)
    X, codes = data.X[used], data.codes[used]
    d = X.shape[1]
    if len(data.classes) == 2:
        report = separability(X, codes, intercept=intercept, columns=False, max_time=left)
        if report.mle_exists is not False or report.w is None:
            return None
        line = _witness_line(report, d, intercept)
        return np.vstack([np.zeros(line.shape, dtype=line.dtype), line]) if line.dtype.kind == "f" else _texts(line)
    K = len(data.classes)
    if fit.separated:
        W, b = problem.unpack(fit)
        return np.column_stack([W, b]) if intercept else W
    if len(used) * (K - 1) * (K - 1) * (d + 1) > LARGEST_LIFTED:
        return None
    report = separability(
        _difference_rows(X, codes, K, intercept),
        np.ones(len(used) * (K - 1)),
        intercept=False,
        columns=False,
        max_time=left,
    )
    if report.mle_exists is not False or report.w is None:
        return None
    line = _witness_line(report, report.n_columns, False)
    lines = line.reshape(K - 1, -1)
    zero = np.zeros((1, lines.shape[1])) if line.dtype.kind == "f" else np.full((1, lines.shape[1]), "0")
    return np.vstack([lines, zero])


def record_direction(estimator, data, V: np.ndarray, fit, reference: int | None) -> Any:
    """Set the attributes of the limiting fit, certify that no finite estimate exists, and warn."""
    who, two = type(estimator).__name__, len(data.classes) == 2
    floats = V if V.dtype.kind == "f" else _scaled(V)
    floats = floats if estimator.fit_intercept else np.column_stack([floats, np.zeros(len(floats))])
    used = np.flatnonzero(data.weights > 0)
    limit = limiting_fit(
        data.X[used], data.codes[used], data.weights[used], len(data.classes), bool(estimator.fit_intercept), floats, _separate
    )  # fmt: skip
    lines = np.concatenate([limit.finite[None], limit.directions])
    if two:
        lines = lines[:, 1:] - lines[:, :1]
    else:
        lines = lines - (lines.mean(axis=1, keepdims=True) if reference is None else lines[:, [reference]])
    lines = np.ascontiguousarray(lines)
    estimator.classes_ = data.classes
    estimator.coef_, estimator.intercept_ = lines[0, :, :-1].copy(), lines[0, :, -1].copy()
    estimator.diverging_coef_, estimator.diverging_intercept_ = lines[1:, :, :-1].copy(), lines[1:, :, -1].copy()
    estimator.n_iter_ = np.array([fit.n_iter], dtype=np.int32)
    estimator.history_ = np.array(fit.history, dtype=np.float64).reshape(-1, 3)
    estimator.no_finite_mle_ = True
    estimator.separation_ = V
    estimator._issue(
        "C",
        [Claim("logistic.no_finite_mle", witness={"V": V})],
        problem=pose(estimator, data.X, data.y, data.sample_weight),
        model=("coef_", "intercept_"),
        sample=(data.X, data.y, data.sample_weight),
        run={"solver": "exact separation test", "reason": str(fit.reason), "passes": int(fit.n_iter)},
    )
    kind = "completely" if limit.complete else "quasi-completely"
    left = (
        "every probability tends to 0 or 1"
        if limit.complete
        else "coef_ is the estimate from the rows that are not separated"
    )
    warn(
        f"{who}: no finite maximum-likelihood estimate exists; the classes are {kind} separated along diverging_coef_; {left}. The "
        "limiting fit is returned; use a finite C for finite coefficients, or look at surefit.separability(X, y).",
        DataWarning,
    )
    return estimator


def _separate(rows: np.ndarray) -> np.ndarray | None:
    """Return a direction with non-negative products with all rows and a positive one with some row, or None."""
    report = separability(rows, np.ones(len(rows)), intercept=False, columns=False)
    return None if report.mle_exists is not False or report.w is None else np.asarray(report.w, dtype=np.float64)


def _witness_line(report, d: int, intercept: bool) -> np.ndarray:
    """Return the proved direction: exact integers if the certificate has them, otherwise floats."""
    for claim in report.certificate.claims:
        if claim.name in ("separation.direction", "separation.weak_direction"):
            return np.asarray(claim.witness["v"]).ravel()
    return np.append(report.w, report.b) if intercept else report.w


def _texts(line: np.ndarray) -> np.ndarray:
    return np.array([["0"] * len(line), [str(entry) for entry in line]])


def _scaled(V: np.ndarray) -> np.ndarray:
    """Return integers of any length as floats, divided by the largest absolute value."""
    whole = [[int(entry) for entry in line] for line in V]
    largest = max(abs(entry) for line in whole for entry in line)
    return np.array([[entry / largest for entry in line] for line in whole])


def _difference_rows(X, codes: np.ndarray, K: int, intercept: bool):
    """Return the rows ``x (e_y - e_k)`` for every wrong class k; the coefficients of the last class are zero."""
    X = sparse.csr_array(X)
    if intercept:
        X = sparse.csr_array(sparse.hstack([X, np.ones((X.shape[0], 1))]))
    m = X.shape[1]
    blocks = []
    for k in range(K):
        rows = X[np.flatnonzero(codes == k)]
        for other in range(K):
            if other == k:
                continue
            empty = sparse.csr_array((rows.shape[0], m))
            line = [rows if j == k else -rows if j == other else empty for j in range(K - 1)]
            blocks.append(sparse.hstack(line))
    lifted = sparse.csr_array(sparse.vstack(blocks))
    return lifted.toarray() if lifted.shape[0] * lifted.shape[1] <= LARGEST_LIFTED else lifted
