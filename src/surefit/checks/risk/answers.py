"""Losses of a model on rows, computed from its own predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data


def labels_of(values: Any) -> np.ndarray:
    """Return numeric labels as floats and other labels as strings."""
    array = np.asarray(values)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else array.astype(str)


def answers_of(model: Any, X: Any, z: dict[str, Any]) -> np.ndarray:
    """Return labels, probabilities, or predictions clipped to the declared range, as the loss in ``z`` requires."""
    if z["loss"] == "brier":
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    raw = np.asarray(model.predict(X) if hasattr(model, "predict") else model(X))
    raw = raw.ravel() if raw.ndim == 2 and raw.shape[1] == 1 else raw
    if z["loss"] == "zero_one":
        return labels_of(raw)
    if z["loss"] == "custom":
        return raw
    answer = raw.astype(np.float64)
    return np.clip(answer, z["low"], z["high"]) if z["loss"] in ("squared", "absolute") else answer


def row_losses(model: Any, X: Any, y: np.ndarray, z: dict[str, Any], function: Any = None) -> np.ndarray:
    """Return the loss of each row, from 0 to 1; for a quantile, the absolute error itself."""
    answer = answers_of(model, X, z)
    if z["loss"] == "zero_one":
        return (answer != labels_of(y)).astype(np.float64)
    if z["loss"] == "brier":
        hit = labels_of(y)[:, None] == labels_of(model.classes_)[None, :]
        right = np.sum(np.where(hit, answer, 0.0), axis=1)  # zero for a class that the model does not know
        return np.clip(0.5 * (np.sum(answer * answer, axis=1) - 2.0 * right + 1.0), 0.0, 1.0)
    if z["loss"] == "custom":
        return np.asarray(function(y, answer), dtype=np.float64)
    error = np.abs(y.astype(np.float64) - answer)
    if z["loss"] == "quantile":
        return error
    if z["loss"] == "miss":
        return (~(error <= z["tolerance"])).astype(np.float64)  # a prediction of NaN counts as a miss
    share = error / (z["high"] - z["low"])
    return share**2 if z["loss"] == "squared" else share


def constant_loss(y: np.ndarray, z: dict[str, Any]) -> float:
    """Return the mean loss of the best constant prediction; a bound that is not below it is vacuous."""
    if z["loss"] in ("zero_one", "brier"):
        shares = np.unique(labels_of(y), return_counts=True)[1] / len(y)
        return float(1.0 - shares.max()) if z["loss"] == "zero_one" else float(0.5 * (1.0 - np.sum(shares**2)))
    if z["loss"] == "miss":
        ordered = np.sort(y.astype(np.float64))
        within = np.searchsorted(ordered, ordered + 2 * z["tolerance"], side="right") - np.arange(len(ordered))
        return 1.0 - float(within.max()) / len(ordered)
    if z["loss"] not in ("squared", "absolute"):
        return 1.0
    target = y.astype(np.float64) / (z["high"] - z["low"])
    return float(np.var(target) if z["loss"] == "squared" else np.mean(np.abs(target - np.median(target))))


def class_trouble(subject: Any, data: Data) -> str:
    """Return why the classes of a meta-estimator are not those of its rows; an empty string if they are."""
    known = getattr(subject, "__dict__", {}).get("_classes_of_y")
    if known is None:
        return ""
    present = data.X.labels if isinstance(data.X, PartitionedRows) else np.unique(data.target)
    if np.array_equal(labels_of(known), labels_of(present)):
        return ""
    return "the classes of the model are not those of the rows"
