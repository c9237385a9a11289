"""Kernel rows for the working-set solver: computed by BLAS, symmetric up to rounding, and cached in float32."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled
from surefit.core.loops import copy_into
from surefit.core.threads import map_blocks
from surefit.kernels import RBF, Kernel, Linear
from surefit.kernels.rows import GramRows
from surefit.solvers.smo.gaussian_rows import COLUMNS, PIECE, GaussianRows
from surefit.solvers.smo.inner import gather, subtract_rows

THREADED = 1 << 21  # number of stored values below which threads take longer to share the work than to do it
NARROW = 200  # columns up to which kernel values among some rows are computed rather than read
COMPUTED = 5  # stored values that are added up in the time in which one kernel value is computed and added


def solver_rows(kernel: Kernel, X) -> tuple[Any, Any]:
    """Return rows of the Gram matrix in float64 and in float32; the Gaussian kernel of dense rows has its own implementation."""
    if type(kernel) is RBF and not sparse.issparse(X):
        A = kernel.read(X)
        n, d = A.shape
        extended = np.empty((n, d + 2))
        np.subtract(A, np.mean(A, axis=0), out=extended[:, :d])
        extended[:, :d] /= kernel.lengths
        extended[:, d] = 1.0
        extended[:, d + 1] = -0.5 * np.einsum("ij,ij->i", extended[:, :d], extended[:, :d])
        return GaussianRows(extended), GaussianRows(extended.astype(np.float32))
    if type(kernel) is Linear:
        A = kernel.read(X)
        return LinearRows(kernel, A), LinearRows(kernel, A, np.float32)
    return kernel.rows(X), kernel.rows(X, dtype=np.float32)


class LinearRows(GramRows):
    """Rows of inner products; a product with all rows uses the columns and forms no kernel matrix."""

    def times(self, beta: np.ndarray) -> np.ndarray:
        """Return ``K beta = X (X' beta)``."""
        return np.asarray(self.A @ (self.A.T @ beta)).ravel()


class StoredRows:
    """Rows of a Gram matrix that is stored in float64, for small samples.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The Gram matrix.
    """

    def __init__(self, K: np.ndarray):
        self.K, self.n, self.diagonal = K, len(K), np.diagonal(K)

    def block(self, indices) -> np.ndarray:
        """Return the rows ``indices``."""
        return self.K[indices]

    def times(self, beta: np.ndarray) -> np.ndarray:
        """Return ``K beta``."""
        return self.K @ beta

    def take(self, indices) -> StoredRows:
        """Return the Gram matrix of some of the elements."""
        return StoredRows(self.K[np.ix_(indices, indices)])


def stored(gram: Any) -> StoredRows:
    """Return the rows of the whole Gram matrix, computed if it is not stored yet."""
    return gram if isinstance(gram, StoredRows) else StoredRows(gram.block(np.arange(gram.n)))


class RowCache:
    """Least-recently-used cache of rows of a Gram matrix over the active rows, computed in blocks on demand.

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
        missing, room = self._claim(indices)
        self._map(*self._filling(missing, room), COMPUTED * len(missing))
        return self.slot[indices]

    def subtract(self, indices: np.ndarray, change: np.ndarray, g: np.ndarray) -> None:
        """Compute ``g -= change @ K[indices]``; columns of missing rows are used while they are in the processor's cache."""
        missing, room = self._claim(indices)
        slots, (fill, length, size) = self.slot[indices], self._filling(missing, room)
        if length != self.gram.n:  # the missing rows are divided, not their columns
            self._map(fill, length, size, COMPUTED * len(missing))

        def work(start: int, stop: int) -> None:
            if len(missing) and length == self.gram.n:
                fill(start, stop)
            subtract_rows(self.rows, slots, change, g, start, stop)

        filled = len(missing) if length == self.gram.n else 0
        self._map(work, self.gram.n, COLUMNS, len(indices) + (COMPUTED - 1) * filled)

    def _map(self, work: Any, length: int, size: int, rows: int) -> None:
        """Run ``work`` on parts, by threads if it takes as long as adding up enough values in ``rows`` stored rows."""
        if rows:
            many = rows * self.gram.n >= THREADED
            map_blocks(work, length, _even(length, size) if many else size, self.n_jobs if many else None)

    def _filling(self, missing: np.ndarray, room: np.ndarray) -> tuple[Any, int, int]:
        """Return a function that computes a part of the missing rows, the length to divide, and the length of a part."""
        gram = self.gram
        if isinstance(gram, GaussianRows):
            return partial(gram.fill, self.rows, missing, room), gram.n, COLUMNS

        def compute(start, stop):
            _store(gram.block(missing[start:stop]), room[start:stop], self.rows)

        return compute, len(missing), max(1, PIECE // (4 * gram.n))

    def _claim(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the missing rows and the slots that are theirs from now on, in the order of memory."""
        self.clock += 1
        slots = self.slot[indices]
        self.used[slots[slots >= 0]] = self.clock
        missing = indices[slots < 0]
        if len(missing):
            room = np.flatnonzero(self.used < 0)[: len(missing)]
            if len(room) < len(missing):
                room = np.sort(np.argpartition(self.used, len(missing) - 1)[: len(missing)])
            evicted = self.owner[room]
            self.slot[evicted[evicted >= 0]] = -1
            self.owner[room] = missing
            self.slot[missing] = room
            self.used[room] = self.clock
            self.computed += len(missing)
            return missing, room
        return missing, missing

    def among(self, indices: np.ndarray) -> np.ndarray:
        """Return the kernel values among some rows: from the cache if all are known, otherwise by one small product.

        For Gaussian rows with few columns, the product takes less time than reading scattered values.
        """
        if isinstance(self.gram, GaussianRows) and self.gram.extended.shape[1] <= NARROW:
            return self.gram.among(indices)
        slots = self.slot[indices]
        if np.all(slots >= 0):
            return gather(self.rows, slots, indices)
        return self.gram.take(indices).block(np.arange(len(indices))).astype(np.float64)


def _even(length: int, size: int) -> int:
    """Return the length of equal parts, a power of two in number, of at most ``size``, so that threads have equal work."""
    parts = 2
    while length > parts * size:
        parts *= 2
    return -(-length // parts)


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
