"""Fitting of online perceptrons: run over the rows, set the fitted attributes, and issue the certificate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.validation import BOOLEAN, COUNT, N_JOBS, NON_NEGATIVE, NOTHING, POSITIVE, RANDOM_STATE, Rule, one_of
from surefit.core.warn import warn
from surefit.perceptrons.base import positions
from surefit.perceptrons.claims import joint_claims, separates, walk_claims
from surefit.perceptrons.log import log_parts
from surefit.perceptrons.problem import Labeled
from surefit.solvers.perceptron.order import Orders
from surefit.solvers.perceptron.passes import Rule as StepRule
from surefit.solvers.perceptron.run import SEPARATED, JointWalk, Walk, walk

WHOLE = Rule("an integer >= 0", lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool) and bool(v >= 0))
OPEN_FRACTION = Rule("a number > 0 and < 1", lambda v: POSITIVE.allows(v) and v < 1)
CLASS_WEIGHT = NOTHING | one_of("balanced") | Rule("a dictionary of factors > 0", lambda v: isinstance(v, dict))

PERMUTATION = Rule(
    "a permutation of the rows",
    lambda v: not isinstance(v, str) and np.ndim(v) == 1 and np.asarray(v).dtype.kind in "iu",
)

#: Rules of the parameters that all online perceptrons share.
RULES = {
    "fit_intercept": BOOLEAN,
    "bias": one_of("plain", "augmented", "r_squared"),
    "bias_constant": POSITIVE,
    "max_iter": COUNT,
    "tol": NOTHING | NON_NEGATIVE,
    "n_iter_no_change": COUNT,
    "order": NOTHING | one_of("cyclic", "shuffled", "random") | PERMUTATION,
    "mistake": one_of("<=0", "<0", "sign"),
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
    "warm_start": BOOLEAN,
    "max_time": NOTHING | POSITIVE,
    "max_log": WHOLE,
    "confidence": OPEN_FRACTION,
}


class Run(NamedTuple):
    """Finished runs and their settings."""

    walks: list[Any]
    orders: Orders
    n_iter: int
    starts: list[np.ndarray]
    joint: bool


def step_rules(problem: dict[str, Any], squares: np.ndarray) -> list[StepRule]:
    """Return the update rule of each two-class problem: one for two classes, else one per class against the rest."""
    beta = problem["bias_step"]
    radius_square = float(np.max(squares)) + beta
    low, high = problem["cuts"]
    return [StepRule(minus, plus, low, high, beta, radius_square) for minus, plus in problem["steps"]]


def positives(data: Labeled) -> list[int]:
    """Return the index of the positive class of each two-class problem."""
    return [1] if len(data.classes) == 2 else list(range(len(data.classes)))


def make_walks(estimator, data: Labeled, w, b, rules, *, average=False, schedule=None, max_log=None) -> list[Walk]:
    """Return one run per two-class problem, starting from the rows of ``w`` and ``b``."""
    max_log = estimator.max_log if max_log is None else max_log
    options = {"max_log": max_log, "average": average, "schedule": schedule}
    return [
        Walk(data.rows, data.signs(positive), rule, data.squares, w[p], float(b[p]), **options)
        for p, (positive, rule) in enumerate(zip(positives(data), rules, strict=True))
    ]


def make_joint_walk(estimator, data: Labeled, w, b, problem: dict[str, Any], *, average=False) -> JointWalk:
    """Return a joint run with a weight vector for each class."""
    steps, rule = np.array(problem["joint_steps"]), step_rules(problem, data.squares)[0]
    largest = float(np.max(steps))
    rule = rule._replace(step_minus=largest, step_plus=largest)
    return JointWalk(data.rows, data.codes, steps, rule, data.squares, w, b, max_log=estimator.max_log, average=average)


def order_of(estimator, n: int) -> str | np.ndarray:
    """Return the order of the rows in each pass: a name, or a permutation."""
    if isinstance(estimator.order, str):
        return estimator.order
    if estimator.order is not None:
        order = np.asarray(estimator.order)
        if not np.array_equal(np.sort(order), np.arange(n)):
            words = f"{PERMUTATION.words}: each number from 0 to {n - 1} once"
            raise InvalidParameter(type(estimator).__name__, "order", words, estimator.order)
        return order
    return "shuffled" if getattr(estimator, "shuffle", True) else "cyclic"


def take_walks(estimator, X, y, data: Labeled, walks: list[Any], starts: list[np.ndarray]) -> Run:
    """Process rows until every run has ended; Ctrl-C, ``max_time`` and callbacks stop between two chunks of rows."""
    seed = seed_of(estimator.random_state)
    train, validation = _validation_split(estimator, data, seed)
    orders = Orders(order_of(estimator, len(data.codes)), len(data.codes), seed, train)
    report = progress_reporter(estimator, X, y, prints=False)
    good_enough = None if validation is None else _Validation(estimator, data, walks, validation)
    tol = None if validation is not None else estimator.tol
    with Budget(estimator.max_iter, estimator.max_time, _loud(estimator, report)) as budget:
        n_iter = walk(
            walks,
            orders,
            budget,
            tol=tol,
            patience=estimator.n_iter_no_change,
            n_jobs=estimator.n_jobs,
            good_enough=good_enough,
        )
    if report is not None:
        report.finish()
    return Run(walks, orders, n_iter, starts, isinstance(walks[0], JointWalk))


def seed_of(random_state) -> int:
    """Return an integer seed drawn from ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _loud(estimator, report):
    """Return a reporter that prints one line per pass if ``verbose`` and then calls the callbacks."""
    if not getattr(estimator, "verbose", 0):
        return report

    def speak(n_iter: int, gap: float) -> bool:
        print(f"{type(estimator).__name__}: pass {n_iter}, {100 * gap:.2f} % mistakes")
        return report is not None and report(n_iter, gap)

    return speak


def _validation_split(estimator, data: Labeled, seed: int):
    if not getattr(estimator, "early_stopping", False):
        return None, None
    fraction, n = estimator.validation_fraction, len(data.codes)
    smallest = np.bincount(data.codes, minlength=len(data.classes)).min()
    splitter = StratifiedShuffleSplit if smallest > 1 else ShuffleSplit
    try:
        train, validation = next(splitter(1, test_size=fraction, random_state=seed).split(np.zeros(n), data.codes))
    except ValueError as error:
        raise InvalidData(
            f"{type(estimator).__name__}: {fraction} of {n} rows cannot be held out for early stopping ({error}); "
            "use more rows, another validation_fraction, or early_stopping=False."
        ) from None
    return np.sort(train), np.sort(validation)


class _Validation:
    """Stopping rule: the accuracy on held-out rows has not improved by ``tol`` for ``n_iter_no_change`` passes."""

    def __init__(self, estimator, data: Labeled, walks, rows):
        self.X, self.codes, self.walks = data.X[rows], data.codes[rows], walks
        self.tol, self.patience = estimator.tol or 0.0, estimator.n_iter_no_change
        self.best, self.stale, self.decide = -np.inf, 0, partial(positions, estimator)

    def __call__(self) -> bool:
        W = np.vstack([one.weights[0] for one in self.walks])
        scores = np.asarray(self.X @ W.T) + np.concatenate([one.weights[1] for one in self.walks])
        found = self.decide(scores.ravel() if scores.shape[1] == 1 else scores)
        accuracy = float(np.mean(found == self.codes))
        self.stale = self.stale + 1 if accuracy < self.best + self.tol else 0
        self.best = max(self.best, accuracy)
        return self.stale >= self.patience


def record(
    estimator, run: Run, data: Labeled, problem: dict[str, Any], *, model: tuple[str, ...], more: Sequence[Claim] = ()
) -> None:
    """Set the shared attributes of online perceptrons, issue the certificate, and warn if the fit stopped early."""
    walks = run.walks
    estimator.n_iter_ = run.n_iter
    estimator.n_updates_ = sum(one.updates for one in walks)
    estimator.converged_ = all(one.ending == SEPARATED for one in walks)
    estimator.ending_ = next((one.ending for one in walks if one.ending != SEPARATED), SEPARATED)
    estimator.mistake_counts_ = walks[0].counts if len(walks) == 1 else np.vstack([one.counts for one in walks])
    estimator.mistakes_per_pass_ = mistakes_per_pass(walks, run.n_iter)
    estimator._log = log_parts(walks)
    aside = run.orders.rows is not None
    claims: list[Claim] = []
    for p, (one, start) in enumerate(zip(walks, run.starts, strict=True)):
        claims += joint_claims(one, data, start, aside) if run.joint else walk_claims(one, data, start, p, aside)
    claims += [*more, *_risk(estimator, run, data, problem)]
    margins = sum(claim.name in ("perceptron.margin", "perceptron.joint_margin") for claim in claims)
    proved = margins == len(walks) and (run.joint or all(separates(one, data) for one in walks))
    estimator._issue(
        "A" if proved else "C",
        claims,
        problem=problem,
        model=("classes_", *model),
        sample=(data.X, data.y, None),
        run={
            "solver": "perceptron",
            "passes": run.n_iter,
            "updates": estimator.n_updates_,
            "reason": estimator.ending_,
        },
    )
    warn_if_stopped(estimator, run.orders.n_visits)


def mistakes_per_pass(walks, n_iter: int) -> np.ndarray:
    """Return the number of updates of each pass, summed over the problems."""
    total = np.zeros(n_iter, dtype=np.int64)
    for one in walks:
        done = np.diff(np.array([0, *one.after_pass]))
        total[: len(done)] += done
    return total


def _risk(estimator, run: Run, data: Labeled, problem: dict[str, Any]) -> list[Claim]:
    """Return the risk bound of the first pass if the run satisfies its assumptions."""
    first, n = run.walks[0], len(data.codes)
    cut = any(one.logged < one.updates and (run.joint or one.schedule is not None) for one in run.walks)
    if problem["looks_ahead"] or getattr(estimator, "_went_on", False) or first.visits < n or cut:
        return []
    claims = [Claim("perceptron.risk", witness={} if run.orders.first is None else {"order": run.orders.first.copy()})]
    given_start = any(np.any(start) for start in run.starts)
    if hasattr(estimator, "survivals_") and run.n_iter == 1 and len(run.walks) == 1 and not given_start:
        claims.append(Claim("perceptron.vote_risk"))
    return claims


def warn_if_stopped(estimator, n_visits: int) -> None:
    """Warn if the budget ended the run; no warning is issued for a plateau or a cycle."""
    if estimator.ending_ not in set(Reason) or (estimator.ending_ == Reason.MAX_ITER and estimator.tol is None):
        return
    left = int(estimator.mistakes_per_pass_[-1]) if len(estimator.mistakes_per_pass_) else 0
    warn(
        f"{type(estimator).__name__}: {left} mistakes on {n_visits} rows in pass {estimator.n_iter_}: "
        f"{Reason(estimator.ending_).sentence()}.",
        ConvergenceWarning,
    )
