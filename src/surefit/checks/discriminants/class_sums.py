r"""Sums over the rows of each class about given points (pilots), in one pass over the rows in the order of memory.

Rows minus the pilot of their class are collected in one bucket per product matrix; a full bucket is multiplied by its
transpose while it is in the cache. No rows are sorted or copied as a whole. Sums of absolute values, which only bound rounding errors,
follow from the squares: :math:`\sum_i w_i |t_i| \le (\sum_i w_i \sum_i w_i t_i^2)^{1/2}`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.eigen import dense, rows_at_once
from surefit.checks.enclosure import gamma
from surefit.core.jit import compiled
from surefit.core.partitioned import BITS, Part, add, exact_sum, rounded
from surefit.core.threads import map_parts

#: Largest number of rows whose terms are added one by one; the rounding error grows with it.
ROWS = 1024
#: Entries of all buckets together: four megabytes mostly stay in the cache.
CACHED = 2**19
TINY = np.finfo(float).tiny


class Sums(NamedTuple):
    """Counts and exact weights of the classes, and weighted sums of differences from the pilots, of their squares and products."""

    rows: int  # including those of weight zero
    joins: int  # largest number of sums over partitions that a term goes through
    counts: np.ndarray  # (k,) rows of positive weight
    masses: tuple[int, ...]  # in units of 2**-BITS
    sums: np.ndarray  # (k, d)
    squares: np.ndarray  # (k, d)
    products: np.ndarray  # (k, d, d); (1, d, d) their sum; (0, d, d) if not requested

    @property
    def totals(self) -> np.ndarray:
        """Weights of the classes."""
        return np.array([rounded(mass) for mass in self.masses])

    @property
    def depth(self) -> int:
        """Largest number of additions that a term goes through; hardly depends on how the rows are divided into partitions."""
        K, d = self.sums.shape
        most = int(self.counts.max(initial=0))
        many = most if len(self.products) == K else int(self.counts.sum())  # of a product for all classes
        chunk, room = _sizes(K, d, len(self.products))
        sums, products = min(chunk, most) + min(self.rows // chunk, most), min(room, many) + many // room
        return max(sums, products) + 1 + self.joins

    def sizes(self) -> np.ndarray:
        """Return upper bounds on the sums of absolute differences."""
        totals = self.totals[:, None]
        squares = self.squares + (totals + 2.0**53) * TINY  # terms that underflow
        squares *= totals
        return np.sqrt(squares, out=squares) * (1 + gamma(self.depth + 16))


def members_of(part: Part, codes: np.ndarray, K: int) -> list[np.ndarray]:
    """Return the rows of positive weight of each class."""
    kept = np.ones(len(codes), dtype=bool) if part.weights is None else part.weights > 0
    return [np.flatnonzero((codes == k) & kept) for k in range(K)]


def _sizes(K: int, d: int, matrices: int) -> tuple[int, int]:
    """Return the numbers of rows whose terms are added one by one: in the sums, and in the products."""
    # Buckets have no more entries than the products, or four megabytes.
    return min(rows_at_once(d), max(ROWS, 4 * K)), min(ROWS, max(d, CACHED // (max(matrices, 1) * max(d, 1))))


def sums_of_classes(part: Part, codes: np.ndarray, pilots: np.ndarray, matrices: int) -> Sums:
    """Return the counts and weights of the classes, and the sums of their rows about the pilots.

    ``matrices`` is the number of product matrices: one per class, one for all classes together, or zero.
    Threads share fixed parts of many rows; the parts need less memory than the rows.
    """
    (n, d), s = part.X.shape, part.weights
    shape = matrices, max(1, min(n, _sizes(len(pilots), d, matrices)[1])), d
    spare: list[np.ndarray] = []  # buckets that no thread uses now; allocating them for each part would take longer

    def sums(start: int, stop: int) -> Sums:
        some = part._replace(X=part.X[start:stop], weights=None if s is None else s[start:stop])
        buckets = spare.pop() if spare else np.empty(shape)
        found = _sums_of_part(some, codes[start:stop], pilots, buckets)
        spare.append(buckets)
        return found

    found = map_parts(sums, part.X.shape, 24 * (len(pilots) + matrices * d))
    while len(found) > 1:
        found = [joined(*found[i : i + 2]) if i + 1 < len(found) else found[i] for i in range(0, len(found), 2)]
    return found[0]


def _sums_of_part(part: Part, codes: np.ndarray, pilots: np.ndarray, buckets: np.ndarray) -> Sums:
    s, K = part.weights, len(pilots)
    if s is None:
        counts = np.bincount(codes, minlength=K)
        masses = tuple(count << BITS for count in counts.tolist())
    else:
        members = members_of(part, codes, K)
        counts, masses = np.array([len(rows) for rows in members]), tuple(exact_sum(s[rows]) for rows in members)
    return Sums(len(codes), 0, counts, masses, *_sums_about(pilots, part.X, s, codes, buckets))


def _sums_about(
    pilots: np.ndarray, X: Any, s: np.ndarray | None, codes: np.ndarray, buckets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    (n, d), K, matrices, pilots = X.shape, len(pilots), len(buckets), np.array(pilots, dtype=np.float64, order="C")
    chunk = _sizes(K, d, matrices)[0]
    found, products, square = np.zeros((2, K, d)), np.zeros((matrices, d, d)), np.empty((d, d))
    filled = np.zeros(matrices, dtype=np.int64)
    for start in range(0, n, chunk):
        block = np.ascontiguousarray(dense(X[start : start + chunk]))
        own, weights = codes[start : start + chunk], np.ones(0) if s is None else s[start : start + chunk]
        terms, at = np.zeros((2, K, d)), 0
        while at < len(block):
            at, full = _fill(block, own, weights, pilots, at, terms, buckets, filled)
            if full >= 0:
                products[full] += np.matmul(buckets[full].T, buckets[full], out=square)
                filled[full] = 0
        found += terms
    for k in np.flatnonzero(filled):
        products[k] += np.matmul(buckets[k, : filled[k]].T, buckets[k, : filled[k]], out=square)
    return found[0], np.diagonal(products, axis1=1, axis2=2).copy() if 0 < matrices == K else found[1], products


def joined(a: Sums, b: Sums) -> Sums:
    """Add the sums of two partitions."""
    return Sums(a.rows + b.rows, 1 + max(a.joins, b.joins), *add(tuple(a[2:]), tuple(b[2:])))


@compiled
def _fill(X: Any, codes: Any, weights: Any, pilots: Any, start: Any, terms: Any, buckets: Any, filled: Any) -> Any:
    """Add rows to the sums and to the buckets until one is full; return the row to continue with, and that bucket or -1.

    Squares are summed only if there are no products of single classes, which contain them.
    """
    d, matrices = X.shape[1], len(buckets)
    for i in range(start, len(codes)):
        k, weight = codes[i], weights[i] if len(weights) else 1.0
        if weight == 0.0:
            continue
        if matrices == 0:
            for j in range(d):
                difference = X[i, j] - pilots[k, j]
                terms[0, k, j] += weight * difference
                terms[1, k, j] += weight * (difference * difference)
            continue
        if matrices == 1:  # a loop of its own: one with all three sums is not vectorized
            for j in range(d):
                difference = X[i, j] - pilots[k, j]
                terms[1, k, j] += weight * (difference * difference)
        bucket = k if matrices > 1 else 0
        root, at = np.sqrt(weight), filled[bucket]
        for j in range(d):
            difference = X[i, j] - pilots[k, j]
            terms[0, k, j] += weight * difference
            buckets[bucket, at, j] = root * difference
        filled[bucket] = at + 1
        if at + 1 == buckets.shape[1]:
            return i + 1, bucket
    return len(codes), -1
