"""Random generators for integer seeds."""

from __future__ import annotations

import numbers
from typing import Any, cast

import numpy as np
from sklearn.utils import check_random_state

_spare: list[np.random.RandomState] = []  # generators that no fit uses now


class seeded:
    """Context with the generator for a parameter ``random_state``, which no one may use after its end.

    A new generator takes fifty times as long as seeding an old one again, and longer than growing a small tree.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.randomness import seeded
    >>> with seeded(3) as random:
    ...     print(random.randint(100) == np.random.RandomState(3).randint(100))
    True
    """

    __slots__ = "given", "own"

    def __init__(self, random_state: Any) -> None:
        self.given = random_state
        self.own: np.random.RandomState | None = None

    def __enter__(self) -> Any:
        if isinstance(self.given, np.random.Generator):
            return self.given
        if not isinstance(self.given, numbers.Integral):
            return check_random_state(self.given)
        try:
            own = _spare.pop()
        except IndexError:
            own = np.random.RandomState(0)
        own.seed(cast(int, self.given))
        self.own = own
        return own

    def __exit__(self, *error: Any) -> None:
        if self.own is not None:
            _spare.append(self.own)
