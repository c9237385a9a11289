"""Order of the rows in the passes of an online perceptron."""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled


class Orders:
    """Order of the rows in each pass: ``cyclic``, ``shuffled`` before each pass, ``random`` with replacement, or a given permutation."""

    def __init__(self, kind: str | np.ndarray, n_rows: int, seed: int, rows: np.ndarray | None = None):
        given = None if isinstance(kind, str) else kind
        self.kind = kind if isinstance(kind, str) else "given"
        self.rows = rows  # None: all of them
        self.first: np.ndarray | None = None  # the order of the first pass, unless it is that of the data
        self.n_visits = n_rows if rows is None else len(rows)
        self.complete = self.kind != "random"  # whether the current pass processes every row
        if given is not None:
            self._order = (given if rows is None else given[np.isin(given, rows)]).astype(np.int32)
        elif kind != "cyclic" or rows is not None:
            self._order = np.arange(n_rows, dtype=np.int32) if rows is None else rows.astype(np.int32)
        self._draws = np.random.RandomState(seed)
        self._state = np.uint64(self._draws.randint(1, 2**31 - 1)) << np.uint64(20) | np.uint64(1)

    def following(self, clean: bool = False) -> np.ndarray | None:
        """Return the order of the next pass; None means the order of the data.

        Random draws can miss a row, so a pass over all rows follows a random pass without mistakes (``clean``).
        """
        self.complete = self.kind != "random" or clean
        if self.kind == "shuffled":
            self._state = np.uint64(shuffle(self._order, self._state))
            order = self._order
        elif self.kind == "random" and not clean:
            order = self._order[self._draws.randint(0, self.n_visits, self.n_visits)]
        elif self.rows is not None or self.kind in ("random", "given"):
            order = self._order
        else:
            return None
        if self.first is None:
            self.first = order.copy()
        return order


@compiled
def shuffle(order, state):
    """Permute ``order`` in place, uniformly up to 2^-32; return the state of the generator."""
    word = state
    for i in range(len(order) - 1, 0, -1):
        word ^= word << np.uint64(13)
        word ^= word >> np.uint64(7)
        word ^= word << np.uint64(17)
        j = np.int64(((word >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        order[i], order[j] = order[j], order[i]
    return word
