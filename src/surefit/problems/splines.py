"""Problem of smoothing splines: degree, origin, and lambda as given or chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of


@problem_of("SmoothingSpline")
def smoothing(given: Given) -> dict[str, Any]:
    """Return degree, origin and lambda; if a criterion chose lambda, also the criterion and its candidates."""
    params, lam, lams = given.params, given.params["lam"], given.params["lams"]
    by_criterion = isinstance(lam, str)
    chosen = np.atleast_1d(np.asarray(given.chosen["lam_"], dtype=np.float64))
    return {
        "degree": int(params["degree"]),
        "origin": float(params["origin"]) if params["form"] == "special" else None,
        "lam": chosen.tolist() if by_criterion else [float(lam)] * len(chosen),
        "criterion": lam if by_criterion else None,
        "lams": None
        if lams is None or not by_criterion
        else np.sort(np.ravel(np.asarray(lams, dtype=np.float64))).tolist(),
    }
