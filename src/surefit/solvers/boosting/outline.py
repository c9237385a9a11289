"""Statistics of rows in partitions for gradient boosting, before the first round: totals, missing values, categories and cuts."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.partitioned import Part, PartitionedRows, exact_sum, rounded
from surefit.solvers.boosting.binning import SAMPLE, Bins, find_bins
from surefit.solvers.boosting.gradient import OVERFLOW
from surefit.solvers.boosting.rows import Reading

COLUMNS = 128  # number of columns whose sample is collected in one pass


class Outline(NamedTuple):
    """Totals of the training rows; sums are exact and rounded once, so they do not depend on the partitions."""

    counts: tuple[int, ...]  # number of training rows of each partition
    weights: tuple[float, float]  # total weight of the training rows, and of the held-out rows
    product: float  # sum of weight times target
    by_code: np.ndarray  # weight of each class
    lightest: float
    heaviest: float
    smallest: float  # target
    missing: np.ndarray  # whether each column has missing values
    categories: tuple[np.ndarray, ...]  # distinct values of the categorical columns, at most one more than allowed

    @property
    def even(self) -> bool:
        """Whether all weights are equal."""
        return self.lightest == self.heaviest


def outline_of(rows: PartitionedRows, reading: Reading, categorical: np.ndarray, max_bins: int) -> Outline:
    """Compute the totals of all rows in one pass."""
    sums, found = rows.map_reduce(_outlined, reading, np.flatnonzero(categorical), max_bins, combine=_joined)
    learn, held, product, *by_code = map(rounded, sums)
    return found._replace(weights=(learn, held), product=product, by_code=np.array(by_code))


def _outlined(part: Part, reading: Reading, categorical: np.ndarray, max_bins: int) -> tuple[tuple[int, ...], Outline]:
    """Return exact sums (weights of training rows and held-out rows, weighted targets, weights by class) and the other totals."""
    y, s = reading.targets(part)
    learn, held = reading.split(part, s)
    X, y, own = part.X if len(learn) == len(s) else part.X[learn], y[learn], s[learn]
    with np.errstate(over="ignore"):
        product = own * y
    if not np.all(np.isfinite(product)):
        raise InvalidData(OVERFLOW)
    codes = () if reading.classes is None else range(len(reading.classes))
    given = (y > 0).astype(np.int64) if reading.signed else y
    sums = [own, s[held], product, *(own[given == k] for k in codes)]
    distinct = (np.unique(X[:, j].astype(np.float64)) for j in categorical)
    rest = Outline(
        (len(learn),),
        (0.0, 0.0),
        0.0,
        np.zeros(0),
        float(np.min(own, initial=math.inf)),
        float(np.max(own, initial=0.0)),
        float(np.min(y, initial=math.inf)),
        np.isnan(X).any(axis=0),
        tuple(found[~np.isnan(found)][: max_bins + 1] for found in distinct),
    )
    return tuple(map(exact_sum, sums)), rest


def _joined(a: tuple[tuple[int, ...], Outline], b: tuple[tuple[int, ...], Outline]) -> tuple[tuple[int, ...], Outline]:
    (sums, one), (others, other) = a, b
    both = zip(one.categories, other.categories, strict=True)
    rest = one._replace(
        counts=one.counts + other.counts,
        lightest=min(one.lightest, other.lightest),
        heaviest=max(one.heaviest, other.heaviest),
        smallest=min(one.smallest, other.smallest),
        missing=one.missing | other.missing,
        categories=tuple(np.unique(np.concatenate(pair)) for pair in both),
    )
    return tuple(x + y for x, y in zip(sums, others, strict=True)), rest


def bins_of_partitions(
    rows: PartitionedRows, reading: Reading, outline: Outline, categorical: np.ndarray, max_bins: int
) -> Bins:
    """Return the same cuts as for rows in memory, from the same evenly spaced rows, which one worker collects."""
    d, count = rows.shape[1], sum(outline.counts)
    lengths = [length for length in rows.lengths if length > 0]
    starts = np.cumsum([0, *lengths[:-1]]).tolist()
    ranks = dict(zip(starts, np.cumsum([0, *outline.counts[:-1]]).tolist(), strict=True))
    stride = -(-count // SAMPLE)
    parts = []
    for first in range(0, d, COLUMNS):
        block, finish = slice(first, first + COLUMNS), partial(_cut, max_bins=max_bins, even=outline.even)
        parts.append(rows.map_reduce(_sampled, reading, ranks, stride, block, combine=_stacked, finish=finish))
    bins = Bins(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))
    bins = bins._replace(categorical=categorical, has_missing=outline.missing)
    for j, found in zip(np.flatnonzero(categorical), outline.categories, strict=True):
        bins.cuts[j] = np.inf
        bins.cuts[j, : len(found)] = found
        bins.n_bins[j] = max(len(found), 1)
    return bins


def _sampled(
    part: Part, reading: Reading, ranks: dict[int, int], stride: int, block: slice
) -> tuple[np.ndarray, np.ndarray]:
    _, s = reading.targets(part)
    learn, _ = reading.split(part, s)
    chosen = learn[-ranks[part.start] % stride :: stride]
    return part.X[chosen, block].astype(np.float64), s[chosen]


def _cut(sample: tuple[np.ndarray, np.ndarray], max_bins: int, even: bool) -> Bins:
    X, s = sample
    return find_bins(X, None if even else s, max_bins, np.zeros(X.shape[1], dtype=bool), 1)


def _stacked(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
