"""Checks of structural risk minimization: training errors, shares of delta, and the bound of the chosen class."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.bounds import CONFIRM
from surefit.checks.enclosure import UNIT
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.risk.answers import labels_of
from surefit.checks.risk.split import unit_codes, unit_tags
from surefit.checks.risk.words import assumptions_of, confidence_text, sentence
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


def _says(stated: Claim) -> str:
    z = stated.numbers
    empty = ", which is vacuous" if stated.value >= 1 else ""
    return (
        f"probability of error of the model chosen from {z['classes']} classes (number {z['best'] + 1}) <= {stated.value:.4g} with "
        f"confidence {confidence_text(z['delta'])}{empty}, {sentence(z['assumes'])}"
    )


@claim(
    "selection.structural", kind="risk_bound", side="upper", high=1.0, says=_says, about="the chosen model",
    assumptions=assumptions_of, theory="structural-risk",
)  # fmt: skip
def structural(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Confirm the bound of the chosen class at its share of delta."""
    found = _counted(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    numbers, inputs, shares = found
    best, delta = numbers["best"], numbers["delta"]
    if len(shares) != numbers["classes"] or not shares.min() > 0 or not math.fsum(shares) <= delta * (1 + 2**-40):
        return refused("the shares of delta add up to more than delta")
    share = (
        float(shares[best]) * min(1.0, delta / math.fsum(shares)) * (1 - 8 * UNIT)
    )  # excludes the rounding of the sum
    name = "vc" if certificate.subject.bound == "vc" else "finite_class"
    evidence = CONFIRM[name](stated.value, {**inputs, "delta": share}, {})
    if not evidence.ok:
        return refused("the limit does not follow from the training error at this share of delta")
    note = f"{numbers['errors']} errors on {numbers['n']} rows; the shares of delta add up."
    return Proof(stated.value, evidence.level, note, numbers)


@claim(
    "selection.smallest_sum", kind="estimate", side="digits", high=math.inf,
    says="class {best_number} has the smallest sum of training error and radius, {value:.4g}; every class got the whole delta, so "
    "this is not a bound for the chosen class",
)  # fmt: skip
def smallest_sum(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Return the smallest sum of training error and radius, which is not a bound."""
    table = certificate.subject.table_
    return Proof(float(table.bound.value), "recomputed", "no bound.", {"best_number": int(table.best) + 1})


def _counted(
    certificate: Certificate, stated: Claim, data: Data
) -> tuple[dict[str, Any], dict[str, Any], np.ndarray] | str:
    subject = certificate.subject
    if subject is None:
        return "this claim needs predictions of the model; pass verify(X, y, model=...)"
    codes = unit_codes(subject, tuple(certificate.params["assume"]), data)
    rows = np.sort(np.unique(codes, return_index=True)[1])
    best, models = int(subject.best_index_), subject.estimators_
    if not 0 <= best < len(models) or len(subject.dimensions_) != len(models):
        return "the chosen class is not among those that were compared"
    wrong = labels_of(models[best].predict(data.given))[rows] != labels_of(data.target)[rows]
    tags = (*unit_tags(subject, codes), *certificate.params["assume"], "class_fixed_a_priori")
    numbers = {"n": len(rows), "errors": int(wrong.sum()), "best": best, "classes": len(models), "assumes": list(tags)}
    numbers["delta"] = 1.0 - certificate.params["confidence"]
    size, n, empirical = subject.dimensions_[best], len(rows), int(wrong.sum()) / len(rows)
    inputs: dict[str, Any] = {"n": n, "empirical": empirical, "width": 1.0, "sides": 1}
    if subject.bound == "finite":
        inputs["log_size"] = math.log(int(size)) * (1 + 2**-50)
    else:
        inputs |= {"dimension": _dimension(size), "form": _form(size), "theorem": certificate.params["theorem"]}
    return numbers, inputs, np.asarray(subject.table_.shares, dtype=np.float64)


def _dimension(size: Any) -> int:
    return int(size) if isinstance(size, (int, np.integer)) else int(size.dimension)


def _form(size: Any) -> str:
    return "sauer" if isinstance(size, (int, np.integer)) else str(getattr(size, "form", "sauer"))
