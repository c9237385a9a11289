"""Fitting of penalized least squares: build the problem, set the fitted attributes, and state the claims."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import warn_unless_converged
from surefit.core.partitioned import PartitionedRows
from surefit.core.threads import threads_instead_of_blas
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
from surefit.operators import as_design
from surefit.penalties import L1, L2, ElasticNetPenalty, Positive, Weighted
from surefit.solvers.coordinate_descent import prepare, solve, solve_radius
from surefit.solvers.least_squares.partitioned import Compressed, compress

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

LARGEST_TARGET = 1e150  # its square does not overflow

READ: dict[str, Any] = {"accept_sparse": ["csc", "csr"], "dtype": [np.float64, np.float32], "y_numeric": True}


def make_penalty(alpha: float, l1_ratio: float, positive: bool = False, factors: np.ndarray | None = None) -> Any:
    """Return ``alpha * (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)`` as a penalty, with factors and sign constraint."""
    alpha, l1_ratio = float(alpha), float(l1_ratio)
    base: Any
    if l1_ratio == 1.0:
        base = L1(alpha)
    elif l1_ratio == 0.0:
        base = L2(alpha)
    else:
        base = ElasticNetPenalty(alpha * l1_ratio, alpha * (1.0 - l1_ratio))
    base = Weighted(base, factors) if factors is not None else base
    return Positive(base) if positive else base


def read_factors(estimator, n_features: int) -> np.ndarray | None:
    """Return the per-feature penalty factors as float64, or None if none are given."""
    if estimator.penalty_factors is None:
        return None
    who = type(estimator).__name__
    factors = np.asarray(estimator.penalty_factors, dtype=np.float64)
    if factors.shape != (n_features,):
        raise InvalidParameter(
            who, "penalty_factors", f"an array of {n_features} numbers, one per feature", factors.shape
        )
    if np.isnan(factors).any() or (factors < 0).any():
        raise InvalidParameter(who, "penalty_factors", "numbers >= 0 (0: unpenalized, inf: excluded)", factors)
    return np.ascontiguousarray(factors)


def fit_penalized_squares(estimator, X, y, sample_weight, l1_ratio: float) -> Any:
    """Solve the estimator's problem and set its fitted attributes and certificate. Returns the estimator."""
    X, y = read_data(estimator, X, y, multi_output=True, **READ)
    column = y.ndim == 2 and y.shape[1] == 1
    y = usable_target(type(estimator).__name__, y[:, 0] if column else y)
    weights = read_weights(estimator, sample_weight, X.shape[0])
    return fit_rows(estimator, X, y, weights, l1_ratio, column=column)


def fit_rows(estimator, X, y, weights: np.ndarray | None, l1_ratio: float, *, column: bool = False) -> Any:
    """Fit validated data; for partitioned rows, y and weights are placeholders. Returns the estimator.

    ``column`` means that the target was given as one column, so the intercept is an array with one entry.
    """
    factors = read_factors(estimator, X.shape[1])
    if estimator.radius is not None and y.ndim == 2:
        raise InvalidParameter(type(estimator).__name__, "radius", "None for several targets", estimator.radius)
    targets = y.reshape(len(y), -1).T
    start = getattr(estimator, "coef_", None) if estimator.warm_start else None
    starts = _starts(start, len(targets), X.shape[1])
    reporter = progress_reporter(estimator, X, y)
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget, threads_instead_of_blas():
        prepared, few = prepared_rows(X, targets, weights, estimator.fit_intercept)
        if estimator.radius is None:
            penalty = make_penalty(estimator.alpha, l1_ratio, estimator.positive, factors)
            pairs = zip(prepared, starts, strict=True)
            options: Any = {"tol": estimator.tol, "budget": budget, "inactive": False}  # left to the checker
            solutions = [solve(one, penalty, start=first, **options) for one, first in pairs]
            solution = solutions[0] if y.ndim == 1 else _together(solutions)
            alpha = float(estimator.alpha)
        else:
            solution = solve_radius(
                prepared[0],
                lambda a: make_penalty(a, l1_ratio, estimator.positive, factors),
                float(estimator.radius),
                tol=estimator.tol,
                budget=budget,
            )
            alpha = float(solution.multiplier or 0.0)
    if reporter is not None:
        reporter.finish()
    if few is not None:
        intercepts: Any = few.intercepts(solution.coef.T)
        solution = solution._replace(intercept=float(intercepts[0]) if y.ndim == 1 else intercepts)
    if column and estimator.fit_intercept:
        alone: Any = np.array([float(solution.intercept)])
        solution = solution._replace(intercept=alone)
    record(estimator, solution, X, y, weights, factors, alpha=alpha, l1_ratio=l1_ratio, radius=estimator.radius)
    return estimator


def prepared_rows(X, targets: Any, weights: np.ndarray | None, intercept: bool) -> tuple[list[Any], Compressed | None]:
    """Return the solver's data for each target; partitioned rows are compressed to a few equivalent rows."""
    if not isinstance(X, PartitionedRows):
        design = as_design(X)
        return [prepare(design, target, weights, intercept) for target in targets], None
    few = compress(X, intercept)
    return [prepare_compressed(few, k) for k in range(len(targets))], few


def prepare_compressed(few: Compressed, target: int = 0) -> Any:
    """Return compressed rows for the solver, scaled so that their mean square equals that of all rows."""
    scale = np.sqrt(len(few.X) / few.total)
    return prepare(as_design(few.X * scale), few.Y[:, target] * scale, None, False)


def _starts(coef: Any, targets: int, features: int) -> list[np.ndarray | None]:
    """Return the previous coefficients of each target if their shape matches the data, else None."""
    if coef is None or np.atleast_2d(coef).shape != (targets, features):
        return [None] * targets
    return list(np.atleast_2d(np.asarray(coef, dtype=np.float64)))


def _together(solutions: list[Any]) -> Any:
    """Join the solutions of several targets: stack the coefficients, add the gaps, and keep the first early stop."""
    late = [one for one in solutions if Reason(one.reason) is not Reason.CONVERGED]
    return solutions[0]._replace(
        coef=np.array([one.coef for one in solutions]),
        intercept=np.array([float(one.intercept) for one in solutions]),
        n_iter=max(int(one.n_iter) for one in solutions),
        history=[line for one in solutions for line in one.history],
        gap=sum(one.gap for one in solutions),
        null_objective=sum(one.null_objective for one in solutions),
        reason=late[0].reason if late else solutions[0].reason,
    )


def usable_target(who: str, y: np.ndarray) -> np.ndarray:
    """Return the target as float64, or raise if its squares would overflow."""
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
    estimator.coef_ = solution.coef
    single = np.ndim(solution.intercept) == 0
    number = np.float64 if estimator.fit_intercept else float  # as in scikit-learn
    estimator.intercept_ = number(solution.intercept) if single else solution.intercept
    estimator.n_iter_ = int(solution.n_iter)
    estimator.history_ = np.array(solution.history, dtype=np.float64).reshape(-1, 3)
    if radius is not None:
        estimator.multiplier_ = alpha
    elif hasattr(estimator, "multiplier_"):
        del estimator.multiplier_  # left by an earlier fit
    if factors is not None:
        estimator.penalty_factors_ = factors
    elif hasattr(estimator, "penalty_factors_"):
        del estimator.penalty_factors_  # left by an earlier fit
    chosen = tuple(name for name in ("alpha_", "l1_ratio_", "multiplier_") if hasattr(estimator, name))
    stated = [Claim("linear.gap"), Claim("linear.stability"), Claim("linear.inactive")]
    if estimator.positive or radius is not None:
        stated.append(Claim("linear.feasible"))
    if radius is None and weights is None and y.ndim == 1 and not isinstance(X, PartitionedRows):
        in_use = int(np.count_nonzero(solution.coef)) + bool(estimator.fit_intercept)
        stated += [Claim("estimates.gcv")] * (in_use < X.shape[0])
    estimator._issue(
        "A",
        stated,
        problem=chosen,
        model=("coef_", "intercept_", *chosen),
        sample=(X, y, weights),
        run={
            "solver": "coordinate descent on working sets",
            "reason": str(solution.reason),
            "passes": int(solution.n_iter),
            "seconds": float(estimator.history_[-1, 0]) if len(estimator.history_) else 0.0,
        },
    )
    tolerance = estimator.tol * solution.null_objective
    warn_unless_converged(type(estimator).__name__, Reason(solution.reason), solution.gap, tolerance)
