"""Sentences of risk claims."""

from __future__ import annotations

import math
from typing import Any

from surefit.checks.risk.words import confidence_text, loss_text, sentence
from surefit.core.claims import Claim


def says(stated: Claim) -> str:
    """Return the sentence of a bound on a mean loss."""
    z = stated.numbers
    empty = ", which is vacuous (a constant answer does as well)" if stated.value >= z["trivial"] * scale_of(z) else ""
    whose = about(stated)
    ending = f"with confidence {confidence_text(z['delta'])}{empty}, {sentence(z['assumes'])}"
    return f"{loss_text(z)} of {whose} <= {stated.value:.4g} {ending}"


def says_quantile(stated: Claim) -> str:
    """Return the sentence of a bound on a quantile of the absolute error."""
    z = stated.numbers
    whose = "mean |y - prediction| in a group," if "groups_iid" in z["assumes"] else "|y - prediction|"
    empty = ", which is vacuous (too few rows)" if stated.value == math.inf else ""
    return (
        f"{whose} of {about(stated)} <= {stated.value:.4g} with probability at least {z['coverage']:.4g} for a "
        f"new row, with confidence {confidence_text(z['delta'])}{empty}, {sentence(z['assumes'])}"
    )


def about(stated: Claim) -> str:
    """Return the phrase that names the model of the claim."""
    z = stated.numbers
    if stated.name == "risk.transfer":
        return "the model trained on all rows"
    if stated.name == "risk.pick_to_learn":
        return f"the model trained on half the rows and {z['picked']} picked ones"
    if stated.name == "risk.progressive":
        what = "average" if z["factor"] == 1 else "vote"
        more = "which used all rows but the last block" if z["factor"] == 1 else "at most twice their mean risk"
        return f"the {what} of the {z['blocks']} models, {more}"
    if z["predictor"] == "twin_":
        return f"the twin trained without the {z['tested']} withheld rows"
    if z["predictor"] == "estimator_":
        return f"the model, which did not see the {z['tested']} withheld rows"
    kind = "groups" if "groups_iid" in z["assumes"] else "copies" if "equal_rows_are_copies" in z["assumes"] else "rows"
    return f"the model tested on {z['n']} {kind}"


def scale_of(z: dict[str, Any]) -> float:
    """Return the largest loss, in the units of the target."""
    width = z["high"] - z["low"]
    return width * width if z["loss"] == "squared" else width if z["loss"] == "absolute" else 1.0
