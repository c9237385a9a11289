"""Kernels of scikit-learn without a counterpart in surefit, including user-defined ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from surefit.core.validation import Rule, read_strings
from surefit.kernels.base import Kernel
from surefit.kernels.hyperparameters import Hyperparameter, spread
from surefit.kernels.vectors import dense


class Untranslated(Kernel):
    r"""Kernel object :math:`k(x, y)` of scikit-learn that has no counterpart in surefit.

    Samples are lists of strings if the kernel does not need vectors. All other attributes are those of ``kernel``.
    Guarantee: none about the kernel; the checker evaluates it again.

    Parameters
    ----------
    kernel : kernel of ``sklearn.gaussian_process.kernels``, or of a class derived from one
        The kernel.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import PairwiseKernel
    >>> from surefit.kernels import resolve
    >>> resolve(PairwiseKernel(metric="laplacian"))([[0.0]], [[1.0]]).round(4)
    array([[0.3679]])
    """

    positive_semidefinite = None
    _rules = {"kernel": Rule("a kernel of scikit-learn", lambda value: hasattr(value, "clone_with_theta"))}

    def __init__(self, kernel):
        self.kernel = kernel

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "kernel" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.kernel, name)

    @property
    def takes(self) -> str:  # type: ignore[override]
        """Kind of sample."""
        derived = {"ConstantKernel", "WhiteKernel"} & {
            base.__name__ for base in type(self.kernel).__mro__
        }  # take anything
        return "vectors" if derived or self.kernel.requires_vector_input else "strings"

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """Whether the kernel reports that it is stationary."""
        return bool(self.kernel.is_stationary())

    def read(self, X) -> Any:
        """Validate a sample; sparse rows become dense."""
        return dense(super().read(X)) if self.takes == "vectors" else read_strings("Untranslated", X)

    def _gram(self, A, B):
        return self.kernel(A, B)

    def _diagonal(self, A):
        return self.kernel.diag(A)

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Hyperparameters of the scikit-learn kernel, in its own order."""
        values = self.kernel.get_params()
        return tuple(
            each
            for h in self.kernel.hyperparameters
            for each in spread(f"kernel__{h.name}", values[h.name], "fixed" if h.fixed else h.bounds)
        )

    def _derivatives(self, A, K) -> list[Callable[[], np.ndarray]]:
        found: list[np.ndarray] = []

        def derivative(place: int) -> np.ndarray:
            if not found:
                found.append(self.kernel(A, eval_gradient=True)[1])
            return found[0][:, :, place]

        free = np.cumsum([not h.fixed for h in self.hyperparameters]) - 1  # scikit-learn omits fixed hyperparameters
        return [partial(derivative, int(place)) for place in free]

    def to_record(self) -> dict[str, Any]:
        """Return the class and the hyperparameters; the kernel function itself cannot be recorded."""
        return {**super().to_record(), "theta": self.theta.tolist()}

    def _key(self) -> tuple:
        return type(self.kernel), repr(self.kernel.get_params())

    def __repr__(self, N_CHAR_MAX=700):
        return repr(self.kernel)
