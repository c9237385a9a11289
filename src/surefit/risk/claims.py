"""A bound becomes a claim: numbers in the units of the loss, the assumptions in one sentence, the evidence to recount it."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds.base import RiskBound, confidence_text
from surefit.core.claims import Claim
from surefit.risk.losses import Loss, comparable

#: What each assumption says.
WORDS = {
    "iid": "the rows are independent draws from one law",
    "groups_iid": "the groups are independent draws from one law",
    "equal_rows_are_copies": "equal rows are copies of one observation",
    "equal_rows_are_draws": "equal rows are separate draws, as declared",
    "fixed_scaling": "the scaling of X was fixed without looking at these rows, as declared",
    "independent_times": "rows at different times do not depend on each other, as declared",
    "rows_untouched": "the tested rows took no part in training or in any choice",
    "loss_in[0,1]": "no loss exceeds the declared range",
    "order_fixed_before_testing": "the order of testing was drawn at random",
    "unlabelled_same_law": "the inputs without labels follow the same law and took no part in training",
    "worst_row_picked_by_fixed_rule": "rows are picked by a rule that looks at no other row",
    "folds_drawn_independently_of_rows": "the folds were drawn at random",
    "calibration_untouched": "the calibration rows took no part in training or in any choice",
    "exchangeable": "the rows are exchangeable with those to come",
    "class_fixed_a_priori": "the candidates were fixed before the tested rows were seen",
    "classes_known": "the folds were drawn by classes alone and there are no other classes",
    "range_declared": "losses lie in a range declared beforehand",
}


def sentence(tags: tuple[str, ...]) -> str:
    """Return the assumptions as the end of a sentence: ``if A, B and C``."""
    parts = [WORDS.get(tag, tag.replace("_", " ")) for tag in tags]
    return "if " + (parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1])


def risk_claim(
    name: str,
    bound: RiskBound,
    loss: Loss,
    *,
    about: str,
    tags: tuple[str, ...],
    delta: float,
    trivial: float = 1.0,
    factor: float = 1.0,
    predictor: str = "",
    witness: dict[str, np.ndarray],
    numbers: dict[str, Any] | None = None,
) -> Claim:
    """Return the claim that the mean ``loss`` of ``about`` is at most the bound times ``factor``, in units of the loss.

    ``delta`` is the failure probability announced; the bound may have spent less of it (a choice among several was paid for).
    """
    value = min(loss.scale, factor * bound.value * loss.scale)
    assumptions = (*tags, *(tag for tag in bound.assumptions if tag not in (*tags, "iid")))
    empty = ", which is vacuous (a constant answer does as well)" if value >= trivial * loss.scale else ""
    return Claim(
        name,
        "risk_bound",
        f"{loss.words} of {about} <= {value:.4g} with confidence {confidence_text(delta)}{empty}, {sentence(assumptions)}",
        value=value,
        about=about,
        assumptions=assumptions,
        confidence=1.0 - delta,
        numbers={
            **bound.terms,
            **bound.inputs,
            **(numbers or {}),
            "bound": bound.name,
            "normalised": bound.value,
            "factor": factor,
            "loss": loss.name,
            **({"tolerance": loss.tolerance} if loss.name == "miss" else {}),
            "low": loss.low,
            "high": loss.high,
            "scale": loss.scale,
            "delta": delta,
            "delta_spent": bound.delta,
            "trivial": trivial,
            "predictor": predictor,
        },
        witness=witness,
    )


def answer_witness(
    loss: Loss, answer: np.ndarray, losses: np.ndarray, classes: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Return the arrays from which the checker recounts the losses: predictions, or the losses themselves if the loss is ours to call."""
    if loss.name == "custom":
        return {"losses": losses}
    if loss.name == "zero_one":
        return {"predictions": comparable(answer)}
    found = {"predictions": np.asarray(answer, dtype=np.float64)}
    return found if classes is None or loss.name != "brier" else {**found, "classes": comparable(classes)}


def no_claim(name: str, about: str, reason: str) -> Claim:
    """Return the refusal to claim anything, with its reason."""
    return Claim(name, "no_claim", f"no claim about {about}: {reason}", about=about)
