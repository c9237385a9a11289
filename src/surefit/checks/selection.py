"""Recounts what a choice among models claims: errors of every candidate, shares of delta, and the bound of the chosen one."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.bounds import CONFIRM, spent
from surefit.checks.risk_answers import labels_of
from surefit.checks.risk_split import unit_codes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("selection.structural")
def check_structural(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Training errors are recounted, the shares of delta add up, and the chosen class's bound follows from its share."""
    z, w = claim.numbers, claim.witness
    wrong = np.sum(w["predictions"] != labels_of(data.target[w["rows"]]), axis=1)
    best, codes = z["best"], unit_codes(claim, data)[w["rows"]]
    trouble = _subject_trouble(certificate, claim, data)
    if len(np.unique(codes)) != len(codes) or z["n"] != len(codes):
        trouble = f"{len(np.unique(codes))} different rows were counted, {z['n']} were claimed"
    elif not np.array_equal(wrong, w["errors"]) or wrong[best] / len(w["rows"]) > z["empirical"] * (1 + 1e-12):
        trouble = f"the chosen model makes {wrong[best]} errors on {len(w['rows'])} rows"
    elif len(w["shares"]) != len(wrong) or np.min(w["shares"]) <= 0:
        trouble = f"{len(wrong)} classes were compared"
    elif math.fsum(w["shares"]) > z["delta"] * (1 + 1e-12) or w["shares"][best] != spent(z):
        trouble = "the shares of delta add up to more than delta"
    evidence = CONFIRM[z["bound"]](claim.value, z, w)
    if trouble is None and not (evidence.ok and claim.confidence == 1.0 - z["delta"]):
        trouble = "the limit does not follow from the training error at this share of delta"
    ok = trouble is None
    message = f"{wrong[best]} errors on {len(w['rows'])} rows; the shares of delta add up." if ok else f"{trouble}."
    return Finding(claim.name, claim.value, claim.value if ok else 1.0, ok, evidence.level, message)


def _subject_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    """Ask the estimator, if it is at hand, for its classes, their sizes, and the chosen model's predictions."""
    z, w, subject = claim.numbers, claim.witness, certificate.subject
    if subject is None:
        return None
    best = z["best"]
    if (
        len(subject.estimators_) != len(w["predictions"])
        or z["bound"] != {"vc": "vc", "finite": "finite_class"}[subject.bound]
    ):
        return f"{len(subject.estimators_)} classes were compared, by the {subject.bound} bound"
    size = subject.dimensions_[best]
    if subject.bound == "finite" and z["log_size"] < math.log(size) * (1 - 1e-12):
        return f"the chosen class has {size} members"
    if subject.bound == "vc" and isinstance(size, int | np.integer) and z["dimension"] < size:
        return f"the chosen class has dimension {size}"
    if not np.array_equal(labels_of(subject.estimators_[best].predict(data.given))[w["rows"]], w["predictions"][best]):
        return "the chosen model's predictions are no longer those that were counted"
    return None


@checker("selection.random_draws")
def check_draws(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The chance that every draw misses the best fraction is at most delta."""
    z = claim.numbers
    subject = certificate.subject
    if subject is not None and len(subject.cv_results_["params"]) != z["draws"]:
        words = f"{len(subject.cv_results_['params'])} candidates were drawn."
        return Finding(claim.name, claim.value, 1.0, False, "recomputed", words)
    missed = (1.0 - claim.value) ** z["draws"]
    ok = missed <= z["delta"] * (1 + 1e-12) and claim.confidence == 1.0 - z["delta"]
    message = f"all {z['draws']} draws miss it with probability {missed:.4g}."
    return Finding(claim.name, claim.value, claim.value if ok else 1.0, ok, "recomputed", message)
