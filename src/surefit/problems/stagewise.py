"""Forward stagewise fits: the loss and the basis by name."""

from __future__ import annotations

from typing import Any

from surefit.problems.base import Given, problem_of

#: Names of loss terms, as the parameter spells them.
NAMES = {
    "Squared": "squared_error",
    "Absolute": "absolute_error",
    "Logistic": "logistic",
    "ExponentialLoss": "exponential",
    "Hinge": "hinge",
    "SquaredHinge": "squared_hinge",
    "Huber": "huber",
}


@problem_of("ForwardStagewise")
def stagewise_problem(given: Given) -> dict[str, Any]:
    """Loss, basis and learning rate."""
    loss, basis = given.params["loss"], given.params["basis"]
    fields: dict[str, Any] = {}
    if isinstance(loss, dict):  # as JSON stores a term
        fields = loss["record"]
        name = NAMES.get(fields["term"]) or str(given.chosen["loss_name_"])
    elif isinstance(loss, str):
        name = loss
    else:
        fields = loss._asdict()
        name = NAMES.get(type(loss).__name__) or str(given.chosen["loss_name_"])
    return {
        "loss": name,
        "delta": float(fields["delta"]) if name == "huber" else 0.0,
        "basis": basis if isinstance(basis, str) and basis in ("stumps", "columns") else "transformer",
        "rate": float(given.params["learning_rate"]),
    }
