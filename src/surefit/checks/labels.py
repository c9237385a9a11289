"""Class labels read from the data: the model's ``classes_`` must be the sorted labels that occur."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.sample import Data


@shared
def label_codes(certificate: Certificate, data: Data) -> tuple[np.ndarray, int]:
    """Return the index of each label and the number of classes; ``classes_`` must be the sorted labels."""
    classes = certificate.model.get("classes_")
    codes = None if classes is None else ranks(np.asarray(classes), data.target)
    if codes is None:
        labels, codes = np.unique(data.target, return_inverse=True)
        if classes is not None:
            raise CertificateError(
                f"{certificate.estimator}: classes_ must be the sorted labels of y, {labels[:5].tolist()}; "
                f"the model has {classes[:5].tolist()}."
            )
    return codes.reshape(-1).astype(np.int64), len(labels if classes is None else classes)


def label_table(certificate: Certificate, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Return the label indices of several targets, one column each, and their numbers of classes."""
    values, counts = (np.asarray(certificate.model[f"class_{name}_"]) for name in ("values", "counts"))
    y = data.target
    if y.ndim != 2 or counts.shape != (y.shape[1],) or counts.dtype.kind not in "iu" or counts.min(initial=1) < 1:
        raise CertificateError(f"{certificate.estimator}: class_counts_ must have one number per column of y.")
    if values.shape != (int(counts.sum()),):
        raise CertificateError(
            f"{certificate.estimator}: class_values_ must have as many labels as class_counts_ says."
        )
    lists = np.split(values, np.cumsum(counts)[:-1])
    found = [ranks(known, column) for known, column in zip(lists, y.T, strict=True)]
    columns = [column for column in found if column is not None]
    if len(columns) < len(lists):
        raise CertificateError(f"{certificate.estimator}: the classes must be the sorted labels of each column of y.")
    return np.column_stack(columns).astype(np.int64), counts


def ranks(classes: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Return the index of each label in ``classes``, or None if these are not the sorted labels that occur."""
    if classes.ndim != 1 or not len(classes) or not np.all(classes[1:] > classes[:-1]):
        return None
    y = y.ravel()
    codes = np.minimum(classes.searchsorted(y), len(classes) - 1)
    same = (classes[codes] == y).all() and np.bincount(codes, minlength=len(classes)).all()
    return codes if same else None


def class_products(factors: Any, codes: np.ndarray, counts: Any) -> np.ndarray:
    """Return the product over the targets of each row's class factor; ``factors`` are concatenated over targets."""
    factors = np.asarray(factors, dtype=np.float64)
    if codes.ndim == 1:
        return factors[codes]
    ends = np.cumsum(counts)
    found = np.ones(len(codes))
    for column, end, count in zip(codes.T, ends, counts, strict=True):
        found = found * factors[end - count : end][column]
    return found


def row_weights(data: Data) -> np.ndarray:
    """Return the sample weights, or ones if there are none."""
    return np.ones(data.X.shape[0]) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
