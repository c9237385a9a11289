"""Fitting of the kernel perceptron: kernel rows, runs in feature space, dual coefficients and claims."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.warn import warn
from surefit.kernels import Precomputed, gamma_of, resolve
from surefit.perceptrons.claims import CLEAR, problem_number
from surefit.perceptrons.log import log_parts
from surefit.perceptrons.online import mistakes_per_pass, order_of, positives, seed_of, step_rules, warn_if_stopped
from surefit.perceptrons.problem import Labeled, posed, read_labeled
from surefit.solvers.perceptron.kernel import KernelWalk, RowCache
from surefit.solvers.perceptron.order import Orders
from surefit.solvers.perceptron.run import SEPARATED, walk


def fit_kernel(estimator, X, y):
    """Fit one run per two-class problem over shared kernel rows. Returns the estimator."""
    who = type(estimator).__name__
    read = read_labeled(estimator, X, y)
    n, data = len(read.codes), read
    data = data._replace(X=data.X.astype(np.float64, copy=False))
    estimator.gamma_ = gamma_of(estimator.gamma, data.X, who)
    estimator.kernel_ = resolve(
        estimator.kernel, gamma=estimator.gamma_, degree=estimator.degree, coef0=estimator.coef0, who=who
    )
    precomputed = isinstance(estimator.kernel_, Precomputed)
    rows_of_gram = estimator.kernel_.rows(data.X)
    diagonal = rows_of_gram.diagonal
    usable = (diagonal >= 0) & np.isfinite(diagonal)
    proper = bool(np.all(usable))
    if not proper:
        row = int(np.argmin(usable))
        text = f"{who}: k(x, x) must be a finite number >= 0; row {row} has {float(diagonal[row])!r}"
        if not precomputed:
            raise InvalidData(f"{text}.")
        warn(f"{text}. This matrix is not positive semidefinite, so nothing is claimed about the run.", DataWarning)
    problem = posed(estimator, read)
    rules = step_rules(problem, diagonal)
    cache = RowCache(rows_of_gram.block, n, float(estimator.cache_size))
    # A budget drops the oldest row, which the run finds in the log.
    options = {"max_log": estimator.max_log if estimator.budget is None else 2**62, "budget": estimator.budget}
    walks = [
        KernelWalk(cache, data.signs(c), rule, diagonal, **options)
        for c, rule in zip(positives(data), rules, strict=True)
    ]
    orders = Orders(order_of(estimator, n), n, seed_of(estimator.random_state))
    report = progress_reporter(estimator, X, y)
    with Budget(estimator.max_iter, estimator.max_time, report) as budget:
        n_iter = walk(walks, orders, budget, tol=estimator.tol, patience=estimator.n_iter_no_change)
    if report is not None:
        report.finish()
    estimator.support_vectors_ = np.empty((0, 0)) if precomputed else data.X[_support(walks)]
    _record(estimator, walks, orders, n_iter, read, problem, proper)
    return estimator


def _support(walks: list[KernelWalk]) -> np.ndarray:
    """Return the indices of the rows with nonzero weight in some problem."""
    return np.flatnonzero(np.any([one.carried != 0 for one in walks], axis=0))


def _record(estimator, walks: list[KernelWalk], orders: Orders, n_iter: int, data: Labeled, problem, proper) -> None:
    who = type(estimator).__name__
    estimator.n_iter_ = n_iter
    estimator.n_updates_ = sum(one.updates for one in walks)
    estimator.converged_ = all(one.ending == SEPARATED for one in walks)
    estimator.ending_ = next((one.ending for one in walks if one.ending != SEPARATED), SEPARATED)
    estimator.mistake_counts_ = walks[0].counts if len(walks) == 1 else np.vstack([one.counts for one in walks])
    estimator.mistakes_per_pass_ = mistakes_per_pass(walks, n_iter)
    estimator._log = log_parts(walks)
    estimator.support_ = _support(walks)
    estimator.dual_coef_ = np.vstack([_dual(one) for one in walks])[:, estimator.support_]
    estimator.intercept_ = np.array([one.offset for one in walks])
    claims: list[Claim] = [claim for p, one in enumerate(walks) for claim in _claims(one, data, p, proper)]
    if proper and not problem["looks_ahead"]:
        claims += _risk(walks, orders, len(data.codes))
    separated = [_separates(one) for one in walks] if proper else [False]
    estimator._issue(
        "A" if all(separated) else "C",
        claims,
        problem=problem,
        model=("classes_", "support_", "dual_coef_", "intercept_"),
        sample=(data.X, data.y, None),
        run={
            "solver": "kernel perceptron",
            "passes": n_iter,
            "updates": estimator.n_updates_,
            "reason": estimator.ending_,
        },
    )
    close = sum(one.near_zero for one in walks)
    if close:
        warn(
            f"{who}: {close} margins were within rounding of zero, so mistakes may have been decided by "
            f"rounding; scale X to integers if possible, or set a positive threshold.",
            DataWarning,
        )
    warn_if_stopped(estimator, orders.n_visits)


def _claims(one: KernelWalk, data: Labeled, p: int, proper: bool) -> list[Claim]:
    """Return the claims about one two-class problem; only ``perceptron.not_replayed`` if a budget dropped rows."""
    own = problem_number(data, p)
    if one.dropped or one.logged < one.updates or not proper:
        return [Claim("perceptron.not_replayed")]
    claims = []
    if _separates(one):
        claims = [Claim("perceptron.kernel_margin", numbers=own), Claim("perceptron.kernel_novikoff", numbers=own)]
    witness = {"rows": one.log.row[: one.logged].copy(), "after_pass": np.array(one.after_pass)}
    claims.append(Claim("perceptron.kernel_replay", numbers=own, witness=witness))
    return claims if one.ending == SEPARATED else [*claims, Claim("perceptron.unfinished")]


def _separates(one: KernelWalk) -> bool:
    """Whether the run ended with a margin that is positive beyond rounding errors."""
    if one.ending != SEPARATED or one.dropped or one.logged < one.updates or not one.sums.square[0] > 0:
        return False
    # Sums of k kernel values have errors of about k units in the last place; the limit is much larger.
    clear = CLEAR * 1e-3 * (1 + one.updates) * one.rule.radius_square * max(one.rule.step_minus, one.rule.step_plus)
    return float(np.min(one.t * (one.scores + one.offset))) > clear


def _risk(walks: list[KernelWalk], orders: Orders, n: int) -> list[Claim]:
    """Return the risk bound of the first pass, if it was complete and is in the log."""
    if any(one.visits < n or one.dropped or one.logged < one.updates for one in walks):
        return []
    return [Claim("perceptron.kernel_risk", witness={} if orders.first is None else {"order": orders.first.copy()})]


def _dual(one: KernelWalk) -> np.ndarray:
    steps = np.where(one.t > 0, one.rule.step_plus, one.rule.step_minus)
    return steps * one.t * one.carried


def kernel_scores(estimator, X: Any) -> np.ndarray:
    """Return the scores of new rows, one column per problem."""
    values = estimator.kernel_.against(X, estimator.support_, estimator.support_vectors_)
    return values @ estimator.dual_coef_.T + estimator.intercept_
