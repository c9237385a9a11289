"""Input reading for kernel regressions, and prediction from the coefficients of the training elements."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.guards import memory
from surefit.core.validation import NOTHING, POSITIVE, REAL, Rule, read_data, read_strings, read_weights
from surefit.kernels import Kernel
from surefit.problems.kernels import kernel_in

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}
PIECE = 1 << 21  # maximum number of kernel values stored at a time during prediction

KERNEL_RULES: dict[str, Rule] = {
    "kernel": Rule(
        "the name of a kernel, a kernel of surefit.kernels, or a function of two samples",
        lambda v: isinstance(v, (str, Kernel)) or callable(v),
    ),
    "gamma": NOTHING | POSITIVE,
    "degree": Rule("an integer >= 1", lambda v: REAL.allows(v) and v == int(v) and v >= 1),
    "coef0": REAL,
    "kernel_params": NOTHING | Rule("a dict", lambda v: isinstance(v, dict)),
}


class KernelTargets(NamedTuple):
    """Training data of a kernel regression."""

    X: Any
    y: np.ndarray  # in the form that the checker reads
    Y: np.ndarray  # one column per target
    weights: np.ndarray | None
    kernel: Kernel
    single: bool  # whether y was one-dimensional


def read_kernel_targets(estimator, X, y, sample_weight) -> KernelTargets:
    """Read X, targets and weights, and resolve the kernel."""
    who = type(estimator).__name__
    if reads_strings(estimator):
        X, y = read_strings(who, X), np.asarray(y, dtype=np.float64)
        if len(y) != len(X):
            raise InvalidData(f"{who}: X has {len(X)} elements and y {len(y)}; one target per element is needed.")
    else:
        X, y = read_data(estimator, X, y, multi_output=True, y_numeric=True, **READ)
    weights = read_weights(estimator, sample_weight, X.shape[0])
    y = y.astype(np.float64)
    Y = y.reshape(X.shape[0], -1)
    return KernelTargets(X, y.ravel() if Y.shape[1] == 1 else y, Y, weights, kernel_of(estimator, X), y.ndim == 1)


def kernel_of(estimator, X, weights=None) -> Kernel:
    """Resolve the estimator's kernel; a precomputed kernel matrix must be square."""
    who = type(estimator).__name__
    resolved = kernel_in(estimator.get_params(deep=False), X, weights, who)
    if resolved.takes == "values" and X.shape[0] != X.shape[1]:
        raise InvalidData(
            f"{who}: a precomputed kernel must be a square matrix (should be a square kernel matrix); got shape {X.shape}."
        )
    return resolved


def reads_strings(estimator) -> bool:
    """Whether the samples of the estimator's kernel are lists of strings."""
    return isinstance(estimator.kernel, Kernel) and estimator.kernel.takes == "strings"


def gram_of(who: str, kernel: Kernel, X) -> np.ndarray:
    """Return the Gram matrix of the training elements; raise if memory does not suffice or a value is not finite."""
    rows = kernel.rows(X)
    memory.require(who, rows.n, memory.KERNEL, remedy=memory.LANDMARKS)
    K = rows.block(np.arange(rows.n))
    if not np.isfinite(K.sum()) and not np.all(np.isfinite(K)):
        raise InvalidData(f"{who}: some kernel values are not finite; scale the columns, or change the kernel.")
    return K


class KernelSumMixin:
    """Mixin that computes ``sum_j c_j k(x_j, x)`` over the training elements and sets the tags."""

    kernel: Any
    kernel_: Kernel
    X_fit_: Any

    def _read_rows(self, X):
        if reads_strings(self):
            return read_strings(type(self).__name__, X)
        return read_data(self, X, reset=False, **READ)

    def _sums(self, X, coefficients: np.ndarray) -> np.ndarray:
        """Return the values of the functions with these coefficients, one column each, computed in blocks of rows."""
        n, every = X.shape[0], np.arange(len(coefficients))
        if isinstance(X, np.ndarray) and np.may_share_memory(X, self.X_fit_):
            X = X.copy(order="K")  # NumPy multiplies an array with itself by another routine, whose last digits differ
        values = np.empty((n, coefficients.shape[1]))
        step = max(1, PIECE // max(1, len(every)))
        for start in range(0, n, step):
            part = slice(start, start + step)
            values[part] = self.kernel_.combined(X[part], every, self.X_fit_, coefficients)
        return values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not given
        tags.input_tags.pairwise = given
        return tags
