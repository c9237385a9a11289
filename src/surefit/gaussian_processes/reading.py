"""What Gaussian processes read: samples for any kernel but values that were computed before."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.core.errors import InvalidParameter
from surefit.core.validation import Rule, read_data, read_strings
from surefit.kernels import RBF, Kernel, Scaled, resolve

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
KERNEL = Rule("None, a kernel, or the name of one", lambda v: v is None or not isinstance(v, (int, float, bool, type)))


def kernel_for(estimator, X=None) -> Kernel:
    """Return a kernel of its own for a fit; None means a Gaussian kernel that is not learnt, as in scikit-learn."""
    who = type(estimator).__name__
    if estimator.kernel is None:
        return Scaled(RBF(1.0, "fixed"), 1.0, "fixed")
    kernel = resolve(estimator.kernel, X=X, who=who)
    if kernel.takes == "values":
        raise InvalidParameter(
            who, "kernel", "a kernel of elements; precomputed values say nothing about new rows", kernel
        )
    return clone(kernel)


def reads_strings(estimator) -> bool:
    """Whether the samples are lists of strings."""
    return isinstance(estimator.kernel, Kernel) and estimator.kernel.takes == "strings"


def read_rows(estimator, X):
    """Read rows to predict."""
    if reads_strings(estimator):
        return read_strings(type(estimator).__name__, X)
    return read_data(estimator, X, reset=False, **READ)
