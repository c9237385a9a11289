"""Checks of leave-one-out errors, and of scikit-learn's penalties chosen by them or by cross-validation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from surefit.checks.audits.reading import inner
from surefit.checks.enclosure import Bound, gamma
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.processes.regression import read_process
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

SAYS = "The mean squared error of rows left out one at a time{kept} is {value:.6g}: an estimate of the error on new rows, not a bound."
ENTRY = {"kind": "process_fact", "side": "upper", "infinite": True, "theory": "audit-risk"}


@claim("audit.leave_one_out", about="refits without one row", says=SAYS.replace("{kept}", ""), **ENTRY)
def least_squares(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the mean squared leave-one-out error is at most ``value``."""
    found = leave_one_out(certificate, data)
    return Proof(found.value, "recomputed", "leverages recomputed from a factor.", spread=found.spread)


@claim("audit.gaussian_process.leave_one_out", about="posterior means without one row", says=SAYS.replace("{kept}", ", kernel kept,"),
       **ENTRY)  # fmt: skip
def process(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    r"""Check the mean of :math:`(a_i / (A^{-1})_{ii})^2`, :math:`A = K + D`, :math:`a = A^{-1} y`, in target units."""
    read_as, rows = inner(certificate, data)
    kernel, noise, _, targets, scale = read_process(read_as, rows)
    A = kernel(rows.X)
    A.flat[:: len(A) + 1] += noise
    inverse = linalg.inv(A)
    duals, own = np.abs(inverse @ targets), np.diag(inverse)[:, None]
    # the error of an inverse is its condition number times the rounding of a factor
    size = float(np.linalg.norm(inverse))
    off = gamma(32 * len(A)) * float(np.linalg.norm(A)) * size * size
    length = np.linalg.norm(targets, axis=0)
    found = _mean_square(duals, off * length, own, off, scale)
    return Proof(found.value, "recomputed", "errors recomputed from an inverse.", spread=found.spread)


def _mean_square(size: np.ndarray, size_off: Any, share: np.ndarray, share_off: Any, unit: Any) -> Bound:
    """Bound the mean of ``(size / share)^2``, with numerator and denominator known up to a radius."""
    least = share - share_off
    if not np.all(least > 0):
        return Bound(math.inf, 0.0)
    most = float(np.mean(((size + size_off) / least * unit) ** 2)) * (1 + gamma(len(size) + 8))
    return Bound(most, most - float(np.mean((size / share * unit) ** 2)))


def leave_one_out(certificate: Certificate, data: Data) -> Bound:
    r"""Bound the mean of :math:`(r_i / (1 - h_i))^2` at the exact optimum of least squares with a free intercept."""
    read_as, rows = inner(certificate, data)
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X, dtype=np.float64)
    Y = np.asarray(rows.target, dtype=np.float64).reshape(len(X), -1)
    free = read_as.problem["fit_intercept"]
    alphas = [0.5 * alpha for alpha in read_as.problem["penalty"]["alphas"]]
    U, d, _ = np.linalg.svd(X - X.mean(axis=0) if free else X, full_matrices=False)
    B = Y - Y.mean(axis=0) if free else Y
    parts = []
    for k, alpha in enumerate(alphas):
        keep = d > len(X) * np.finfo(float).eps * d[:1] if alpha == 0 else d > 0
        V, s = U[:, keep], d[keep]
        shares = s**2 / (s**2 + alpha)
        leverage = np.einsum("ij,j,ij->i", V, shares, V) + (1 / len(X) if free else 0.0)
        residual = B[:, k] - (V * shares) @ (V.T @ B[:, k])
        # a projection changes by the rounding of the rows, which centering does not reduce, divided by the smallest
        # singular value that is kept
        smallest = math.hypot(float(s.min()), math.sqrt(alpha)) if len(s) else 1.0
        off = gamma(8 * sum(X.shape)) * (1 + (float(np.linalg.norm(X)) / smallest if len(s) else 0.0))
        parts.append(_mean_square(np.abs(residual), off * np.linalg.norm(Y[:, k]), 1 - leverage, off, 1.0))
    value = sum(part.value for part in parts) / len(parts)
    return Bound(value, sum(part.spread for part in parts) / len(parts) if math.isfinite(value) else 0.0)


def _by_rows(claim: Claim) -> str:
    z = claim.numbers
    words = f"Of {z['candidates']} penalties, {z['chosen']:g} has the smallest leave-one-out error"
    return words + ("." if claim.holds else f", up to {100 * claim.value:.3g} %.")


@claim("audit.choice_by_left_out", kind="process_fact", side="upper", infinite=True, theory="audit", says=_by_rows)
def choice_by_left_out(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the leave-one-out error of the chosen penalty is within ``value``, relatively, of the smallest one."""
    read_as, rows = inner(certificate, data)
    chosen, candidates = 0.5 * read_as.problem["penalty"]["alphas"][0], stated.witness["candidates"]

    def error(alpha: float) -> Bound:
        penalty = {**read_as.problem["penalty"], "alphas": [2 * alpha]}
        other = replace(read_as, problem={**read_as.problem, "penalty": penalty}, seal="")
        return leave_one_out(other, Data(rows.X, rows.y, rows.weights, {}, None))

    own, others = error(chosen), [error(float(alpha)) for alpha in candidates]
    least = min((other.value - 2 * other.spread for other in others if math.isfinite(other.value)), default=0.0)
    if chosen not in candidates:
        return refused("the penalty is not among the candidates")
    if not (least > 0 and math.isfinite(own.value)):
        return Proof(math.inf, "recomputed", "left-out errors are not known.", _named(candidates, chosen), limit=0.0)
    off = (own.spread + max(other.spread for other in others if math.isfinite(other.value))) / least
    value = max(own.value / least - 1.0, 0.0)
    return Proof(value, "recomputed", "every candidate tried again.", _named(candidates, chosen), 8 * off, off, off)


def _named(candidates: np.ndarray, chosen: float) -> dict[str, Any]:
    return {"candidates": len(candidates), "chosen": float(chosen)}


def _by_scores(claim: Claim) -> str:
    z = claim.numbers
    words = f"Of {z['candidates']} candidates, {z['chosen']:g} has the best mean score over {z['folds']} folds"
    return words + ("" if claim.holds else f", up to {claim.value:.3g}") + ", by the scores that the model keeps."


@claim("audit.choice_by_scores", kind="process_fact", side="upper", theory="audit", says=_by_scores)
def choice_by_scores(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the mean score of the chosen candidate is within ``value`` of the best one in the model's scores."""
    scores, chosen = stated.witness["scores"], int(stated.witness["chosen"])
    if scores.ndim != 2 or not 0 <= chosen < len(scores):
        return refused("scores must have one line per candidate, and the choice be one of them")
    means = scores.mean(axis=1)
    off = gamma(scores.shape[1] + 4) * float(np.max(np.abs(scores)))
    numbers = {"candidates": len(scores), "folds": scores.shape[1], "chosen": float(stated.witness["value"])}
    note = f"{len(scores)} mean scores compared."
    return Proof(float(means.max() - means[chosen]) + off, "recomputed", note, numbers, 8 * off, off)
