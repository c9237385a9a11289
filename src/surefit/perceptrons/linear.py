"""``fit`` and ``partial_fit`` of linear perceptrons, with or without averaging."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.perceptrons.base import classes_of_stream
from surefit.perceptrons.claims import problem_number
from surefit.perceptrons.log import log_parts
from surefit.perceptrons.online import (
    Run,
    make_joint_walk,
    make_walks,
    positives,
    record,
    step_rules,
    take_walks,
)
from surefit.perceptrons.problem import Labeled, posed, read_labeled, starting_weights
from surefit.solvers.perceptron.order import Orders
from surefit.solvers.perceptron.run import Walk


def fit_linear(estimator, X, y, coef_init, intercept_init, *, average: bool):
    """Fit from the given weights, from the last weights (``warm_start``), or from zero. Returns the estimator."""
    had = hasattr(estimator, "classes_")
    before = (
        (getattr(estimator, "last_coef_", None), getattr(estimator, "last_intercept_", None)) if had else (None, None)
    )
    data = read_labeled(estimator, X, y)
    lines = _lines(estimator, data)
    estimator._went_on = bool(estimator.warm_start and had and coef_init is None)
    if estimator._went_on:
        coef_init, intercept_init = before
        if np.shape(coef_init) != (lines, data.X.shape[1]):
            raise InvalidParameter(
                type(estimator).__name__, "warm_start", "False for data of another shape or other classes", True
            )
    w, b = starting_weights(estimator, coef_init, intercept_init, (lines, data.X.shape[1]))
    starts = _starts(estimator, data, w, b)
    problem = posed(estimator, data)
    walks = _walks(estimator, data, w, b, problem, average)
    run = take_walks(estimator, X, y, data, walks, starts)
    estimator._stream = None
    _finish(estimator, run, data, problem, average)
    return estimator


def partial_fit_linear(estimator, X, y, classes, *, average: bool):
    """Process new rows once, in the given order. Returns the estimator."""
    first = not hasattr(estimator, "classes_")
    known = classes_of_stream(estimator, classes)
    data = read_labeled(estimator, X, y, reset=first, classes=known)
    if getattr(estimator, "class_weight", None) == "balanced":
        raise InvalidParameter(
            type(estimator).__name__,
            "class_weight",
            "None or a dictionary in partial_fit (class frequencies are unknown there)",
            "balanced",
        )
    lines, d = _lines(estimator, data), data.X.shape[1]
    if first:
        w, b = starting_weights(estimator, None, None, (lines, d))
    else:
        w, b = estimator.last_coef_.copy(), estimator.last_intercept_.copy()
    stream = (None if first else estimator._stream) or {"visits": 0, "lazy": None, "log": []}
    starts = _starts(estimator, data, w, b)
    problem = posed(estimator, data)
    walks = _walks(estimator, data, w, b, problem, average)
    for p, one in enumerate(walks):
        one.visits = stream["visits"]
        if average and stream["lazy"] is not None:
            one.lazy[...], one.sums.offset_sum[0] = stream["lazy"][p]
        one.advance(None, 0, len(data.codes))
        one.finish_pass(True, False, len(data.codes), None, 1)
        one.ending = one.ending or "one_pass"
    estimator._went_on = False
    run = Run(walks, Orders("cyclic", len(data.codes), 0), 1, starts, _is_joint(estimator, data))
    _finish(estimator, run, data, problem, average)
    new = [part for part in log_parts(walks, stream["visits"]) if len(part["row"]) or not stream["log"]]
    estimator._log = stream["log"] + new
    estimator._stream = {
        "visits": walks[0].visits,
        "lazy": [(one.lazy, float(one.sums.offset_sum[0])) for one in walks] if average else None,
        "log": estimator._log,
    }
    return estimator


def _is_joint(estimator, data: Labeled) -> bool:
    return estimator.multi_class == "joint" and len(data.classes) > 2


def _lines(estimator, data: Labeled) -> int:
    return len(positives(data))


def _starts(estimator, data: Labeled, w: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    lines = np.column_stack([w, b])
    return [lines] if _is_joint(estimator, data) else list(lines)


def _walks(estimator, data: Labeled, w: np.ndarray, b: np.ndarray, problem: dict, average: bool) -> list[Walk]:
    if _is_joint(estimator, data):
        return [make_joint_walk(estimator, data, w, b, problem, average=average)]
    return make_walks(estimator, data, w, b, step_rules(problem, data.squares), average=average)


def _finish(estimator, run: Run, data: Labeled, problem: dict, average: bool) -> None:
    if run.joint:
        estimator.last_coef_, estimator.last_intercept_ = run.walks[0].weights
    else:
        estimator.last_coef_ = np.vstack([one.w for one in run.walks])
        estimator.last_intercept_ = np.array([one.offset for one in run.walks])
    if not average:
        estimator.coef_, estimator.intercept_ = estimator.last_coef_, estimator.last_intercept_
        record(estimator, run, data, problem, model=("coef_", "intercept_"))
        return
    coefs, offsets = zip(*(averaged_weights(one, run.joint) for one in run.walks), strict=True)
    estimator.coef_, estimator.intercept_ = np.vstack(coefs), np.concatenate(offsets)
    model = ("coef_", "intercept_", "last_coef_", "last_intercept_")
    record(estimator, run, data, problem, model=model, more=_average_claims(run, data))


def averaged_weights(one, joint: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the weights after each row, from the last weights and the lazily accumulated updates."""
    visits = max(one.visits, 1)
    w, b = one.weights
    if joint:
        return w - one.lazy[:, :-1] / visits, b - one.lazy[:, -1] / visits
    return (w - one.lazy / visits)[None, :], b - one.sums.offset_sum / visits


def _average_claims(run: Run, data: Labeled) -> list[Claim]:
    if run.joint:
        return []
    claims = []
    for p, one in enumerate(run.walks):
        if one.logged < one.updates or one.visits != len(one.after_pass) * run.orders.n_visits:
            continue
        turns = np.searchsorted(one.after_pass, np.arange(one.logged), side="right")
        visits = turns * run.orders.n_visits + one.places()
        numbers = {**problem_number(data, p), "visits": int(one.visits)}
        claims.append(Claim("perceptron.average", numbers=numbers, witness={"visits": visits}))
    return claims
