"""From parameters to a kernel ridge problem, and from its solution to fitted attributes and claims."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.optimize import brentq

from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.kernel_machines.kernel_reading import KernelTargets
from surefit.solvers import kernel_squares as solver
from surefit.solvers.kernel_squares import Coefficients, Spectrum

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


def counted(data: KernelTargets) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that count, and how often."""
    s = np.ones(data.X.shape[0]) if data.weights is None else data.weights
    rows = np.flatnonzero(s > 0)
    return rows, s[rows]


def solve_targets(K: np.ndarray, Y: np.ndarray, s: np.ndarray, alphas: np.ndarray, centred: bool) -> Coefficients:
    """Solve all targets; those with the same penalty share a factor."""
    c, b = np.empty_like(Y), np.empty(Y.shape[1])
    for alpha in np.unique(alphas):
        same = np.flatnonzero(alphas == alpha)
        c[:, same], b[same] = solver.minimise(K, Y[:, same], s, float(alpha), centred)
    return Coefficients(c, b)


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


def record(estimator, data: KernelTargets, K, rows, s, alphas, found: Coefficients, more: list[Claim], radius=None):
    """Set fitted attributes, issue the certificate, and warn if rounding has kept the gap large."""
    n, centred = data.X.shape[0], bool(estimator.fit_intercept)
    gaps, objectives, squares = solver.gap(K, data.Y[rows], s, alphas, found, centred)
    c = np.zeros((n, data.Y.shape[1]))
    c[rows] = found.c
    estimator.dual_coef_ = c.ravel() if data.single else c
    b = found.b if centred else np.zeros(c.shape[1])
    estimator.intercept_ = float(b[0]) if data.single else b
    estimator.X_fit_, estimator.kernel_ = data.X, data.kernel
    spare = 0.0 if radius is None else max(float(alphas[0]) * (radius**2 - float(squares.sum())), 0.0)
    estimator.dual_gap_ = float(gaps.sum()) + spare
    estimator.objective_ = float(objectives.sum())
    estimator.rkhs_norm_ = math.sqrt(max(float(squares.sum()), 0.0))
    reach = math.sqrt(float(np.sum(gaps / alphas)))
    limit = GOAL * float(np.sum(s[:, None] * data.Y[rows] ** 2))
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
            "objective": "sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2; the offset is not penalised",
            "alphas": [float(a) for a in alphas],
            "radius": None if radius is None else float(radius),
            "fit_intercept": centred,
            "kernel": data.kernel.to_record(),
        },
        model=("dual_coef_", "intercept_"),
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
