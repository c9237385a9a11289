"""Common parts of kernels made of other kernels: values and hyperparameters of their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.validation import Rule
from surefit.kernels.base import Kernel
from surefit.kernels.hyperparameters import Hyperparameter
from surefit.kernels.rows import CombinedRows

KERNEL = Rule("a kernel", lambda value: isinstance(value, Kernel))


def row_products(F: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Return all products of a feature of ``F`` with one of ``G``, row by row."""
    return (F[:, :, None] * G[:, None, :]).reshape(len(F), -1)


class _Combined(Kernel):
    """Kernel whose values are a function ``_combined`` of the values of its ``_parts``."""

    _parts: Any  # () -> the component kernels
    _combined: Any  # (their values) -> values

    def _gram(self, A, B):
        return self._combined(*(part._gram(A, B) for part in self._parts()))

    def _diagonal(self, A):
        return self._combined(*(part._diagonal(A) for part in self._parts()))

    def _prepared(self, A, dtype):
        return super()._prepared(A, dtype) if self.takes == "values" else CombinedRows(self, A, dtype)


class _Wrapped(_Combined):
    """Kernel made of one other kernel on the same samples."""

    kernel: Kernel

    def _parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @property
    def takes(self) -> str:  # type: ignore[override]
        """Kind of sample of the inner kernel."""
        return self.kernel.takes

    @property
    def positive_semidefinite(self) -> bool | None:  # type: ignore[override]
        """Whether the inner kernel is positive semidefinite and is not multiplied by a negative factor."""
        return getattr(self, "factor", 1.0) >= 0 and self.kernel.positive_semidefinite

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """Whether the inner kernel is stationary."""
        return self.kernel.stationary

    def read(self, X):
        """Validate a sample for the inner kernel."""
        return self.kernel.read(X)

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Hyperparameters of the inner kernel."""
        return prefixed("kernel", self.kernel)


def square(kernel: Kernel, A) -> np.ndarray:
    """Return the Gram matrix of a validated sample."""
    K = np.array(kernel._gram(A, A), dtype=np.float64)
    np.fill_diagonal(K, kernel._diagonal(A))
    return K


def prefixed(name: str, kernel: Kernel) -> tuple[Hyperparameter, ...]:
    """Return the hyperparameters of an inner kernel, under the names that ``set_params`` accepts."""
    return tuple(h._replace(name=f"{name}__{h.name}") for h in kernel.hyperparameters)
