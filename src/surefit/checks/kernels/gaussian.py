r"""Enclosed products with a Gaussian Gram matrix, by tiles that stay in the processor's cache.

For a Gaussian kernel :math:`k = e^{-|a - b|^2 / 2}` of scaled and centered rows, one matrix product gives all exponents
of a tile, :math:`\langle (a, -|a|^2/2, 1), (b, 1, -|b|^2/2) \rangle`. With p rounding errors in each square, the errors of the
exponents are at most :math:`\tfrac12 \gamma_{d+p+11} (|a| + |b|)^2`, so one relative error per row suffices. A value
between two elements with coefficients is computed once and used for both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.balls import LIBM, TINY
from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.core.threads import map_blocks, one_blas_thread
from surefit.kernels import RBF

TALL, WIDE = 250, 500  # sides of a tile, which fits in the cache; rows of a power of two would collide there
TERMS = 125  # smallest number of terms that are added at a time
BANDS, RANGE = 16, 8192  # parts of a product, for threads
PARTIAL = 1 << 26  # bytes of partial sums in memory
COLUMNS = 4  # up to this number of columns, products with single columns are faster than a matrix product


class Task(NamedTuple):
    """One part of a product: elements with coefficients from ``first`` to ``last`` times elements from ``low`` to ``high``."""

    first: int
    last: int
    low: int
    high: int


class Gaussian:
    """Centered rows, scaled by the length scales."""

    def __init__(self, kernel: RBF, A: np.ndarray) -> None:
        factors = np.sqrt(2.0 * kernel.gamma) if kernel.gamma is not None else 1.0 / kernel.lengths
        with np.errstate(over="ignore", invalid="ignore"):
            near = (A - np.mean(A, axis=0)) * factors
            (n, d), squares = A.shape, np.zeros(len(A))
            for start in range(0, d, terms_at_a_time(d)):  # in pieces, for few rounding errors
                part = near[:, start : start + terms_at_a_time(d)]
                squares += np.einsum("ij,ij->i", part, part)
            self.A = np.column_stack([near, np.ones(n), -0.5 * squares])
            self.lengths = np.sqrt(squares) * (1 + gamma(d + 8))
        self.share = 0.5 * gamma(
            d + depth(d) + 8
        )  # d + 2 in the product, depth - 3 in a square, 7 of centering and scaling

    def error(self, rows: np.ndarray, columns: np.ndarray) -> float:
        """Bound the errors of all exponents between these elements."""
        with np.errstate(over="ignore", invalid="ignore"):
            worst = float(self.share * (self.lengths[rows].max() + self.lengths[columns].max()) ** 2)
        return worst if math.isfinite(worst) else np.inf

    def relative(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Bound the relative errors of the values of each row."""
        reach = self.share * (self.lengths[rows] + float(self.lengths[columns].max())) ** 2
        return np.expm1(reach * (1 + 8 * UNIT)) * (1 + 4 * LIBM) + 2 * LIBM

    def block(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values between the elements, and the relative error of each row."""
        K = np.empty((len(rows), len(columns)))
        left = self.A[rows]
        if len(rows) == len(columns) and (rows == columns).all():
            _fill(K, left, left)
            K.reshape(-1)[:: len(K) + 1] = 1.0  # an element with itself
            return K, self.relative(rows, columns)
        _fill(K, left, self.A[columns])
        place = np.full(len(self.A), -1)
        place[columns] = np.arange(len(columns))
        same = place[rows]
        i = (same >= 0).nonzero()[0]
        K[i, same[i]] = 1.0
        return K, self.relative(rows, columns)

    def times(self, used: np.ndarray, rows: np.ndarray, C: np.ndarray, threads: int) -> Enclosed:
        """Enclose the values between ``rows`` and ``used`` times ``C``, by threads that do not change the sums."""
        if len(rows) * len(used) <= TALL * WIDE:
            K, relative = self.block(rows, used)
            return _enclosed(product(K, np.hstack([C, np.abs(C)])), C, relative, depth(len(C)))
        place = np.full(len(self.A), -1)
        place[rows] = np.arange(len(rows))
        both = bool(np.all(place[used] >= 0))  # otherwise the values among the used elements are not needed
        order = rows
        if both:
            place[used] = -1
            order = np.concatenate([used, rows[place[rows] >= 0]])
            place[order] = np.arange(len(order))
        sums, rounded = Sweep(self, order, used, place[used], both, C).run(threads)
        return _enclosed(sums[:, place[rows]].T, C, self.relative(rows, used), rounded)


def _enclosed(sums: np.ndarray, C: np.ndarray, relative: np.ndarray, rounded: int) -> Enclosed:
    """Enclose products with ``C``, given those with ``C`` and with its absolute values, and the relative errors of the values."""
    mid, size = sums[:, : C.shape[1]], sums[:, C.shape[1] :] * (1 + gamma(len(C) + 4))
    relative = (relative + gamma(rounded)) * (1 + 8 * UNIT)
    return Enclosed(mid, size * relative[:, None] + TINY * np.abs(C).sum(axis=0))


class Sweep:
    """The values between the elements ``order`` and ``used`` times the coefficients and their absolute values.

    Parameters
    ----------
    near : Gaussian
        The elements.
    order, used : ndarray
        Indices of the elements; if ``both``, ``order`` starts with ``used``, and values among these are computed once.
    place : ndarray
        Position in ``order`` of each element of ``used``, or -1.
    both : bool
        Whether a value is used for both of its elements.
    C : ndarray of shape (len(used), p)
        The coefficients.
    """

    def __init__(
        self, near: Gaussian, order: np.ndarray, used: np.ndarray, place: np.ndarray, both: bool, C: np.ndarray
    ) -> None:
        self.right = near.A[order]
        self.left = self.right if both else near.A[used]
        self.count, self.place, self.both = len(used), place, both
        self.C = np.ascontiguousarray(np.hstack([C, np.abs(C)]).T)
        self.step = max(TERMS, terms_at_a_time(self.count))
        self.tall = self.step * max(1, TALL // self.step)
        self.wide = self.tall * max(1, WIDE // self.tall)

    def run(self, threads: int) -> tuple[np.ndarray, int]:
        """Return the sums, one line per column of coefficients, and the number of rounding errors in each."""
        tasks, sums = self.tasks(), np.zeros((len(self.C), len(self.right)))
        with one_blas_thread():
            found = map_blocks(lambda k, _: self.part(tasks[k]), len(tasks), 1, threads)
        for task, (down, across) in zip(tasks, found, strict=True):
            sums[:, task.low : task.high] += down
            if self.both:
                sums[:, task.first : task.last] += across
        bands, ranges = len({task.first for task in tasks}), len({task.low for task in tasks})
        return sums, min(self.count, self.step) + -(-self.count // self.step) + bands + ranges + 4

    def tasks(self) -> list[Task]:
        """Divide the product; the division depends on its size alone."""
        n, tall = len(self.right), self.tall
        bands = max(1, min(BANDS, PARTIAL // (8 * n * len(self.C))))
        band, wide = tall * -(-self.count // (tall * bands)), self.wide * max(1, RANGE // self.wide)
        found = []
        for first in range(0, self.count, band):
            last = min(first + band, self.count)
            starts = [first if self.both else 0]
            starts += range(starts[0] - starts[0] % wide + wide, n, wide)
            found += [Task(first, last, *ends) for ends in zip(starts, [*starts[1:], n], strict=True)]
        return found

    def part(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of one part: for the elements from ``low`` to ``high``, and for those from ``first`` to ``last``."""
        down, across = (np.zeros((len(self.C), b - a)) for a, b in ((task.low, task.high), (task.first, task.last)))
        memory = np.empty(self.tall * self.wide)
        for first in range(task.first, task.last, self.tall):
            last = min(first + self.tall, task.last)
            cuts = (last, self.count) if self.both else ()
            low = max(first, task.low) if self.both else task.low
            while low < task.high:
                high = min([low + self.wide, task.high, *(cut for cut in cuts if cut > low)])
                K = memory[: (last - first) * (high - low)].reshape(last - first, high - low)
                self.values(K, first, last, low, high)
                for a in range(first, last, self.step):
                    b = min(a + self.step, last)
                    _add(down[:, low - task.low : high - task.low], self.C[:, a:b], K[a - first : b - first])
                if self.both and last <= low < self.count:
                    for a in range(low, high, self.step):
                        b = min(a + self.step, high)
                        own = across[:, first - task.first : last - task.first]
                        _add(own, self.C[:, a:b], K[:, a - low : b - low].T)
                low = high
        return down, across

    def values(self, K: np.ndarray, first: int, last: int, low: int, high: int) -> None:
        """Compute one tile; an element with itself has the value one."""
        _fill(K, self.left[first:last], self.right[low:high])
        own = self.place[first:last]
        i = ((own >= low) & (own < high)).nonzero()[0]
        K[i, own[i] - low] = 1.0


def _fill(K: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
    """Compute the values between rows ``A`` and ``B``, whose last columns are a one and minus half the squared norm."""
    left = A.copy()
    left[:, -2], left[:, -1] = A[:, -1], 1.0
    np.matmul(left, B.T, out=K)
    np.exp(K, out=K)


def _add(sums: np.ndarray, C: np.ndarray, K: np.ndarray) -> None:
    """Add ``C K`` to the sums."""
    if len(C) > COLUMNS:
        sums += C @ K
        return
    for total, line in zip(sums, C, strict=True):
        total += line @ K


def product(K: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return a product computed by pieces of columns, so that an entry has ``depth`` rounding errors only."""
    step = terms_at_a_time(len(C))
    total = K[:, :step] @ C[:step]
    for start in range(step, len(C), step):
        total += K[:, start : start + step] @ C[start : start + step]
    return total


def depth(count: int) -> int:
    """Return the number of rounding errors in an entry of a product over ``count`` terms."""
    step = terms_at_a_time(count)
    return min(count, step) + -(-count // step) + 2


def terms_at_a_time(count: int) -> int:
    """Return the number of terms in a part of a sum; the fewest rounding errors are in parts of the square root."""
    return max(8, math.isqrt(count))
