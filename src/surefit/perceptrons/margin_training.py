"""Fitting of the margin perceptron, and its claims about the margins of the rows scaled to unit length."""

from __future__ import annotations

from functools import partial

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.perceptrons.claims import problem_number
from surefit.perceptrons.novikoff import margin_perceptron_bounds
from surefit.perceptrons.online import mistakes_per_pass, order_of, positives, seed_of, warn_if_stopped
from surefit.perceptrons.problem import Labeled, posed, read_labeled
from surefit.problems.perceptrons import squared_norms
from surefit.solvers.perceptron.margin import MarginRun, Sample, walk_with_margin
from surefit.solvers.perceptron.order import Orders
from surefit.solvers.perceptron.run import SEPARATED


def fit_margin(estimator, X, y):
    """Run the algorithm, or a search over ``gamma``, for each two-class problem. Returns the estimator."""
    data = read_labeled(estimator, X, y)
    problem = posed(estimator, data)
    beta = problem["bias_step"]
    data = data._replace(
        squares=squared_norms(data.X)
    )  # summed in a fixed order, so that the run is the same on every machine
    if np.min(data.squares) + beta == 0.0:
        row = int(np.argmin(data.squares))
        raise InvalidData(
            f"{type(estimator).__name__}: row {row} of X is zero and cannot be scaled to length one; remove it, or fit an "
            "intercept."
        )
    report = progress_reporter(estimator, X, y)
    runs = []
    with Budget(estimator.max_iter, estimator.max_time, report) as budget:
        for positive in positives(data):
            orders = Orders(order_of(estimator, len(data.codes)), len(data.codes), seed_of(estimator.random_state))
            runs.append(
                walk_with_margin(
                    Sample(data.rows, data.signs(positive), data.squares, data.X.shape[1], beta),
                    None if estimator.gamma is None else float(estimator.gamma),
                    float(estimator.epsilon),
                    float(estimator.min_gamma),
                    orders,
                    budget,
                )
            )
    if report is not None:
        report.finish()
    _record(estimator, runs, data, problem)
    return estimator


def _record(estimator, runs: list[MarginRun], data: Labeled, problem: dict) -> None:
    estimator.coef_ = np.vstack([run.w for run in runs])
    estimator.intercept_ = np.array([run.b for run in runs])
    estimator.gamma_ = np.array([run.gamma for run in runs])
    estimator.n_iter_ = max(run.n_iter for run in runs)
    estimator.n_updates_ = sum(run.updates for run in runs)
    estimator.converged_ = all(run.ending == SEPARATED for run in runs)
    estimator.ending_ = next((run.ending for run in runs if run.ending != SEPARATED), SEPARATED)
    estimator.mistake_counts_ = runs[0].counts if len(runs) == 1 else np.vstack([run.counts for run in runs])
    estimator.mistakes_per_pass_ = mistakes_per_pass(runs, estimator.n_iter_)
    bounds = [margin_perceptron_bounds(run.gamma, estimator.epsilon) for run in runs]
    estimator.update_bounds_ = np.array(bounds)
    claims = [claim for p, run in enumerate(runs) for claim in _claims(run, data, p, problem["bias_step"])]
    estimator._issue(
        "A" if estimator.converged_ else "C",
        claims,
        problem=problem,
        model=("classes_", "coef_", "intercept_", "gamma_"),
        sample=(data.X, data.y, None),
        run={"solver": "margin perceptron", "passes": estimator.n_iter_, "reason": estimator.ending_},
    )
    warn_if_stopped(estimator, len(data.codes))


def _claims(run: MarginRun, data: Labeled, p: int, beta: float) -> list[Claim]:
    """Return the claims; update counts of the last run or of a refuted run give an upper bound on all margins."""
    claims, own, t = [], problem_number(data, p), data.signs(positives(data)[p])
    known = [counts for counts in (run.counts, run.refuting_counts) if np.any(counts)]
    witness = {"alpha": min(known, key=partial(_mean_length, data, t, beta)).astype(np.float64)} if known else {}
    if run.ending == SEPARATED:
        claims.append(Claim("perceptron.unit_margin", numbers=own, witness=witness))
    else:
        claims += [Claim("perceptron.unit_margin_at_most", numbers=own, witness=witness)] if known else []
        claims.append(Claim("perceptron.unfinished"))
    # The loop is the textbook algorithm bit for bit, so its numbers are exact.
    updates = Claim("perceptron.margin_updates", float(run.updates), numbers=own, witness={"rows": run.rows.copy()})
    return [*claims, updates]


def _mean_length(data: Labeled, t: np.ndarray, beta: float, counts: np.ndarray) -> float:
    """Return the norm of the mean of the signed unit rows, weighted by the update counts."""
    signed = t * counts / np.sqrt(data.squares + beta)
    total = np.asarray(signed @ data.X).ravel()
    return float(np.sqrt(total @ total + beta * np.sum(signed) ** 2)) / float(np.sum(counts))
