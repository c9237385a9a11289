"""Conjugate priors: the posterior belongs to the family of the prior."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter


class Mode(NamedTuple):
    """The most probable parameter; the smallest one if there are several.

    ``inside`` is False if the density is largest on the boundary; ``unique`` is False if several values are equally
    probable.

    Examples
    --------
    >>> from surefit import conjugate
    >>> conjugate.BetaBernoulli(3, 2).mode
    Mode(value=0.6666666666666666, inside=True, unique=True)
    >>> conjugate.BetaBernoulli(1, 1).mode.unique
    False
    """

    value: Any
    inside: bool
    unique: bool = True


class Conjugate:
    """Distribution of a parameter; ``update`` returns the posterior after more data, in any order and in any batches.

    Examples
    --------
    >>> from surefit import conjugate
    >>> prior = conjugate.BetaBernoulli(1, 1)
    >>> isinstance(prior, conjugate.Conjugate), prior.update([1, 0, 1])
    (True, BetaBernoulli(alpha=3.0, beta=2.0))
    """

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
        """Return the central interval that contains the parameter with probability ``confidence``."""
        low, high = self.distribution.interval(confidence)  # type: ignore[attr-defined]
        return float(low), float(high)

    @property
    def mean(self) -> Any:
        """Mean of the parameter."""
        return float(self.distribution.mean())  # type: ignore[attr-defined]
