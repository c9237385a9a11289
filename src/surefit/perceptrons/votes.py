"""Voters of a voted perceptron, stored as the rows of its updates instead of one weight vector each."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.validation import read_data
from surefit.perceptrons.base import classes_of_stream
from surefit.perceptrons.claims import problem_number
from surefit.perceptrons.online import Run, make_walks, positives, record, step_rules, take_walks
from surefit.perceptrons.problem import Labeled, posed, read_labeled, starting_weights
from surefit.solvers.perceptron.order import Orders
from surefit.solvers.perceptron.variants import vote

WHOLE_LOG = 2**62  # every update is a voter
ROWS = 256  # number of rows whose votes are computed together


def fit_voted(estimator, X, y):
    """Fit from zero, or continue the previous fit with all its voters (``warm_start``). Returns the estimator."""
    goes_on = estimator.warm_start and hasattr(estimator, "classes_")
    data = read_labeled(estimator, X, y)
    lines, d = len(positives(data)), data.X.shape[1]
    if goes_on and (estimator.last_coef_.shape != (lines, d) or not np.array_equal(estimator.classes_, data.classes)):
        raise InvalidParameter(
            "VotedPerceptron", "warm_start", "False for data of another shape or other classes", True
        )
    w, b = _start(estimator, goes_on, (lines, d))
    problem = posed(estimator, data)
    walks, starts = _walks(estimator, data, w, b, problem)
    run = take_walks(estimator, X, y, data, walks, starts)
    _finish(estimator, run, data, problem, goes_on)
    return estimator


def partial_fit_voted(estimator, X, y, classes):
    """Process new rows once, in the given order; earlier voters keep their votes. Returns the estimator."""
    first = not hasattr(estimator, "classes_")
    known = classes_of_stream(estimator, classes)
    data = read_labeled(estimator, X, y, reset=first, classes=known)
    w, b = _start(estimator, not first, (len(positives(data)), data.X.shape[1]))
    problem = posed(estimator, data)
    walks, starts = _walks(estimator, data, w, b, problem)
    for one in walks:
        one.advance(None, 0, len(data.codes))
        one.finish_pass(True, False, len(data.codes), None, 1)
        one.ending = one.ending or "one_pass"
    run = Run(walks, Orders("cyclic", len(data.codes), 0), 1, starts, False)
    _finish(estimator, run, data, problem, not first)
    return estimator


def _start(estimator, goes_on: bool, shape: tuple[int, int]):
    if goes_on:
        return estimator.last_coef_.copy(), estimator.last_intercept_.copy()
    return starting_weights(estimator, None, None, shape)


def _walks(estimator, data: Labeled, w, b, problem: dict):
    starts = list(np.column_stack([w, b]))
    return make_walks(estimator, data, w, b, step_rules(problem, data.squares), max_log=WHOLE_LOG), starts


def _finish(estimator, run: Run, data: Labeled, problem: dict, goes_on: bool) -> None:
    """Convert the logs to voters, append them to the earlier voters, and set the fitted attributes."""
    estimator._went_on = goes_on and bool(estimator.warm_start)
    estimator.last_coef_ = np.vstack([one.w for one in run.walks])
    estimator.last_intercept_ = np.array([one.offset for one in run.walks])
    estimator.bias_step_ = float(run.walks[0].rule.bias_step)
    used = np.unique(np.concatenate([one.log.row[: one.logged] for one in run.walks]))
    old = _old_voters(estimator, goes_on, len(run.walks))
    voters = []
    for one, before in zip(run.walks, old, strict=True):
        rows = one.log.row[: one.logged]
        visits = visit_numbers(one, run.orders.n_visits)
        survivals = np.diff(np.concatenate([[0], visits, [one.visits]])).astype(np.float64)
        if before is None:
            voters.append((np.searchsorted(used, rows), one.t[rows], survivals))
        else:  # the last earlier voter is the first voter of this run, so its survivals are added
            joined = np.concatenate([before[2][:-1], [before[2][-1] + survivals[0]], survivals[1:]])
            shift = 0 if estimator.support_vectors_ is None else estimator.support_vectors_.shape[0]
            support = np.concatenate([before[0], np.searchsorted(used, rows) + shift])
            voters.append((support, np.concatenate([before[1], one.t[rows]]), joined))
    new = data.X[used]
    estimator.support_vectors_ = _stack(estimator.support_vectors_, new) if goes_on else new
    estimator.update_support_ = np.concatenate([v[0] for v in voters]).astype(np.int64)
    estimator.update_sign_ = np.concatenate([v[1] for v in voters])
    estimator.survivals_ = np.concatenate([v[2] for v in voters])
    estimator.problem_starts_ = np.concatenate([[0], np.cumsum([len(v[0]) for v in voters])]).astype(np.int64)
    model = ("last_coef_", "last_intercept_", "update_support_", "update_sign_", "survivals_", "problem_starts_")
    record(estimator, run, data, problem, model=model, more=[] if goes_on else _claims(run, data))


def visit_numbers(one, n_visits: int) -> np.ndarray:
    """Return the step number, counted from zero, at which each update was made."""
    turns = np.searchsorted(one.after_pass, np.arange(one.logged), side="right")
    return turns.astype(np.int64) * n_visits + one.places()


def _claims(run: Run, data: Labeled) -> list[Claim]:
    return [
        Claim(
            "perceptron.votes",
            numbers={**problem_number(data, p), "visits": int(one.visits)},
            witness={"visits": visit_numbers(one, run.orders.n_visits)},
        )
        for p, one in enumerate(run.walks)
    ]


def _old_voters(estimator, goes_on: bool, lines: int) -> list[Any]:
    if not goes_on:
        return [None] * lines
    return [_voters(estimator, p) for p in range(lines)]


def _voters(estimator, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    begin, end = estimator.problem_starts_[p : p + 2]
    here = slice(begin, end)
    return estimator.update_support_[here], estimator.update_sign_[here], estimator.survivals_[begin + p : end + p + 1]


def _stack(old, new):
    if sparse.issparse(old) or sparse.issparse(new):
        return sparse.vstack([sparse.csr_array(old), sparse.csr_array(new)]).tocsr()
    return np.vstack([old, new])


def votes(estimator, X) -> np.ndarray:
    """Return the mean votes of each row, one column per problem."""
    X = read_data(estimator, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
    lines = len(estimator.problem_starts_) - 1
    out = np.zeros((X.shape[0], lines))
    support = estimator.support_vectors_
    for begin in range(0, X.shape[0], ROWS):
        part = X[begin : begin + ROWS]
        gram = part @ support.T
        gram = (gram.toarray() if sparse.issparse(gram) else np.asarray(gram)).astype(np.float64) + estimator.bias_step_
        for p in range(lines):
            updates, signs, survivals = _voters(estimator, p)
            column = np.zeros(gram.shape[0])
            zero = 1.0 if estimator.mistake == "sign" else -1.0  # vote for a score of zero
            vote(np.ascontiguousarray(gram), updates, signs, survivals, zero, column)
            out[begin : begin + ROWS, p] = column / max(survivals.sum(), 1.0)
    return out
