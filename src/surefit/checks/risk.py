"""Recounts every risk claim: the losses from the predictions and the targets, the bound from the counts, the split from the rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.bounds import CONFIRM, spent
from surefit.checks.risk_answers import labels_of, same_answers
from surefit.checks.risk_rows import take_rows
from surefit.checks.risk_split import split_trouble
from surefit.checks.risk_transfer import confirm_transfer, fresh_trouble
from surefit.checks.tail_sums import binomial_tail
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-12  # relative; means of losses are summed in another order here


@checker("risk.holdout", "risk.progressive", "risk.transfer", "risk.pick_to_learn")
def check_risk(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The rows tested were not trained on, the losses are those of the predictions, and the bound follows from them."""
    z = claim.numbers
    trouble = split_trouble(certificate, claim, data) or model_trouble(certificate, claim, data)
    losses = unit_losses(claim, data)
    if trouble is None:
        trouble = _count_trouble(claim, losses) or fresh_trouble(certificate, claim)
    confirm = confirm_transfer if z["bound"] == "transfer_losses" else CONFIRM[z["bound"]]
    evidence = confirm(z["normalised"], z, {"losses": losses})
    stated = claim.confidence == 1.0 - z["delta"] and 0 < spent(z) <= z["delta"] < 1
    follows = claim.value >= min(z["scale"], z["factor"] * z["normalised"] * z["scale"])
    if trouble is None and not (evidence.ok and stated and follows):
        trouble = "the limit does not follow from the counts at this confidence"
    ok = trouble is None
    message = f"{_unseen(certificate)}the limit follows if the assumptions hold." if ok else f"{trouble}."
    return Finding(claim.name, claim.value, claim.value if ok else z["scale"], ok, evidence.level, message)


@checker("risk.quantile")
def check_quantile(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Enough of the absolute errors are below the limit: the order statistic is counted, the tail summed."""
    z = claim.numbers
    trouble = split_trouble(certificate, claim, data) or model_trouble(certificate, claim, data)
    errors = unit_losses(claim, data)
    above = int(np.sum(errors > claim.value * (1 + ROUNDING)))
    evidence = binomial_tail(above, len(errors), 1.0 - z["coverage"], Fraction(spent(z)))
    enough = evidence.ok or claim.value == math.inf
    if trouble is None and (len(errors) != z["n"] or not enough or claim.confidence != 1.0 - z["delta"]):
        trouble = f"{above} of {len(errors)} errors are above the limit: too many for this confidence"
    ok = trouble is None
    message = f"{_unseen(certificate)}{above} of {len(errors)} errors are above the limit." if ok else f"{trouble}."
    return Finding(claim.name, claim.value, claim.value if ok else math.inf, ok, "recomputed", message)


def model_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    """Ask the model, if it is at hand, for the predictions again."""
    if certificate.subject is None or "predictions" not in claim.witness:
        return None
    z, rows = claim.numbers, claim.witness["test_rows"]
    models = certificate.subject if not z["predictor"] else getattr(certificate.subject, z["predictor"])
    parts = claim.witness.get("blocks", np.zeros(len(rows), dtype=np.int64))
    for block in np.unique(parts):
        mine = parts == block
        model = models[block] if "blocks" in claim.witness else models
        kept = claim.witness["predictions"][mine]
        if not same_answers(model, take_rows(data.given, rows[mine]), claim, kept):
            return "the model's predictions are no longer those that were tested"
    return None


def unit_losses(claim: Claim, data: Data) -> np.ndarray:
    """Losses recounted from predictions and targets, averaged over units, in the order of testing."""
    rows = claim.witness["test_rows"]
    losses = row_losses(claim, data.target[rows])
    units = claim.witness.get("units")
    if units is None:
        return losses
    sums, sizes = np.bincount(units, weights=losses), np.bincount(units)
    return sums / sizes


def row_losses(claim: Claim, y: np.ndarray) -> np.ndarray:
    """Loss of each tested row by its definition."""
    z, kept = claim.numbers, claim.witness
    if z["loss"] == "custom":
        return kept["losses"]  # a loss given as a function is not part of the certificate
    answer = kept["predictions"]
    if z["loss"] == "zero_one":
        return (answer != labels_of(y)).astype(np.float64)
    if z["loss"] == "brier":
        hit = labels_of(y)[:, None] == kept["classes"][None, :]
        right = np.where(hit.any(axis=1), np.sum(answer * hit, axis=1), 0.0)
        # sum (p - e)^2 = sum p^2 - 2 p_y + 1, halved
        return np.minimum(0.5 * (np.sum(answer * answer, axis=1) - 2.0 * right + 1.0), 1.0)
    error = np.abs(y.astype(np.float64) - answer)
    if z["loss"] == "quantile":
        return error
    if z["loss"] == "miss":
        return (error > z["tolerance"]).astype(np.float64)
    share = error / (z["high"] - z["low"])
    return share**2 if z["loss"] == "squared" else share


def _count_trouble(claim: Claim, losses: np.ndarray) -> str | None:
    z = claim.numbers
    picked, total = z.get("picked", 0), float(math.fsum(losses))
    if len(losses) + picked != z["n"]:
        return f"{len(losses)} units were tested, {z['n'] - picked} were claimed"
    if "size" in z and picked + total > z["size"]:
        return f"{picked} rows were picked and {total:g} errors are left, {z['size']} were claimed together"
    if "errors" in z and total != z["errors"]:
        return f"{total:g} errors were counted, {z['errors']} were claimed"
    if "empirical" in z and total / len(losses) > z["empirical"] * (1 + ROUNDING) + ROUNDING:
        return f"the mean loss is {total / len(losses):.6g}, {z['empirical']:.6g} was claimed"
    if losses.min() < -ROUNDING or losses.max() > 1 + ROUNDING:
        return "a loss is outside its range"
    width = z["high"] - z["low"]
    if z["scale"] != {"squared": width * width, "absolute": width}.get(z["loss"], 1.0):
        return "the limit is not in the units of the loss"
    if claim.name == "risk.progressive" and z["loss"] in ("zero_one", "miss", "custom") and z["factor"] < 2:
        return "a vote errs up to twice as often as its models"
    return None


def _unseen(certificate: Certificate) -> str:
    return "" if certificate.subject is not None else "the predictions are those the certificate holds; "
