"""Problem of kernel ridge regression: penalties, or a radius with its multiplier, and unpenalized functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of
from surefit.problems.kernels import SQUARES, kernel_record


@problem_of("KernelRidge", "KernelRidgeCV")
def squares(given: Given) -> dict[str, Any]:
    """Return the problem with one penalty per target: given, cross-validated, or the multiplier of the radius."""
    assert given.y is not None
    params, radius = given.params, given.params.get("radius")
    targets = 1 if given.y.ndim == 1 else given.y.shape[1]
    alphas = params.get("alpha") if "alpha" in params else given.chosen["alpha_"]
    alphas = given.chosen["multiplier_"] if radius is not None else alphas
    penalties = np.broadcast_to(np.asarray(alphas, dtype=np.float64).ravel(), (targets,))
    return {
        "objective": f"{SQUARES}; p (constant, null space) is not penalized",
        "alphas": [float(alpha) for alpha in penalties],
        "radius": None if radius is None else float(radius),
        "fit_intercept": null_degree(params) is not None,
        "null_space": null_record(params),
        "kernel": kernel_record(given),
    }


def null_degree(params: Mapping[str, Any]) -> int | None:
    """Return the degree of the unpenalized polynomials; None if there are none."""
    given = params["null_space"]
    if given is None or _is_users(given):
        return 0 if params["fit_intercept"] else None
    return {"constant": 0, "linear": 1}[given] if isinstance(given, str) else int(given)


def null_record(params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the null space in the form stored in a certificate; None if it contains only the constant."""
    given, degree = params["null_space"], null_degree(params)
    if _is_users(given):
        name = getattr(given, "__qualname__", type(given).__name__)
        return {"function": given.rsplit(" ", 1)[0] if isinstance(given, str) else name}
    return {"degree": degree} if degree else None


def _is_users(given: Any) -> bool:
    """Return whether the unpenalized functions are user-defined: given as functions, or named in a certificate."""
    if isinstance(given, str):
        return given not in ("constant", "linear")
    return callable(given) or hasattr(given, "transform")
