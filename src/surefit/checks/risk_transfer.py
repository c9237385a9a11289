"""Recounts how a twin vouches for a model: by the answers of both on inputs without labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.base import read
from surefit.checks.bounds import log_inverse
from surefit.checks.risk_answers import same_answers
from surefit.checks.tail_sums import Evidence, at_least, relative_entropy, weakest
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.estimator import data_fingerprint


def confirm_transfer(value: float, z: dict[str, Any], w: dict[str, np.ndarray]) -> Evidence:
    """Both limits follow from their means at half of delta each, and the sum from both."""
    needed = log_inverse(z) + math.log(2.0)
    twin = relative_entropy(z["empirical"], z["twin"], needed / z["n"])
    change = relative_entropy(z["excess"], z["change"], needed / z["n_unlabelled"])
    whole = Evidence(math.inf, exact=True) if value >= 1.0 else at_least(value, (z["twin"], z["change"]))
    return weakest(twin, change, whole)


def fresh_trouble(certificate: Certificate, claim: Claim) -> str | None:
    """Whether twin and model differ as claimed, by their answers in the certificate and, if they are at hand, by themselves."""
    z, w = claim.numbers, claim.witness
    if claim.name != "risk.transfer":
        return None
    first, second = w["twin_on_fresh"], w["model_on_fresh"]
    if len(first) != z["n_unlabelled"] or first.shape != second.shape:
        return "there are not as many inputs without labels as claimed"
    if "disagreements" in z and int(np.sum(first != second)) != z["disagreements"]:
        return "twin and model do not differ as often as claimed"
    if "excess" in z and math.fsum(_excess(claim, second, first)) / len(first) > z["excess"] * (1 + 1e-9) + 1e-15:
        return "the model can lose more against its twin than claimed"
    subject = certificate.subject
    fresh = getattr(subject, "_fresh", None)
    if fresh is None:
        return None  # the model comes from a file: its answers are believed
    if data_fingerprint(read(fresh).X)["X"] != z["fresh"]:
        return "the inputs without labels are not those of the fit"
    for model, kept in ((subject.twin_, first), (subject.estimator_, second)):
        if not same_answers(model, fresh, claim, kept):
            return "answers on the inputs without labels are no longer those that were compared"
    return None


def _excess(claim: Claim, model: np.ndarray, twin: np.ndarray) -> np.ndarray:
    """Largest loss of the model over that of its twin, label by label; a squared or absolute error is worst at an end of the range."""
    z = claim.numbers
    if z["loss"] == "brier":
        labels = [*np.eye(model.shape[1]), np.zeros(model.shape[1])]  # the last: a label that neither can name
        gaps = [0.5 * (np.sum((model - e) ** 2, axis=1) - np.sum((twin - e) ** 2, axis=1)) for e in labels]
    else:
        power, width = (2 if z["loss"] == "squared" else 1), z["high"] - z["low"]
        gaps = [
            (np.abs(y - model) / width) ** power - (np.abs(y - twin) / width) ** power for y in (z["low"], z["high"])
        ]
    return np.clip(np.max(gaps, axis=0), 0.0, 1.0)
