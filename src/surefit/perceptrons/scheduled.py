"""The fit of a perceptron with step schedule and margin threshold, and what its steps prove."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.perceptrons.online import Run, make_walks, positives, record, step_rules, take_walks
from surefit.perceptrons.problem import Labelled, read_labelled, starting_weights
from surefit.perceptrons.schedules import as_schedule, check_schedule, most_scheduled_updates, read_steps
from surefit.solvers.perceptron_walk import SEPARATED


def fit_scheduled(estimator, X, y):
    """Fit from zero, or from the last weights (``warm_start``). Returns the estimator."""
    who = type(estimator).__name__
    goes_on = estimator.warm_start and hasattr(estimator, "classes_")
    schedule = as_schedule(estimator.schedule)
    data = read_labelled(estimator, X, y)
    shape = (len(positives(data)), data.X.shape[1])
    if goes_on and estimator.coef_.shape != shape:
        raise InvalidParameter(who, "warm_start", "False for data of another shape or other classes", True)
    before = (estimator.coef_, estimator.intercept_) if goes_on else (None, None)
    w, b = starting_weights(estimator, before[0], before[1], shape)
    starts = list(np.column_stack([w, b]))
    rules = step_rules(estimator, data, eta0=1.0, threshold=float(estimator.threshold))
    walks = make_walks(estimator, data, w, b, rules, schedule=lambda k: read_steps(who, schedule, k))
    estimator._went_on = goes_on
    run = take_walks(estimator, X, y, data, walks, starts)
    estimator.classes_ = data.classes
    estimator.coef_ = np.vstack([one.w for one in walks])
    estimator.intercept_ = np.array([one.offset for one in walks])
    estimator.schedule_report_ = check_schedule(estimator.schedule)._asdict()
    record(estimator, run, data, model=("coef_", "intercept_"), more=_prefix_claims(estimator, run, data))
    return estimator


def _prefix_claims(estimator, run: Run, data: Labelled) -> list[Claim]:
    claims = []
    for p, one in enumerate(run.walks):
        if one.ending != SEPARATED or one.logged < one.updates or one.updates == 0 or np.any(run.starts[p]):
            continue
        beta, radius_square = one.rule.bias_step, one.rule.radius_square
        norm = math.sqrt(float(one.w @ one.w) + (one.offset**2 / beta if beta else 0.0))
        low = float(np.min(one.t * (np.asarray(data.X @ one.w).ravel() + one.offset))) / norm
        low -= 4 * (len(one.w) + 6) * 2.0**-53 * math.sqrt(radius_square)
        if low <= 0:
            continue
        steps = one.schedule(np.arange(1.0, one.updates + 1))
        S, Q = np.cumsum(steps), np.cumsum(steps * steps)
        worst = float(np.max(low * S / np.sqrt(2 * max(one.rule.cut_plus, 0.0) * S + radius_square * Q)))
        most = most_scheduled_updates(estimator.schedule, math.sqrt(radius_square), low, max(one.rule.cut_plus, 0.0))
        claims.append(
            Claim(
                "perceptron.prefix",
                "process_fact",
                f"After every update, margin times sum of steps is at most {worst:.6g} times what the theorem allows; "
                f"{one.updates} updates were made, at most {most:.6g} were possible.",
                value=worst * (1 + 1e-12),
                limit=1.0,
                numbers={"problem": p, "most_updates": most},
            )
        )
    report = check_schedule(estimator.schedule)
    if report.admissible is not True:
        words = "does not meet" if report.admissible is False else "cannot be proved to meet"
        text = f"The schedule {words} the conditions of the theorem: the run may go on for ever on separable rows."
        claims.append(Claim("perceptron.schedule", "no_claim", text))
    return claims
