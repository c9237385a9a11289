"""Validation for feature maps: numeric rows, and a kernel on vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import Rule
from surefit.kernels import Kernel
from surefit.problems.kernels import kernel_in

VALUES = 1 << 17  # number of values at a time; larger temporary arrays are new memory pages in every call
READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}

KERNEL = Rule(
    "the name of a kernel, a kernel of surefit.kernels, or a function of two samples",
    lambda v: isinstance(v, (str, Kernel)) or callable(v),
)


def resolved(estimator, X) -> Kernel:
    """Return the kernel of the estimator for these rows; raise ``InvalidParameter`` if it is not a kernel on vectors."""
    who = type(estimator).__name__
    kernel = kernel_in({"kernel": estimator.kernel, **estimator.get_params(deep=False)}, X, who=who)
    if kernel.takes not in ("vectors", "anything"):
        raise InvalidParameter(who, "kernel", "a kernel on vectors", estimator.kernel)
    return kernel
