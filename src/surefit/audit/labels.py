"""Class labels and class weights, as a model of another library and as a certificate store them."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from surefit.audit.reading import attribute, named, target_of
from surefit.core.errors import InvalidData
from surefit.core.sample import Data


def classes_of(model, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of the model and their weights, computed from ``class_weight``."""
    _, ones = labels_of(model, data, None)
    classes = attribute(model, "classes_")
    if model.class_weight is None:
        return classes, ones
    labels = as_classes(target_of(model, data), classes)
    return classes, compute_class_weight(model.class_weight, classes=classes, y=labels, sample_weight=data.weights)


def labels_of(model, data: Data, weights: np.ndarray | None) -> tuple[list, np.ndarray]:
    """Return the classes as stored in a certificate, and their weights; raise an error for a label of no class."""
    classes, y = attribute(model, "classes_"), target_of(model, data)
    unknown = ~np.isin(as_classes(y, classes), classes)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InvalidData(
            f"certify: row {row} has the label {y[row]!r}, which this {type(model).__name__} was not fitted on."
        )
    return named(classes), np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=np.float64)


def as_classes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the labels converted to the dtype of numeric classes."""
    return y if classes.dtype.kind not in "biuf" else y.astype(classes.dtype)
