"""The fit of a margin perceptron, and what its runs prove about the margins of the rows, scaled to unit length."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import data_fingerprint
from surefit.perceptrons.novikoff import margin_perceptron_bounds
from surefit.perceptrons.online import about_problem, order_of, positives, seed_of, warn_if_stopped
from surefit.perceptrons.problem import Labelled, bias_step, read_labelled
from surefit.solvers.perceptron_margin import MarginRun, walk_with_margin
from surefit.solvers.perceptron_orders import Orders
from surefit.solvers.perceptron_walk import SEPARATED

UNIT, SURE = 2.0**-53, 1 + 2.0**-40


def fit_margin(estimator, X, y):
    """Fit one run, or one search, a two-class problem. Returns the estimator."""
    data = read_labelled(estimator, X, y)
    beta = bias_step(estimator, data.squares)
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
            orders = Orders(order_of(estimator), len(data.codes), seed_of(estimator.random_state))
            runs.append(
                walk_with_margin(
                    data.rows,
                    data.signs(positive),
                    data.squares,
                    data.X.shape[1],
                    beta,
                    None if estimator.gamma is None else float(estimator.gamma),
                    float(estimator.epsilon),
                    float(estimator.min_gamma),
                    orders,
                    budget,
                )
            )
    if report is not None:
        report.finish()
    _record(estimator, runs, data, beta)
    return estimator


def _record(estimator, runs: list[MarginRun], data: Labelled, beta: float) -> None:
    estimator.classes_ = data.classes
    estimator.coef_ = np.vstack([run.w for run in runs])
    estimator.intercept_ = np.array([run.b for run in runs])
    estimator.gamma_ = np.array([run.gamma for run in runs])
    estimator.n_iter_ = max(run.n_iter for run in runs)
    estimator.n_updates_ = sum(run.updates for run in runs)
    estimator.converged_ = all(run.ending == SEPARATED for run in runs)
    estimator.ending_ = next((run.ending for run in runs if run.ending != SEPARATED), SEPARATED)
    estimator.mistake_counts_ = runs[0].counts if len(runs) == 1 else np.vstack([run.counts for run in runs])
    estimator.mistakes_per_pass_ = np.diff(runs[-1].after_pass, prepend=0)
    bounds = [margin_perceptron_bounds(run.gamma, estimator.epsilon) for run in runs]
    estimator.update_bounds_ = np.array(bounds)
    claims: list[Claim] = []
    for p, (run, bound) in enumerate(zip(runs, bounds, strict=True)):
        claims += _claims(estimator, run, bound.recursive, data, beta, p)
    problem = {
        "family": "perceptron",
        "multi_class": "ovr",
        "positives": positives(data),
        "bias_step": beta,
        "epsilon": float(estimator.epsilon),
        "gammas": [run.gamma for run in runs],
    }
    separable = [claim for claim in claims if claim.name == "perceptron.unit_margin" and claim.value > 0]
    estimator._issue(
        "A" if len(separable) == len(runs) else "C",
        claims,
        problem=problem,
        model=("classes_", "coef_", "intercept_"),
        data=data_fingerprint(data.X, data.y),
        run={"solver": "margin perceptron", "passes": estimator.n_iter_, "reason": estimator.ending_},
    )
    warn_if_stopped(estimator, len(data.codes))


def _claims(estimator, run: MarginRun, bound: float, data: Labelled, beta: float, p: int) -> list[Claim]:
    about, t = about_problem(data, p), data.signs(positives(data)[p])
    lengths = np.sqrt(data.squares + beta)
    norm = math.sqrt(float(run.w @ run.w) + (run.b**2 / beta if beta else 0.0))
    claims = []
    up = (norm / run.updates + 8 * UNIT * run.updates) * SURE if run.updates else math.inf
    refuting = {}
    if len(run.refuting_counts):
        total = np.asarray((t * run.refuting_counts / lengths) @ data.X).ravel()
        offset = float(np.sum(t * run.refuting_counts / lengths)) * beta
        size = math.sqrt(float(total @ total) + (offset**2 / beta if beta else 0.0))
        other = (size / run.refuting_counts.sum() + 8 * UNIT * len(t)) * SURE
        if other < up:
            up, refuting = other, {"counts": run.refuting_counts}
    numbers = {"problem": p, "gamma": run.gamma}
    if run.ending == SEPARATED:
        low = float(np.min(t * (np.asarray(data.X @ run.w).ravel() + run.b) / lengths)) / norm
        low -= 8 * (len(run.w) + 8) * UNIT
        text = f"Unit rows: the margin reached is {low:.6g}, and no direction has more than {up:.6g}."
        claims.append(
            Claim("perceptron.unit_margin", "data_fact", text, low, up, about=about, numbers=numbers, witness=refuting)
        )
        wanted = (1 - estimator.epsilon) * run.gamma
        text = (
            f"Every unit row has a margin of at least (1 - epsilon) gamma = {wanted:.6g} (short by at most the value)."
        )
        short = max(0.0, wanted - low)
        claims.append(Claim("perceptron.wanted_margin", "data_fact", text, short, 1e-9, about=about, numbers=numbers))
    else:
        text = f"Unit rows: no direction has a margin of more than {up:.6g}."
        claims.append(
            Claim(
                "perceptron.unit_margin_at_most", "data_fact", text, up, about=about, numbers=numbers, witness=refuting
            )
        )
        text = f"No pass was clean ({run.ending}): no margin was reached."
        claims.append(Claim("perceptron.unfinished", "no_claim", text, about=about, numbers=numbers))
    refuted = run.refuted_gamma == run.gamma
    text = f"Each of the {run.updates} updates was made on a row inside the margin" + (
        "." if refuted else f"; rows with margin gamma allow {bound:.6g}."
    )
    limit = math.inf if refuted else bound
    witness = {"rows": run.rows.copy()}
    claims.append(
        Claim(
            "perceptron.margin_updates", "process_fact", text, float(run.updates), limit, about=about, numbers=numbers, witness=witness
        )
    )  # fmt: skip
    return claims
