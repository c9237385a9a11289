"""Checks of AdaBoost.R2: errors and weights of the rounds are recomputed from the members' predictions."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.labels import row_weights
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


@claim(
    "adaboost_r2.rounds",
    kind="process_fact",
    side="upper",
    theory="adaboost-r2",
    says="The errors and weights of {rounds} rounds follow from the predictions of the members, up to {value:.1g}.",
)
def rounds(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Repeat the reweighting of the rows with the recorded predictions."""
    problem, y = certificate.problem, np.asarray(data.target, dtype=np.float64)
    errors, alphas = (np.asarray(certificate.model[f"estimator_{name}_"]) for name in ("errors", "weights"))
    said = np.asarray(claim.witness["said"], dtype=np.float64)
    if errors.ndim != 1 or not len(errors) or alphas.shape != errors.shape or said.shape != (len(errors), len(y)):
        return refused("there must be one error, one weight and one line of predictions per round")
    if not (np.all(np.isfinite(said)) and np.all(np.isfinite(alphas)) and np.all((errors >= 0) & (errors <= 1))):
        return refused("predictions and weights must be finite, and errors between 0 and 1")
    if np.any((errors[:-1] <= 0) | (errors[:-1] >= 0.5)) or (len(errors) > 1 and errors[-1] >= 0.5):
        return refused(
            "only the last member may have no errors, and each of several members must be better than chance"
        )
    given = row_weights(data)
    shares, rate, worst = given / math.fsum(given), float(problem["learning_rate"]), 0.0
    for line, error, alpha in zip(said, errors, alphas, strict=True):
        each = _losses(np.abs(line - y), shares > 0, problem["loss"])
        worst = max(worst, abs(math.fsum(shares * each) - error), _off(alpha, error, rate, len(errors) == 1))
        if 0 < error < 0.5:
            shares = shares * (error / (1 - error)) ** (rate * (1 - each))
            shares = shares / math.fsum(shares)
    # Each round adds the relative error of one power and of a normalization by a sum of n terms.
    doubt = (len(errors) + 1) * gamma(2 * len(y) + 64) * (1 + rate)
    note = f"{len(errors)} rounds repeated."
    return Proof(worst + doubt, "recomputed", note, {"rounds": len(errors)}, spread=doubt)


def _losses(distance: np.ndarray, counted: np.ndarray, loss: str) -> np.ndarray:
    top = float(np.max(distance[counted]))
    share = np.minimum(distance / top, 1.0) if top > 0 else np.zeros(len(distance))
    return {"linear": share, "square": share * share, "exponential": -np.expm1(-share)}[loss]


def _off(alpha: float, error: float, rate: float, alone: bool) -> float:
    """Return the relative distance of a weight from the one that its error implies."""
    wanted = 1.0 if error <= 0 or (alone and error >= 0.5) else rate * (math.log1p(-error) - math.log(error))
    return max(abs(alpha - wanted) - 8 * UNIT * abs(wanted), 0.0) / (1 + abs(wanted))
