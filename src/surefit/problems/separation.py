"""Problem of linear separability: the two labels, and whether there is an intercept."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of


@problem_of("separability")
def separability(given: Given) -> dict[str, Any]:
    """Return the problem; the greater label is positive, and a single label is positive unless it is a number <= 0."""
    kinds = [kind.item() for kind in np.unique(named_labels(given.y))]
    if len(kinds) > 2:
        raise ValueError("more than two labels")
    lone_negative = len(kinds) == 1 and isinstance(kinds[0], float) and kinds[0] <= 0
    return {
        "question": "is there (w, b) with t (x'w + b) > 0 on all rows?",
        "intercept": bool(given.params["intercept"]),
        "negative": kinds[0] if len(kinds) == 2 or lone_negative else None,
        "positive": None if lone_negative else kinds[-1],
    }


def named_labels(y: Any) -> np.ndarray:
    """Return labels in the form stored in a certificate: numbers or strings."""
    y = np.asarray(y)
    return y if y.dtype.kind == "f" else y.astype(str)
