"""Optimality conditions of fitted models, measured on their training data: one number per row and per condition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear
from scipy.special import softmax

from surefit.core import tables
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.issuing.state import dense

NEAR = 1e-5  # distance from a margin or tube within which the multiplier of a row is free


@dataclass(frozen=True, eq=False, repr=False)
class ModelKKT:
    """Violations of the optimality conditions of a fitted model.

    Attributes
    ----------
    conditions : dict of ndarray
        Violation per row (or per feature, or one number) of each condition; zero everywhere at the exact optimum.
    gap, relative_gap : float
        Upper bound on the suboptimality, and the same relative to the objective; nan if the model has none.
    sides : ndarray of str or None
        For epsilon-insensitive regression: "inside", "on tube, above", "on tube, below", "above" or "below", per row.

    Examples
    --------
    >>> from surefit import Lasso, kkt_report
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> report = kkt_report(Lasso(alpha=0.1, tol=1e-12).fit(X, y), X, y)
    >>> report.gap < 1e-9, max(float(abs(violation).max()) for violation in report.conditions.values()) < 1e-9
    (True, True)
    """

    model: str
    conditions: dict[str, np.ndarray]
    gap: float
    relative_gap: float
    sides: np.ndarray | None = None

    @property
    def worst(self) -> dict[str, float]:
        """Largest violation of each condition."""
        return {name: float(np.max(np.abs(values), initial=0.0)) for name, values in self.conditions.items()}

    @property
    def stationarity(self) -> float:
        """Largest violation of the conditions on gradients."""
        return max((value for name, value in self.worst.items() if name.startswith("stationarity")), default=0.0)

    def optimal(self, tol: float = 1e-6) -> bool:
        """Return whether no violation exceeds ``tol``."""
        return max(self.worst.values()) <= tol

    def __repr__(self) -> str:
        lines: list[tuple[str, ...]] = [
            (name, tables.number(value), str(np.size(self.conditions[name]))) for name, value in self.worst.items()
        ]
        lines.append(("gap", tables.number(self.gap), ""))
        return tables.text_table(
            f"Optimality conditions of {self.model}", ("condition", "largest violation", "entries"), lines, ""
        )


def model_kkt(model: Any, X, y, sample_weight=None) -> ModelKKT:
    """Measure the optimality conditions of a fitted convex model on its training data."""
    name = type(model).__name__
    readers = {
        "SVC": _svc, "LinearSVC": _linear_svc, "SVR": _svr, "LinearSVR": _linear_svr, "LinearRegression": _squares, "Ridge": _squares,
        "Lasso": _squares, "ElasticNet": _squares, "LogisticRegression": _logistic, "KernelRidge": _kernel_ridge,
        "KernelLogisticRegression": _kernel_logistic,
    }  # fmt: skip
    if name not in readers:
        raise InvalidParameter(
            "kkt_report", "model", f"a program of surefit.duality or one of {', '.join(readers)}", model
        )
    y = np.asarray(y)
    s = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    conditions, objective, gap, sides = readers[name](model, X, y, s)
    gap = float(getattr(model, "dual_gap_", math.nan)) if gap is None else max(float(gap), 0.0)
    relative = gap / objective if objective and math.isfinite(gap) else math.nan
    return ModelKKT(name, {key: np.atleast_1d(value) for key, value in conditions.items()}, gap, relative, sides)


def _signs(model, y: np.ndarray) -> np.ndarray:
    if len(model.classes_) != 2:
        raise InvalidData(f"kkt_report: {type(model).__name__} must have two classes; got {len(model.classes_)}.")
    return np.where(y == model.classes_[1], 1.0, -1.0)


def _svc(model, X, y, s):
    t = _signs(model, y)
    C = float(model.C_) * s * np.where(t > 0, model.class_weight_[1], model.class_weight_[0])
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(dense(model.dual_coef_)[0])
    b = float(model.intercept_[0])
    K = model.kernel_(model.kernel_.read(X) if hasattr(model.kernel_, "read") else X)
    along = K @ (alpha * t)
    margins = t * np.asarray(model.decision_function(X), dtype=np.float64)
    hard = not np.isfinite(model.C_)
    slack = np.maximum(1 - margins, 0.0)
    conditions = {
        "stationarity: f = sum_j alpha_j t_j k(x_j, .)": np.abs(margins * t - b - along),
        "primal feasibility: margin >= 1 - slack": slack if hard else np.zeros(len(y)),
        "dual feasibility: 0 <= alpha <= C": np.maximum(np.maximum(-alpha, alpha - C), 0.0),
        "complementarity: alpha (margin - 1 + slack) = 0": alpha * np.maximum(margins - 1, 0.0),
        "complementarity: (C - alpha) slack = 0": np.zeros(len(y)) if hard else (C - alpha) * slack,
    }
    if model.fit_intercept:
        conditions["stationarity: sum alpha t = 0"] = np.array([abs(float(alpha @ t))])
    half = 0.5 * float((alpha * t) @ along)
    objective = half + (0.0 if hard else float(C @ slack))
    return conditions, objective, objective - (float(alpha.sum()) - half), None


def _linear_svc(model, X, y, s):
    if model.loss != "hinge" or model.penalty != "l2":
        raise InvalidData("kkt_report: LinearSVC must have loss='hinge' and penalty='l2'.")
    t, Z = _signs(model, y), _dense(X)
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    margins = t * (Z @ w + b)
    C = float(model.C) * s
    alpha = _multipliers(margins, C, t[:, None] * Z, w, t if model.fit_intercept else None)
    slack = np.maximum(1 - margins, 0.0)
    conditions = {
        "stationarity: w = sum alpha t x": np.abs(w - (alpha * t) @ Z),
        "complementarity: alpha (margin - 1 + slack) = 0": alpha * np.maximum(margins - 1, 0.0),
        "complementarity: (C - alpha) slack = 0": (C - alpha) * slack,
    }
    if model.fit_intercept:
        conditions["stationarity: sum alpha t = 0"] = np.array([abs(float(alpha @ t))])
    return conditions, 0.5 * float(w @ w) + float(C @ slack), None, None


def _multipliers(margins, C, signed, w, t) -> np.ndarray:
    """Return multipliers that are 0 or C off the margin and, on the margin, fitted to the stationarity conditions."""
    near = np.abs(margins - 1) <= NEAR * max(1.0, float(np.max(np.abs(margins), initial=1.0)))
    alpha = np.where(margins < 1, C, 0.0)
    alpha[near] = 0.0
    if near.any():
        A, target = signed[near].T, w - alpha @ signed
        if t is not None:
            A, target = np.vstack([A, t[near]]), np.append(target, -float(alpha @ t))
        upper = np.maximum(C[near], np.finfo(float).tiny)
        alpha[near] = lsq_linear(A, target, (np.zeros(int(near.sum())), upper), tol=1e-14).x
    return alpha


def _tube(model, e: np.ndarray, beta: np.ndarray, C: np.ndarray):
    eps = float(model.epsilon)
    outside = np.maximum(np.abs(e) - eps, 0.0)
    near = np.abs(np.abs(e) - eps) <= NEAR * max(1.0, float(np.max(np.abs(e), initial=1.0)))
    sides = np.where(e > 0, "above", "below").astype("<U14")
    sides[np.abs(e) < eps] = "inside"
    sides[near & (e > 0)] = "on tube, above"
    sides[near & (e <= 0)] = "on tube, below"
    conditions = {
        "dual feasibility: |beta| <= C": np.maximum(np.abs(beta) - C, 0.0),
        "complementarity: beta > 0 only above the tube's upper edge": np.maximum(beta, 0.0) * np.maximum(eps - e, 0.0),
        "complementarity: beta < 0 only below the tube's lower edge": np.maximum(-beta, 0.0) * np.maximum(eps + e, 0.0),
        "complementarity: (C - |beta|) slack = 0": (C - np.abs(beta)) * outside,
    }
    return conditions, sides, outside


def _svr(model, X, y, s):
    beta = np.zeros(len(y))
    beta[model.support_] = dense(model.dual_coef_)[0]
    C, b = float(model.C) * s, float(model.intercept_[0])
    f = np.asarray(model.predict(X), dtype=np.float64)
    K = model.kernel_(model.kernel_.read(X) if hasattr(model.kernel_, "read") else X)
    conditions, sides, outside = _tube(model, y - f, beta, C)
    conditions["stationarity: f = sum_j beta_j k(x_j, .) + b"] = np.abs(f - b - K @ beta)
    if model.fit_intercept:
        conditions["stationarity: sum beta = 0"] = np.array([abs(float(beta.sum()))])
    half = 0.5 * float(beta @ K @ beta)
    objective = half + float(C @ outside)
    dual = float(beta @ y) - float(model.epsilon) * float(np.abs(beta).sum()) - half
    return conditions, objective, objective - dual, sides


def _linear_svr(model, X, y, s):
    if model.loss != "epsilon_insensitive":
        raise InvalidData("kkt_report: LinearSVR must have loss='epsilon_insensitive'.")
    Z, w, C = _dense(X), np.ravel(model.coef_), float(model.C) * s
    e = y - np.asarray(model.predict(X), dtype=np.float64)
    beta = np.where(np.abs(e) > model.epsilon, np.sign(e), 0.0) * C
    near = np.abs(np.abs(e) - model.epsilon) <= NEAR * max(1.0, float(np.max(np.abs(e))))
    beta[near] = 0.0
    if near.any():
        A, target = Z[near].T, w - beta @ Z
        if model.fit_intercept:
            A, target = np.vstack([A, np.ones(int(near.sum()))]), np.append(target, -beta.sum())
        low = np.where(e[near] > 0, 0.0, -C[near])
        beta[near] = lsq_linear(A, target, (low - 1e-300, low + np.maximum(C[near], 1e-300)), tol=1e-14).x
    conditions, sides, outside = _tube(model, e, beta, C)
    conditions["stationarity: w = sum beta x"] = np.abs(w - beta @ Z)
    if model.fit_intercept:
        conditions["stationarity: sum beta = 0"] = np.array([abs(float(beta.sum()))])
    return conditions, 0.5 * float(w @ w) + float(C @ outside), None, sides


def _squares(model, X, y, s):
    """Return the conditions of least squares with an elastic-net penalty, per feature, in units of the gradient."""
    Z, w = _dense(X), np.ravel(model.coef_)
    r = y - np.asarray(model.predict(X), dtype=np.float64)
    total = float(s.sum())
    g = (s * r) @ Z / total
    name = type(model).__name__
    l1 = {"Lasso": 1.0, "ElasticNet": float(getattr(model, "l1_ratio", 0.0))}.get(name, 0.0) * float(
        getattr(model, "alpha", 0.0)
    )
    l2 = {"Ridge": float(getattr(model, "alpha", 0.0)) / total}.get(name, float(getattr(model, "alpha", 0.0)) - l1)
    if getattr(model, "radius", None) is not None:
        raise InvalidData("kkt_report: the model must have a penalty weight, not a radius.")
    rest = g - l2 * w
    active = np.abs(rest - l1 * np.sign(w))
    idle = np.maximum(np.abs(rest) - l1, 0.0)
    conditions = {
        "stationarity: features with weights": np.where(w != 0, active, 0.0),
        "stationarity: |gradient| <= alpha where the weight is 0": np.where(w == 0, idle, 0.0),
    }
    if model.fit_intercept and not getattr(model, "penalize_intercept", False):
        conditions["stationarity: residuals sum to 0"] = np.array([abs(float(s @ r)) / total])
    objective = float(s @ r**2) / (2 * total) + l1 * float(np.abs(w).sum()) + 0.5 * l2 * float(w @ w)
    return conditions, objective, None, None


def _logistic(model, X, y, s):
    """Return balance and orthogonality of the errors ``1{y = k} - p_k``, per class and feature."""
    Z = _dense(X)
    scores = np.asarray(Z @ model.coef_.T + model.intercept_, dtype=np.float64)
    two = scores.shape[1] == 1
    P = softmax(np.column_stack([np.zeros(len(y)), scores]) if two else scores, axis=1)
    E = (y[:, None] == model.classes_) - P
    E = E[:, 1:] if two else E
    C = float(model.C)
    ratio = 0.0 if model.l1_ratio is None else float(model.l1_ratio)
    W = model.coef_
    rest = (s[:, None] * E).T @ Z - ((1 - ratio) / C * W if np.isfinite(C) else 0.0)
    l1 = ratio / C if np.isfinite(C) else 0.0
    stationarity = np.where(W != 0, np.abs(rest - l1 * np.sign(W)), np.maximum(np.abs(rest) - l1, 0.0))
    conditions = {"stationarity: errors are orthogonal to the features": stationarity.ravel()}
    if model.fit_intercept:
        conditions["stationarity: errors balance"] = np.abs(s @ E)
    own = np.log(np.maximum(P[np.arange(len(y)), np.searchsorted(model.classes_, y)], 1e-300))
    penalty = ratio * np.abs(W).sum() + 0.5 * (1 - ratio) * (W**2).sum() if np.isfinite(C) else 0.0
    return conditions, float(penalty - (C if np.isfinite(C) else 1.0) * (s @ own)), None, None


def _kernel_ridge(model, X, y, s):
    r = y - np.asarray(model.predict(X), dtype=np.float64)
    alpha = float(getattr(model, "multiplier_", model.alpha))
    conditions = {"stationarity: residual = alpha c / weight": np.abs(s * r - alpha * np.ravel(model.dual_coef_))}
    if model.fit_intercept:
        conditions["stationarity: sum c = 0"] = np.array([abs(float(np.sum(model.dual_coef_)))])
    return conditions, float(model.objective_), None, None


def _kernel_logistic(model, X, y, s):
    t, f = _signs(model, y), np.asarray(model.decision_function(X), dtype=np.float64)
    beta = float(model.C) * s * t / (1 + np.exp(t * f))
    c = np.ravel(model.dual_coef_)
    conditions = {"stationarity: c = C t sigma(-t f)": np.abs(c - beta)}
    if model.fit_intercept:
        conditions["stationarity: sum c = 0"] = np.array([abs(float(c.sum()))])
    return conditions, float(getattr(model, "objective_", 0.0)), None, None


def _dense(X) -> np.ndarray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
