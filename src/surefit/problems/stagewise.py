"""Problem of forward stagewise fitting: the names of the loss and of the basis."""

from __future__ import annotations

from typing import Any

from surefit.problems.base import Given, problem_of

#: Names of loss terms in the parameter ``loss``.
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
    """Return the loss, the basis and the learning rate."""
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
