"""Readers for scikit-learn's LogisticRegression, LogisticRegressionCV, LinearSVC and LinearSVR."""

from __future__ import annotations

import math

import numpy as np

from surefit.audit.choices import with_score_choice
from surefit.audit.labels import classes_of
from surefit.audit.linear_statement import linear_problem, linear_reading
from surefit.audit.reading import Reading, attribute, named, reader, refuse, target_of
from surefit.audit.squares import solution_of
from surefit.checks.audits.reading import with_column
from surefit.core.errors import InvalidData
from surefit.core.sample import Data
from surefit.linear.logistic.classifier import LogisticRegression
from surefit.linear.margins.classifier import LinearSVC
from surefit.linear.margins.regressor import LinearSVR

REFERENCE = {"tol": 1e-9, "max_iter": 100_000}


@reader("sklearn", "LogisticRegressionCV")
def read_logistic_cv(model, data: Data, tol: float) -> Reading:
    """Read LogisticRegressionCV as LogisticRegression with the chosen C and ``l1_ratio``."""
    attribute(model, "coef_")
    if not model.refit:
        raise refuse(model, "refit", "True (averaged coefficients of folds do not solve an optimization problem)")
    chosen = {"C": np.unique(model.C_), "l1_ratio": np.unique([r or 0.0 for r in np.ravel(model.l1_ratio_).tolist()])}
    if any(len(values) > 1 for values in chosen.values()):
        raise InvalidData(
            f"certify: this {type(model).__name__} chose several values of C; certify its classes one by one."
        )
    C, ratio = float(chosen["C"][0]), float(chosen["l1_ratio"][0])
    reading = _logistic(model, data, tol, (ratio, 1.0 - ratio, C))
    return reading._replace(claims=with_score_choice(model, C, ratio, reading.claims))


@reader("sklearn", "LogisticRegression")
def read_logistic(model, data: Data, tol: float) -> Reading:
    """Read logistic regression: ``l1 |w|_1 + l2/2 |w|^2 + C * sum of losses``; liblinear penalizes the intercept."""
    return _logistic(model, data, tol, _penalty(model))


def _logistic(model, data: Data, tol: float, weights: tuple[float, float, float]) -> Reading:
    classes, class_weights = classes_of(model, data)
    l1, l2, C = weights
    scaling = _scaling(model) if model.solver == "liblinear" else None
    free_intercept = bool(model.fit_intercept) and scaling is None
    words = "l1 |w|_1 + l2/2 |w|^2 + C sum_i s_i (-ln p_i); the intercept is "
    words += "free" if scaling is None else "penalized as one more coefficient"
    problem = linear_problem(
        {"loss": "logistic" if len(classes) == 2 else "softmax"}, l1, l2, strength=C, fit_intercept=free_intercept, tol=tol,
        intercept_scaling=scaling, classes=named(classes), class_weights=class_weights.tolist(), objective=words,
    )  # fmt: skip
    free = l1 == 0.0 and l2 == 0.0
    if free and len(classes) > 2:
        raise refuse(model, "C", "finite with more than two classes (without a penalty an optimum need not exist)")
    ours = LogisticRegression(
        C=math.inf if free else C / (l1 + l2),
        l1_ratio=0.0 if free else l1 / (l1 + l2),
        fit_intercept=free_intercept,
        class_weight=dict(zip(classes.tolist(), class_weights.tolist(), strict=True)),
        **REFERENCE,
    )
    return _read(model, problem, data, None if free else ours)


@reader("sklearn", "LinearSVC")
def read_linear_svc(model, data: Data, tol: float) -> Reading:
    """Read LinearSVC: ``1/2 |w|^2`` or ``|w|_1``, plus C times the (squared) hinge losses; penalized intercept."""
    if model.multi_class != "ovr":
        raise refuse(model, "multi_class", "'ovr'")
    classes, class_weights = classes_of(model, data)
    scaling = _scaling(model)
    l1 = 1.0 if model.penalty == "l1" else 0.0
    problem = linear_problem(
        {"loss": model.loss}, l1, 1.0 - l1, strength=float(model.C), fit_intercept=False, tol=tol, intercept_scaling=scaling,
        classes=named(classes), class_weights=class_weights.tolist(),
        objective="l1 |w|_1 + l2/2 |w|^2 + C sum_i s_i loss(margin_i); the intercept is penalized as one more coefficient",
    )  # fmt: skip
    ours = LinearSVC(
        penalty=model.penalty,
        loss=model.loss,
        C=float(model.C),
        fit_intercept=False,
        class_weight=dict(zip(classes.tolist(), class_weights.tolist(), strict=True)),
        **REFERENCE,
    )
    return _read(model, problem, data, ours)


@reader("sklearn", "LinearSVR")
def read_linear_svr(model, data: Data, tol: float) -> Reading:
    """Read LinearSVR: ``1/2 |w|^2`` plus C times the (squared) distances from the tube; penalized intercept."""
    problem = linear_problem(
        {"loss": model.loss, "epsilon": float(model.epsilon)}, 0.0, 1.0, strength=float(model.C), fit_intercept=False, tol=tol,
        intercept_scaling=_scaling(model),
        objective="1/2 |w|^2 + C sum_i s_i loss(|residual_i| - epsilon); the intercept is penalized as one more coefficient",
    )  # fmt: skip
    target_of(model, data)
    ours = LinearSVR(epsilon=float(model.epsilon), loss=model.loss, C=float(model.C), fit_intercept=False, **REFERENCE)
    return _read(model, problem, data, ours)


def _read(model, problem: dict, data: Data, ours) -> Reading:
    attribute(model, "coef_")
    return solved_reading(problem, data, ours, {"iterations": int(np.max(model.n_iter_))})


def solved_reading(problem: dict, data: Data, ours, run: dict, derived: str | None = None) -> Reading:
    """Return the reading with our own solution, for which a penalized intercept becomes one more column."""
    scaling = problem["intercept_scaling"]
    rows = data if scaling is None else data._replace(X=with_column(data.X, scaling))
    witness = {} if ours is None else solution_of(ours, rows)
    return linear_reading(problem, witness, problem["classes"] is not None, run, derived)


def _scaling(model) -> float | None:
    """Return the value of the column whose coefficient is the intercept; None without an intercept."""
    return float(model.intercept_scaling) if model.fit_intercept else None


def _penalty(model) -> tuple[float, float, float]:
    """Return l1, l2 and C."""
    C = float(model.C)
    ratio = 0.0 if model.l1_ratio is None else float(model.l1_ratio)
    penalty = getattr(model, "penalty", "deprecated")
    if penalty is None or math.isinf(C):
        return 0.0, 0.0, 1.0
    if penalty in ("l1", "l2"):
        ratio = 1.0 if penalty == "l1" else 0.0
    return ratio, 1.0 - ratio, C
