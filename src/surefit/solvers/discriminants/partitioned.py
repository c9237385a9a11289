"""Class moments for rows in partitions in one pass, and triangular factors with the same Gram matrix as the centered rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows
from surefit.solvers.discriminants.counts import Counts, Spread, class_spread, class_sums
from surefit.solvers.discriminants.moments import Grouped, Moments, Scatters, group
from surefit.solvers.least_squares.partitioned import join, triangle


class ClassesInPartitions(NamedTuple):
    """Interface of :class:`Grouped` for partitions: triangular factors replace rows, with the same singular values and axes."""

    rows: PartitionedRows
    labels: np.ndarray

    def count(self, k: int) -> int:
        """Return an upper bound on the number of rows of class ``k``."""
        counts = self.rows.counts
        return self.rows.shape[0] if self.rows.weighted or counts is None else int(counts[k])

    def moments(self, scatters: Scatters = "each") -> Moments:
        """Return weights, means and scatter matrices of the classes, by one pass."""
        return self.rows.map_reduce(_moments, self.labels, scatters, combine=merged)

    def centered(self, means: np.ndarray) -> np.ndarray:
        """Return the triangular factor of all rows minus their class means, times the square roots of their weights."""
        return self.rows.map_reduce(_centered, self.labels, means, None, combine=join)

    def centered_class(self, k: int, mean: np.ndarray) -> np.ndarray:
        """Return the triangular factor of the rows of one class minus ``mean``, times the roots of their relative weights."""
        assert self.rows.counts is not None
        found = self.rows.map_reduce(_centered, self.labels, mean, k, combine=join)
        return found / math.sqrt(float(self.rows.counts[k]))

    def fourth_powers(self, classes: Iterable[int], mean: np.ndarray, scale: np.ndarray) -> float:
        """Return the weighted sum of the fourth powers of the lengths of the standardized rows of some classes."""
        return self.rows.map_reduce(_fourth_powers, self.labels, tuple(classes), mean, scale)


def grouped(part: Part, labels: np.ndarray) -> Grouped:
    """Return the rows of a partition, sorted by class."""
    assert part.y is not None
    return group(part.X, np.searchsorted(labels, part.y), len(labels), part.weights)


def spread_of(part: Part, labels: np.ndarray) -> Spread:
    """Return the means and variances of the classes in a partition."""
    with np.errstate(over="ignore", invalid="ignore"):
        return class_spread(grouped(part, labels))


def sums_of(part: Part, labels: np.ndarray, counted: np.ndarray) -> Counts:
    """Return the class sums of the columns ``counted`` of a partition."""
    return class_sums(grouped(part, labels), counted)


def merged(a: Moments, b: Moments) -> Moments:
    """Merge the moments of two sets of rows."""
    totals = a.totals + b.totals
    share = np.divide(b.totals, totals, out=np.zeros_like(totals), where=totals > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = b.means - a.means
        between = (a.totals * share)[:, None, None] * apart[:, :, None] * apart[:, None, :]
        if len(a.scatters) == 1 < len(totals):
            between = between.sum(axis=0, keepdims=True)
        scatters = a.scatters + b.scatters + between if len(a.scatters) else a.scatters
    means = np.where((a.totals > 0)[:, None], a.means + share[:, None] * apart, b.means)
    return Moments(totals, means, scatters)


def _moments(part: Part, labels: np.ndarray, scatters: Scatters) -> Moments:
    with np.errstate(over="ignore", invalid="ignore"):
        return grouped(part, labels).moments(scatters)


def _centered(part: Part, labels: np.ndarray, means: np.ndarray, k: int | None) -> np.ndarray:
    """Return the triangular factor of the centered rows of class ``k``, or of all rows (None), in their order."""
    assert part.y is not None
    codes = np.searchsorted(labels, part.y)
    chosen = None if k is None else np.flatnonzero(codes == k)
    X = part.X - (means[codes] if k is None else means)
    return triangle(part._replace(X=X, y=None), False, chosen)


def _fourth_powers(
    part: Part, labels: np.ndarray, classes: tuple[int, ...], mean: np.ndarray, scale: np.ndarray
) -> float:
    return grouped(part, labels).fourth_powers(classes, mean, scale)
