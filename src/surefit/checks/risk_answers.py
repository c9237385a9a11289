"""Asks a model again for the answers that a risk claim holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.claims import Claim


def labels_of(values: Any) -> np.ndarray:
    """Labels as floats if they are numbers, else as texts."""
    array = np.asarray(values)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else array.astype(str)


def same_answers(model: Any, X: Any, claim: Claim, kept: np.ndarray) -> bool:
    """Whether the model still answers as it did."""
    answer = answers_of(model, X, claim)
    if answer.shape != kept.shape:
        return False
    if kept.dtype.kind == "U" or claim.numbers["loss"] == "zero_one":
        return bool(np.array_equal(answer, kept))
    near = 1e-9 * float(
        np.max(np.abs(kept), initial=0.0)
    )  # another number of rows at a time may round products otherwise
    return bool(np.allclose(answer, kept, rtol=1e-9, atol=near))


def answers_of(model: Any, X: Any, claim: Claim) -> np.ndarray:
    """Labels, probabilities in the order of the claim's classes, or predictions in the declared range."""
    z = claim.numbers
    if z["loss"] == "brier":
        classes, known = claim.witness["classes"], labels_of(model.classes_)
        found = np.zeros((X.shape[0] if hasattr(X, "shape") else len(X), len(classes)))
        found[:, [int(np.flatnonzero(classes == name)[0]) for name in known]] = model.predict_proba(X)
        return found
    answer = np.asarray(model.predict(X) if hasattr(model, "predict") else model(X))
    if z["loss"] == "zero_one":
        return labels_of(answer)
    answer = answer.astype(np.float64).ravel()
    return np.clip(answer, z["low"], z["high"]) if z["loss"] in ("squared", "absolute") else answer
