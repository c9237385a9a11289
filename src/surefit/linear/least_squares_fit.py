"""From parameters to a least-squares problem, and from its solution to fitted attributes and claims."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from surefit.bounds.estimates import generalised_cross_validation
from surefit.core.claims import Claim
from surefit.core.estimator import data_fingerprint
from surefit.core.validation import read_data, read_weights
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.penalised_squares import READ, usable_target
from surefit.solvers.least_squares import Solution, solve
from surefit.solvers.least_squares.leave_one_out import spectrum_of
from surefit.solvers.least_squares.minimise import REACH

EPS = float(np.finfo(np.float64).eps)


class Targets(NamedTuple):
    """Training data of a regression on one or several targets."""

    X: Any
    y: np.ndarray  # as given, and as the checker will read it
    Y: np.ndarray  # one column a target
    weights: np.ndarray | None
    single: bool  # whether y was one-dimensional


class SeveralTargetsMixin(MultiOutputMixin, LinearRegressorMixin):
    """Prediction of one number a row, or of one a row and target."""

    def predict(self, X) -> np.ndarray:
        """Return ``X w + b``: one number a row, or one column a target."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        return np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_


def read_targets(estimator, X, y, sample_weight) -> Targets:
    """Read X, y with one or several columns, and weights."""
    X, y = read_data(estimator, X, y, multi_output=True, **READ)
    y = usable_target(type(estimator).__name__, y)
    weights = read_weights(estimator, sample_weight, X.shape[0])
    Y = y.reshape(X.shape[0], -1)
    return Targets(X, y.ravel() if Y.shape[1] == 1 else y, Y, weights, y.ndim == 1)


def solve_each(
    data: Targets, alphas: np.ndarray, centred: bool, positive: bool, spectrum: bool = False, basis=None
) -> Solution:
    """Solve all targets; those with the same ``alpha`` share a factorisation."""
    if np.all(alphas == alphas[0]):
        return solve(
            data.X,
            data.Y,
            data.weights,
            float(alphas[0]),
            centred=centred,
            positive=positive,
            spectrum=spectrum,
            basis=basis,
        )
    parts = [
        solve(data.X, data.Y[:, [k]], data.weights, float(a), centred=centred, positive=positive)
        for k, a in enumerate(alphas)
    ]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts], axis=-1)
        for name in ("coef", "offset", "gap", "squares", "null")
    }
    return parts[0]._replace(**joined, freedom=None)


def solve_with_offset_penalised(data: Targets, alphas: np.ndarray, positive: bool) -> Solution:
    """Treat the intercept as the coefficient of a column of ones, penalised like the others."""
    ones = np.ones((data.X.shape[0], 1))
    if sparse.issparse(data.X):
        X = sparse.hstack([data.X, sparse.csr_array(ones)], format="csr")
    else:
        X = np.hstack([np.asarray(data.X, dtype=np.float64), ones])
    found = solve_each(data._replace(X=X), alphas, False, positive)
    return found._replace(
        coef=found.coef[:-1], offset=found.coef[-1], x_mean=found.x_mean[:-1], spread=found.spread[:-1]
    )


def multiplier_of_radius(data: Targets, radius: float, centred: bool) -> float:
    """Return the penalty at which the coefficients have norm ``radius``; 0 if least squares meets it already."""
    values, along = spectrum_of(data.X, data.Y, data.weights, centred)
    seen = values > max(data.X.shape) * EPS * np.max(values, initial=0.0)
    values, along = values[seen], along[seen]

    def norm(alpha):
        return math.sqrt(float(((along / (values[:, None] + alpha)) ** 2).sum()))

    if len(values) == 0 or norm(0.0) <= radius:
        return 0.0
    high = float(np.linalg.norm(along)) / max(radius, 1e-300)  # norm(alpha) <= |along| / alpha
    low = float(values.min()) * 1e-16
    if norm(low) <= radius:
        return low
    return math.exp(brentq(lambda t: norm(math.exp(t)) - radius, math.log(low), math.log(high * 2), xtol=1e-14))


def within_radius(found: Solution, radius: float, alpha: float) -> tuple[Solution, float]:
    """Shrink the coefficients by a rounding error if they exceed the radius; return them and the gap it costs."""
    norm = math.sqrt(math.fsum(found.coef.ravel() ** 2))
    factor = radius / norm * (1 - 4 * EPS) if norm > radius else 1.0
    w = found.coef * factor
    moved = (1 - factor) ** 2 * float(found.null.sum() + alpha * norm**2)
    spare = max(alpha * (radius**2 - math.fsum(w.ravel() ** 2)), 0.0)
    return found._replace(coef=w, offset=found.offset + found.x_mean @ (found.coef - w)), moved + spare


def rounding(found: Solution, data: Targets) -> float:
    """Bound what rounding of the fitted values may add to the objective, all targets together."""
    w = np.abs(found.coef)
    reach = (found.spread + math.sqrt(found.total) * np.abs(found.x_mean)) @ w
    size = reach + math.sqrt(found.total) * np.abs(found.offset) + np.sqrt(found.null)
    return float(((4 * math.sqrt(len(w)) + 16) * EPS) ** 2 * (size**2).sum())


def record(estimator, found: Solution, data: Targets, *, alphas, radius=None, extra: float = 0.0, rank: bool = False):
    """Set the fitted attributes that all share and issue the certificate. Returns the estimator."""
    free = bool(estimator.fit_intercept)
    gap = float(4 * found.gap.sum() + rounding(found, data) + extra)
    estimator.coef_ = found.coef.T.copy() if not data.single else found.coef[:, 0].copy()
    offset = found.offset if free else np.zeros(data.Y.shape[1])
    estimator.intercept_ = (float(offset[0]) if data.single else offset) if free else 0.0
    estimator.dual_gap_ = gap
    positive = bool(getattr(estimator, "positive", False))
    problem = {
        "alpha": [float(a) for a in alphas],
        "fit_intercept": free,
        "penalize_intercept": free and bool(getattr(estimator, "penalize_intercept", False)),
        "positive": positive,
        "radius": None if radius is None else float(radius),
    }
    penalty = float((alphas * (found.coef**2).sum(axis=0)).sum()) if radius is None else 0.0
    stated = claims(found, data, gap, float(found.squares.sum()) + penalty, free, positive or radius is not None, rank)
    if radius is None:
        stated += error_guess(found, data, free and not problem["penalize_intercept"])
    estimator._issue(
        "A",
        stated,
        problem=problem,
        model=("coef_", "intercept_"),
        data=data_fingerprint(data.X, data.y, data.weights),
        run={"solver": found.route, "reason": "converged"},
    )
    return estimator


def error_guess(found: Solution, data: Targets, offset_apart: bool) -> list[Claim]:
    """Estimate of the squared error on new rows, a mean over targets; none where rows have weights or residuals say nothing."""
    n = data.X.shape[0]
    freedom = math.inf if found.freedom is None else found.freedom + offset_apart
    if data.weights is not None or freedom > n - 1e-6:
        return []
    return [generalised_cross_validation(float(found.squares.mean()) / n, n, freedom).claim()]


def claims(
    found, data: Targets, gap: float, objective: float, free: bool, constrained: bool, rank: bool
) -> list[Claim]:
    """State what the solution proves."""
    lightest = 1.0 if data.weights is None else float(data.weights[data.weights > 0].min())
    reach = math.sqrt(gap / lightest)
    result = [
        Claim(
            "least_squares.gap",
            "optimality",
            f"The objective {objective:.6g} is within {gap:.3g} of the smallest possible one.",
            value=gap,
            limit=max(1e-6 * float(found.null.sum()), gap if found.null.sum() == 0 else 0.0),
            numbers={"objective": objective, "null_objective": float(found.null.sum())},
        ),
        Claim(
            "least_squares.stability",
            "uncertainty",
            f"No prediction on the training rows is farther than {reach:.3g} from that of the exact optimum.",
            value=reach,
        ),
    ]
    if found.nearby is not None:
        result.append(
            Claim(
                "least_squares.nearby",
                "optimality",
                f"No coefficients whose scaled distance from these is up to {REACH:g} times the length of y have an objective more than "
                f"{found.nearby:.3g} smaller.",
                value=found.nearby,
                limit=1e-6 * float(found.null.sum()) + np.finfo(float).tiny,
                numbers={"reach": REACH},
            )
        )
    elif rank:
        d = data.X.shape[1]
        missing = d - found.rank
        unique = "the solution is unique" if missing == 0 else "many solutions fit equally; this has the smallest norm"
        result.append(
            Claim(
                "least_squares.rank",
                "data_fact",
                f"The data determine {found.rank} of {d} directions: {unique}.",
                value=float(missing),
                numbers={"rank": found.rank, "features": d, "fit_intercept": free},
            )
        )
    if constrained:
        result.append(
            Claim("least_squares.feasible", "feasibility", "The constraints hold exactly.", value=0.0, limit=0.0)
        )
    return result
