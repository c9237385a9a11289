"""From parameters to a kernel ridge problem, and from its solution to fitted attributes and claims."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.kernel_machines.kernel_null_space import degree_of, null_values, place_null_space, record_of
from surefit.kernel_machines.kernel_reading import KernelSumMixin, KernelTargets, gram_of
from surefit.solvers import kernel_squares as solver
from surefit.solvers.kernel_squares import Coefficients, Free, Spectrum

GOAL = 1e-10  # gap, relative to the objective, that a fit is expected to reach


def penalties(estimator, n_targets: int) -> np.ndarray:
    """Return one penalty a target."""
    try:
        alphas = np.asarray(estimator.alpha, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InvalidParameter(type(estimator).__name__, "alpha", "numbers > 0", estimator.alpha) from None
    if len(alphas) not in (1, n_targets) or not np.all((alphas > 0) & np.isfinite(alphas)):
        words = f"a finite number > 0, or {n_targets} of them (one a target)"
        raise InvalidParameter(type(estimator).__name__, "alpha", words, estimator.alpha)
    return np.broadcast_to(alphas, (n_targets,)).copy()


class Squares(NamedTuple):
    """The problem: Gram matrix, targets, values of the free functions and weights of the rows that count."""

    rows: np.ndarray
    s: np.ndarray
    K: np.ndarray
    Y: np.ndarray
    T: np.ndarray
    free: Free | None


def pose(estimator, data: KernelTargets) -> Squares:
    """Keep the rows that count, and compute kernel values and free functions on them."""
    s = np.ones(data.X.shape[0]) if data.weights is None else data.weights
    rows = np.flatnonzero(s > 0)
    s = s[rows]
    T = place_null_space(estimator, data, rows, s)
    K = gram_of(type(estimator).__name__, data.kernel, data.X)
    K = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
    return Squares(rows, s, K, data.Y[rows], T, solver.free_functions(T, s))


def solve_targets(posed: Squares, alphas: np.ndarray) -> Coefficients:
    """Solve all targets; those with the same penalty share a factor."""
    c, b = np.empty_like(posed.Y), np.empty((posed.T.shape[1], posed.Y.shape[1]))
    for alpha in np.unique(alphas):
        same = np.flatnonzero(alphas == alpha)
        c[:, same], b[:, same] = solver.minimise(posed.K, posed.Y[:, same], posed.s, float(alpha), posed.free)
    return Coefficients(c, b)


class FreePartMixin(KernelSumMixin):
    """Adds prediction from coefficients of the rows and of functions that are not penalised."""

    dual_coef_: np.ndarray
    intercept_: Any
    null_coef_: np.ndarray

    def predict(self, X) -> np.ndarray:
        """Return the value of the function at each row, one column a target."""
        check_is_fitted(self)
        X = self._read_rows(X)
        single = self.dual_coef_.ndim == 1
        values = self._sums(X, self.dual_coef_[:, None] if single else self.dual_coef_) + self.intercept_
        if len(self.null_coef_):
            functions = null_values(self, X)[:, -len(self.null_coef_) :]
            values += functions @ (self.null_coef_[:, None] if single else self.null_coef_)
        return values.ravel() if single else values


def multiplier_of_radius(spectrum: Spectrum, radius: float) -> float:
    """Return the penalty at which the functions have norm ``radius``; a tiny one where the ball does not bind."""
    size = float(np.sum(spectrum.along**2))
    low = min(1e-12 * float(np.mean(np.abs(spectrum.values))), 0.1 * GOAL * size / radius**2) or 1e-12
    if solver.square_norm(spectrum, low) <= radius**2:
        return low
    high = size / (2 * radius**2) + 2 * low  # the squared norm is at most |y|^2 / (4 alpha)

    def excess(t: float) -> float:
        return math.log(max(solver.square_norm(spectrum, math.exp(t)), 1e-300)) - 2 * math.log(radius)

    alpha = math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-15, rtol=1e-14))
    while solver.square_norm(spectrum, alpha) > radius**2:  # end inside the ball
        alpha *= 1 + 1e-13
    return alpha


def record(estimator, data: KernelTargets, posed: Squares, alphas, found: Coefficients, more: list[Claim], radius=None):
    """Set fitted attributes, issue the certificate, and warn if rounding has kept the gap large."""
    n, s, constant = data.X.shape[0], posed.s, degree_of(estimator) is not None
    gaps, objectives, squares = solver.gap(posed.K, posed.Y, posed.T, s, alphas, found, posed.free)
    c = np.zeros((n, data.Y.shape[1]))
    c[posed.rows] = found.c
    estimator.dual_coef_ = c.ravel() if data.single else c
    b, others = (found.b[0], found.b[1:]) if constant else (np.zeros(c.shape[1]), found.b)
    estimator.intercept_ = float(b[0]) if data.single else b
    estimator.null_coef_ = others[:, 0] if data.single else others
    estimator.X_fit_, estimator.kernel_ = data.X, data.kernel
    spare = 0.0 if radius is None else max(float(alphas[0]) * (radius**2 - float(squares.sum())), 0.0)
    estimator.dual_gap_ = float(gaps.sum()) + spare
    estimator.objective_ = float(objectives.sum())
    estimator.rkhs_norm_ = math.sqrt(max(float(squares.sum()), 0.0))
    reach = math.sqrt(float(np.sum(gaps / alphas)))
    limit = GOAL * float(np.sum(s[:, None] * posed.Y**2))
    known = data.kernel.positive_semidefinite
    assumptions = () if known else ("kernel_positive_semidefinite",)
    gap = estimator.dual_gap_
    if known is False:
        words = f"The conditions of optimality are violated by {gap:.3g}; the kernel is none, no optimum is claimed."
        claims = [Claim("kernel_ridge.stationarity", "process_fact", words, value=gap, limit=limit)]
    else:
        words = f"The objective is within {gap:.3g} of the smallest possible one."
        near = f"The function is within {reach:.3g} of the optimal one, in the norm of the kernel's space."
        size = f"The function has norm {estimator.rkhs_norm_:.9g} in the kernel's space."
        numbers = {"objective": estimator.objective_}
        claims = [
            Claim("kernel_ridge.gap", "optimality", words, value=gap, limit=limit, numbers=numbers,
                  assumptions=assumptions),
            Claim("kernel_ridge.distance", "optimality", near, value=reach, assumptions=assumptions),
            Claim("kernel_ridge.norm", "feasibility" if radius is not None else "data_fact", size,
                  value=estimator.rkhs_norm_, limit=radius, assumptions=assumptions),
        ]  # fmt: skip
    estimator._issue(
        "B" if known is False else "A",
        claims + more,
        problem={
            "objective": "sum_i s_i (y_i - f(x_i) - p(x_i))^2 + alpha |f|^2; p (constant, null space) is not penalised",
            "alphas": [float(a) for a in alphas],
            "radius": None if radius is None else float(radius),
            "fit_intercept": constant,
            "null_space": record_of(estimator),
            "kernel": data.kernel.to_record(),
        },
        model=("dual_coef_", "intercept_", "null_coef_"),
        data=data_fingerprint(data.X, data.y, data.weights),
        run={"solver": "Cholesky factor or spectrum of the Gram matrix, refined in float64", "rows": int(n)},
    )
    if not gap <= limit and np.any(data.Y):
        warnings.warn(
            f"{type(estimator).__name__}: gap {gap:.2g} > {limit:.2g} wanted: the Gram matrix plus the penalty is singular up to "
            "rounding; take a larger alpha.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return estimator
