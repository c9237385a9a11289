"""Readers for scikit-learn's SGDClassifier, SGDRegressor and Perceptron."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight

from surefit.audit.labels import as_classes, labels_of
from surefit.audit.linear_statement import linear_problem, linear_reading
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.scores import REFERENCE
from surefit.audit.smooth_reference import smooth_minimum
from surefit.audit.squares import elastic_reading, ridge_reading, solution_of
from surefit.core.sample import Data
from surefit.linear.logistic.classifier import LogisticRegression
from surefit.linear.margins.classifier import LinearSVC
from surefit.linear.margins.regressor import LinearSVR

LOSSES = {"log_loss": "logistic"}  # the other losses have the same name in surefit


@reader("sklearn", "SGDClassifier", "Perceptron")
def read_descended_classifier(model, data: Data, tol: float) -> Reading:
    """Read a classifier: mean loss plus ``alpha`` times the penalty, one-vs-rest; the intercept is not penalized."""
    names, ones = labels_of(model, data, None)
    classes, weights = attribute(model, "classes_"), ones
    if model.class_weight is not None:
        if len(classes) > 2:
            raise refuse(model, "class_weight", "None with more than two classes")
        labels = as_classes(target_of(model, data), classes)
        weights = compute_class_weight(model.class_weight, classes=classes, y=labels)
    problem = _problem(model, data, tol, classes=names, class_weights=[float(w) for w in weights])
    codes = np.searchsorted(classes, as_classes(target_of(model, data), classes))
    lines = [1] if len(classes) == 2 else range(len(classes))
    targets = [np.where(codes == k, 1.0, -1.0) for k in lines]
    s = weights[codes] * (np.ones(len(codes)) if data.weights is None else data.weights)
    classifier = None if problem["loss"] == "perceptron" else True
    return linear_reading(problem, _reference(problem, data, targets, s), classifier, _run(model))


@reader("sklearn", "SGDRegressor")
def read_descended_regressor(model, data: Data, tol: float) -> Reading:
    """Read a regressor: mean loss plus ``alpha`` times the penalty; the intercept is not penalized."""
    problem, y = _problem(model, data, tol), np.asarray(target_of(model, data), dtype=np.float64)
    if problem["loss"] == "squared_error":
        return _squares(model, data, tol, problem["penalty"]["l1"], problem["penalty"]["l2"])
    s = np.ones(len(y)) if data.weights is None else data.weights
    return linear_reading(problem, _reference(problem, data, [y], s), False, _run(model))


def _run(model) -> dict[str, Any]:
    return {"iterations": int(np.max(model.n_iter_))}


def _squares(model, data: Data, tol: float, l1: float, l2: float) -> Reading:
    """Read a model with squared loss as ridge regression or elastic net, with the penalty rescaled accordingly."""
    n = data.X.shape[0]
    if l1 == 0.0:
        return ridge_reading(model, data, tol, n * l2)._replace(free=None)
    lightness = 1.0 if data.weights is None else n / math.fsum(data.weights)
    return elastic_reading(model, data, tol, (l1 + l2) * lightness, l1 / (l1 + l2))


def _problem(model, data: Data, tol: float, **labels: Any) -> dict[str, Any]:
    attribute(model, "coef_")
    ratio = {"l1": 1.0, "l2": 0.0}.get(model.penalty, float(getattr(model, "l1_ratio", 0.0) or 0.0))
    alpha = 0.0 if model.penalty is None else float(model.alpha)
    epsilon = float(getattr(model, "epsilon", 0.0))
    return linear_problem(
        {"loss": LOSSES.get(model.loss, model.loss), "epsilon": epsilon, "delta": epsilon}, alpha * ratio, alpha * (1.0 - ratio),
        strength=1.0 / data.X.shape[0], fit_intercept=bool(model.fit_intercept), tol=tol, **labels,
        objective="1/n sum_i s_i loss_i + l1 |w|_1 + l2/2 |w|^2 over all rows; the intercept is free",
    )  # fmt: skip


def _reference(problem: dict, data: Data, targets: list[np.ndarray], s: np.ndarray) -> dict[str, np.ndarray]:
    """Return our own solution of the same problem, one row per target; empty if no solver of surefit applies."""
    l1, l2, loss = problem["penalty"]["l1"], problem["penalty"]["l2"], problem["loss"]
    kinked = loss in ("hinge", "epsilon_insensitive")
    if l1 + l2 == 0.0 or loss == "perceptron" or (kinked and l1 > 0):
        return {}
    found = [_solution(problem, data._replace(y=t, weights=s), l1, l2) for t in targets]
    joined: dict[str, np.ndarray] = {
        "coef": np.vstack([np.atleast_2d(one["coef"]) for one in found]),
        "intercept": np.concatenate([np.atleast_1d(one["intercept"]) for one in found]),
    }
    for k, one in enumerate(found):
        if "dual_0" in one:
            joined[f"dual_{k}"] = one["dual_0"]
    if all("widths" in one for one in found):
        joined["widths"] = np.concatenate([one["widths"] for one in found])
    return joined


def _solution(problem: dict, data: Data, l1: float, l2: float) -> dict[str, np.ndarray]:
    loss, C = problem["loss"], problem["strength"] / (l1 + l2)
    common = {"C": C, "fit_intercept": problem["fit_intercept"], **REFERENCE}
    if loss == "logistic":
        return solution_of(LogisticRegression(l1_ratio=l1 / (l1 + l2), **common), data)
    if loss in ("hinge", "squared_hinge") and min(l1, l2) == 0.0:
        return solution_of(LinearSVC(loss=loss, penalty="l1" if l2 == 0.0 else "l2", **common), data)
    if loss in ("epsilon_insensitive", "squared_epsilon_insensitive") and l1 == 0.0:
        return solution_of(LinearSVR(loss=loss, epsilon=problem["epsilon"], **common), data)
    X = data.X.tocsr() if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
    return smooth_minimum(problem, X, data.target, problem["strength"] * data.weights)
