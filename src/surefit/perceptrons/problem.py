"""Input reading for perceptrons: rows, class indices, squared norms and starting weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.guards import memory
from surefit.core.validation import check_labels, read_data
from surefit.problems import pose
from surefit.solvers.perceptron.rows import as_rows, square_rows

READ = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}


class Labeled(NamedTuple):
    """Training data of a perceptron."""

    X: Any  # C order or CSR
    y: np.ndarray  # in the form that the checker reads: numbers are float64
    codes: np.ndarray  # class index of each label
    classes: np.ndarray
    rows: Any
    squares: np.ndarray  # |x_i|^2

    def signs(self, positive: int) -> np.ndarray:
        """Return +1 for rows of the class with index ``positive``, and -1 for the others."""
        return 2 * (self.codes == positive).astype(np.int8) - np.int8(1)


def read_labeled(estimator, X, y, *, reset: bool = True, classes: np.ndarray | None = None) -> Labeled:
    """Read training data; labels must be among ``classes`` if given, else there must be at least two classes."""
    # The squared norms, which are needed anyway, show whether X is finite; this saves one pass over the data.
    given_X, given_y = X, y
    X, y = read_data(estimator, X, y, reset=reset, ensure_all_finite=False, **READ)
    rows = as_rows(X)
    squares = np.empty(X.shape[0])
    square_rows(rows, squares)
    if not np.isfinite(squares).all():
        read_data(estimator, given_X, given_y, reset=reset, **READ)  # raises an error that locates a non-finite value
        raise InvalidData(f"{type(estimator).__name__}: the squares of X overflow; divide X by its largest entry.")
    y = y.astype(np.float64, copy=False) if y.dtype.kind in "biuf" else y
    codes, known = _codes(estimator, y, given_y, classes)
    return Labeled(X, y, codes, known, rows, squares)


def _codes(estimator, y: np.ndarray, given, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    who = type(estimator).__name__
    found = _distinct(y)
    if found.dtype.kind != "f" or np.any(found != np.rint(found)):
        check_labels(y)
    if classes is None:
        dtype = np.asarray(given).dtype
        classes = found.astype(dtype) if dtype.kind in "biu" else found
        if len(classes) < 2:
            raise InvalidData(
                f"{who}: y has one class only ({_shown(classes[0], given)}); a perceptron needs rows of at least two classes."
            )
    else:
        unknown = np.setdiff1d(found, classes)
        if len(unknown):
            raise InvalidData(
                f"{who}: y contains the label {_shown(unknown[0], given)}, which is not among the classes of the first call "
                f"({', '.join(map(repr, classes.tolist()))}); name all classes in the first call of partial_fit."
            )
    if len(classes) == 2:
        return (y == classes[1]).view(np.int8), classes
    memory.require_classes(who, len(y), len(classes))
    return np.searchsorted(classes, y), classes


def _shown(label, given) -> str:
    """Return a label in the form in which the user gave it."""
    dtype = np.asarray(given).dtype
    label = label.astype(dtype) if dtype.kind in "biu" else label
    return repr(label.item() if hasattr(label, "item") else label)


def _distinct(y: np.ndarray) -> np.ndarray:
    """Return ``np.unique(y)``, without sorting if there are only two numbers."""
    if y.dtype.kind == "f" and len(y):
        two = np.array([y.min(), y.max()])
        if two[0] < two[1] and np.all((y == two[0]) | (y == two[1])):
            return two
    return np.unique(y)


def posed(estimator, data: Labeled, weights=None) -> dict[str, Any]:
    """Set ``classes_`` and return the problem defined by the parameters."""
    who, estimator.classes_ = type(estimator).__name__, data.classes
    try:
        return pose(estimator, data.X, data.y, weights, "classes_")
    except InvalidData as error:
        raise InvalidData(f"{who}: {error}") from None
    except ValueError as error:
        raise InvalidParameter(who, "class_weight", str(error), estimator.class_weight) from None


def starting_weights(estimator, coef, intercept, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return copies of the starting weights and intercepts, one row per problem; zeros if none are given."""
    who, (lines, d) = type(estimator).__name__, shape
    w = np.zeros(shape) if coef is None else np.array(coef, dtype=np.float64)
    b = np.zeros(lines) if intercept is None else np.array(intercept, dtype=np.float64)
    if w.size != lines * d:
        raise InvalidParameter(who, "coef_init", f"an array of shape {shape}", w.shape)
    if b.size != lines:
        raise InvalidParameter(who, "intercept_init", f"an array of shape {(lines,)}", b.shape)
    if not (np.all(np.isfinite(w)) and np.all(np.isfinite(b))):
        raise InvalidParameter(who, "coef_init and intercept_init", "finite numbers", "a value that is not finite")
    if not estimator.fit_intercept and np.any(b):
        raise InvalidParameter(who, "intercept_init", "zero, or None, with fit_intercept=False", b.tolist())
    return w.reshape(shape), b.reshape(lines)
