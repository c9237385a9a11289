from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Reason


class Solution(NamedTuple):
    """Result of a solver: a point, a bound on its suboptimality, and how it was found."""

    coef: np.ndarray  # (n_features,), float64
    intercept: float
    gap: float  # objective - smallest possible objective is at most this, up to rounding
    objective: float
    null_objective: float  # objective of the best constant
    dual_scale: float  # the dual point is this multiple of the residual
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]  # (seconds, iterations, gap) at each evaluation
    inactive: np.ndarray  # (n_features,) bool: proved to be zero in every solution
    n_support: int
    multiplier: float | None = None  # penalty weight that corresponds to the radius
