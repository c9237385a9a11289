"""Fitting of the batch perceptron, and its claims."""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import read_weights
from surefit.perceptrons.claims import CLEAR, problem_number
from surefit.perceptrons.online import positives, warn_if_stopped
from surefit.perceptrons.problem import Labeled, posed, read_labeled, starting_weights
from surefit.perceptrons.schedules import as_schedule, read_steps
from surefit.solvers.perceptron.batch import BatchRun, batch_walk
from surefit.solvers.perceptron.run import SEPARATED


def fit_batch(estimator, X, y, sample_weight):
    """Fit from zero, or from the last weights (``warm_start``). Returns the estimator."""
    who = type(estimator).__name__
    goes_on = estimator.warm_start and hasattr(estimator, "classes_")
    data = read_labeled(estimator, X, y)
    weights = read_weights(estimator, sample_weight, len(data.codes))
    s = np.ones(len(data.codes)) if weights is None else weights
    data = _classes_with_weight(who, data, s)
    shape = (len(positives(data)), data.X.shape[1])
    if goes_on and (estimator.coef_.shape != shape or not np.array_equal(estimator.classes_, data.classes)):
        raise InvalidParameter(who, "warm_start", "False for data of another shape or other classes", True)
    before = (estimator.coef_, estimator.intercept_) if goes_on else (None, None)
    w, b = starting_weights(estimator, before[0], before[1], shape)
    starts = np.column_stack([w, b])
    used = np.where(s > 0, data.squares, 0.0)
    problem, schedule = posed(estimator, data, weights), as_schedule(estimator.schedule)
    beta = problem["bias_step"]
    report = progress_reporter(estimator, X, y)
    runs = []
    with Budget(estimator.max_iter, estimator.max_time, report) as budget:
        for p, positive in enumerate(positives(data)):
            t = data.signs(positive)
            options = {"tol": estimator.tol, "patience": estimator.n_iter_no_change}
            steps = _Steps(who, schedule, float(estimator.eta0))
            runs.append(batch_walk(data.rows, (t, s, used), w[p], float(b[p]), beta, steps, budget, **options))
    if report is not None:
        report.finish()
    _record(estimator, runs, data, starts, problem, weights)
    return estimator


class _Steps:
    """Schedule multiplied by ``eta0``."""

    def __init__(self, who, schedule, eta0):
        self.who, self.schedule, self.eta0 = who, schedule, eta0

    def __call__(self, k):
        return self.eta0 * read_steps(self.who, self.schedule, k)


def _classes_with_weight(who: str, data: Labeled, s: np.ndarray) -> Labeled:
    """Drop the classes whose rows all have weight zero."""
    present = np.unique(data.codes[s > 0])
    if len(present) < 2:
        raise InvalidData(
            f"{who}: only class {data.classes.tolist()[present[0]]!r} has rows of positive weight; at least two classes are needed."
        )
    if len(present) == len(data.classes):
        return data
    codes = np.searchsorted(present, data.codes)
    codes[~np.isin(data.codes, present)] = 0  # rows of weight zero are never used
    return data._replace(codes=codes, classes=data.classes[present])


def _record(estimator, runs: list[BatchRun], data: Labeled, starts, problem: dict, weights) -> None:
    estimator.coef_ = np.vstack([run.w for run in runs])
    estimator.intercept_ = np.array([run.b for run in runs])
    estimator.n_iter_ = max(run.n_iter for run in runs)
    estimator.n_updates_ = sum(len(run.steps) for run in runs)
    estimator.converged_ = all(run.ending == SEPARATED for run in runs)
    estimator.ending_ = next((run.ending for run in runs if run.ending != SEPARATED), SEPARATED)
    estimator.mistakes_per_pass_ = np.sum([_padded(run.mistakes, estimator.n_iter_) for run in runs], axis=0)
    estimator.losses_ = np.sum([_padded(run.losses, estimator.n_iter_) for run in runs], axis=0)
    claims: list[Claim] = []
    for p, run in enumerate(runs):
        claims += _claims(run, data, starts[p], p)
    used = np.ones(len(data.codes), dtype=bool) if weights is None else weights > 0
    proved = all(_separates(run, data, p, used, problem["bias_step"]) for p, run in enumerate(runs))
    estimator._issue(
        "A" if proved else "C",
        claims,
        problem=problem,
        model=("classes_", "coef_", "intercept_"),
        sample=(data.X, data.y, weights),
        run={"solver": "batch perceptron", "passes": estimator.n_iter_, "reason": estimator.ending_},
    )
    warn_if_stopped(estimator, len(data.codes))


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([values, np.zeros(length - len(values))])


def _claims(run: BatchRun, data: Labeled, start: np.ndarray, p: int) -> list[Claim]:
    own, claims, moved = problem_number(data, p), [], bool(np.any(run.counts))
    alpha = {"alpha": run.counts if moved else np.ones(len(run.counts))}
    if run.ending == SEPARATED and (np.any(run.w) or run.b):
        claims.append(Claim("perceptron.batch_margin", numbers=own, witness=alpha))
    elif moved:
        claims.append(Claim("perceptron.batch_margin_at_most", numbers=own, witness=alpha))
    # Start, steps and data determine the run bit for bit, so its numbers are exact.
    witness = {"steps": run.steps, "start": start}
    claims.append(Claim("perceptron.batch_replay", float(len(run.steps)), numbers=own, witness=witness))
    return claims if run.ending == SEPARATED else [*claims, Claim("perceptron.unfinished")]


def _separates(run: BatchRun, data: Labeled, p: int, used: np.ndarray, beta: float) -> bool:
    """Whether the run ended with a margin that is positive beyond rounding errors."""
    t = data.signs(positives(data)[p])[used]
    norm = np.sqrt(float(run.w @ run.w) + (run.b**2 / beta if beta else 0.0))
    least = float(np.min(t * (np.asarray(data.X[used] @ run.w).ravel() + run.b)))
    return run.ending == SEPARATED and least > CLEAR * norm * np.sqrt(float(np.max(data.squares[used])) + beta)
