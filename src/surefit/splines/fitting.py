"""Fitting of a smoothing spline to one target: choice of lambda, curve and fitted attributes."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.solvers.spline import Choice, Problem, choose, coefficients, fold, trace
from surefit.solvers.spline.search import leave_one_out, squares_and_trace

SMALLEST = 1e-60  # smallest range whose third power, times the grid of lambda, does not underflow


class Fit(NamedTuple):
    """Fitted spline of one target."""

    lam: float
    edof: float
    sigma2: float
    knots: np.ndarray
    knot_weights: np.ndarray
    coef: np.ndarray
    fitted: np.ndarray
    hat_diagonal: np.ndarray
    loo: np.ndarray
    choice: Choice | None
    total: float  # sum of the weights
    objective: float
    dual: np.ndarray  # weights times residuals, computed without cancellation


def read_column(X):
    """Return a vector as one column; other inputs unchanged."""
    if hasattr(X, "columns") or sparse.issparse(X):
        return X
    values = np.asarray(X)
    return values.reshape(-1, 1) if values.ndim == 1 else X


def fit_column(estimator, x, y, weights, origin: float | None, lams) -> Fit:
    """Return the fitted spline of one target, with lambda given or chosen by a criterion."""
    problem = fold(x, y, weights, estimator.degree, origin)
    _require_enough(problem, x, origin)
    criterion = estimator.lam if isinstance(estimator.lam, str) else None
    if criterion and not problem.total > problem.free:
        raise InvalidData(
            f"SmoothingSpline: lam={criterion!r} needs a total weight above {problem.free}; got {problem.total:.6g} "
            f"(n_samples={len(x)}). Weights are frequency weights: multiply them by a constant (n / sum), or pass lam as a number."
        )
    choice = choose(problem, criterion, lams) if criterion else None
    lam = choice.lam if choice is not None else float(estimator.lam)
    curve = trace(problem, lam)
    squares, left = squares_and_trace(problem, curve)
    coef = coefficients(problem, lam, curve)
    knots, mass, special = problem.knots, problem.weights, origin is not None
    if special:
        knots = np.concatenate([[origin], knots])
        mass = np.concatenate([[max(problem.total - float(mass.sum()), 0.0)], mass])
    unit = 1 - curve.residual_diagonal
    unit /= problem.weights  # derivative of a value with respect to a target of weight one
    unit = np.concatenate([[0.0], unit]) if special else unit
    order = np.arange(len(x)) if weights is None else np.flatnonzero(weights)
    order = order[np.argsort(x[order], kind="stable")] if np.any(np.diff(x[order]) < 0) else order
    place = problem.rows + 1 if special else problem.rows
    fitted, hat, loo = np.full(len(x), np.nan), np.zeros(len(x)), np.full(len(x), np.nan)
    fitted[order] = coef[0, place]
    hat[order] = unit[place]
    if weights is not None:
        hat *= weights
    loo[order] = leave_one_out(problem, curve)
    if weights is not None and not weights.all():
        fitted[weights == 0] = _at(knots, coef, x[weights == 0])
    dual = problem.weights * curve.residuals
    sigma2 = squares / left if left > 0 else float("nan")
    edof = problem.total - left
    used = slice(None) if weights is None else weights > 0
    objective = _minimum(y[used], fitted[used], None if weights is None else weights[used], origin)
    return Fit(lam, edof, sigma2, knots, mass, coef, fitted, hat, loo, choice, problem.total, objective, dual)


def _minimum(y: np.ndarray, fitted: np.ndarray, weights: np.ndarray | None, origin: float | None) -> float:
    r"""Return :math:`\min P = \frac1S \sum_i s_i r_i (y_i - c)`, for any constant that is not penalized."""
    level = float(np.average(y, weights=weights)) if origin is None else 0.0
    return float(np.average((y - fitted) * (y - level), weights=weights))


def _at(knots, coef, x) -> np.ndarray:
    place = np.maximum(np.searchsorted(knots, x, side="right") - 1, 0)
    step = x - knots[place]
    columns = coef[:, place]
    columns[(len(coef) + 1) // 2 :, step < 0] = 0.0
    result = np.zeros(len(x))
    for k in range(len(coef) - 1, -1, -1):
        result = result * step / (k + 1) + columns[k]
    return result


def _require_enough(problem: Problem, x, origin: float | None) -> None:
    who, n = "SmoothingSpline", len(problem.knots)
    if origin is not None and x.min() < origin:
        row = int(np.argmin(x))
        raise InvalidData(
            f"{who}: the special form needs x >= origin = {origin:.6g}; row {row} has {x[row]:.6g}. Lower origin, or use "
            "form='general'."
        )
    if not SMALLEST < problem.length < 1 / SMALLEST:
        raise InvalidData(
            f"{who}: x has the range {problem.length:.2g}, whose powers overflow or underflow; multiply x by a constant."
        )
    if n < max(problem.free, 1):
        words = "distinct x" + (" right of the origin" if origin is not None else "")
        raise InvalidData(
            f"{who}: degree {problem.degree} needs at least {max(problem.free, 1)} {words}; got {n} from "
            f"{len(problem.rows)} samples (n_samples={len(x)})."
        )
