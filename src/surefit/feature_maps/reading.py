"""What feature maps read: rows of numbers, and a kernel of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import Rule
from surefit.kernels import Kernel, resolve

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}

KERNEL = Rule(
    "the name of a kernel, a kernel of surefit.kernels, or a function of two samples",
    lambda v: isinstance(v, (str, Kernel)) or callable(v),
)


def resolved(estimator, X) -> Kernel:
    """Return the kernel of the estimator on these rows; one of other things than vectors is refused."""
    who = type(estimator).__name__
    degree, coef0 = getattr(estimator, "degree", 3), getattr(estimator, "coef0", 0.0)
    kernel = resolve(estimator.kernel, gamma=estimator.gamma, degree=int(degree), coef0=coef0, X=X, who=who)
    if kernel.takes not in ("vectors", "anything"):
        raise InvalidParameter(who, "kernel", "a kernel of vectors", estimator.kernel)
    return kernel
