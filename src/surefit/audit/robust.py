"""Reads robust regression of scikit-learn: HuberRegressor, scale included, and QuantileRegressor."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, minimize

from surefit.audit.linear_claims import in_words
from surefit.audit.reading import Reading, attribute, reader, target_of
from surefit.checks.audited_robust import objective_of, own_dual, robust_bounds
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

LARGEST_REFERENCE = 20_000  # rows up to which we look for a dual point of our own


@reader("sklearn", "HuberRegressor")
def read_huber(model, data: Data, tol: float) -> Reading:
    """``sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|^2`` over coefficients, intercept and scale."""
    attribute(model, "scale_")
    problem = {
        "law": "huber",
        "epsilon": float(model.epsilon),
        "alpha": float(model.alpha),
        "fit_intercept": bool(model.fit_intercept),
        "objective": "sum_i s_i (sigma + sigma H(residual_i / sigma)) + alpha |w|^2; intercept and sigma are free",
    }
    return _reading(model, data, tol, problem, _huber_dual, ("coef_", "intercept_", "scale_"))


@reader("sklearn", "QuantileRegressor")
def read_quantile(model, data: Data, tol: float) -> Reading:
    """``sum_i s_i pinball(r_i) + alpha sum(s) |w|_1``; the intercept is free."""
    problem = {
        "law": "quantile",
        "quantile": float(model.quantile),
        "alpha": float(model.alpha),
        "fit_intercept": bool(model.fit_intercept),
        "objective": "sum_i s_i pinball(residual_i) + alpha sum(s) |w|_1; the intercept is free",
    }
    return _reading(model, data, tol, problem, _quantile_dual, ("coef_", "intercept_"))


def _reading(model, data: Data, tol: float, problem: dict, solve, names: tuple[str, ...]) -> Reading:
    attribute(model, "coef_")
    y = np.asarray(target_of(model, data), dtype=np.float64)
    s = np.ones(len(y)) if data.weights is None else data.weights
    witness = {"dual": solve(model, problem, data.X, y, s)} if len(y) <= LARGEST_REFERENCE else {}
    middle = float(np.median(y)) if problem["fit_intercept"] else 0.0
    spread = math.sqrt(math.fsum(s * (y - middle) ** 2) / math.fsum(s)) or 1.0
    null = objective_of(problem, np.zeros(1), y - middle, s, spread)

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        objective, bound, _, noise = robust_bounds(draft, rows, witness.get("dual"))
        gap = max(objective + noise - bound, 0.0)
        numbers = {"objective": objective, "null_objective": null}
        words = in_words(objective, 0.0, gap)
        return [Claim("audit.robust_gap", "optimality", words, value=gap, limit=tol * null, numbers=numbers)]

    return Reading("A", problem, names, state, witness, {"iterations": int(np.max(model.n_iter_))})


def _huber_dual(model, problem: dict, X, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Go on from the model by a quasi-Newton method; the slopes there are the dual point."""
    d, free = X.shape[1], problem["fit_intercept"]
    unit = float(model.scale_)

    def residuals(point: np.ndarray) -> np.ndarray:
        return y - np.asarray(X @ point[:d]).ravel() - (point[d] if free else 0.0)

    def both(point: np.ndarray) -> tuple[float, np.ndarray]:
        w, scale, r = point[:d], float(point[-1]) * unit, residuals(point)
        theta = own_dual(problem, r, s, scale)
        of_w = 2 * problem["alpha"] * w - np.asarray(X.T @ theta).ravel()
        of_scale = math.fsum(s) - 0.25 * math.fsum(np.divide(theta**2, s, out=np.zeros(len(s)), where=s > 0))
        slopes = [of_w, [-math.fsum(theta)] if free else [], [of_scale * unit]]
        return objective_of(problem, w, r, s, scale), np.concatenate(slopes)

    start = np.concatenate([model.coef_, [float(model.intercept_)] if free else [], [1.0]])
    bounds = [(None, None)] * (len(start) - 1) + [(1e-6, None)]
    options = {"maxiter": 20_000, "maxfun": 40_000, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-12}
    point = minimize(both, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return own_dual(problem, residuals(point), s, float(point[-1]) * unit)


def _quantile_dual(model, problem: dict, X, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Solve the dual linear programme."""
    tau, room = problem["quantile"], problem["alpha"] * math.fsum(s)
    columns, rows = sparse.csr_array(X).T.tocsr(), []
    if problem["fit_intercept"]:
        rows.append(sparse.csr_array(np.ones((1, len(y)))))
    options: dict = {"bounds": np.column_stack([(tau - 1) * s, tau * s]), "method": "highs"}
    if room == 0.0:
        rows.append(columns)
    else:
        options |= {"A_ub": sparse.vstack([columns, -columns], format="csr"), "b_ub": np.full(2 * X.shape[1], room)}
    if rows:
        A_eq = sparse.vstack(rows, format="csr")
        options |= {"A_eq": A_eq, "b_eq": np.zeros(A_eq.shape[0])}
    found = linprog(-y, **options)
    return np.zeros(len(y)) if found.x is None else np.asarray(found.x)
