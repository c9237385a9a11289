r"""Bootstrap draws of rows in partitions: an exact multinomial sample that does not depend on the partitions.

Consecutive rows are assigned to consecutive intervals of a line, each as long as the weight of its row. A tree draws a
fixed number of uniform points on the line, and a row is drawn once for each point on its interval. Each partition
generates the points on its own rows: the line is halved until a piece has about ``BLOCK`` points, and the number of
points in the left half of a piece is binomial. The seed of the tree and the piece determine the random stream of the
piece. A partition needs only the pieces that intersect the intervals of its rows, and the total weight of the rows
before them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows, weights_in

BLOCK = 4096  # approximate number of points per piece
BITS = 61  # number of bits of the total weight in units


class Line(NamedTuple):
    """Line of the intervals of all rows; the ends of intervals are integer multiples of a unit, a power of two."""

    draws: int  # number of points per tree
    exponent: int  # a weight of 1 is 2**exponent units
    length: int  # in units
    before: dict[int, int]  # units before each partition, by the index of its first row

    def ends(self, part: Part) -> tuple[float, np.ndarray]:
        """Return the start of the first interval of a partition, and the ends of all its intervals."""
        first = self.before[part.start]
        return float(first), (first + np.cumsum(_units(part, self.exponent))).astype(np.float64)

    def counts(self, part: Part, seeds: np.ndarray) -> np.ndarray:
        """Return how often the tree with each seed draws each row of a partition, (trees, rows)."""
        begin, ends = self.ends(part)
        length, found = float(self.length), []
        for seed in seeds.tolist():
            points = points_between(seed, self.draws, begin / length, ends[-1] / length) * length
            points = np.minimum(points, np.nextafter(length, 0.0))
            own = points[(points >= begin) & (points < ends[-1])]
            counts = np.bincount(np.searchsorted(ends, own, side="right"), minlength=len(ends))
            found.append(counts if counts.max() > 255 else counts.astype(np.uint8))  # one byte per row and tree
        return np.stack(found)


def line_of(rows: PartitionedRows, draws: int) -> Line:
    """Return the line of all rows; if rows have weights, one pass computes the totals of the partitions."""
    exponent = BITS - math.frexp(rows.total_weight)[1]
    starts = np.cumsum([0, *rows.lengths[:-1]]).tolist()
    used = [start for start, length in zip(starts, rows.lengths, strict=True) if length]
    if rows.weighted:
        totals = [int(total) for total in rows.map_reduce(_total, exponent, combine=_after)]
    else:
        totals = [length * 2**exponent for length in rows.lengths if length]
    ends = [0]
    for total in totals:
        ends.append(ends[-1] + total)
    return Line(draws, exponent, ends[-1], dict(zip(used, ends[:-1], strict=True)))


def points_between(seed: int, draws: int, low: float, high: float) -> np.ndarray:
    """Return the points of a tree on a line of length one: all points from ``low`` to ``high``, and some outside.

    Examples
    --------
    >>> from surefit.solvers.trees.sampling import points_between
    >>> len(points_between(7, 10_000, 0.0, 1.0)), len(points_between(7, 10_000, 0.4, 0.4)) < 10_000
    (10000, True)
    """
    levels = ((draws - 1) // BLOCK).bit_length()
    pieces = 2**levels
    first, last = max(int(low * pieces) - 1, 0), min(int(high * pieces) + 1, pieces - 1)
    found, waiting = [np.zeros(0)], [(0, 0, draws)]
    while waiting:
        level, piece, count = waiting.pop()
        width = levels - level
        if not count or (piece + 1) << width <= first or piece << width > last:
            continue
        stream = np.random.RandomState([seed, level, piece])
        if level == levels:
            found.append((piece + stream.random_sample(count)) / pieces)
        else:
            left = int(stream.binomial(count, 0.5))
            waiting += [(level + 1, 2 * piece + 1, count - left), (level + 1, 2 * piece, left)]
    return np.concatenate(found)


def _units(part: Part, exponent: int) -> np.ndarray:
    return np.rint(np.ldexp(weights_in(part), exponent)).astype(np.int64)


def _total(part: Part, exponent: int) -> tuple[int, ...]:
    return (int(_units(part, exponent).sum()),)


def _after(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return a + b
