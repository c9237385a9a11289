"""Validation of samples for Gaussian processes: any kernel except precomputed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from surefit.core.validation import Rule, read_data, read_strings
from surefit.kernels import Kernel, resolve
from surefit.problems.processes import kernel_in, learned_kernel

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
KERNEL = Rule("None, a kernel, or the name of one", lambda v: v is None or not isinstance(v, (int, float, bool, type)))


def kernel_for(estimator, X=None) -> Kernel:
    """Return a new kernel for a fit; None means scikit-learn's default kernel for a regressor or classifier."""
    read = kernel_in if is_classifier(estimator) else learned_kernel
    return read(estimator.get_params(deep=False), X, type(estimator).__name__)


def reads_strings(estimator) -> bool:
    """Return whether the samples are lists of strings."""
    named = estimator.kernel is None or isinstance(estimator.kernel, str)
    return not named and resolve(estimator.kernel).takes == "strings"


def read_rows(estimator, X):
    """Validate rows for prediction."""
    if reads_strings(estimator):
        return read_strings(type(estimator).__name__, X)
    return read_data(estimator, X, reset=False, **READ)
