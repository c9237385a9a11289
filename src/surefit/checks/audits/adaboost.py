r"""Checks of scikit-learn's AdaBoost: errors and weights of all rounds are recomputed from the trees' predictions.

If a vote with weights :math:`\alpha_m \ge 0` errs, the total weight of the wrong members is at least that of the
correct ones, for any number of classes. The training error is therefore at most the mean of :math:`\exp(\tfrac12 \sum_m
\alpha_m (\pm 1))`, with a plus sign for each wrong member. For two classes this mean is the product of the normalizing
factors (theory: ``adaboost``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.audits.reading import inner
from surefit.checks.enclosure import gamma
from surefit.checks.ensembles.packed import leaves_of, packed_trees
from surefit.checks.judge import AtMost, Proof, claim, shared
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.problems.labels import class_codes


class Replayed(NamedTuple):
    """Results of repeating all rounds."""

    off: float  # largest deviation of an error, or relative deviation of a weight, from the stored one
    training_error: float  # of the weighted vote; mean squared error for regression
    bound: float  # mean of the exponential; nan for regression
    rounding: float  # in ``off``
    exponent: float  # largest exponent in the bound


@claim(
    "audit.adaboost.rounds",
    kind="process_fact",
    side="upper",
    theory="adaboost",
    says="Errors and weights of all {rounds} rounds follow from the predictions of the members, up to {value:.2g}.",
)
def rounds(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the errors and weights of all rounds follow from the members' predictions, up to ``value``."""
    found = replayed(certificate, data)
    numbers = {"rounds": len(inner(certificate, data)[0].model["estimator_weights_"])}
    limit = 16 * found.rounding
    return Proof(
        found.off + found.rounding, "recomputed", "all rounds were repeated.", numbers, limit, found.rounding,
        limit_spread=2 * found.rounding,
    )  # fmt: skip


def _of_error(claim: Claim) -> str:
    error, empty = claim.numbers["training_error"], ", which is vacuous" if claim.value >= 1 else ""
    return f"The training error {error:.4g} is at most {claim.value:.4g}, the mean exponential of the vote{empty}."


@claim(
    "audit.adaboost.training_error", kind="data_fact", side="upper", infinite=True, theory="adaboost", says=_of_error
)
def training_error(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the mean exponential of the vote, at most ``value``, bounds the training error."""
    found, (n, T) = (
        replayed(certificate, data),
        (data.X.shape[0], len(inner(certificate, data)[0].model["estimator_weights_"])),
    )
    share = gamma(n + 16) + found.exponent * gamma(T + 8)
    error = AtMost(found.training_error * (1 + gamma(n + 8)), gamma(n + 8) * found.training_error)
    finite = math.isfinite(found.bound)
    value, off = (found.bound * (1 + share), share * found.bound) if finite else (math.inf, 0.0)
    return Proof(
        value, "recomputed", note="predictions of the members recounted.", numbers={"training_error": error}, spread=off
    )


@claim(
    "audit.adaboost.training_loss",
    kind="data_fact",
    side="upper",
    theory="adaboost",
    says="The mean squared error on the training rows is at most {value:.6g}.",
)
def training_loss(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the mean squared error of the weighted median is at most ``value``."""
    found = replayed(certificate, data)
    off = gamma(data.X.shape[0] + 16) * found.training_error
    return Proof(found.training_error + off, "recomputed", note="predictions of the members recounted.", spread=off)


register(Entry("audit.adaboost.members", kind="no_claim", side="none", says="Nothing is claimed about other members."))


@shared
def replayed(certificate: Certificate, data: Data) -> Replayed:
    """Return the results of repeating all rounds."""
    read_as, rows = inner(certificate, data)
    answers = _answers(read_as, rows)
    repeat = _regression if read_as.problem["classes"] is None else _classification
    return repeat(read_as, rows, answers)


def _answers(read_as: Certificate, rows: Data) -> np.ndarray:
    """Return the prediction of every tree for every row: a class index or a number."""
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    said, everyone = [], np.arange(len(X))
    for tree in packed_trees(read_as.model, X.shape[1]):
        values = tree.value[leaves_of(X, everyone, tree)]
        said.append(values[:, 0] if read_as.problem["classes"] is None else values.argmax(axis=1))
    return np.array(said)


def _start(rows: Data) -> np.ndarray:
    s = np.ones(rows.X.shape[0]) if rows.weights is None else rows.weights
    return s / math.fsum(s)


def _classification(read_as: Certificate, rows: Data, said: np.ndarray) -> Replayed:
    problem, alphas = read_as.problem, read_as.model["estimator_weights_"]
    codes, K, start = class_codes(rows.target, read_as.problem["classes"]), len(problem["classes"]), _start(rows)
    weights, off, rounding = start.copy(), 0.0, 0.0
    for r, (answer, alpha, stated) in enumerate(zip(said, alphas, read_as.model["estimator_errors_"], strict=True)):
        weights = np.where(start > 0, np.maximum(weights, np.finfo(float).eps), 0.0)  # as scikit-learn does
        wrong = answer != codes
        error = float(weights @ wrong) / math.fsum(weights)
        wanted = 1.0 if error <= 0 else problem["rate"] * (math.log((1 - error) / error) + math.log(K - 1))
        off = max(off, abs(error - stated), abs(wanted - alpha) / (1 + abs(wanted)))
        rounding = max(rounding, _rounding(len(codes), r, error, problem["rate"], alphas))
        weights = weights * np.exp(alpha * wrong)
        weights = weights / math.fsum(weights)
    votes = np.stack([alphas @ (said == k) for k in range(K)], axis=1)
    wrong = votes.argmax(axis=1) != codes
    top = np.sort(votes, axis=1)[:, -2:]
    wrong |= (top[:, 1] - top[:, 0] <= 2 * gamma(len(alphas) + 4) * float(np.sum(np.abs(alphas)))) & (
        top[:, 1] > top[:, 0]
    )
    error = float(start @ wrong)
    if np.any(alphas < 0):
        return Replayed(off, error, math.inf, rounding, 0.0)
    behind = 0.5 * (alphas @ np.where(said == codes, -1.0, 1.0))
    if float(np.max(behind)) > 700.0:
        return Replayed(off, error, math.inf, rounding, 0.0)
    return Replayed(off, error, float(start @ np.exp(behind)), rounding, 0.5 * float(np.sum(alphas)))


def _rounding(n: int, r: int, error: float, rate: float, alphas: np.ndarray) -> float:
    """Bound the rounding of an error and of its weight, which grows with the number of previous rounds."""
    share = (r + 1) * gamma(2 * n + 32) + r * gamma(8) * float(np.max(np.abs(alphas), initial=0.0))
    steep = rate / max(error * (1.0 - error), np.finfo(float).tiny) if 0 < error < 1 else 0.0
    return 2 * share * max(error, steep * error)


def _regression(read_as: Certificate, rows: Data, said: np.ndarray) -> Replayed:
    problem, alphas, y = read_as.problem, read_as.model["estimator_weights_"], np.asarray(rows.target, dtype=np.float64)
    start = _start(rows)
    weights, off, rounding = start.copy(), 0.0, 0.0
    for r, (answer, alpha, stated) in enumerate(zip(said, alphas, read_as.model["estimator_errors_"], strict=True)):
        weights = np.where(start > 0, np.maximum(weights, np.finfo(float).eps), 0.0)
        away = np.abs(answer - y)
        largest = float(np.max(away[weights > 0], initial=0.0))
        away = away / largest if largest > 0 else away
        away = {"linear": away, "square": away**2, "exponential": 1.0 - np.exp(-away)}[problem["loss"]]
        error = float(weights[weights > 0] @ away[weights > 0])
        beta = error / (1.0 - error)
        wanted = 1.0 if error <= 0 else problem["rate"] * math.log(1.0 / beta)
        off = max(off, abs(error - stated), abs(wanted - alpha) / (1 + abs(wanted)))
        rounding = max(rounding, _rounding(len(y), r, error, problem["rate"], alphas))
        if error > 0:
            weights = np.where(weights > 0, weights * beta ** ((1.0 - away) * problem["rate"]), 0.0)
            weights = weights / math.fsum(weights)
    order = np.argsort(said, axis=0)
    reached = np.cumsum(alphas[order], axis=0)
    median = np.argmax(reached >= 0.5 * reached[-1], axis=0)
    answer = said[order[median, np.arange(len(y))], np.arange(len(y))]
    return Replayed(off, float(start @ (answer - y) ** 2), math.nan, rounding, 0.0)
