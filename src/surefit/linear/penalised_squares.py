"""From parameters to a penalised least-squares problem, and from its solution to fitted attributes and claims."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.bounds.estimates import generalised_cross_validation
from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint, warn_unless_converged
from surefit.core.threads import one_blas_thread
from surefit.core.validation import (
    ANYTHING,
    ARRAY,
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    one_of,
    read_data,
    read_weights,
)
from surefit.designs import as_design
from surefit.penalties import L1, L2, ElasticNet, Positive, Weighted
from surefit.solvers.penalised_squares import prepare, solve, solve_radius

#: Rules of the parameters that every estimator of this family has.
RULES = {
    "fit_intercept": BOOLEAN,
    "precompute": ANYTHING,
    "copy_X": BOOLEAN,
    "max_iter": COUNT,
    "tol": NON_NEGATIVE,
    "positive": BOOLEAN,
    "random_state": RANDOM_STATE,
    "selection": one_of("cyclic", "random"),
    "penalty_factors": NOTHING | ARRAY,
    "max_time": NOTHING | POSITIVE,
}

LARGEST_TARGET = 1e150  # its square is still a number

ROWS_A_SUM = 4096  # sums over rows go by blocks of this order

READ: dict[str, Any] = {"accept_sparse": ["csc", "csr"], "dtype": [np.float64, np.float32], "y_numeric": True}


def make_penalty(alpha: float, l1_ratio: float, positive: bool = False, factors: np.ndarray | None = None) -> Any:
    """Return ``alpha * (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)`` as a term, with factors and sign constraint."""
    alpha, l1_ratio = float(alpha), float(l1_ratio)
    base: Any
    if l1_ratio == 1.0:
        base = L1(alpha)
    elif l1_ratio == 0.0:
        base = L2(alpha)
    else:
        base = ElasticNet(alpha * l1_ratio, alpha * (1.0 - l1_ratio))
    base = Weighted(base, factors) if factors is not None else base
    return Positive(base) if positive else base


def read_factors(estimator, n_features: int) -> np.ndarray | None:
    """Return the per-feature penalty factors as float64, or None if every feature counts once."""
    if estimator.penalty_factors is None:
        return None
    who = type(estimator).__name__
    factors = np.asarray(estimator.penalty_factors, dtype=np.float64)
    if factors.shape != (n_features,):
        raise InvalidParameter(
            who, "penalty_factors", f"an array of {n_features} numbers, one a feature", factors.shape
        )
    if np.isnan(factors).any() or (factors < 0).any():
        raise InvalidParameter(who, "penalty_factors", "numbers >= 0 (0: unpenalised, inf: excluded)", factors)
    return np.ascontiguousarray(factors)


def fit_penalised_squares(estimator, X, y, sample_weight, l1_ratio: float) -> Any:
    """Solve the estimator's problem and set its fitted attributes and certificate. Returns the estimator."""
    X, y = read_data(estimator, X, y, **READ)
    y = usable_target(type(estimator).__name__, y)
    weights = read_weights(estimator, sample_weight, X.shape[0])
    factors = read_factors(estimator, X.shape[1])
    start = getattr(estimator, "coef_", None) if estimator.warm_start else None
    start = None if start is None or len(start) != X.shape[1] else np.asarray(start, dtype=np.float64)
    reporter = progress_reporter(estimator, X, y)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, one_blas_thread():
        prepared = prepare(as_design(X), y, weights, estimator.fit_intercept)
        if estimator.radius is None:
            penalty = make_penalty(estimator.alpha, l1_ratio, estimator.positive, factors)
            solution = solve(prepared, penalty, tol=estimator.tol, budget=budget, start=start)
            alpha = float(estimator.alpha)
        else:
            solution = solve_radius(
                prepared,
                lambda a: make_penalty(a, l1_ratio, estimator.positive, factors),
                float(estimator.radius),
                tol=estimator.tol,
                budget=budget,
            )
            alpha = float(solution.multiplier or 0.0)
    if reporter is not None:
        reporter.finish()
    record(estimator, solution, X, y, weights, factors, alpha=alpha, l1_ratio=l1_ratio, radius=estimator.radius)
    return estimator


def usable_target(who: str, y: np.ndarray) -> np.ndarray:
    """Return the target as float64, or say that its squares overflow."""
    y = np.asarray(y, dtype=np.float64)
    if np.max(np.abs(y), initial=0.0) > LARGEST_TARGET:
        raise InvalidData(f"{who}: the squares of y overflow; divide y by its largest absolute value and fit again.")
    return y


def record(
    estimator,
    solution,
    X,
    y,
    weights: np.ndarray | None,
    factors: np.ndarray | None,
    *,
    alpha: float,
    l1_ratio: float,
    radius: float | None = None,
) -> None:
    """Set the fitted attributes of ``estimator`` and issue its certificate; warn if it stopped early."""
    bound = gap_with_rounding(solution, X.shape)
    estimator.coef_ = solution.coef
    estimator.intercept_ = float(solution.intercept)
    estimator.n_iter_ = int(solution.n_iter)
    estimator.dual_gap_ = bound
    estimator.inactive_ = solution.inactive
    estimator.history_ = np.array(solution.history, dtype=np.float64).reshape(-1, 3)
    if radius is not None:
        estimator.multiplier_ = alpha
    if factors is not None:
        estimator.penalty_factors_ = factors
    elif hasattr(estimator, "penalty_factors_"):
        del estimator.penalty_factors_  # left by an earlier fit
    tolerance = estimator.tol * solution.null_objective
    problem = {
        "alpha": alpha * l1_ratio,
        "beta": alpha * (1.0 - l1_ratio),
        "l1_ratio": l1_ratio,
        "fit_intercept": bool(estimator.fit_intercept),
        "positive": bool(estimator.positive),
        "radius": None if radius is None else float(radius),
        "multiplier": None if radius is None else alpha,
    }
    model = ("coef_", "intercept_", "inactive_") + (("penalty_factors_",) if factors is not None else ())
    stated = claims(solution, bound, tolerance, weights, X.shape, estimator.positive or radius is not None)
    if radius is None and weights is None:
        stated += error_guess(estimator, solution, X.shape[0], factors, alpha, l1_ratio)
    estimator._issue(
        "A",
        stated,
        problem=problem,
        model=model,
        data=data_fingerprint(X, y, weights),
        run={
            "solver": "coordinate descent on working sets",
            "reason": str(solution.reason),
            "passes": int(solution.n_iter),
            "seconds": float(estimator.history_[-1, 0]) if len(estimator.history_) else 0.0,
        },
    )
    warn_unless_converged(type(estimator).__name__, Reason(solution.reason), bound, tolerance)


def error_guess(estimator, solution, n: int, factors, alpha: float, l1_ratio: float) -> list[Claim]:
    """Estimate of the squared error on new rows: a feature in use counts as one degree of freedom, the offset as another."""
    w = solution.coef
    freedom = int(np.count_nonzero(w)) + bool(estimator.fit_intercept)
    if freedom >= n:
        return []
    sizes = l1_ratio * np.abs(w) + 0.5 * (1 - l1_ratio) * w**2
    used = w != 0  # an infinite factor excludes its feature
    penalty = alpha * float((sizes[used] if factors is None else sizes[used] * factors[used]).sum())
    return [generalised_cross_validation(max(2 * (float(solution.objective) - penalty), 0.0), n, freedom).claim()]


def gap_with_rounding(solution, shape: tuple[int, int]) -> float:
    """Return the solver's gap plus what its own rounding may hide: sums of that many terms, a few times over."""
    if solution.gap == 0.0:
        return 0.0
    terms = min(shape[0], ROWS_A_SUM) + shape[0] / ROWS_A_SUM + solution.n_support + 8
    return float(solution.gap + 4 * terms * np.finfo(float).eps * solution.null_objective)


def claims(solution, gap: float, tolerance: float, weights, shape: tuple[int, int], constrained: bool) -> list[Claim]:
    """State what the solution proves: gap, stability of predictions, inactive features, constraints."""
    n, d = shape
    total, lightest = (float(n), 1.0) if weights is None else (math.fsum(weights), float(weights[weights > 0].min()))
    reach = math.sqrt(2 * total * gap / lightest)
    left = int(np.sum(~solution.inactive))
    support = int(np.count_nonzero(solution.coef))
    result = [
        Claim(
            "penalised_squares.gap",
            "optimality",
            f"The objective {solution.objective:.6g} is within {gap:.3g} of the smallest possible one.",
            value=gap,
            limit=tolerance,
            numbers={"objective": float(solution.objective), "null_objective": float(solution.null_objective)},
        ),
        Claim(
            "penalised_squares.stability",
            "uncertainty",
            f"No prediction on the training rows is farther than {reach:.3g} from that of the exact optimum "
            f"(root mean square: {math.sqrt(2 * gap):.3g}).",
            value=reach,
        ),
        Claim(
            "penalised_squares.inactive",
            "optimality",
            f"{d - left} of {d} features are zero in every exact solution; {support} are used here.",
            value=float(left),
            numbers={"support": support, "features": d},
        ),
    ]
    if constrained:
        result.append(
            Claim("penalised_squares.feasible", "feasibility", "The constraints hold exactly.", value=0.0, limit=0.0)
        )
    return result
