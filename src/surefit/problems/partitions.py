"""Problems of partitioning estimators: the side of the cubes."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.problems.base import Given, problem_of

SAME = 1e-15  # relative tolerance: the last digit of a power may differ between mathematical libraries


@problem_of("PartitionClassifier", "HistogramClassifier", "Regressogram")
def partition_problem(given: Given) -> dict[str, Any]:
    """Return the side of the cubes; None for another partitioner."""
    if given.params.get("partitioner") is not None:
        return {"side": None}
    rows = given.X if given.weights is None else given.X[given.weights > 0]
    side, chosen = cube_side(given.params["side"], rows), float(given.chosen["side_"])
    if not abs(side - chosen) <= SAME * side:
        raise ValueError(f"the cubes of the model have side {chosen!r}, the parameters require {side!r}")
    return {"side": chosen}


def cube_side(side: Any, X: np.ndarray, who: str = "") -> float:
    """Return the side of the cubes: given, or the largest range of a column times n^(-1/(d + 2))."""
    if side != "auto":
        return float(side)
    n, d = X.shape
    spread = float(np.max(np.ptp(np.asarray(X, dtype=np.float64), axis=0))) if d else 0.0
    if not np.isfinite(spread):
        raise InvalidData(f"{who}: the range of a column overflows; scale the columns of X.")
    return spread * n ** (-1.0 / (d + 2)) if spread > 0 else 1.0
