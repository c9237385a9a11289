"""From parameters to walks over the rows, and from finished walks to fitted attributes and a certificate."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData
from surefit.core.estimator import data_fingerprint
from surefit.core.validation import BOOLEAN, COUNT, N_JOBS, NON_NEGATIVE, NOTHING, POSITIVE, RANDOM_STATE, Rule, one_of
from surefit.perceptrons.claims import risk_claim, vote_risk_claim, walk_claims
from surefit.perceptrons.joint_claims import joint_claims
from surefit.perceptrons.log import log_parts
from surefit.perceptrons.problem import Labelled, bias_step, class_factors
from surefit.solvers.perceptron_orders import Orders
from surefit.solvers.perceptron_passes import BELOW_ZERO
from surefit.solvers.perceptron_passes import Rule as StepRule
from surefit.solvers.perceptron_walk import SEPARATED, JointWalk, Walk, walk

WHOLE = Rule("an integer >= 0", lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool) and bool(v >= 0))
OPEN_FRACTION = Rule("a number > 0 and < 1", lambda v: POSITIVE.allows(v) and v < 1)
CLASS_WEIGHT = NOTHING | one_of("balanced") | Rule("a dictionary of factors > 0", lambda v: isinstance(v, dict))

#: Rules of the parameters that all online perceptrons share.
RULES = {
    "fit_intercept": BOOLEAN,
    "bias": one_of("plain", "augmented", "r_squared"),
    "bias_constant": POSITIVE,
    "max_iter": COUNT,
    "tol": NOTHING | NON_NEGATIVE,
    "n_iter_no_change": COUNT,
    "order": NOTHING | one_of("cyclic", "shuffled", "random"),
    "mistake": one_of("<=0", "<0", "sign"),
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
    "warm_start": BOOLEAN,
    "max_time": NOTHING | POSITIVE,
    "max_log": WHOLE,
    "confidence": OPEN_FRACTION,
}

#: Thresholds of the negative and the positive class for each mistake rule.
CUTS = {"<=0": (0.0, 0.0), "<0": (BELOW_ZERO, BELOW_ZERO), "sign": (0.0, BELOW_ZERO)}


class Run(NamedTuple):
    """Finished walks and how they were taken."""

    walks: list[Any]
    orders: Orders
    n_iter: int
    starts: list[np.ndarray]
    joint: bool


def step_rules(estimator, data: Labelled, *, eta0: float, threshold: float = 0.0) -> list[StepRule]:
    """Return the rule of each two-class problem: one for two classes, else one a class against the rest."""
    factors = class_factors(estimator, data) if hasattr(estimator, "class_weight") else np.ones(len(data.classes))
    beta = bias_step(estimator, data.squares)
    cuts = CUTS[getattr(estimator, "mistake", "<=0")] if threshold == 0.0 else (threshold, threshold)
    if len(data.classes) == 2:
        pairs = [(factors[0], factors[1])]
    else:  # as in scikit-learn: the class has its weight, the rest has weight one
        pairs = [(1.0, factor) for factor in factors]
    radius_square = float(np.max(data.squares)) + beta
    return [StepRule(eta0 * float(m), eta0 * float(p), *cuts, beta, radius_square) for m, p in pairs]


def positives(data: Labelled) -> list[int]:
    """Class number of the positive side of each two-class problem."""
    return [1] if len(data.classes) == 2 else list(range(len(data.classes)))


def make_walks(estimator, data: Labelled, w, b, rules, *, average=False, schedule=None, max_log=None) -> list[Walk]:
    """One walk a two-class problem, starting from the lines of ``w`` and ``b``."""
    max_log = estimator.max_log if max_log is None else max_log
    options = {"max_log": max_log, "average": average, "schedule": schedule}
    return [
        Walk(data.rows, data.signs(positive), rule, data.squares, w[p], float(b[p]), **options)
        for p, (positive, rule) in enumerate(zip(positives(data), rules, strict=True))
    ]


def make_joint_walk(estimator, data: Labelled, w, b, rule: StepRule, *, average=False) -> JointWalk:
    """One walk with a weight vector for each class."""
    steps = class_factors(estimator, data) * estimator.eta0
    largest = float(np.max(steps))
    rule = rule._replace(step_minus=largest, step_plus=largest)
    return JointWalk(data.rows, data.codes, steps, rule, data.squares, w, b, max_log=estimator.max_log, average=average)


def order_of(estimator) -> str:
    """How passes visit the rows."""
    if estimator.order is not None:
        return estimator.order
    return "shuffled" if getattr(estimator, "shuffle", True) else "cyclic"


def take_walks(estimator, X, y, data: Labelled, walks: list[Any], starts: list[np.ndarray]) -> Run:
    """Walk until every run has ended; Ctrl-C, ``max_time`` and callbacks end it between two chunks of rows."""
    seed = seed_of(estimator.random_state)
    train, validation = _validation_split(estimator, data, seed)
    orders = Orders(order_of(estimator), len(data.codes), seed, train)
    report = progress_reporter(estimator, X, y)
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
    """Return one seed from an integer, a generator, or chance."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _loud(estimator, report):
    """Print a line a pass if ``verbose``, then report to the callbacks."""
    if not getattr(estimator, "verbose", 0):
        return report

    def speak(n_iter: int, gap: float) -> bool:
        print(f"{type(estimator).__name__}: pass {n_iter}, {100 * gap:.2f} % mistakes")
        return report is not None and report(n_iter, gap)

    return speak


def _validation_split(estimator, data: Labelled, seed: int):
    if not getattr(estimator, "early_stopping", False):
        return None, None
    fraction, n = estimator.validation_fraction, len(data.codes)
    smallest = np.bincount(data.codes, minlength=len(data.classes)).min()
    splitter = StratifiedShuffleSplit if smallest > 1 else ShuffleSplit
    try:
        train, validation = next(splitter(1, test_size=fraction, random_state=seed).split(np.zeros(n), data.codes))
    except ValueError as error:
        raise InvalidData(
            f"{type(estimator).__name__}: {fraction} of {n} rows cannot be kept aside for early stopping ({error}); "
            "use more rows, another validation_fraction, or early_stopping=False."
        ) from None
    return np.sort(train), np.sort(validation)


class _Validation:
    """Ends a run when the accuracy on rows kept aside has not improved by ``tol`` for several passes."""

    def __init__(self, estimator, data: Labelled, walks, rows):
        self.X, self.codes, self.walks = data.X[rows], data.codes[rows], walks
        self.tol, self.patience = estimator.tol or 0.0, estimator.n_iter_no_change
        self.best, self.stale = -np.inf, 0

    def __call__(self) -> bool:
        W = np.vstack([one.weights[0] for one in self.walks])
        scores = np.asarray(self.X @ W.T) + np.concatenate([one.weights[1] for one in self.walks])
        found = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else np.argmax(scores, axis=1)
        accuracy = float(np.mean(found == self.codes))
        self.stale = self.stale + 1 if accuracy < self.best + self.tol else 0
        self.best = max(self.best, accuracy)
        return self.stale >= self.patience


def record(
    estimator, run: Run, data: Labelled, *, model: tuple[str, ...], more=(), theorem="perceptron.novikoff"
) -> None:
    """Set what every online perceptron knows after a fit, issue its certificate, and warn if it stopped early."""
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
        if run.joint:
            claims += joint_claims(one, data, start, aside)
        else:
            about = about_problem(data, p)
            claims += walk_claims(one, data, start, p, about, theorem, aside=aside)
    claims += list(more)
    claims += _risk(estimator, run, data)
    rule = walks[0].rule
    problem = {
        "family": "perceptron",
        "multi_class": "joint" if run.joint else "ovr",
        "positives": positives(data),
        "steps": [[one.rule.step_minus, one.rule.step_plus] for one in walks],
        "joint_steps": walks[0].steps.tolist() if run.joint else None,
        "cuts": [rule.cut_minus, rule.cut_plus],
        "bias_step": rule.bias_step,
        "order": run.orders.kind,
        "visits": walks[0].visits,
    }
    separable = [claim for claim in claims if claim.name in ("perceptron.margin", "perceptron.joint_margin")]
    estimator._issue(
        "A" if len(separable) == len(walks) and all(claim.value > 0 for claim in separable) else "C",
        claims,
        problem=problem,
        model=("classes_", *model),
        data=data_fingerprint(data.X, data.y),
        run={
            "solver": "perceptron",
            "passes": run.n_iter,
            "updates": estimator.n_updates_,
            "reason": estimator.ending_,
        },
    )
    warn_if_stopped(estimator, run.orders.n_visits)


def about_problem(data: Labelled, p: int) -> str:
    """Say which two-class problem a claim is about."""
    if len(data.classes) == 2:
        return "this fitted model"
    return f"the problem 'class {data.classes[p]!s} against the rest'"


def mistakes_per_pass(walks, n_iter: int) -> np.ndarray:
    """Updates of each pass, all problems together."""
    total = np.zeros(n_iter, dtype=np.int64)
    for one in walks:
        done = np.diff(one.after_pass, prepend=0)
        total[: len(done)] += done
    return total


def _risk(estimator, run: Run, data: Labelled) -> list[Claim]:
    """Return the risk bound of the first pass, if the run kept to what it assumes."""
    foresight = (  # anything that looked at later rows, or at these rows before
        order_of(estimator) == "random"
        or run.orders.rows is not None
        or (estimator.fit_intercept and estimator.bias == "r_squared")
        or getattr(estimator, "class_weight", None) == "balanced"
        or estimator.mistake != "<=0"
        or getattr(estimator, "threshold", 0.0) > 0
        or getattr(estimator, "_went_on", False)
    )
    if foresight or run.walks[0].visits < len(data.codes) or (run.joint and run.walks[0].logged < run.walks[0].updates):
        return []
    # With several problems a row is surely classified right if none of them was mistaken about it.
    mistakes = int(np.count_nonzero(np.any([one.first_mistakes for one in run.walks], axis=0)))
    trivial = 1 - np.bincount(data.codes).max() / len(data.codes)
    extra = ("start_independent_of_rows",) if any(np.any(start) for start in run.starts) else ()
    claim = risk_claim(mistakes, len(data.codes), 1 - estimator.confidence, run.orders.first, trivial, extra)
    votes = hasattr(estimator, "survivals_") and run.n_iter == 1 and len(run.walks) == 1 and not extra
    return [claim, vote_risk_claim(claim)] if votes else [claim]


def warn_if_stopped(estimator, n_visits: int) -> None:
    """Warn if the budget ended the run; a plateau and a cycle are answers, not accidents."""
    if estimator.ending_ not in set(Reason) or (estimator.ending_ == Reason.MAX_ITER and estimator.tol is None):
        return
    left = int(estimator.mistakes_per_pass_[-1]) if len(estimator.mistakes_per_pass_) else 0
    warnings.warn(
        f"{type(estimator).__name__}: {left} mistakes on {n_visits} rows in pass {estimator.n_iter_}: "
        f"{Reason(estimator.ending_).sentence()}.",
        ConvergenceWarning,
        stacklevel=3,
    )
