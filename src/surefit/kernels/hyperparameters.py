"""Hyperparameters: positive kernel parameters that a Gaussian process can learn, and derivatives with respect to their logarithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np


class Hyperparameter(NamedTuple):
    """Positive parameter that can be learned; the search uses its logarithm.

    Examples
    --------
    >>> from surefit.kernels import RBF
    >>> RBF(gamma=2.0).hyperparameters
    (Hyperparameter(name='gamma', value=2.0, low=5e-11, high=4999999999.999999, fixed=False),)
    """

    name: str
    value: float
    low: float
    high: float
    fixed: bool


class Derivatives(Sequence):
    """Derivatives of a Gram matrix with respect to the logarithm of each free hyperparameter, computed on access."""

    def __init__(self, recipes: list[Callable[[], np.ndarray]]):
        self._recipes = recipes

    def __len__(self) -> int:
        return len(self._recipes)

    def __getitem__(self, place):
        return self._recipes[place]()

    def __iter__(self) -> Iterator[np.ndarray]:
        return (recipe() for recipe in self._recipes)


def spread(name: str, value, bounds) -> Iterator[Hyperparameter]:
    """Yield one hyperparameter per number in ``value``."""
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    fixed = isinstance(bounds, str)
    pairs = np.broadcast_to((1e-5, 1e5) if fixed else np.asarray(bounds, dtype=np.float64), (len(numbers), 2))
    for j, (number, (low, high)) in enumerate(zip(numbers, pairs, strict=True)):
        yield Hyperparameter(f"{name}[{j}]" if np.ndim(value) else name, float(number), float(low), float(high), fixed)
