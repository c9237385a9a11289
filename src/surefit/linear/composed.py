"""Fitting of composed linear models: build the problem, set the fitted attributes, and state the claims."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import warn_unless_converged
from surefit.core.threads import threads_instead_of_blas
from surefit.linear.log_link import solved
from surefit.losses import curvature, is_margin_loss
from surefit.problems.composed import Rows, read_rows
from surefit.problems.terms import loss_term
from surefit.solvers.barrier import PenaltyTerms, Result

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


def terms_of(problem: dict, n_features: int) -> PenaltyTerms:
    """Return the penalty of a problem in the form that the solver expects."""
    own = problem["penalty"]
    factors = np.ones(n_features) if own["factors"] is None else np.asarray(own["factors"], dtype=np.float64)
    excluded = np.isinf(factors)
    finite = np.where(excluded, 0.0, factors)
    l1 = np.where(excluded, np.inf, finite * own["l1"])
    return PenaltyTerms(l1, finite * own["l2"], own["positive"], own["radius"])


def check_factors(estimator, problem: dict, n_features: int) -> None:
    """Raise if the penalty factors have the wrong length or are negative or NaN."""
    factors = problem["penalty"]["factors"]
    if factors is None:
        return
    bad = len(factors) != n_features or any(math.isnan(f) or f < 0 for f in factors)
    if bad:
        expected = f"{n_features} numbers >= 0, one per feature (0: unpenalized, inf: excluded)"
        raise InvalidParameter(type(estimator).__name__, "penalty_factors", expected, factors)


def fit_composed(estimator, X, y, sample_weight, loss=None, labels: bool | None = None, moved=None) -> Any:
    """Solve the problem of ``estimator`` and set its fitted attributes and certificate. Returns the estimator.

    ``moved``, if given, maps the rows to rows whose targets and weights account for a known offset of the scores.
    """
    who = type(estimator).__name__
    loss = loss_term(estimator.loss, who) if loss is None else loss
    labels = bool(is_margin_loss(loss)) if labels is None else labels
    rows, problem = read_rows(estimator, X, y, sample_weight, labels)
    rows = rows if moved is None else moved(rows)
    check_factors(estimator, problem, rows.X.shape[1])
    terms = terms_of(problem, rows.X.shape[1])
    starts = _starts(estimator, rows)
    reporter = progress_reporter(estimator, rows.X, rows.y)
    with (
        Budget(estimator.max_iter, getattr(estimator, "max_time", None), reporter) as budget,
        threads_instead_of_blas(),
    ):
        results = [
            solved(
                rows.X, t, rows.c, loss, terms, intercept=problem["fit_intercept"], tol=problem["tol"], budget=budget,
                start=start,
            )
            for t, start in zip(rows.targets, starts, strict=True)
        ]  # fmt: skip
    if reporter is not None:
        reporter.finish()
    kinked = type(loss) not in curvature.classes
    witness = {f"dual_{k}": r.dual for k, r in enumerate(results)} if kinked else {}
    return record(estimator, rows, problem, results, witness)


def record(estimator, rows: Rows, problem: dict, results: list[Result], witness: dict[str, np.ndarray]) -> Any:
    """Set fitted attributes and the certificate; warn if a problem stopped early."""
    W, b = np.array([r.coef for r in results]), np.array([r.intercept for r in results])
    if rows.classes is not None:
        estimator.classes_, estimator.coef_, estimator.intercept_ = rows.classes, W, b
    else:
        estimator.coef_, estimator.intercept_ = W[0], np.float64(b[0])
    estimator.n_iter_ = max(r.n_iter for r in results)
    estimator.history_ = np.array([row for r in results for row in r.history], dtype=np.float64).reshape(-1, 3)
    late = [r for r in results if r.reason is not Reason.CONVERGED]
    estimator._issue(
        "A",
        claims_of(problem, len(results), witness),
        problem=problem,
        model=("coef_", "intercept_"),
        sample=(rows.X, rows.y, rows.weights, rows.offset),
        run={
            "solver": results[0].solver,
            "reason": str(late[0].reason if late else Reason.CONVERGED),
            "passes": int(estimator.n_iter_),
            "seconds": float(sum(r.history[-1][0] for r in results if r.history)),
        },
    )
    gap, limit = sum(r.gap for r in results), problem["tol"] * sum(r.null_objective for r in results)
    warn_unless_converged(type(estimator).__name__, late[0].reason if late else Reason.CONVERGED, gap, limit)
    return estimator


def claims_of(problem: dict, columns: int, witness: dict[str, np.ndarray]) -> list[Claim]:
    """Return the claims that apply to a problem; the checker computes their values."""
    own = problem["penalty"]
    claims = [Claim("linear.gap", witness=witness)]
    if problem["loss"] == "squared_error":
        claims.append(Claim("linear.stability"))
    if own["l2"] > 0 and own["radius"] is None and (own["factors"] is None or min(own["factors"]) > 0):
        claims.append(Claim("linear.distance"))
    if problem["loss"] == "logistic" and columns == 1:
        claims.append(Claim("linear.labels"))
    if own["positive"] or own["radius"] is not None:
        claims.append(Claim("linear.feasible"))
    return claims


def _starts(estimator, rows: Rows) -> list:
    before = getattr(estimator, "coef_", None) if getattr(estimator, "warm_start", False) else None
    shape = (rows.X.shape[1],) if rows.classes is None else (len(rows.targets), rows.X.shape[1])
    if before is None or np.shape(before) != shape:
        return [None] * len(rows.targets)
    W, b = np.atleast_2d(before), np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
    return list(zip(W, np.broadcast_to(b, (len(W),)), strict=True))
