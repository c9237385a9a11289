r"""Moments of labeled rows: weight, mean and scatter of each class, in one pass over the rows.

Rows are shifted by a first estimate :math:`c` of the mean of their class, from a subset of its rows. With the sums of the shifted rows,

.. math:: \sum_i s_i (x_i - m)(x_i - m)^\top = \sum_i s_i (x_i - c)(x_i - c)^\top - S (m - c)(m - c)^\top ,

and since :math:`c` is close to :math:`m` there is no cancellation, however far from the origin the rows are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled
from surefit.core.threads import blocks, map_parts, tree_sum

PILOT = 512  # rows of a class from which its mean is estimated
CACHED = 2**17  # entries per block of rows: one megabyte stays in the cache
BATCHED = 2**19  # entries of all batches together: four megabytes mostly stay in the cache

Scatters = Literal["each", "pooled", "none"]


class Moments(NamedTuple):
    """Weight, mean and scatter of each class."""

    totals: np.ndarray  # (k,) weights
    means: np.ndarray  # (k, d)
    scatters: np.ndarray  # about the means: (k, d, d); (1, d, d) their sum; (0, d, d) if not requested


class Grouped(NamedTuple):
    """Rows in the order of their classes, copied one block at a time."""

    X: Any
    codes: np.ndarray  # (n,) class of each row
    order: np.ndarray  # rows of the first class, then of the second, ...; without those of weight zero
    ends: np.ndarray  # (k + 1,) boundaries of the classes in ``order``
    weights: np.ndarray | None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.ends) - 1

    @property
    def block_size(self) -> int:
        """Number of rows per block, so that a block stays in the cache."""
        return max(256, CACHED // self.X.shape[1])

    def members(self, k: int) -> np.ndarray:
        """Return the rows of class ``k``."""
        return self.order[self.ends[k] : self.ends[k + 1]]

    def read(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return a dense float64 copy of some rows, and their weights."""
        block = self.X[rows].toarray() if sparse.issparse(self.X) else np.take(self.X, rows, axis=0)
        return np.asarray(block, dtype=np.float64), None if self.weights is None else self.weights[rows]

    def blocks(self, k: int) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Yield copies of the rows of class ``k`` by blocks, each with its weights."""
        members = self.members(k)
        for start in range(0, len(members), self.block_size):
            yield self.read(members[start : start + self.block_size])

    def count(self, k: int) -> int:
        """Return the number of rows of class ``k``."""
        return int(self.ends[k + 1] - self.ends[k])

    def moments(self, scatters: Scatters = "each") -> Moments:
        """Return weights, means and scatter matrices of the classes."""
        return moments(self, scatters)

    def centered(self, means: np.ndarray) -> np.ndarray:
        """Return all rows minus the means of their classes, times the square roots of their weights."""
        parts = []
        for k in range(self.n_classes):
            for block, s in self.blocks(k):
                block -= means[k]
                parts.append(block if s is None else block * np.sqrt(s)[:, None])
        return np.concatenate(parts) if parts else np.zeros((0, self.X.shape[1]))

    def centered_class(self, k: int, mean: np.ndarray) -> np.ndarray:
        """Return the rows of one class minus ``mean``, times the square roots of their relative weights."""
        members = self.members(k)
        block, s = self.read(members)
        block -= mean
        return block / math.sqrt(len(members)) if s is None else block * np.sqrt(s / math.fsum(s))[:, None]

    def fourth_powers(self, classes: Iterable[int], mean: np.ndarray, scale: np.ndarray) -> float:
        """Return the weighted sum of the fourth powers of the lengths of the standardized rows of some classes."""
        found = 0.0
        for block, s in (piece for k in classes for piece in self.blocks(k)):
            squares = np.sum(((block - mean) / scale) ** 2, axis=1) ** 2
            found += float(squares.sum() if s is None else s @ squares)
        return found


def group(X, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None) -> Grouped:
    """Sort the rows by class; rows of weight zero are dropped."""
    small = codes.astype(np.int16) if n_classes < 2**15 else codes  # 16-bit integers are sorted by counting
    order = np.argsort(small, kind="stable")
    if weights is not None and not weights.all():
        order = order[weights[order] > 0]
    counts = np.bincount(codes[order], minlength=n_classes)
    X = X.tocsr() if sparse.issparse(X) else X
    return Grouped(X, codes, order, np.concatenate([[0], np.cumsum(counts)]), weights)


def moments(rows: Grouped, scatters: Scatters = "each") -> Moments:
    """Return weights, means and scatter matrices of the classes; the scatter matrices are one per class, pooled, or omitted."""
    K, d = rows.n_classes, rows.X.shape[1]
    guesses = np.array([_mean(*rows.read(rows.members(k)[:PILOT])) if rows.count(k) else np.zeros(d) for k in range(K)])
    totals, count = np.zeros(K), {"each": K, "pooled": 1, "none": 0}[scatters]
    room = max(1, min(rows.X.shape[0], 1024, max(d, BATCHED // (max(count, 1) * d))))  # rows of a batch
    spare: list[np.ndarray] = []  # batches that no thread uses now; allocating them for each part would take longer

    def part(start: int, stop: int) -> np.ndarray:
        found, square = np.zeros((K + count * d, d)), np.empty((d, d))  # sums, and products below them
        products, batches = found[K:].reshape(count, d, d), spare.pop() if spare else np.empty((count, room, d))
        for k, batch in _batches(rows, guesses, found[:K], batches, start, stop):
            products[k] += np.matmul(batch.T, batch, out=square)
        spare.append(batches)
        return found

    found = tree_sum(map_parts(part, rows.X.shape, 24 * (K + count * d)))  # the parts need less memory than the rows
    above, products = found[:K], found[K:].reshape(count, d, d)
    for k in range(K):
        members = rows.members(k)
        totals[k] = len(members) if rows.weights is None else math.fsum(rows.weights[members])
        above[k] /= totals[k] or 1.0  # a class may have no row in a partition
        if scatters != "none":
            products[k if scatters == "each" else 0] -= totals[k] * (above[k][:, None] * above[k])
    return Moments(totals, guesses + above, products)


def _mean(block: np.ndarray, s: np.ndarray | None) -> np.ndarray:
    return np.ones(len(block)) @ block / len(block) if s is None else s @ block / s.sum()


def _batches(
    rows: Grouped, guesses: np.ndarray, sums: np.ndarray, batches: np.ndarray, first: int, last: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield batches of some rows minus the estimates, times the square roots of their weights; fill ``sums``.

    Rows are read in the order of memory, which is faster than class by class.
    """
    X, n, weights = rows.X, last - first, np.ones(0) if rows.weights is None else rows.weights
    direct = isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.c_contiguous
    sizes = np.zeros(len(batches), dtype=np.int64)
    for start, stop in blocks(n, n if direct else rows.block_size):
        start, stop = first + start, first + stop
        block = X[start:stop] if direct else np.ascontiguousarray(rows.read(np.arange(start, stop))[0])
        at = 0
        while at < len(block):
            at, full = _distribute(
                block, rows.codes[start:stop], weights[start:stop], guesses, at, sums, batches, sizes
            )
            if full >= 0:
                yield full, batches[full]
                sizes[full] = 0
    for k in np.flatnonzero(sizes):
        yield int(k), batches[k, : sizes[k]]


@compiled(relaxed=True)
def _distribute(X, codes, weights, guesses, start, sums, batches, sizes):
    """Add rows to the sums and to the batches until one is full; return the next row, and that batch or -1."""
    for i in range(start, len(codes)):
        weight = weights[i] if len(weights) else 1.0
        if weight == 0.0:
            continue
        row, estimate, total = X[i], guesses[codes[i]], sums[codes[i]]
        if len(batches) == 0:
            for j in range(len(row)):
                total[j] += weight * (row[j] - estimate[j])
            continue
        k, root = 0 if len(batches) == 1 else codes[i], np.sqrt(weight)
        out = batches[k, sizes[k]]
        for j in range(len(row)):
            difference = row[j] - estimate[j]
            total[j] += weight * difference
            out[j] = root * difference
        sizes[k] += 1
        if sizes[k] == batches.shape[1]:
            return i + 1, k
    return len(codes), -1


def total(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of all rows and their scatter about it: the sum of within-class and between-class scatter."""
    mean = moments.totals @ moments.means / moments.totals.sum()
    about = moments.means - mean
    return mean, moments.scatters.sum(axis=0) + (about.T * moments.totals) @ about
