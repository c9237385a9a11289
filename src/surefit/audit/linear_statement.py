"""Problem and claims for a linear model of another library."""

from __future__ import annotations

from typing import Any

from surefit.audit.reading import Reading
from surefit.audit.stating import asking

#: Claims by the kind of scores: for labels (True), for predictions (False), or neither (None).
CLAIMS = {True: ("gap", "labels"), False: ("gap", "predictions"), None: ("gap",)}


def linear_problem(
    loss: dict[str, Any], l1: float, l2: float, *, objective: str, tol: float, **more: Any
) -> dict[str, Any]:
    """Return the problem ``strength * sum_i s_i loss_i + l1 |w|_1 + l2/2 |w|^2`` as the checker of linear models reads it."""
    penalty = {
        "l1": float(l1),
        "l2": float(l2),
        "factors": None,
        "positive": more.pop("positive", False),
        "radius": None,
    }
    if "alphas" in more:
        penalty["alphas"] = more.pop("alphas")
    defaults = {"strength": 1.0, "mean": False, "classes": None, "class_weights": None, "intercept_scaling": None}
    return {**loss, "penalty": penalty, **defaults, **more, "tol": tol, "objective": objective}


def linear_reading(
    problem: dict, witness: dict, classifier: bool | None, run: dict, derived: str | None = None
) -> Reading:
    """Return the reading of a linear model; ``classifier`` is None if labels at the optimum are not meaningful."""
    return Reading("A", problem, ("coef_", "intercept_"), asking(*CLAIMS[classifier]), witness, run, derived)
