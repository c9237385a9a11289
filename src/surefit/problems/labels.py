"""Labels and class weights in the form stored in a problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from surefit.core.partitioned import exact_sum, rounded
from surefit.problems.decoding import as_dict

#: Number of labels up to which they are sorted and searched; more small integers are counted and looked up.
FEW = 1024


def named_classes(y: Any) -> list[Any]:
    """Return the sorted labels in the form stored in a problem."""
    small = _small_integers(np.asarray(y))
    return names_of(np.unique(y) if small is None else np.flatnonzero(np.bincount(small)))


def _small_integers(labels: np.ndarray) -> np.ndarray | None:
    """Return many numbers as integers if all are integers from 0 to 2**15, else None."""
    if len(labels) <= FEW or labels.dtype.kind not in "iuf" or not (labels.min() >= 0 and labels.max() < 2**15):
        return None
    integers = labels.astype(np.int64)
    return integers if np.array_equal(integers, labels) else None


def names_of(labels: np.ndarray) -> list[Any]:
    """Return labels in their order, in the form stored in a problem: numbers as floats, others as strings."""
    return [float(label) for label in labels] if labels.dtype.kind in "biuf" else [str(label) for label in labels]


def class_codes(y: np.ndarray, classes: list[Any]) -> np.ndarray:
    """Return the position of each label among ``classes``; raise an error for an unknown label."""
    labels = np.asarray(y, dtype=np.float64) if y.dtype.kind in "biuf" else np.asarray(y).astype(str)
    known, small = np.asarray(classes), None if len(classes) == 2 else _small_integers(labels)
    if len(known) == 2:
        codes = (labels == known[1]).astype(np.int64)
    elif small is not None and known.dtype.kind == "f":
        codes = _positions(known, np.arange(small.max() + 1))[small]
    else:
        codes = _positions(known, labels)
    if not (known[codes] == labels).all():
        raise ValueError("a row has a label that is not among the classes")
    return codes


def indicators(codes: np.ndarray, k: int, other: float = -1.0) -> np.ndarray:
    """Return 1 for rows of class ``k`` and ``other`` (0 or -1) for the rest; ``np.where`` takes three times as long.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.problems.labels import indicators
    >>> indicators(np.array([0, 1, 2]), 1)
    array([-1.,  1., -1.])
    """
    found = (codes == k).astype(np.float64)
    if other:
        found *= 1.0 - other
        found += other
    return found


def _positions(known: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the positions of labels that are among the sorted ``known``; those of others are arbitrary."""
    return (
        np.minimum(np.searchsorted(known, labels), len(known) - 1) if len(known) else np.zeros(len(labels), dtype=int)
    )


def weights_by_class(asked: Any, classes: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
    """Return scikit-learn's class weights; sums of sample weights are exact, so the result does not depend on the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.problems.labels import weights_by_class
    >>> weights_by_class("balanced", np.arange(2), np.array([0, 1, 1]), np.array([0.1, 0.1, 0.2]))
    array([2.        , 0.66666667])
    """
    if sample_weight is not None:
        labels, codes = np.unique(y, return_inverse=True)
        totals = [rounded(exact_sum(sample_weight[codes == k])) for k in range(len(labels))]
        y, sample_weight = labels, np.array(totals)
    return compute_class_weight(asked, classes=classes, y=y, sample_weight=sample_weight)


def class_weights(asked: Any, y: np.ndarray, classes: list[Any], sample_weight: np.ndarray | None) -> list[float]:
    """Return one weight per class for the parameter ``class_weight``: None, "balanced" or a dictionary."""
    if asked is None:
        return [1.0] * len(classes)
    if isinstance(asked, str):
        codes = class_codes(y, classes)
        found = weights_by_class(asked, np.arange(len(classes)), codes, sample_weight)
        return [float(weight) for weight in found]
    table = {key if isinstance(key, str) else float(key): float(weight) for key, weight in as_dict(asked).items()}
    return [table.get(label, 1.0) for label in classes]


def class_factors(class_weight: Any, y: np.ndarray | None, weights: np.ndarray | None = None) -> list[float] | None:
    """Return the factors of the sorted classes, concatenated over several targets; None if ``class_weight`` is None."""
    if class_weight is None:
        return None
    if y is None:
        raise ValueError("class weights need labels")
    if y.ndim == 2:
        asked = [class_weight] * y.shape[1] if isinstance(class_weight, str) else class_weight
        if isinstance(asked, dict) or len(asked) != y.shape[1]:
            raise ValueError(f"several targets need 'balanced' or a list of {y.shape[1]} dictionaries, one per target")
        parts = [class_factors(each, column, weights) or [] for each, column in zip(asked, y.T, strict=True)]
        return [factor for part in parts for factor in part]
    found = weights_by_class(as_dict(class_weight), np.unique(y), y, weights)
    return [float(factor) for factor in found]
