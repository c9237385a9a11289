r"""Repeats draws by index: rows lie on a line in their order, each on an interval as long as its weight, and a tree draws points on it.

Lengths are whole numbers of a unit that makes the line at most :math:`2^{61}` long, so that the place of a row does not depend on the
partitions. The points of a tree come from halving the line: the number of points in the left half of a piece is binomial, and a
piece of the last level, with about 4096 points, has uniform points. Every piece has a random stream of its own, with the seed of the
tree, the level and the number of the piece as its key (theory: ``bootstrap-votes``).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from surefit.checks.judge import shared
from surefit.checks.trees.spread import over_parts
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, PartitionedRows, weights_in
from surefit.core.sample import Data

POINTS = 4096


class Places(NamedTuple):
    """The line: points per tree, power of two of a unit weight, and the units before each partition, with the whole length as the last."""

    draws: int
    power: int
    rows: tuple[int, ...]  # index of the first row of each partition that has rows
    units: tuple[int, ...]

    def drawn(self, part: Part, seed: int) -> np.ndarray:
        """Return how often the tree of this seed drew each row of a partition."""
        first, length = self.units[bisect_left(self.rows, part.start)], float(self.units[-1])
        borders = np.append(0, np.cumsum(_lengths(part, self.power))) + first
        edges = borders.astype(np.float64)
        levels = math.ceil(math.log2(max(-(-self.draws // POINTS), 1)))
        pieces = 1 << levels
        near = (math.floor(edges[0] / length * pieces) - 1, math.floor(edges[-1] / length * pieces) + 1)
        points = np.sort(_points(seed, levels, (0, 0), self.draws, near)) * length
        points[points >= length] = np.nextafter(length, 0.0)
        return np.diff(np.searchsorted(points, edges, side="left"))


def _points(seed: int, levels: int, piece: tuple[int, int], count: int, near: tuple[int, int]) -> np.ndarray:
    """Return the points of a piece as shares of the line, without those of pieces of the last level that are not near."""
    level, number = piece
    reach = 2 ** (levels - level)
    if count == 0 or number * reach > near[1] or (number + 1) * reach - 1 < near[0]:
        return np.empty(0)
    random = np.random.RandomState([seed, level, number])
    if level == levels:
        return (number + random.random_sample(count)) / 2**levels
    first = int(random.binomial(count, 0.5))
    sides = ((level + 1, 2 * number), first), ((level + 1, 2 * number + 1), count - first)
    return np.concatenate([_points(seed, levels, below, own, near) for below, own in sides])


@shared
def places_of(certificate: Certificate, data: Data) -> Places:
    """Return the line of all rows, from the totals of the partitions."""
    rows, n = data.X, data.X.shape[0]
    if isinstance(rows, PartitionedRows):
        weight, lengths = rows.total_weight, [length for length in rows.lengths if length]
    else:
        weight, lengths = float(n) if data.weights is None else math.fsum(data.weights), [n]
    power = 61 - math.frexp(weight)[1]
    totals = over_parts(data, _total, power, combine=_appended)
    starts, units = [0], [0]
    for length, total in zip(lengths, totals, strict=True):
        starts.append(starts[-1] + length)
        units.append(units[-1] + int(total))
    return Places(int(certificate.problem["draws"]), power, tuple(starts[:-1]), tuple(units))


def _lengths(part: Part, power: int) -> np.ndarray:
    return np.rint(np.ldexp(weights_in(part), power)).astype(np.int64)


def _total(part: Part, power: int) -> tuple[int, ...]:
    return (int(np.sum(_lengths(part, power))),)


def _appended(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return a + b
