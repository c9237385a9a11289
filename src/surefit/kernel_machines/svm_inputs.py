"""Input reading for support vector machines: samples for any kernel, labels and weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.guards import memory
from surefit.core.validation import check_labels, read_data, read_strings, read_weights
from surefit.kernels import Kernel
from surefit.problems.kernels import kernel_in
from surefit.problems.labels import weights_by_class

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


class Sample(NamedTuple):
    """Training data of a kernel machine."""

    X: Any
    y: np.ndarray  # numbers are float64, as the checker reads them
    given: np.ndarray  # labels as given
    sample_weight: np.ndarray | None
    kernel: Kernel


class Labels(NamedTuple):
    """Classes, the class index of each row, class weights and row weights."""

    codes: np.ndarray
    classes: np.ndarray
    class_weights: np.ndarray
    weights: np.ndarray

    @property
    def named(self) -> list:
        """Classes as floats or strings, as certificates store them in JSON."""
        kinds = self.classes
        return [float(label) for label in kinds] if kinds.dtype.kind in "biuf" else [str(label) for label in kinds]


def reads_strings(kernel) -> bool:
    """Whether the samples of this kernel are lists of strings."""
    return isinstance(kernel, Kernel) and kernel.takes == "strings"


def read_sample(estimator, X, y, sample_weight, *, numeric: bool = False) -> Sample:
    """Read the training data and resolve the kernel; ``y`` is None for unsupervised machines."""
    who = type(estimator).__name__
    if y is None and not estimator.__sklearn_tags__().target_tags.required:
        X = read_strings(who, X) if reads_strings(estimator.kernel) else read_data(estimator, X, **READ)
        return _sample(estimator, X, None, None, sample_weight)
    if reads_strings(estimator.kernel):
        X = read_strings(who, X)
        y = column_or_1d(np.asarray(y), warn=True)
        if len(y) != len(X):
            raise InvalidData(f"{who}: X has {len(X)} elements and y {len(y)}; one target per element is needed.")
        y = y.astype(np.float64) if numeric else y
    else:
        X, y = read_data(estimator, X, y, y_numeric=numeric, **READ)
    return _sample(estimator, X, y.astype(np.float64) if y.dtype.kind in "biuf" else y, y, sample_weight)


def _sample(estimator, X, numbers, given, sample_weight) -> Sample:
    who = type(estimator).__name__
    weights = read_weights(estimator, sample_weight, X.shape[0])
    kernel = kernel_in(estimator.get_params(deep=False), X, weights, who)
    if kernel.takes == "values" and X.shape[0] != X.shape[1]:
        raise InvalidData(f"{who}: a precomputed kernel must be a square matrix; got shape {X.shape}.")
    return Sample(X, numbers, given, weights, kernel)


def read_rows(estimator, X):
    """Read rows to predict."""
    if reads_strings(estimator.kernel):
        return read_strings(type(estimator).__name__, X)
    return read_data(estimator, X, reset=False, **READ)


def read_labels(estimator, sample: Sample) -> Labels:
    """Encode the labels; every class must have a row of positive weight."""
    who = type(estimator).__name__
    check_labels(sample.given)
    classes, codes = np.unique(sample.given, return_inverse=True)
    memory.require_classes(who, len(codes), len(classes))
    if len(classes) < 2:
        raise InvalidData(
            f"{who}: y has one class only ({classes.tolist()[0]!r}); a classifier needs rows of at least two classes."
        )
    factors = np.ones(len(classes))
    if estimator.class_weight is not None:
        try:
            factors = weights_by_class(estimator.class_weight, classes, sample.given, sample.sample_weight)
        except (TypeError, ValueError) as error:
            raise InvalidParameter(who, "class_weight", str(error), estimator.class_weight) from None
        if not (np.all(np.isfinite(factors)) and np.all(factors >= 0)):
            raise InvalidParameter(who, "class_weight", "None, 'balanced' or weights >= 0", estimator.class_weight)
    weights = factors[codes] if sample.sample_weight is None else factors[codes] * sample.sample_weight
    present = np.bincount(codes, weights=weights, minlength=len(classes)) > 0
    if not present.all():
        raise InvalidData(
            f"{who}: Invalid input - all samples of class {classes.tolist()[int(np.argmin(present))]!r} have zero or "
            "negative weights; leave the class out, or give one of its rows a weight."
        )
    return Labels(codes, classes, factors, weights)
