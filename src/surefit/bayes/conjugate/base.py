"""A belief that stays in its family when data arrive."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter


class Mode(NamedTuple):
    """The most probable parameter; ``inside`` is False where the density is largest on the boundary, or has no single mode."""

    value: Any
    inside: bool


class Conjugate:
    """A belief about a parameter: ``update`` returns the belief after more data, in any order and any portions."""

    def _positive(self, **values) -> None:
        for name, value in values.items():
            if not np.all(np.asarray(value) > 0) or not np.all(np.isfinite(value)):
                raise InvalidParameter(type(self).__name__, name, "a finite number > 0", value)

    def _read(self, x) -> np.ndarray:
        found = np.atleast_1d(np.asarray(x, dtype=np.float64))
        if found.ndim != 1 or not np.all(np.isfinite(found)):
            raise InvalidData(f"{type(self).__name__}: observations must be a list of finite numbers; got {x!r}.")
        return found

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the central interval that holds the parameter with probability ``confidence``."""
        low, high = self.law.interval(confidence)  # type: ignore[attr-defined]
        return float(low), float(high)

    @property
    def mean(self) -> Any:
        """Mean of the parameter."""
        return float(self.law.mean())  # type: ignore[attr-defined]
