"""One-hot encoding of labels, and the matching output units."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import column_or_1d

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import check_labels, read_data, read_weights
from surefit.neural.base import READ
from surefit.neural.training import Sample, as_rows
from surefit.solvers.networks.outputs import Output


def read_labels(estimator, X, y, sample_weight, *, again: bool) -> Sample:
    """Read the training data; if ``again`` is true, the labels must be among the known classes."""
    who = type(estimator).__name__
    X, y = read_data(estimator, X, y, reset=not again or not hasattr(estimator, "coefs_"), multi_output=True, **READ)
    y = column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y
    check_labels(y)
    if not again:
        _learn(estimator, y)
    else:
        unknown = np.setdiff1d(unique_labels(y), estimator.classes_)
        if len(unknown):
            raise InvalidData(
                f"{who}: `y` has classes not in `self.classes_`: {unknown[0]!r} is not among {estimator.classes_.tolist()}."
            )
    return _sample(estimator, X, y, read_weights(estimator, sample_weight, X.shape[0]))


def read_validation(estimator, X_val, y_val, sample: Sample) -> Sample | None:
    """Read the validation rows, if any."""
    if X_val is None and y_val is None:
        return None
    if X_val is None or y_val is None:
        raise InvalidData(f"{type(estimator).__name__}: X_val and y_val must be passed together.")
    X, y = read_data(estimator, X_val, y_val, reset=False, multi_output=True, **READ)
    unknown = np.setdiff1d(unique_labels(y), estimator.classes_)
    if len(unknown):
        raise InvalidData(f"{type(estimator).__name__}: y_val has the label {unknown[0]!r}, which is not in y.")
    return _sample(estimator, X.astype(sample.X.dtype, copy=False), y, None)


def first_labels(estimator, y, classes) -> None:
    """Store the labels in the first call of ``partial_fit``; later calls must agree."""
    who = type(estimator).__name__
    if hasattr(estimator, "coefs_"):
        if classes is not None and not np.array_equal(unique_labels(classes), estimator.classes_):
            raise InvalidParameter(
                who, "classes", f"the same as in the first call, {estimator.classes_.tolist()}", list(classes)
            )
        return
    if classes is None:
        raise InvalidParameter(who, "classes", "passed in the first call of partial_fit", None)
    _learn(estimator, np.asarray(y) if type_of_target(y).startswith("multilabel") else np.asarray(classes))


def output_of(estimator) -> Output:
    """Return the output units and the loss."""
    if estimator.output == "identity":
        if estimator.loss != "squared_error":
            raise InvalidParameter(
                type(estimator).__name__, "loss", "'squared_error' with output='identity'", estimator.loss
            )
        return Output("identity", "squared_error")
    many = estimator._label_binarizer.y_type_ == "multiclass"
    return Output("softmax" if many else "logistic", estimator.loss)


def _learn(estimator, y: np.ndarray) -> None:
    if y.dtype.kind == "O" and all(isinstance(label, str) for label in y.ravel()):
        y = y.astype(str)
    estimator._label_binarizer = LabelBinarizer().fit(y)
    estimator.classes_ = estimator._label_binarizer.classes_


def _sample(estimator, X, y: np.ndarray, weights) -> Sample:
    known = y.astype(str) if estimator.classes_.dtype.kind == "U" else y
    Y = np.ascontiguousarray(estimator._label_binarizer.transform(known), dtype=np.float64)
    return Sample(as_rows(X), Y, weights, y.astype(np.float64) if y.dtype.kind in "biuf" else y)
