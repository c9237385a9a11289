"""What a neighbour rule can say of itself: which rows are near."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.claims import Claim

SAMPLED = 24  # training rows whose neighbours are recorded


def neighbour_claims(estimator: Any, X: Any) -> list[Claim]:
    """Return the claim that the recorded neighbours of some rows are the nearest ones, where it can be checked."""
    return [] if estimator._pairwise() or X.shape[0] < 2 else [_recorded(estimator, X)]


def _recorded(estimator: Any, X: Any) -> Claim:
    n = X.shape[0]
    k = int(min(estimator.n_neighbors, n))
    rows = np.unique(np.linspace(0, n - 1, min(SAMPLED, n)).astype(np.int64))
    distances, indices = estimator._find(X[rows], k)
    kind, options = estimator.effective_metric_, estimator.effective_metric_params_
    numbers: dict[str, Any] = {"k": k, "rows": len(rows)}
    if estimator._kernel_given() is not None:
        numbers["kernel"] = estimator.kernel_.to_record() if hasattr(estimator.kernel_, "to_record") else None
    elif isinstance(kind, str) and all(isinstance(v, (int, float)) for v in options.values()):
        numbers["metric"] = kind
        numbers["exponent"] = float(options.get("p", 2))
    return Claim(
        "knn.neighbours",
        "process_fact",
        f"For {len(rows)} training rows the {k} nearest training rows, by distance and then by index, are those recorded.",
        value=0.0,
        limit=0.0,
        numbers=numbers,
        witness={
            "rows": estimator.sample_indices_[rows],
            "neighbours": estimator.sample_indices_[indices],
            "distances": distances,
        },
    )
