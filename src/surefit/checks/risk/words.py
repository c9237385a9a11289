"""Phrases of statistical claims: losses, assumptions, confidence."""

from __future__ import annotations

from typing import Any

from surefit.core.assumptions import confidence_text, sentence
from surefit.core.claims import Claim

__all__ = ["about_of", "assumptions_of", "confidence_text", "loss_text", "sentence"]

LOSSES = {
    "zero_one": "probability of error",
    "brier": "Brier score",
    "squared": "mean squared error",
    "absolute": "mean absolute error",
}


def assumptions_of(claim: Claim) -> tuple[str, ...]:
    """Return the assumptions that the claim lists."""
    return tuple(claim.numbers["assumes"])


def about_of(claim: Claim) -> str:
    """Return the object that the claim is about."""
    return claim.numbers["about"]


def loss_text(numbers: dict[str, Any]) -> str:
    """Return the name of the mean loss."""
    if numbers["loss"] == "miss":
        return f"probability of |y - prediction| > {numbers['tolerance']:g}"
    return LOSSES.get(numbers["loss"], "mean loss")
