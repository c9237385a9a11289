"""Least-recently-used cache of kernel rows in float32."""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import copy_into
from surefit.core.threads import map_blocks

PIECE = 4 << 20  # bytes per call of the kernel: blocks of this size stay in the cache and are reused
SHARES = 16  # parts of a product with all rows, for threads


def share_of(rows: int, step: int) -> int:
    """Return the number of rows per part: a multiple of ``step``, the number of rows computed at a time."""
    return step * max(1, -(-rows // (SHARES * step)))


class RowCache:
    """Cache of rows of a Gram matrix over the active rows, computed in blocks on demand.

    Parameters
    ----------
    gram : GramRows
        Source of the rows; ``gram.block(indices)`` returns them in float32.
    megabytes : float
        Size of the cache; at least ``least`` rows are kept.
    n_jobs : int or None
        Number of threads for missing rows; the division into blocks does not depend on it.
    """

    def __init__(self, gram, megabytes: float, least: int, n_jobs: int | None = None):
        self.n_jobs = n_jobs
        self.memory = np.empty(int(min(gram.n**2, max(least * gram.n, megabytes * 2**18))), dtype=np.float32)
        self.clock = 0
        self.computed = 0
        self._lay_out(gram, np.zeros(0, dtype=np.int64))

    def _lay_out(self, gram, owners: np.ndarray) -> None:
        """Divide the memory into rows; the first ones belong to ``owners``."""
        n = gram.n
        self.gram = gram
        capacity = min(n, len(self.memory) // n)
        self.rows = self.memory[: capacity * n].reshape(capacity, n)
        self.slot = np.full(n, -1, dtype=np.int64)
        self.owner = np.full(capacity, -1, dtype=np.int64)
        self.used = np.full(capacity, -1, dtype=np.int64)
        self.slot[owners] = np.arange(len(owners))
        self.owner[: len(owners)] = owners
        self.used[: len(owners)] = self.clock

    def keep(self, gram, kept: np.ndarray) -> None:
        """Restrict the cache to the rows ``kept``, with source ``gram``; known values are kept."""
        place = np.full(self.gram.n, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        slots = np.flatnonzero((self.owner >= 0) & (place[self.owner] >= 0))
        slots = slots[: min(len(kept), len(self.memory) // len(kept))]
        owners = place[self.owner[slots]]
        _compact(self.memory, self.gram.n, slots, kept)
        self._lay_out(gram, owners)

    def fetch(self, indices: np.ndarray) -> np.ndarray:
        """Return the slots of the rows ``indices``, computing the missing ones."""
        self.clock += 1
        slots = self.slot[indices]
        self.used[slots[slots >= 0]] = self.clock
        missing = indices[slots < 0]
        if len(missing):
            room = np.argpartition(self.used, len(missing) - 1)[: len(missing)]
            evicted = self.owner[room]
            self.slot[evicted[evicted >= 0]] = -1
            self.owner[room] = missing
            self.slot[missing] = room
            self.used[room] = self.clock

            def compute(start, stop):
                _store(self.gram.block(missing[start:stop]), room[start:stop], self.rows)

            map_blocks(compute, len(missing), max(1, PIECE // (4 * self.gram.n)), self.n_jobs)
            self.computed += len(missing)
        return self.slot[indices]


@compiled
def _store(block, slots, rows):
    for i in range(len(slots)):
        copy_into(rows[slots[i]], block[i])


@compiled
def _compact(memory, n, slots, kept):
    """Move row ``slots[k]``, its columns ``kept``, to position k; in memory order, so nothing is overwritten before it is read."""
    m = len(kept)
    for k in range(len(slots)):
        source, goal = slots[k] * n, k * m
        for j in range(m):
            memory[goal + j] = memory[source + kept[j]]
