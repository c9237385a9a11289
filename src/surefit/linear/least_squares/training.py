"""Fitting of least squares: read the data, solve for each target, set the fitted attributes, state the claims."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.validation import read_data, read_weights
from surefit.linear.base import LinearRegressorMixin
from surefit.linear.lasso.training import READ, usable_target
from surefit.problems import pose
from surefit.problems.stated_gap import StatedGapMixin
from surefit.solvers.least_squares import Solution, solve
from surefit.solvers.least_squares.leave_one_out import spectrum_of

LARGEST_ESTIMATED = 5e7  # multiplications for a Gram matrix
CLEARLY = 1e-6  # relative singular value above which a direction is treated as determined
EPS = float(np.finfo(np.float64).eps)


class Targets(NamedTuple):
    """Training data of a regression on one or several targets."""

    X: Any
    y: np.ndarray  # as given, in the form that the checker reads
    Y: np.ndarray  # one column per target
    weights: np.ndarray | None
    single: bool  # whether predictions are one-dimensional
    column: bool = (
        False  # whether the target was a two-dimensional array with one column; the intercept is then an array
    )


class SeveralTargetsMixin(StatedGapMixin, MultiOutputMixin, LinearRegressorMixin):
    """Mixin for the prediction of one target or of several targets."""

    def predict(self, X) -> np.ndarray:
        """Return ``X w + b``: one number per row, or one column per target."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        return np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_


def read_targets(estimator, X, y, sample_weight, *, flat: bool = False) -> Targets:
    """Read X, the targets and the weights; with ``flat``, predictions of a single column are one-dimensional."""
    X, y = read_data(estimator, X, y, multi_output=True, **READ)
    y = usable_target(type(estimator).__name__, y)
    weights = read_weights(estimator, sample_weight, X.shape[0])
    Y = y.reshape(X.shape[0], -1)
    column = flat and y.ndim == 2 and Y.shape[1] == 1
    return Targets(X, y.ravel() if Y.shape[1] == 1 else y, Y, weights, y.ndim == 1 or column, column)


def partitioned_targets(rows: PartitionedRows) -> Targets:
    """Return partitioned rows as training data; the target is a placeholder, because it is stored with the rows."""
    y, weights = rows.outline
    single = rows.target_shape is not None and len(rows.target_shape) == 1
    y = np.zeros(1 if single else y.shape)  # type: ignore[union-attr]
    return Targets(rows, y, y.reshape(1, -1), weights if rows.weighted else None, single)


def solve_each(
    data: Targets, alphas: np.ndarray, centered: bool, positive: bool, spectrum: bool = False, basis=None
) -> Solution:
    """Solve all targets; those with the same ``alpha`` share a factorization."""
    if np.all(alphas == alphas[0]):
        return solve(
            data.X,
            data.Y,
            data.weights,
            float(alphas[0]),
            centered=centered,
            positive=positive,
            spectrum=spectrum,
            basis=basis,
        )
    parts = [
        solve(data.X, data.Y[:, [k]], data.weights, float(a), centered=centered, positive=positive)
        for k, a in enumerate(alphas)
    ]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts], axis=-1) for name in ("coef", "offset", "squares")
    }
    return parts[0]._replace(**joined, degrees_of_freedom=None)


def solve_with_offset_penalized(data: Targets, alphas: np.ndarray, positive: bool) -> Solution:
    """Solve with a penalized intercept, which is treated as the coefficient of a column of ones."""
    ones = np.ones((data.X.shape[0], 1))
    if sparse.issparse(data.X):
        X = sparse.hstack([data.X, sparse.csr_array(ones)], format="csr")
    else:
        X = np.hstack([np.asarray(data.X, dtype=np.float64), ones])
    found = solve_each(data._replace(X=X), alphas, False, positive)
    return found._replace(coef=found.coef[:-1], offset=found.coef[-1], x_mean=found.x_mean[:-1])


def multiplier_of_radius(data: Targets, radius: float, centered: bool) -> float:
    """Return the penalty at which the coefficients have norm ``radius``; 0 if the constraint is inactive."""
    values, along = spectrum_of(data.X, data.Y, data.weights, centered)
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


def within_radius(found: Solution, radius: float) -> Solution:
    """Rescale the coefficients to the radius if their norm exceeds it by rounding."""
    norm = math.sqrt(math.fsum(found.coef.ravel() ** 2))
    if norm * (1 + 2 * EPS) <= radius:
        return found
    w = found.coef * (radius / norm * (1 - 4 * EPS)) if norm > 0 else found.coef
    return found._replace(coef=w, offset=found.offset + found.x_mean @ (found.coef - w))


def record(estimator, found: Solution, data: Targets, *chosen: str, claims: tuple[str, ...] = ()):
    """Set the fitted attributes common to all least-squares models and issue the certificate. Returns the estimator.

    ``chosen`` names the fitted attributes that store chosen values, and ``claims`` names additional claims.
    """
    free = bool(estimator.fit_intercept)
    estimator.coef_ = found.coef.T.copy() if not data.single else found.coef[:, 0].copy()
    offset = found.offset if free else np.zeros(data.Y.shape[1])
    estimator.intercept_ = (offset[0] if data.single and not data.column else offset) if free else 0.0
    problem = pose(estimator, data.X, data.y, data.weights, *chosen)
    constrained = problem["penalty"]["positive"] or problem["penalty"]["ball"] is not None
    names = ["linear.gap", "linear.stability", *claims, *["linear.feasible"] * constrained]
    if _error_is_estimated(found, data, problem):
        names.append("estimates.gcv")
    estimator._issue(
        "A",
        [Claim(name) for name in names],
        problem=problem,
        model=("coef_", "intercept_", *chosen),
        sample=(data.X, data.y, data.weights),
        run={"solver": found.route, "reason": "converged"},
    )
    return estimator


def _error_is_estimated(found: Solution, data: Targets, problem: dict) -> bool:
    """Whether to estimate the squared error on new rows; not with weights, constraints or an interpolating fit.

    Computing the degrees of freedom takes the checker as long as the fit, so no estimate is stated for large data.
    """
    (n, d), own = data.X.shape, problem["penalty"]
    if isinstance(data.X, PartitionedRows):
        return False
    if data.weights is not None or own["positive"] or own["ball"] is not None or found.degrees_of_freedom is None:
        return False
    if n * d * min(n, d) > LARGEST_ESTIMATED or found.degrees_of_freedom + problem["fit_intercept"] > n - 1e-6:
        return False
    if min(own["alphas"]) > 0:
        return own["factors"] is None
    return len(found.singular) == d and bool(found.singular[-1] > CLEARLY * found.singular[0])
