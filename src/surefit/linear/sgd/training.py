"""Stochastic gradient descent for linear models: read the parameters, run the passes, and state the claims."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.threads import map_blocks, one_blas_thread
from surefit.core.warn import warn
from surefit.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    ModifiedHuber,
    PerceptronLoss,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from surefit.problems import pose
from surefit.problems.labels import class_codes
from surefit.solvers.sgd.gap import Distance, distance_to_optimum
from surefit.solvers.sgd.order import Visits, plan_visits
from surefit.solvers.sgd.passes import Walk
from surefit.solvers.sgd.rows import rows_to_visit
from surefit.solvers.sgd.steps import PassiveAggressive, PowerSteps

SMALLEST_STEP = 1e-6  # step size at which ``learning_rate="adaptive"`` stops


class Plan(NamedTuple):
    """Loss, penalty weights and averaging, read from the parameters."""

    loss: Any
    l1: float
    l2: float
    average: int  # first step that is averaged; 0 means no averaging

    def penalty(self, w: np.ndarray) -> float:
        """Return the penalty of coefficients ``w``."""
        return self.l1 * float(np.sum(np.abs(w))) + 0.5 * self.l2 * float(w @ w)


class Pace(NamedTuple):
    """Targets, state and validation rows of one problem."""

    y: np.ndarray
    walk: Walk
    validation: np.ndarray | None  # rows set aside


def read_plan(estimator) -> Plan:
    """Read loss and penalty; raise if parameters are incompatible."""
    who, epsilon = type(estimator).__name__, float(estimator.epsilon)
    loss = {
        "hinge": Hinge(),
        "log_loss": Logistic(),
        "modified_huber": ModifiedHuber(),
        "squared_hinge": SquaredHinge(),
        "perceptron": PerceptronLoss(),
        "squared_error": Squared(),
        "huber": Huber(epsilon),
        "epsilon_insensitive": EpsilonInsensitive(epsilon),
        "squared_epsilon_insensitive": SquaredEpsilonInsensitive(epsilon),
    }[estimator.loss]
    if estimator.learning_rate == "optimal" and estimator.alpha == 0:
        raise InvalidParameter(who, "alpha", "a number > 0 with learning_rate='optimal', which divides by it", 0)
    if estimator.learning_rate in ("pa1", "pa2") and not isinstance(loss, (Hinge, EpsilonInsensitive)):
        raise InvalidParameter(
            who, "loss", "'hinge' or 'epsilon_insensitive' with passive-aggressive steps", estimator.loss
        )
    if estimator.penalty == "elasticnet" and estimator.l1_ratio is None:
        raise InvalidParameter(who, "l1_ratio", "a number from 0 to 1 with penalty='elasticnet'", None)
    ratio = {"l2": 0.0, "l1": 1.0}.get(str(estimator.penalty), estimator.l1_ratio)
    alpha = 0.0 if estimator.penalty is None else float(estimator.alpha)
    ratio = 0.0 if ratio is None else float(ratio)
    return Plan(loss, alpha * ratio, alpha * (1.0 - ratio), int(estimator.average))


def step_rule(estimator, eta: float) -> Any:
    """Return the step-size rule; ``eta`` is the step size (or aggressiveness) of the current pass."""
    name = estimator.learning_rate
    if name == "optimal":  # Bottou's heuristic: the first step has the size of a typical weight
        alpha = float(estimator.alpha)
        first = math.sqrt(1.0 / math.sqrt(alpha))
        return PowerSteps(1.0 / alpha, 1.0 / (first * alpha) - 1.0, 1.0)
    if name == "invscaling":
        return PowerSteps(eta, 0.0, float(estimator.power_t))
    if name in ("pa1", "pa2"):
        return PassiveAggressive(eta, name == "pa2")
    return PowerSteps(eta, 0.0, 0.0)


def descend(estimator, X, y, plan: Plan, paces: list[Pace], factors, weights, max_iter: int, stop: bool):
    """Run all problems and return (passes, reason, history) of each; ``stop`` enables ``tol`` and early stopping."""
    rows, shuffle = rows_to_visit(X), bool(estimator.shuffle)
    random = check_random_state(estimator.random_state)
    seeds = random.randint(np.iinfo(np.int32).max, size=len(paces))
    visits = plan_visits(rows, y, X.shape[1], weights, shuffle)
    visits = visits if factors is None else visits._replace(lengths=visits.lengths * factors)
    reporter = progress_reporter(estimator, X, y)
    with Budget(max_iter, estimator.max_time, reporter) as budget, one_blas_thread():

        def work(k: int, _: int) -> tuple[int, Reason, list]:
            generator = np.random.default_rng(seeds[k]) if shuffle else None
            aside = None if paces[k].validation is None else _validation(estimator, X, paces[k], weights)
            return _walk(estimator, rows, visits, plan, paces[k], aside, generator, budget, stop)

        results = map_blocks(work, len(paces), 1, getattr(estimator, "n_jobs", None))
    if reporter is not None:
        reporter.finish()
    return results


def _walk(estimator, rows, visits: Visits, plan: Plan, pace: Pace, aside, generator, budget, stop: bool):
    order = visits.order.copy()
    if pace.validation is not None:
        order = order[~pace.validation[order]]
    course = Course(estimator, stop)
    while True:
        if generator is not None:
            generator.shuffle(order)
        total = pace.walk.go(
            rows,
            order,
            pace.y,
            visits.lengths,
            plan.loss,
            course.rule,
            (plan.l1, plan.l2),
            bool(estimator.fit_intercept),
        )
        worth = total / len(order) + plan.penalty(pace.walk.w) if aside is None else -aside(pace.walk.w, pace.walk.b)
        reason = course.after(pace.walk, worth, budget)
        if reason is not None:
            return course.n_iter, reason, course.history


class Course:
    """Step-size rule and stopping rule of one problem over its passes."""

    def __init__(self, estimator, stop: bool) -> None:
        self.estimator, self.eta = estimator, float(estimator.eta0)
        self.tol = -math.inf if estimator.tol is None or not stop else float(estimator.tol)
        self.best, self.stale, self.n_iter = math.inf, 0, 0
        self.rule, self.history = step_rule(estimator, self.eta), []  # type: tuple[Any, list[tuple[float, float, float]]]

    def after(self, walk: Walk, worth: float, budget: Budget) -> Reason | None:
        """Record a pass; return the reason to stop, or None."""
        self.n_iter += 1
        if not walk.finite():
            raise InvalidData(
                f"{type(self.estimator).__name__}: the weights overflowed in pass {self.n_iter}: the steps are too long for these "
                "data; scale the columns (StandardScaler), or lower eta0."
            )
        self.history.append((budget.seconds, float(self.n_iter), worth))
        self.stale = self.stale + 1 if worth > self.best - self.tol else 0
        self.best = min(self.best, worth)
        if self.stale >= self.estimator.n_iter_no_change:
            if self.estimator.learning_rate != "adaptive" or self.eta <= SMALLEST_STEP:
                budget.spent(self.n_iter)
                return Reason.CONVERGED
            self.eta, self.stale = self.eta / 5, 0
            self.rule = step_rule(self.estimator, self.eta)
        return budget.spent(self.n_iter)


def _validation(estimator, X, pace: Pace, weights):
    """Return a function that scores a point on the validation rows by accuracy or the coefficient of determination."""
    rows, targets = X[pace.validation], pace.y[pace.validation]
    mass = np.ones(len(targets)) if weights is None else weights[pace.validation]
    if not np.any(mass > 0):
        raise InvalidData(
            f"{type(estimator).__name__}: the sample weights for validation set are all zero; use another random_state."
        )
    spread = float(mass @ (targets - np.average(targets, weights=mass)) ** 2)

    def score(w: np.ndarray, b: float) -> float:
        z = np.asarray(rows @ w, dtype=np.float64).ravel() + b
        if hasattr(estimator, "class_weight"):
            return float(np.average((z > 0) == (targets > 0), weights=mass))
        return 1.0 - float(mass @ (targets - z) ** 2) / spread if spread > 0 else 0.0

    return score


def finish(estimator, X, y, weights, plan: Plan, paces: list[Pace], results) -> None:
    """Compute the dual points and issue the certificate; the estimator has already set the coefficients."""
    chosen = ("classes_",) if hasattr(estimator, "classes_") else ()
    problem = pose(estimator, X, y, weights, *chosen)
    mass = np.ones(X.shape[0]) if weights is None else weights
    c = mass / np.sum(mass)
    if chosen:
        c = c * np.asarray(problem["class_weights"])[class_codes(y, problem["classes"])]
    W, b = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    with one_blas_thread():
        ends: list[Distance] = [
            distance_to_optimum(
                X, pace.y, c, W[k], float(b[k]), plan.loss, plan.l1, plan.l2, bool(estimator.fit_intercept)
            )
            for k, pace in enumerate(paces)
        ]
    witness = {f"point_{k}": end.point for k, end in enumerate(ends) if end.point is not None}
    witness["widths"] = np.array([end.width for end in ends])
    issue(estimator, (X, y, weights), plan, problem, results, witness)


def issue(estimator, sample: tuple[Any, Any, Any], plan: Plan, problem: dict[str, Any], results, witness) -> None:
    """Set ``n_iter_`` and ``history_`` and issue the certificate; ``witness`` defines the dual points."""
    chosen = ("classes_",) if hasattr(estimator, "classes_") else ()
    estimator.n_iter_ = max(n_iter for n_iter, _, _ in results)
    estimator.history_ = np.array([line for _, _, history in results for line in history]).reshape(-1, 3)
    claims = [Claim("linear.gap", witness=witness)] + [Claim("linear.distance")] * (plan.l2 > 0.0)
    late = [reason for _, reason, _ in results if reason is not Reason.CONVERGED]
    estimator._issue(
        "A",
        claims,
        problem=problem,
        model=("coef_", "intercept_", *chosen),
        sample=sample,
        run={
            "solver": "stochastic gradient descent, one row per step",
            "reason": str(late[0] if late else Reason.CONVERGED),
            "passes": int(estimator.n_iter_),
            "seconds": float(estimator.history_[-1, 0]),
        },
    )


def warn_if_stopped(estimator, results) -> None:
    """Warn, with the proved gap, if a run ended before the objective stopped decreasing."""
    late = [reason for _, reason, _ in results if reason is not Reason.CONVERGED]
    if late and estimator.tol is not None:
        warn(
            f"{type(estimator).__name__}: the objective still decreases after pass {estimator.n_iter_} (it is within "
            f"{estimator.dual_gap_:.2g} of the minimum): {late[0].sentence()}.",
            ConvergenceWarning,
        )
