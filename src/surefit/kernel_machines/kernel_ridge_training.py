"""Fitting of kernel ridge regression: build and solve the problem, set the fitted attributes, and state the claims."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidParameter
from surefit.core.threads import map_parts
from surefit.core.warn import warn
from surefit.kernel_machines.kernel_inputs import KernelSumMixin, KernelTargets, gram_of
from surefit.kernel_machines.kernel_null_space import free_values, place_null_space
from surefit.problems import pose
from surefit.problems.kernel_ridge import null_degree
from surefit.problems.stated_gap import DualGapMixin
from surefit.solvers.kernel import squares as solver
from surefit.solvers.kernel.squares import Coefficients, Free, Spectrum

WELL_CONDITIONED = 1e-6  # penalties above this fraction of the trace of the Gram matrix give gaps far below their limit
LOST = 1e-3  # estimated relative rounding error above which a squared norm is not computed from the coefficients


def penalties(estimator, n_targets: int) -> np.ndarray:
    """Return one penalty per target."""
    try:
        alphas = np.asarray(estimator.alpha, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InvalidParameter(type(estimator).__name__, "alpha", "numbers > 0", estimator.alpha) from None
    if len(alphas) not in (1, n_targets) or not np.all((alphas > 0) & np.isfinite(alphas)):
        words = f"a finite number > 0, or {n_targets} of them (one per target)"
        raise InvalidParameter(type(estimator).__name__, "alpha", words, estimator.alpha)
    return np.broadcast_to(alphas, (n_targets,)).copy()


class Squares(NamedTuple):
    """Problem data: Gram matrix, targets, unpenalized functions and weights, restricted to rows of positive weight."""

    rows: np.ndarray
    s: np.ndarray
    K: np.ndarray
    Y: np.ndarray
    T: np.ndarray
    free: Free | None


def posed_squares(estimator, data: KernelTargets) -> Squares:
    """Return the problem on the rows of positive weight, with kernel values and unpenalized functions."""
    s = np.ones(data.X.shape[0]) if data.weights is None else data.weights
    rows = np.flatnonzero(s > 0)
    s = s[rows]
    T = place_null_space(estimator, data.X, data.kernel, rows, s)
    K = gram_of(type(estimator).__name__, data.kernel, data.X)
    K = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
    return Squares(rows, s, K, data.Y[rows], T, solver.free_functions(T, s))


def solve_targets(posed: Squares, alphas: np.ndarray) -> Coefficients:
    """Solve all targets; those with the same penalty share a factorization."""
    c, b = np.empty_like(posed.Y), np.empty((posed.T.shape[1], posed.Y.shape[1]))
    for alpha in np.unique(alphas):
        same = np.flatnonzero(alphas == alpha)
        c[:, same], b[:, same] = solver.minimize(posed.K, posed.Y[:, same], posed.s, float(alpha), posed.free)
    return Coefficients(c, b)


class FreePartMixin(DualGapMixin, KernelSumMixin):
    """Mixin that predicts from the coefficients of the training rows and of the unpenalized functions."""

    dual_coef_: np.ndarray
    intercept_: Any
    null_coef_: np.ndarray

    def predict(self, X) -> np.ndarray:
        """Return the value of the function at each row, one column per target."""
        check_is_fitted(self)
        X = self._read_rows(X)
        single = self.dual_coef_.ndim == 1
        values = self._sums(X, self.dual_coef_[:, None] if single else self.dual_coef_) + self.intercept_
        if len(self.null_coef_):
            values += free_values(self, X, self.null_coef_[:, None] if single else self.null_coef_)
        return values.ravel() if single else values


def multiplier_of_radius(spectrum: Spectrum, radius: float) -> float:
    """Return the penalty at which the functions have norm ``radius``; zero if the constraint is inactive."""
    if solver.square_norm(spectrum, 0.0) <= radius**2:
        return 0.0
    size = float(np.sum(spectrum.along**2))
    low = min(1e-12 * float(np.mean(np.abs(spectrum.values))), 1e-11 * size / radius**2) or 1e-12
    while (
        solver.square_norm(spectrum, low) <= radius**2
    ):  # singular up to rounding: the norm increases only at smaller penalties
        low /= 1e3
        if low < 1e-280:
            return 0.0
    high = size / (2 * radius**2) + 2 * low  # the squared norm is at most |y|^2 / (4 alpha)

    def excess(t: float) -> float:
        return math.log(max(solver.square_norm(spectrum, math.exp(t)), 1e-300)) - 2 * math.log(radius)

    return math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-15, rtol=1e-14))


def kept_inside(posed: Squares, found: Coefficients, radius: float) -> Coefficients:
    """Scale the function so that an upper bound on its norm, including rounding errors, is at most ``radius``."""
    K, c = posed.K, found.c
    unit = 4 * (len(K) + 8) * float(np.finfo(np.float64).eps)
    square = float(np.sum(c * (K @ c)))
    most = math.sqrt(max(square, 0.0) + unit * float(np.sum(np.abs(c) * (np.abs(K) @ np.abs(c)))))
    return found._replace(c=c * min(1.0, radius / most * (1 - 1e-15))) if most > 0 else found


def square_norms(posed: Squares, c: np.ndarray, scores: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Return the squared norm of each target's function.

    With a tiny penalty and a singular Gram matrix, the coefficients are of order 1 / alpha along directions in which
    the function vanishes. The product c' K c then loses all digits, so the spectrum of K without the eigenvalues below
    rounding is used instead. The size of the rounding errors is estimated by eps |c|' |K| |c|; this is no bound, since
    a sum of n terms can lose n times as much. For a numerically singular K, leaving out small eigenvalues changes the
    square by about as much, so the spectrum pays only where the estimate is large. The claim about the norm does not
    use this number: its checker bounds all rounding errors.
    """
    plain, eps = np.sum(c * scores, axis=0), float(np.finfo(np.float64).eps)
    sizes = np.vstack(map_parts(lambda start, stop: np.abs(posed.K[start:stop]) @ np.abs(c), posed.K.shape, 1))
    lost = eps * np.sum(np.abs(c) * sizes, axis=0) > LOST * np.abs(plain)
    if not lost.any():
        return plain
    spectrum = solver.decompose(posed.K, posed.Y, posed.s, posed.free)
    unit = 4 * len(posed.K) * eps
    values = np.where(spectrum.values > unit * np.max(spectrum.values, initial=0.0), spectrum.values, 0.0)
    for k in np.flatnonzero(lost):
        one = spectrum._replace(values=values, along=spectrum.along[:, [k]])
        plain[k] = solver.square_norm(one, float(np.broadcast_to(alphas, (len(plain),))[k]))
    return plain


def record(estimator, data: KernelTargets, posed: Squares, found: Coefficients, chosen: tuple, more: list[Claim]):
    """Set the fitted attributes, issue the certificate, and warn if rounding errors leave a large gap."""
    n, constant = data.X.shape[0], null_degree(estimator.get_params(deep=False)) is not None
    c = np.zeros((n, data.Y.shape[1]))
    c[posed.rows] = found.c
    estimator.dual_coef_ = c.ravel() if data.single else c
    b, others = (found.b[0], found.b[1:]) if constant else (np.zeros(c.shape[1]), found.b)
    estimator.intercept_ = float(b[0]) if data.single else b
    estimator.null_coef_ = others[:, 0] if data.single else others
    estimator.X_fit_, estimator.kernel_ = data.X, data.kernel
    problem = pose(estimator, data.X, data.y, data.weights, *chosen)
    alphas = np.array(problem["alphas"])
    scores = posed.K @ found.c
    squares = square_norms(posed, found.c, scores, alphas)
    losses = posed.s @ (posed.Y - scores - posed.T @ found.b) ** 2
    estimator.objective_ = float(np.sum(losses if problem["radius"] else losses + alphas * squares))
    estimator.rkhs_norm_ = math.sqrt(max(float(squares.sum()), 0.0))
    center = ("null_center_",) if hasattr(estimator, "null_center_") else ()
    sure = data.kernel.positive_semidefinite is not False
    names = ["gap", "distance", "norm"] if np.all(alphas > 0) else ["gap", "norm"]
    estimator._issue(
        "A" if sure else "B",
        [Claim(f"kernel_ridge.{name}") for name in (names if sure else ["stationarity"])] + more,
        problem=problem,
        model=("dual_coef_", "intercept_", "null_coef_", *center, *chosen),
        sample=(data.X, data.y, data.weights),
        run={"solver": "Cholesky factor or spectrum of the Gram matrix, refined in float64", "rows": int(n)},
    )
    if sure and not problem["radius"] and _is_well_conditioned(posed, alphas):
        return estimator
    claim = estimator.certificate_.claims[0]
    if not claim.holds and np.any(data.Y):
        warn(
            f"{type(estimator).__name__}: gap {claim.value:.2g} > {claim.limit:.2g} wanted: the Gram matrix plus the penalty is "
            "singular up to rounding; take a larger alpha.",
            ConvergenceWarning,
        )
    return estimator


def _is_well_conditioned(posed: Squares, alphas: np.ndarray) -> bool:
    """Whether the system is far from singular, so that the gap is small and need not be read from the certificate."""
    largest = float(np.trace(posed.K)) * float(np.max(posed.s, initial=0.0))
    return posed.T.shape[1] <= 1 and float(np.min(alphas)) >= WELL_CONDITIONED * largest
