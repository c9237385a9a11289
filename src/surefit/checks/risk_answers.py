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
    answer, near = answers_of(model, X, claim)
    if answer.shape != kept.shape:
        return False
    if kept.dtype.kind == "U" or claim.numbers["loss"] == "zero_one":
        return bool(np.array_equal(answer, kept))
    return close(answer, kept, near)


def close(answer: np.ndarray, kept: np.ndarray, near: float) -> bool:
    """Whether two answers are equal but for rounding: another number of rows at a time may round products otherwise."""
    return bool(np.allclose(answer, kept, rtol=near, atol=near * float(np.max(np.abs(kept), initial=0.0))))


def rounding_of(raw: np.ndarray) -> float:
    """Relative rounding to be allowed for in the answers of a model, by the precision in which it gives them."""
    return 1e-4 if raw.dtype in (np.float32, np.float16) else 1e-9


def answers_of(model: Any, X: Any, claim: Claim) -> tuple[np.ndarray, float]:
    """Labels, probabilities in the order of the claim's classes, or predictions in the declared range; and their rounding."""
    z = claim.numbers
    if z["loss"] == "brier":
        classes, known, raw = claim.witness["classes"], labels_of(model.classes_), np.asarray(model.predict_proba(X))
        found = np.zeros((len(raw), len(classes)))
        found[:, [int(np.flatnonzero(classes == name)[0]) for name in known]] = raw
        return found, rounding_of(raw)
    raw = np.asarray(model.predict(X) if hasattr(model, "predict") else model(X))
    if z["loss"] == "zero_one":
        return labels_of(raw), 0.0
    answer = raw.astype(np.float64).ravel()
    return np.clip(answer, z["low"], z["high"]) if z["loss"] in ("squared", "absolute") else answer, rounding_of(raw)
