"""User-defined functions as kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.validation import Rule, read_strings
from surefit.kernels.base import Kernel
from surefit.kernels.vectors import dense


class Function(Kernel):
    r"""Kernel :math:`k(x, x')` given as a function of two samples that returns all values between them, or of two rows.

    Guarantee: none; :func:`surefit.check_kernel` searches for a counterexample.

    Parameters
    ----------
    function : callable(A, B) -> array of shape (n_a, n_b), or callable(a, b) -> number
        The function. It receives matrices of numbers, or the samples that ``takes`` describes; if it does not return one value per
        pair, it is called once per pair of rows.
    sample : {"vectors", "strings"}, default="vectors"
        Kind of sample.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.kernels import Function
    >>> Function(lambda A, B: np.minimum(A, B.T))([[1.0], [3.0]])
    array([[1., 1.],
           [1., 3.]])
    >>> Function(lambda a, b: np.minimum(a, b).sum())([[1.0, 2.0], [3.0, 0.0]])
    array([[3., 1.],
           [1., 3.]])
    """

    positive_semidefinite = None
    _rules = {
        "function": Rule("a function of two samples", callable),
        "sample": Rule('"vectors" or "strings"', lambda value: value in ("vectors", "strings")),
    }

    def __init__(self, function, sample="vectors"):
        self.function = function
        self.sample = sample

    @property
    def takes(self) -> str:  # type: ignore[override]
        """Kind of sample."""
        return self.sample

    def read(self, X) -> Any:
        """Validate a sample; sparse rows become dense."""
        if self.sample == "strings":
            return read_strings("Function", X)
        return dense(super().read(X))

    def _gram(self, A, B):
        shape, failure, got = (A.shape[0], B.shape[0]), None, None
        try:
            values = np.asarray(self.function(A, B), dtype=np.float64)
            if values.shape == shape:
                return values
            got = values.shape
        except (TypeError, ValueError, IndexError) as error:  # the function may expect two rows
            failure = error
        try:
            return np.array([[float(self.function(a, b)) for b in B] for a in A]).reshape(shape)
        except (TypeError, ValueError, IndexError):
            if failure is not None:
                raise failure from None
        raise InvalidData(f"Function: the kernel function must return an array of shape {shape}; got {got}.")
