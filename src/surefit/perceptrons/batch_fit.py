"""The fit of a batch perceptron, and what its steps prove."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import data_fingerprint
from surefit.core.validation import read_weights
from surefit.perceptrons.online import about_problem, positives, warn_if_stopped
from surefit.perceptrons.problem import Labelled, bias_step, read_labelled, starting_weights
from surefit.perceptrons.schedules import as_schedule, read_steps
from surefit.solvers.perceptron_batch import BatchRun, batch_walk
from surefit.solvers.perceptron_walk import SEPARATED

UNIT, SURE = 2.0**-53, 1 + 2.0**-40


def fit_batch(estimator, X, y, sample_weight):
    """Fit from zero, or from the last weights (``warm_start``). Returns the estimator."""
    who = type(estimator).__name__
    goes_on = estimator.warm_start and hasattr(estimator, "classes_")
    data = read_labelled(estimator, X, y)
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
    beta, schedule = bias_step(estimator, used), as_schedule(estimator.schedule)
    report = progress_reporter(estimator, X, y)
    runs = []
    with Budget(estimator.max_iter, estimator.max_time, report) as budget:
        for p, positive in enumerate(positives(data)):
            t = data.signs(positive)
            options = {"tol": estimator.tol, "patience": estimator.n_iter_no_change}
            steps = _Steps(who, schedule, float(estimator.eta0))
            runs.append(batch_walk(data.rows, t, s, used, w[p], float(b[p]), beta, steps, budget, **options))
    if report is not None:
        report.finish()
    _record(estimator, runs, data, starts, beta, s, weights)
    return estimator


class _Steps:
    """The schedule times ``eta0``."""

    def __init__(self, who, schedule, eta0):
        self.who, self.schedule, self.eta0 = who, schedule, eta0

    def __call__(self, k):
        return self.eta0 * read_steps(self.who, self.schedule, k)


def _classes_with_weight(who: str, data: Labelled, s: np.ndarray) -> Labelled:
    """Drop classes all of whose rows have weight zero."""
    present = np.unique(data.codes[s > 0])
    if len(present) < 2:
        raise InvalidData(
            f"{who}: only class {data.classes.tolist()[present[0]]!r} has rows of positive weight; at least two classes are needed."
        )
    if len(present) == len(data.classes):
        return data
    codes = np.searchsorted(present, data.codes)
    codes[~np.isin(data.codes, present)] = 0  # rows of weight zero: never looked at
    return data._replace(codes=codes, classes=data.classes[present])


def _record(estimator, runs: list[BatchRun], data: Labelled, starts, beta: float, s: np.ndarray, weights) -> None:
    estimator.classes_ = data.classes
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
        claims += _claims(run, data, starts[p], beta, s, p)
    problem = {"family": "perceptron", "multi_class": "ovr", "positives": positives(data), "bias_step": beta}
    separable = [claim for claim in claims if claim.name == "perceptron.batch_margin" and claim.value > 0]
    estimator._issue(
        "A" if len(separable) == len(runs) else "C",
        claims,
        problem=problem,
        model=("classes_", "coef_", "intercept_"),
        data=data_fingerprint(data.X, data.y, weights),
        run={"solver": "batch perceptron", "passes": estimator.n_iter_, "reason": estimator.ending_},
    )
    warn_if_stopped(estimator, len(data.codes))


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([values, np.zeros(length - len(values))])


def _claims(run: BatchRun, data: Labelled, start: np.ndarray, beta: float, s: np.ndarray, p: int) -> list[Claim]:
    about, t, numbers = about_problem(data, p), data.signs(positives(data)[p]), {"problem": p}
    used = s > 0
    radius_square = float(np.max(data.squares[used])) + beta
    masses = run.steps * run.sizes
    S, Q = float(masses.sum()), float((masses**2).sum())
    norm = math.sqrt(float(run.w @ run.w) + (run.b**2 / beta if beta else 0.0))
    moved, offset = run.w - start[:-1], run.b - start[-1]
    length = math.sqrt(float(moved @ moved) + (offset**2 / beta if beta else 0.0))
    up = (length + 8 * UNIT * (len(t) + len(masses)) * S * math.sqrt(radius_square)) / S * SURE if S else math.inf
    claims = []
    if run.ending == SEPARATED and norm > 0:
        margins = (t * (np.asarray(data.X @ run.w).ravel() + run.b))[used]
        low = float(np.min(margins)) / norm - 4 * (len(run.w) + 6) * UNIT * math.sqrt(radius_square)
        text = f"The largest margin of any direction lies between {low:.6g} and {up:.6g}."
        claims.append(Claim("perceptron.batch_margin", "data_fact", text, low, up, about=about, numbers=numbers))
        if not np.any(start) and low > 0 and S and run.sets is not None:
            worst = low * S / math.sqrt(radius_square * Q)
            text = (
                f"{len(masses)} steps of total size {S:.6g} were made; the theorem allows at most "
                f"{1 / max(worst, 1e-300):.6g} times their sum at margin {low:.6g}."
            )
            claims.append(
                Claim(
                    "perceptron.batch_bound", "process_fact", text, worst * (1 + 1e-12), 1.0, about=about, numbers=numbers
                )
            )  # fmt: skip
    elif S:
        text = f"No direction has a margin of more than {up:.6g}."
        claims.append(Claim("perceptron.batch_margin_at_most", "data_fact", text, up, about=about, numbers=numbers))
    witness = {"counts": run.counts, "steps": run.steps, "start": start}
    text = f"The {len(masses)} steps add up to the weights."
    if run.sets is not None:
        witness["sets"] = run.sets
        text = f"Each of the {len(masses)} steps added exactly the mistaken rows, and together they give the weights."
    claims.append(
        Claim("perceptron.batch_replay", "process_fact", text, 0.0, 0.0, about=about, numbers=numbers, witness=witness)
    )
    if run.ending != SEPARATED:
        text = f"Rows were still mistaken at the end ({run.ending}): nothing is claimed about the steps to come."
        claims.append(Claim("perceptron.unfinished", "no_claim", text, about=about, numbers=numbers))
    return claims
