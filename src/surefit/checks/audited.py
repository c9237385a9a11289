r"""Checks how far a model of another library is from the optimum of the problem that this library states.

Two bounds of :math:`P - \min P` are taken and the smaller one counts: the duality gap at the model's own coefficients, and, if the
certificate carries a reference solution :math:`v` with gap :math:`g_v`,

.. math:: P(w) - P(v) \;\le\; P(w) - \min P \;\le\; P(w) - P(v) + g_v,

a bracket as narrow as :math:`g_v`. Strong convexity (of the penalty or of the dual) puts the predictions of the exact optimum within a
known distance of those of :math:`v`; what is left is to compare them with the model's (theory: ``audit``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from surefit.checks import least_squares, linear_scores, multinomial, penalised_squares
from surefit.checks.audited_models import at_reference, inner, objective_of, scores_of
from surefit.checks.audited_offsets import offset_interval
from surefit.checks.base import Data, Finding, checker
from surefit.checks.linear_scores import rounding
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-12  # share of the objective that its evaluation may be off by
MARGIN = 1 + 1e-9  # for the rounding of norms and roots


class Excess(NamedTuple):
    """What is proved about P - min P at the model."""

    least: float
    most: float
    objective: float
    level: str


@checker("audit.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P - min P is at most value."""
    found = excess_of(certificate, data)
    ok = bool(found.most - claim.value <= rounding(claim.value, found.objective))
    return Finding(
        claim.name, claim.value, found.most, ok, found.level, f"{found.least:.3g} <= P - min P <= {found.most:.3g}."
    )


@checker("audit.labels")
def check_labels(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At most value training labels could differ from those of the exact optimum."""
    count = float(np.sum(labels_in_doubt(certificate, data)))
    message = "compared with a solution whose labels are proved."
    return Finding(claim.name, claim.value, count, count <= claim.value, "recomputed", message)


@checker("audit.predictions")
def check_predictions(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No training prediction is farther than value from that of the exact optimum."""
    reach = float(np.max(prediction_reach(certificate, data), initial=0.0))
    ok = bool(reach <= claim.value * (1 + 1e-6) + ROUNDING * float(np.max(np.abs(data.target), initial=0.0)))
    return Finding(claim.name, claim.value, reach, ok, "recomputed", "from the gap and strong convexity.")


def gap_of(read_as: Certificate, rows: Data) -> tuple[float, str]:
    """Bound P - min P at the coefficients by a dual point, with the checker of the family."""
    family = read_as.problem["family"]
    if family == "linear":
        if read_as.problem["l1"] == read_as.problem["l2"] == 0.0 and not has_optimum(read_as, rows):
            return objective_of(read_as, rows), "recomputed"  # losses are not negative: the infimum is not below zero
        if read_as.problem["loss"] == "perceptron":  # no coefficients at all have the least loss, zero
            return objective_of(read_as, rows), "recomputed"
        proofs = linear_scores.prove(read_as, rows)
        level = "enclosed" if all(p.level == "enclosed" for p in proofs) else "recomputed"
        gap = math.fsum(p.gap for p in proofs) if all(math.isfinite(p.gap) for p in proofs) else math.inf
        whole = objective_of(read_as, rows)  # neither losses nor penalties are negative
        return (gap, level) if gap <= whole else (whole * MARGIN, "recomputed")
    if family == "multinomial":
        return multinomial.prove(read_as, rows).gap, "recomputed"
    proof = least_squares.prove(read_as, rows) if family == "least_squares" else penalised_squares.prove(read_as, rows)
    return proof.gap, proof.level


def has_optimum(read_as: Certificate, rows: Data) -> bool:
    """Whether an unpenalised logistic problem attains its infimum: some positive combination of the signed rows is zero (Stiemke)."""
    if "audit.has_optimum" not in rows.memo:
        column = linear_scores.columns_of(read_as, rows)[0]
        used = column.weights > 0
        X = rows.X.toarray() if hasattr(rows.X, "toarray") else np.asarray(rows.X, dtype=np.float64)
        X = np.hstack([X, np.ones((len(X), 1))]) if read_as.problem["fit_intercept"] else X
        signed = (X * column.y[:, None])[used].T
        signed = signed / np.maximum(np.abs(signed).max(axis=1, keepdims=True), np.finfo(float).tiny)
        found = linprog(
            np.zeros(signed.shape[1]), A_eq=signed, b_eq=np.zeros(len(signed)), bounds=(1.0, None), method="highs"
        )
        rows.memo["audit.has_optimum"] = found.status == 0
    return rows.memo["audit.has_optimum"]


def excess_of(certificate: Certificate, data: Data) -> Excess:
    """Bracket P - min P at the model."""
    if "audit.excess" not in data.memo:
        read_as, rows = inner(certificate, data)
        own, level = gap_of(read_as, rows)
        objective, least = objective_of(read_as, rows), 0.0
        reference, other_rows = at_reference(certificate, data)
        if reference is not read_as:
            gap, _ = gap_of(reference, other_rows)
            size = ROUNDING * abs(objective)
            above = objective - objective_of(reference, other_rows)
            least = max(above - size, 0.0)
            if above + size + gap < own:
                own, level = max(above + size + gap, 0.0), "recomputed"
        data.memo["audit.excess"] = Excess(least, own, objective, level)
    return data.memo["audit.excess"]


def prediction_reach(certificate: Certificate, data: Data, spare: float = 0.0) -> np.ndarray:
    """Bound the distance of each training prediction from that of the exact optimum.

    ``spare`` is a share of the objective added to the gap: whoever states the number leaves room for another order of summation,
    which the root in it makes visible.
    """
    read_as, rows = inner(certificate, data)
    reference, other_rows = at_reference(certificate, data)
    moved = np.max(np.abs(scores_of(read_as, rows) - scores_of(reference, other_rows)), axis=1)
    gap, s = gap_of(reference, other_rows)[0], rows.weights
    gap += min(spare * abs(objective_of(reference, other_rows)), gap)
    if reference.problem["family"] == "linear":
        return moved + _score_reach(reference, other_rows)[:, 0]
    s = np.ones(len(moved)) if s is None else s
    factor = 1.0 if reference.problem["family"] == "least_squares" else 2 * math.fsum(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.sqrt(factor * gap / s) * MARGIN
    return np.where(s > 0, moved + reach, 0.0)  # a row of no weight is no training row


def _score_reach(reference: Certificate, rows: Data) -> np.ndarray:
    """Bound what the scores of the reference can be off by: the norm of the row times the distance of the coefficients."""
    problem, proofs = reference.problem, linear_scores.prove(reference, rows)
    n = rows.X.shape[0]
    if problem["l2"] == 0.0 or not all(math.isfinite(p.gap) for p in proofs):
        return np.full((n, len(proofs)), np.inf)
    squares = (
        rows.X.multiply(rows.X).sum(axis=1) if hasattr(rows.X, "multiply") else np.einsum("ij,ij->i", rows.X, rows.X)
    )
    norms = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
    reaches = [norms * math.sqrt(2 * p.gap / problem["l2"]) * MARGIN for p in proofs]
    if problem["fit_intercept"]:
        for k, column in enumerate(linear_scores.columns_of(reference, rows)):
            scores = np.asarray(rows.X @ column.w, dtype=np.float64).ravel()
            low, high = offset_interval(problem, column.y, column.weights, scores, reaches[k])
            reaches[k] = reaches[k] + max(column.b - low, high - column.b, 0.0)
    return np.column_stack(reaches)


def labels_in_doubt(certificate: Certificate, data: Data) -> np.ndarray:
    """Rows of positive weight whose label is not proved to be that of the exact optimum."""
    doubt = _labels_in_doubt(certificate, data)
    return doubt if data.weights is None else doubt & (data.weights > 0)


def _labels_in_doubt(certificate: Certificate, data: Data) -> np.ndarray:
    read_as, rows = inner(certificate, data)
    reference, other_rows = at_reference(certificate, data)
    Z, problem = scores_of(read_as, rows), reference.problem
    if problem["family"] == "multinomial":
        whole = multinomial.prove(reference, other_rows)
        doubt = linear_scores.rows_at_risk(multinomial.lead_of(whole.dual), whole.weights, whole.gap)
        return doubt | (whole.dual.argmax(axis=1) != Z.argmax(axis=1))
    if problem["family"] == "least_squares":
        return _squares_in_doubt(reference, other_rows, Z)
    if Z.shape[1] > 1:
        V, reach = scores_of(reference, other_rows), _score_reach(reference, other_rows)
        first = V.argmax(axis=1)
        at = np.arange(len(V))
        lead = V[at, first][:, None] - V - reach[at, first][:, None] - reach
        lead[at, first] = np.inf
        return (lead.min(axis=1) <= 0) | (first != Z.argmax(axis=1))
    if problem["l1"] == problem["l2"] == 0.0 and not has_optimum(read_as, rows):
        return np.ones(len(Z), dtype=bool)
    column, proof = linear_scores.columns_of(reference, other_rows)[0], linear_scores.prove(reference, other_rows)[0]
    right = (Z[:, 0] > 0) == (column.y > 0)  # the model's label is the observed one
    if problem["loss"] == "logistic":
        p = np.abs(proof.dual)  # probability of the other class
        doubt = linear_scores.rows_at_risk(np.abs(1.0 - 2.0 * p), column.weights, proof.gap)
        return doubt | ((p < 0.5) != right)
    V = scores_of(reference, other_rows)[:, 0]
    doubt = np.abs(V) <= _score_reach(reference, other_rows)[:, 0]
    wrong = doubt | ((V > 0) != (Z[:, 0] > 0))
    if (
        problem["loss"] == "squared_hinge"
    ):  # the slope of the loss, 2 at a score of zero, is known without an l2 penalty
        slope = np.abs(proof.dual)
        with np.errstate(divide="ignore"):
            doubt = np.abs(slope - 2.0) <= np.sqrt(4 * proof.gap / column.weights) * MARGIN
        wrong &= doubt | ((slope < 2.0) != right)
    return wrong


def _squares_in_doubt(reference: Certificate, rows: Data, Z: np.ndarray) -> np.ndarray:
    """Labels by regression on indicators: the squared changes of all scores of a row sum to at most the gap over its weight."""
    V, s = scores_of(reference, rows), np.ones(len(Z)) if rows.weights is None else rows.weights
    with np.errstate(divide="ignore"):
        reach = np.sqrt(gap_of(reference, rows)[0] / s) * MARGIN
    if Z.shape[1] == 1:
        return (np.abs(V[:, 0]) <= reach) | ((V[:, 0] > 0) != (Z[:, 0] > 0))
    second, first = np.sort(V, axis=1)[:, -2:].T
    return (first - second <= math.sqrt(2.0) * reach) | (V.argmax(axis=1) != Z.argmax(axis=1))
