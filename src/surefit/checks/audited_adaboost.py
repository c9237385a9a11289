r"""Checks AdaBoost of scikit-learn by repeating its rounds: the trees answer again, and errors and weights follow from the answers.

Where a vote with weights :math:`\alpha_m \ge 0` errs, the members that are wrong weigh at least as much as those that are right, for any
number of classes; so the training error is at most the mean of :math:`\exp(\tfrac12 \sum_m \alpha_m (\pm 1))`, plus for a wrong member. For
two classes that is the product of the normalising factors (theory: ``adaboost``).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from surefit.checks.audited_boosting import FIELDS, route
from surefit.checks.audited_forest import nodes_of
from surefit.checks.audited_models import derived, inner
from surefit.checks.base import Data, Finding, checker
from surefit.checks.linear_scores import class_codes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Replayed(NamedTuple):
    """All rounds, repeated."""

    off: float  # largest difference of an error or (relatively) of a weight from the one stated
    training_error: float  # of the weighted vote; mean squared error for regression
    bound: float  # mean of the exponential; nan for regression


@derived("adaboost")
def read_adaboost(model) -> dict[str, np.ndarray]:
    """Nodes of the trees, errors and weights of the rounds that were made."""
    rounds = len(model.estimators_)
    kept = {
        name: np.asarray(getattr(model, name), dtype=np.float64)[:rounds]
        for name in ("estimator_weights_", "estimator_errors_")
    }
    return {**nodes_of([member.tree_ for member in model.estimators_]), **kept}


@checker("audit.adaboost.rounds")
def check_rounds(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Errors and weights of all rounds are those that the members' answers give, up to value."""
    found = replayed(certificate, data).off
    return Finding(
        claim.name, claim.value, found, bool(found <= claim.value), "recomputed", "all rounds were repeated."
    )


@checker("audit.adaboost.training_error")
def check_training_error(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The training error is the one stated, and value bounds it."""
    found, stated = replayed(certificate, data), claim.numbers["training_error"]
    bound = found.training_error if math.isnan(found.bound) else found.bound
    same = abs(found.training_error - stated) <= 1e-9 * (1 + abs(stated))
    ok = same and bound <= claim.value * (1 + 1e-9)
    return Finding(
        claim.name, claim.value, bound, bool(ok), "recomputed", f"training error {found.training_error:.4g}."
    )


def replayed(certificate: Certificate, data: Data) -> Replayed:
    """Repeat all rounds."""
    if "audit.adaboost" not in data.memo:
        read_as, rows = inner(certificate, data)
        answers = _answers(read_as, rows)
        repeat = _regression if read_as.problem["classes"] is None else _classification
        data.memo["audit.adaboost"] = repeat(read_as, rows, answers)
    return data.memo["audit.adaboost"]


def _answers(read_as: Certificate, rows: Data) -> np.ndarray:
    """What every tree says of every row: a class, or a number."""
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    said = []
    for a, b in pairwise(read_as.model["tree_starts_"]):
        tree = {name: read_as.model[f"tree_{name}_"][a:b] for name in FIELDS}
        values = tree["value"][route(tree, X, strict=False)]
        said.append(values[:, 0] if read_as.problem["classes"] is None else values.argmax(axis=1))
    return np.array(said)


def _start(rows: Data) -> np.ndarray:
    s = np.ones(rows.X.shape[0]) if rows.weights is None else rows.weights
    return s / math.fsum(s)


def _classification(read_as: Certificate, rows: Data, said: np.ndarray) -> Replayed:
    problem, alphas = read_as.problem, read_as.model["estimator_weights_"]
    codes, K, start = class_codes(read_as, rows), len(problem["classes"]), _start(rows)
    weights, off = start.copy(), 0.0
    for answer, alpha, stated in zip(said, alphas, read_as.model["estimator_errors_"], strict=True):
        weights = np.where(start > 0, np.maximum(weights, np.finfo(float).eps), 0.0)  # as the library does
        wrong = answer != codes
        error = float(weights @ wrong) / math.fsum(weights)
        wanted = 1.0 if error <= 0 else problem["rate"] * (math.log((1 - error) / error) + math.log(K - 1))
        off = max(off, abs(error - stated), abs(wanted - alpha) / (1 + abs(wanted)))
        weights = weights * np.exp(alpha * wrong)
        weights = weights / math.fsum(weights)
    votes = np.stack([alphas @ (said == k) for k in range(K)], axis=1)
    error = float(start @ (votes.argmax(axis=1) != codes))
    if np.any(alphas < 0):
        return Replayed(off, error, math.inf)
    behind = alphas @ np.where(said == codes, -1.0, 1.0)
    return Replayed(off, error, float(start @ np.exp(np.minimum(0.5 * behind, 700.0))))


def _regression(read_as: Certificate, rows: Data, said: np.ndarray) -> Replayed:
    problem, alphas, y = read_as.problem, read_as.model["estimator_weights_"], np.asarray(rows.target, dtype=np.float64)
    start = _start(rows)
    weights, off = start.copy(), 0.0
    for answer, alpha, stated in zip(said, alphas, read_as.model["estimator_errors_"], strict=True):
        weights = np.where(start > 0, np.maximum(weights, np.finfo(float).eps), 0.0)
        away = np.abs(answer - y)
        largest = float(np.max(away[weights > 0], initial=0.0))
        away = away / largest if largest > 0 else away
        away = {"linear": away, "square": away**2, "exponential": 1.0 - np.exp(-away)}[problem["loss"]]
        error = float(weights[weights > 0] @ away[weights > 0])
        beta = error / (1.0 - error)
        wanted = 1.0 if error <= 0 else problem["rate"] * math.log(1.0 / beta)
        off = max(off, abs(error - stated), abs(wanted - alpha) / (1 + abs(wanted)))
        if error > 0:
            weights = np.where(weights > 0, weights * beta ** ((1.0 - away) * problem["rate"]), 0.0)
            weights = weights / math.fsum(weights)
    order = np.argsort(said, axis=0)
    reached = np.cumsum(alphas[order], axis=0)
    median = np.argmax(reached >= 0.5 * reached[-1], axis=0)
    answer = said[order[median, np.arange(len(y))], np.arange(len(y))]
    return Replayed(off, float(start @ (answer - y) ** 2), math.nan)
