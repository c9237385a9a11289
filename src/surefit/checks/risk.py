"""Recounts every risk claim: the losses from the predictions and the targets, the bound from the counts, the split from the rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.bounds import CONFIRM, spent
from surefit.checks.risk_rows import row_keys, take_rows
from surefit.checks.tail_sums import binomial_tail
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-12  # relative; means of losses are summed in another order here


@checker("risk.holdout", "risk.progressive", "risk.transfer", "risk.pick_to_learn")
def check_risk(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The rows tested were not trained on, the losses are those of the predictions, and the bound follows from them."""
    z = claim.numbers
    trouble = split_trouble(claim, data) or model_trouble(certificate, claim, data)
    losses = unit_losses(claim, data)
    if trouble is None:
        trouble = _count_trouble(claim, losses)
    evidence = CONFIRM[z["bound"]](z["normalised"], z, {"losses": losses})
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
    trouble = split_trouble(claim, data) or model_trouble(certificate, claim, data)
    errors = unit_losses(claim, data)
    above = int(np.sum(errors > claim.value * (1 + ROUNDING)))
    evidence = binomial_tail(above, len(errors), 1.0 - z["coverage"], Fraction(spent(z)))
    enough = evidence.ok or claim.value == math.inf
    if trouble is None and (len(errors) != z["n"] or not enough or claim.confidence != 1.0 - z["delta"]):
        trouble = f"{above} of {len(errors)} errors are above the limit: too many for this confidence"
    ok = trouble is None
    message = f"{_unseen(certificate)}{above} of {len(errors)} errors are above the limit." if ok else f"{trouble}."
    return Finding(claim.name, claim.value, claim.value if ok else math.inf, ok, "recomputed", message)


def split_trouble(claim: Claim, data: Data) -> str | None:
    """Whether a tested row, or a copy of one, was trained on."""
    tested = claim.witness["test_rows"]
    if len(np.unique(tested)) != len(tested):
        return "a row was tested twice"
    if "train_rows" not in claim.witness:
        return None
    train = claim.witness["train_rows"]
    if np.intersect1d(train, tested).size:
        return "a tested row was trained on"
    if "equal_rows_are_copies" not in claim.assumptions and "iid" not in claim.assumptions:
        return None  # groups: only the caller knows them
    if "equal_rows_are_draws" in claim.assumptions:
        return None
    if "row_keys" not in data.memo:
        data.memo["row_keys"] = row_keys(data.X, data.y)
    keys = data.memo["row_keys"]
    seen = {keys[i] for i in train.tolist()}
    return "a tested row is a copy of a training row" if any(keys[i] in seen for i in tested.tolist()) else None


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
        answer = _answer(model, take_rows(data.given, rows[mine]), claim)
        kept = claim.witness["predictions"][mine]
        if kept.dtype.kind == "U" or z["loss"] == "zero_one":
            same = np.array_equal(answer, kept)
        else:  # another number of rows at a time may round products otherwise
            near = 1e-9 * float(np.max(np.abs(kept)))
            same = answer.shape == kept.shape and np.allclose(answer, kept, rtol=1e-9, atol=near)
        if not same:
            return "the model's predictions are no longer those that were tested"
    return None


def _answer(model, X, claim: Claim) -> np.ndarray:
    z = claim.numbers
    if z["loss"] == "brier":
        classes, known = claim.witness["classes"], _labels(model.classes_)
        found = np.zeros((X.shape[0] if hasattr(X, "shape") else len(X), len(classes)))
        found[:, [int(np.flatnonzero(classes == name)[0]) for name in known]] = model.predict_proba(X)
        return found
    answer = np.asarray(model.predict(X) if hasattr(model, "predict") else model(X))
    if z["loss"] == "zero_one":
        return _labels(answer)
    answer = answer.astype(np.float64).ravel()
    return np.clip(answer, z["low"], z["high"]) if z["loss"] in ("squared", "absolute") else answer


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
        return (answer != _labels(y)).astype(np.float64)
    if z["loss"] == "brier":
        hit = _labels(y)[:, None] == kept["classes"][None, :]
        right = np.where(hit.any(axis=1), np.sum(answer * hit, axis=1), 0.0)
        # sum (p - e)^2 = sum p^2 - 2 p_y + 1, halved
        return np.minimum(0.5 * (np.sum(answer * answer, axis=1) - 2.0 * right + 1.0), 1.0)
    error = np.abs(y.astype(np.float64) - answer)
    if z["loss"] == "quantile":
        return error
    share = error / (z["high"] - z["low"])
    return share**2 if z["loss"] == "squared" else share


def _count_trouble(claim: Claim, losses: np.ndarray) -> str | None:
    z = claim.numbers
    picked, total = z.get("picked", 0), float(math.fsum(losses))
    if len(losses) + picked != z["n"]:
        return f"{len(losses)} units were tested, {z['n'] - picked} were claimed"
    if "size" in z and picked + total > z["size"]:
        return f"{picked} rows were picked and {total:g} errors are left, {z['size']} were claimed together"
    if "disagreements" in z:
        first, second = claim.witness["twin_on_fresh"], claim.witness["model_on_fresh"]
        if len(first) != z["n_unlabelled"] or int(np.sum(first != second)) != z["disagreements"]:
            return "twin and model do not differ as often as claimed"
    if "errors" in z and total != z["errors"]:
        return f"{total:g} errors were counted, {z['errors']} were claimed"
    if "empirical" in z and total / len(losses) > z["empirical"] * (1 + ROUNDING) + ROUNDING:
        return f"the mean loss is {total / len(losses):.6g}, {z['empirical']:.6g} was claimed"
    if losses.min() < -ROUNDING or losses.max() > 1 + ROUNDING:
        return "a loss is outside its range"
    return None


def _labels(values) -> np.ndarray:
    array = np.asarray(values)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else array.astype(str)


def _unseen(certificate: Certificate) -> str:
    return "" if certificate.subject is not None else "the predictions are those the certificate holds; "
