"""Targets with several columns: classes, codes and class probabilities of each target."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.distinct import unique_rows
from surefit.core.errors import InvalidParameter, InvalidType


def require_dense(estimator: Any, y: Any) -> None:
    """Raise ``InvalidType`` for a sparse target, which compiled loops cannot read."""
    if sparse.issparse(y):
        raise InvalidType(
            f"{type(estimator).__name__}: y is a sparse table, and sparse multilabel-indicator for y is not supported. "
            "Pass y.toarray()."
        )


def one_or_several(y: np.ndarray) -> np.ndarray:
    """Return a table with one column as a vector, and other arrays unchanged."""
    return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y


def refuse_several(estimator: Any, y: np.ndarray, **expected: str) -> None:
    """Raise ``InvalidParameter`` if there are several targets and a parameter in ``expected``, which requires one, is set."""
    for name, words in expected.items():
        if y.ndim == 2 and getattr(estimator, name) is not None:
            raise InvalidParameter(type(estimator).__name__, name, words, getattr(estimator, name))


def read_classes(y: np.ndarray) -> tuple[Any, np.ndarray, Any]:
    """Return sorted labels, codes of the rows and number of classes; for several targets, lists and one column of codes per target.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.outputs import read_classes
    >>> read_classes(np.array([[3, 1], [5, 1]]))
    ([array([3, 5]), array([1])], array([[0, 0],
           [1, 0]]), [2, 1])
    """
    if y.ndim == 1:
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes, len(classes)
    found = [np.unique(column, return_inverse=True) for column in y.T]
    lists = [classes for classes, _ in found]
    return lists, np.column_stack([codes for _, codes in found]), [len(classes) for classes in lists]


def row_factors(factors: np.ndarray, codes: np.ndarray, n_classes: Any) -> np.ndarray:
    """Return the weight of each row, the product over the targets of the weights of its classes; ``factors`` is concatenated."""
    if codes.ndim == 1:
        return factors[codes]
    return factors[codes + np.cumsum([0, *n_classes[:-1]])].prod(axis=1)


def logarithms(shares: Any) -> Any:
    """Return the logarithm of a table, or of each table of a list, with minus infinity for zero."""
    if isinstance(shares, list):
        return [logarithms(table) for table in shares]
    with np.errstate(divide="ignore"):
        return np.log(shares)


def target_ranks(y: np.ndarray) -> np.ndarray:
    """Return a vector that sorts in the same order as the rows of ``y``."""
    return y if y.ndim == 1 else unique_rows(y, return_inverse=True)[1].reshape(-1)


class ClassListsMixin:
    """Mixin for classifiers with one or several targets: ``classes_`` is an array, or a list with one array per target."""

    classes_: Any

    @property
    def class_values_(self) -> np.ndarray:
        """Classes of all targets, concatenated."""
        return np.concatenate(self.classes_) if isinstance(self.classes_, list) else np.asarray(self.classes_)

    @property
    def class_counts_(self) -> np.ndarray:
        """Number of classes of each target."""
        several = isinstance(self.classes_, list)
        return np.array([len(known) for known in self.classes_] if several else [len(self.classes_)])

    def _class_attributes(self) -> tuple[str, ...]:
        return ("class_values_", "class_counts_") if isinstance(self.classes_, list) else ("classes_",)

    def _class_shares(self, values: np.ndarray) -> Any:
        """Split concatenated class shares into a table, or a list with one table per target."""
        if isinstance(self.classes_, list):
            return np.split(values, np.cumsum(self.class_counts_)[:-1], axis=1)
        return values[:, : len(self.classes_)]

    def _class_labels(self, values: np.ndarray) -> np.ndarray:
        """Return the label with the largest share, for each target; ties go to the first class."""
        if not isinstance(self.classes_, list):
            return self.classes_[self._class_shares(values).argmax(axis=1)]
        pairs = zip(self.classes_, self._class_shares(values), strict=True)
        return np.column_stack([known[shares.argmax(axis=1)] for known, shares in pairs])
