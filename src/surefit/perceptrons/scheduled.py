"""Fitting of a perceptron with a step-size schedule and a margin threshold."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.perceptrons.claims import problem_number, separates
from surefit.perceptrons.online import Run, make_walks, positives, record, step_rules, take_walks
from surefit.perceptrons.problem import Labeled, posed, read_labeled, starting_weights
from surefit.perceptrons.schedules import as_schedule, check_schedule, read_steps
from surefit.solvers.perceptron.run import SEPARATED


def fit_scheduled(estimator, X, y):
    """Fit from zero, or from the last weights (``warm_start``). Returns the estimator."""
    who = type(estimator).__name__
    goes_on = estimator.warm_start and hasattr(estimator, "classes_")
    schedule = as_schedule(estimator.schedule)
    data = read_labeled(estimator, X, y)
    shape = (len(positives(data)), data.X.shape[1])
    if goes_on and estimator.coef_.shape != shape:
        raise InvalidParameter(who, "warm_start", "False for data of another shape or other classes", True)
    before = (estimator.coef_, estimator.intercept_) if goes_on else (None, None)
    w, b = starting_weights(estimator, before[0], before[1], shape)
    starts = list(np.column_stack([w, b]))
    problem = posed(estimator, data)
    rules = step_rules(problem, data.squares)
    walks = make_walks(estimator, data, w, b, rules, schedule=lambda k: read_steps(who, schedule, k))
    estimator._went_on = goes_on
    run = take_walks(estimator, X, y, data, walks, starts)
    estimator.coef_ = np.vstack([one.w for one in walks])
    estimator.intercept_ = np.array([one.offset for one in walks])
    estimator.schedule_report_ = check_schedule(estimator.schedule)._asdict()
    more = _schedule_claims(estimator, run, data)
    record(estimator, run, data, problem, model=("coef_", "intercept_"), more=more)
    return estimator


def _schedule_claims(estimator, run: Run, data: Labeled) -> list[Claim]:
    claims = [
        Claim("perceptron.prefix", numbers=problem_number(data, p))
        for p, one in enumerate(run.walks)
        if one.ending == SEPARATED
        and 0 < one.updates == one.logged
        and not np.any(run.starts[p])
        and separates(one, data)
    ]
    admissible = check_schedule(estimator.schedule).admissible
    return claims if admissible is True else [*claims, Claim("perceptron.schedule")]
