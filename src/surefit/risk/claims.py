"""Conversion of bounds to claims: the value in the units of the loss, and the counts that the checker uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds.base import RiskBound
from surefit.core.claims import Claim
from surefit.risk.losses import Loss

#: Inputs of a bound that its claim contains; the others follow from the parameters.
COUNTS = (
    "n",
    "errors",
    "empirical",
    "rate",
    "start",
    "size",
    "budgets",
    "disagreements",
    "n_unlabeled",
    "excess",
    "twin",
    "change",
)


def risk_claim(
    name: str,
    bound: RiskBound,
    loss: Loss,
    *,
    tags: tuple[str, ...],
    factor: int = 1,
    witness: dict[str, np.ndarray] | None = None,
    **numbers: Any,
) -> Claim:
    """Return the claim that the mean ``loss`` is at most the bound times ``factor``, in units of the loss.

    ``numbers`` contains the stated failure probability ``delta`` (the bound may use a fraction of it, to account for
    model selection), the loss ``trivial`` of a constant prediction, the number of rows ``tested``, and the name
    ``predictor`` of the attribute that the claim is about.
    """
    assumes = (*tags, *(tag for tag in bound.assumptions if tag not in (*tags, "iid")))
    found = {**bound.terms, **bound.inputs}
    counts = {key: found[key] for key in COUNTS if key in found and not (key == "empirical" and "errors" in found)}
    stated = {**counts, **numbers, "assumes": list(assumes), "loss": loss.name, "tested": int(numbers["tested"])}
    stated |= {"low": loss.low, "high": loss.high, "bound": bound.name}
    if numbers["predictor"] == "models_":
        stated["factor"] = factor
    if loss.name == "miss":
        stated["tolerance"] = loss.tolerance
    return Claim(name, min(loss.scale, factor * bound.value * loss.scale), numbers=stated, witness=witness or {})
