"""The fit of a kernel perceptron: kernel rows, walks in feature space, dual coefficients and claims."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import DataRemark, InvalidData
from surefit.core.estimator import data_fingerprint
from surefit.kernels import RBF, Laplacian, Precomputed, gamma_of, resolve
from surefit.perceptrons.kernel_claims import kernel_claims, kernel_risk
from surefit.perceptrons.log import log_parts
from surefit.perceptrons.online import mistakes_per_pass, order_of, positives, seed_of, step_rules, warn_if_stopped
from surefit.perceptrons.problem import Labelled, read_labelled
from surefit.solvers.perceptron_kernel import KernelWalk, RowCache
from surefit.solvers.perceptron_orders import Orders
from surefit.solvers.perceptron_walk import SEPARATED, walk


def fit_kernel(estimator, X, y):
    """Fit one walk a two-class problem over shared kernel rows. Returns the estimator."""
    who = type(estimator).__name__
    data = read_labelled(estimator, X, y)
    n, fingerprint = len(data.codes), data_fingerprint(data.X, data.y)
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
        warnings.warn(
            f"{text}. This matrix is no kernel, and nothing is claimed about the run.", DataRemark, stacklevel=4
        )
    in_feature_space = data._replace(squares=diagonal)
    rules = step_rules(estimator, in_feature_space, eta0=1.0, threshold=float(estimator.threshold))

    cache = RowCache(rows_of_gram.block, n, float(estimator.cache_size))
    # A budget drops the oldest row, and the log is how the walk knows which that is.
    options = {"max_log": estimator.max_log if estimator.budget is None else 2**62, "budget": estimator.budget}
    walks = [
        KernelWalk(cache, data.signs(c), rule, diagonal, **options)
        for c, rule in zip(positives(data), rules, strict=True)
    ]
    orders = Orders(order_of(estimator), n, seed_of(estimator.random_state))
    report = progress_reporter(estimator, X, y)
    with Budget(estimator.max_iter, estimator.max_time, report) as budget:
        n_iter = walk(walks, orders, budget, tol=estimator.tol, patience=estimator.n_iter_no_change)
    if report is not None:
        report.finish()
    _record(estimator, walks, orders, n_iter, data, precomputed, fingerprint, proper)
    return estimator


def _record(
    estimator, walks: list[KernelWalk], orders: Orders, n_iter: int, data: Labelled, precomputed, fingerprint, proper
) -> None:
    who = type(estimator).__name__
    estimator.classes_ = data.classes
    estimator.n_iter_ = n_iter
    estimator.n_updates_ = sum(one.updates for one in walks)
    estimator.converged_ = all(one.ending == SEPARATED for one in walks)
    estimator.ending_ = next((one.ending for one in walks if one.ending != SEPARATED), SEPARATED)
    estimator.mistake_counts_ = walks[0].counts if len(walks) == 1 else np.vstack([one.counts for one in walks])
    estimator.mistakes_per_pass_ = mistakes_per_pass(walks, n_iter)
    estimator._log = log_parts(walks)
    weights = np.vstack([_dual(one) for one in walks])
    estimator.support_ = np.flatnonzero(np.any(weights != 0, axis=0))
    estimator.dual_coef_ = weights[:, estimator.support_]
    estimator.intercept_ = np.array([one.offset for one in walks])
    estimator.support_vectors_ = np.empty((0, 0)) if precomputed else data.X[estimator.support_]
    rule = walks[0].rule
    problem = {
        "family": "kernel perceptron",
        "multi_class": "ovr",
        "positives": positives(data),
        "steps": [[one.rule.step_minus, one.rule.step_plus] for one in walks],
        "cuts": [rule.cut_minus, rule.cut_plus],
        "bias_step": rule.bias_step,
        "kernel": estimator.kernel_.to_record(),
        "budget": estimator.budget,
    }
    given = estimator.kernel_.positive_semidefinite is not True
    claims: list[Claim] = [claim for p, one in enumerate(walks) for claim in kernel_claims(one, data, p, given, proper)]
    radius_known = isinstance(estimator.kernel_, (RBF, Laplacian))
    claims += kernel_risk(estimator, walks, orders, data, radius_known) if proper else []
    separable = [claim for claim in claims if claim.name == "perceptron.kernel_margin" and claim.value > 0]
    estimator._issue(
        "A" if len(separable) == len(walks) else "C",
        claims,
        problem=problem,
        model=("classes_", "support_", "dual_coef_", "intercept_"),
        data=fingerprint,
        run={
            "solver": "kernel perceptron",
            "passes": n_iter,
            "updates": estimator.n_updates_,
            "reason": estimator.ending_,
        },
    )
    close = sum(one.near_zero for one in walks)
    if close:
        warnings.warn(
            f"{who}: {close} margins were within rounding of zero, so that mistakes may have been decided by rounding; scale "
            "X to integers if that is possible, or ask for a positive threshold.",
            DataRemark,
            stacklevel=4,
        )
    warn_if_stopped(estimator, orders.n_visits)


def _dual(one: KernelWalk) -> np.ndarray:
    steps = np.where(one.t > 0, one.rule.step_plus, one.rule.step_minus)
    return steps * one.t * one.carried


def kernel_scores(estimator, X: Any) -> np.ndarray:
    """Scores of new rows, one column a problem."""
    values = estimator.kernel_.against(X, estimator.support_, estimator.support_vectors_)
    return values @ estimator.dual_coef_.T + estimator.intercept_
