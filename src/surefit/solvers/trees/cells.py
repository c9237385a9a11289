"""Fixed-point integers for rows, so that sums over partitions are exact and do not depend on how the rows are divided.

A weight or a weighted target is rounded to a multiple of a unit, 60 bits below the largest value, and split into two
parts of 30 bits. Sums of fewer than 2**33 parts fit into 64 bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows, exact_sum, rounded, weights_in
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes
from surefit.solvers.trees.candidates import Candidates
from surefit.solvers.trees.criteria import CRITERIA, POISSON
from surefit.solvers.trees.sampling import Line
from surefit.solvers.trees.targets import Classes, Sums
from surefit.solvers.trees.wave_search import Units

HALF = 30
LOW = 2**HALF - 1
NO_SEEDS = np.zeros(0, dtype=np.int64)


class Reading(NamedTuple):
    """Conversion of the rows of a partition to integers: the number of rows, then the amounts in units."""

    classes: list[Any] | None  # None for numbers
    factors: list[float] | None  # weights of the classes
    criterion: int
    weighted: bool
    center: float
    exponents: tuple[int, ...]  # amounts are at most 2**exponent; empty if amounts are integers
    drawn: bool = False  # whether rows are counted by their draws instead of their sample weights

    def rows(self, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows of positive weight, and their targets and weights."""
        assert part.y is not None
        y, w = read_target(part.y), weights_in(part)
        w = np.sign(w) if self.drawn else w
        if self.classes is not None:
            y = class_codes(y, self.classes)
            w = w if self.factors is None else w * np.asarray(self.factors)[y]
        used = np.flatnonzero(w > 0)
        return used, y[used], w[used]

    def amounts(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the amounts to sum: weights by class, or weights, weighted targets, and the third term of the impurity."""
        if self.classes is not None:
            return np.stack([np.where(y == k, w, 0.0) for k in range(len(self.classes))], axis=1)
        off = y - self.center
        if self.criterion == POISSON:
            third = w * y * np.log(np.where(y > 0, y, 1.0))
        else:
            third = w * off * off
        return np.stack([w, w * off, third], axis=1)

    def cells(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the integers of each row."""
        amounts, ones = self.amounts(y, w), np.ones((len(y), 1), dtype=np.int64)
        if not self.exponents:
            return np.concatenate([ones, amounts.astype(np.int64)], axis=1)
        units = np.rint(np.ldexp(amounts, 2 * HALF - np.asarray(self.exponents))).astype(np.int64)
        return np.concatenate([ones, units >> HALF, units & LOW], axis=1)

    def floats(self, cells: np.ndarray) -> np.ndarray:
        """Convert sums of cells to floats, each rounded once: number of rows, weight, and amounts."""
        counts = cells[..., :1].astype(np.float64)
        sums = cells[..., 1:].astype(np.float64)
        if self.exponents:
            k = len(self.exponents)
            sums = np.ldexp(np.ldexp(sums[..., :k], HALF) + sums[..., k:], np.asarray(self.exponents) - 2 * HALF)
        if self.classes is None:
            return np.concatenate([counts, sums], axis=-1)
        return np.concatenate([counts, sums.sum(axis=-1, keepdims=True), sums], axis=-1)

    @property
    def width(self) -> int:
        """Number of integers per row."""
        return 1 + (2 if self.exponents else 1) * (3 if self.classes is None else len(self.classes))

    def units(self) -> Units:
        """Return the conversion of integer sums to amounts, for compiled loops."""
        scales = np.ldexp(1.0, np.asarray(self.exponents, dtype=np.int64) - 2 * HALF)
        return Units(scales, 0 if self.classes is None else len(self.classes))

    def target(self) -> Any:
        """Return a target without rows, which selects the criterion for the best cut of a histogram."""
        nothing = np.zeros(0)
        if self.classes is not None and len(self.classes) > 2:
            return Classes(nothing.astype(np.int32), nothing, self.criterion, len(self.classes))
        return Sums(nothing, nothing, self.criterion)


class Largest(NamedTuple):
    """Result of the first pass: number of rows used, exact sums of weights and weighted targets, and the largest amounts."""

    rows: int
    weight: int
    product: int
    amounts: np.ndarray

    def joined(self, other: Largest) -> Largest:
        """Merge the results of two partitions."""
        largest = np.maximum(self.amounts, other.amounts)
        return Largest(self.rows + other.rows, self.weight + other.weight, self.product + other.product, largest)


def reading_of(
    rows: PartitionedRows,
    criterion: str,
    classes: list[Any] | None,
    factors: list[float] | None,
    drawn: bool = False,
) -> tuple[Reading, Largest]:
    """Return the conversion of rows to integers, and the totals, by one or two passes."""
    weighted = (rows.weighted and not drawn) or factors is not None
    reading = Reading(classes, factors, CRITERIA[criterion], weighted, 0.0, (), drawn)
    found: Largest = rows.map_reduce(_largest, reading, combine=Largest.joined)
    if classes is None and criterion == "squared_error":  # centering preserves the digits of sums of squares
        reading = reading._replace(center=rounded(found.product) / rounded(found.weight))
        found = found._replace(amounts=rows.map_reduce(_largest, reading, combine=Largest.joined).amounts)
    if classes is None or weighted:
        reading = reading._replace(exponents=tuple(int(math.frexp(a)[1]) for a in found.amounts.tolist()))
    return reading, found


def _largest(part: Part, reading: Reading) -> Largest:
    _, y, w = reading.rows(part)
    amounts = reading.amounts(y, w)
    product = 0 if reading.classes is not None else exact_sum(w * y)
    return Largest(len(y), exact_sum(w), product, np.max(np.abs(amounts), axis=0, initial=0.0))


class Cells(NamedTuple):
    """Rows of positive weight of a partition: codes of the columns, integer amounts, targets, and numbers of draws per tree."""

    codes: np.ndarray
    cells: np.ndarray
    y: np.ndarray
    counts: np.ndarray  # (trees, rows); empty without a bootstrap


def cells_of(
    part: Part, reading: Reading, candidates: Candidates, line: Line | None = None, seeds: np.ndarray = NO_SEEDS
) -> Cells:
    """Return the rows of a partition as integers, with the draws of the tree of each seed."""
    used, y, w = reading.rows(part)
    codes = candidates.codes(part.X if len(used) == len(part.X) else part.X[used])
    counts = np.zeros((0, len(used)), dtype=np.uint8)
    if line is not None:
        counts = np.ascontiguousarray(line.counts(part, seeds)[:, used])
    return Cells(codes, reading.cells(y, w), np.asarray(y, dtype=np.float64), counts)
