"""Candidate thresholds for rows in partitions: between all values of columns with few values, otherwise bin edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows
from surefit.solvers.trees.binned import bin_columns, encode_column
from surefit.solvers.trees.draws import between

SAMPLE = 2**16  # number of evenly spaced rows that determine the bin edges of columns with many values
MOST = 255  # largest number of distinct values for which all cuts are candidates
COLUMNS = 128  # number of columns whose sample is collected in one pass


class Candidates(NamedTuple):
    """Ascending thresholds of each column; the code of a value x is the first c with x <= edges[j, c]."""

    edges: np.ndarray  # (d, 254) float64, inf beyond the last
    counts: np.ndarray  # (d,) int64, number of edges
    values: np.ndarray  # (d, 255) float64: the value of each code in columns with few values, otherwise nan

    def codes(self, X: np.ndarray) -> np.ndarray:
        """Return the codes of rows; 255 is missing."""
        found = np.empty(X.shape, dtype=np.uint8)
        for j, (line, count) in enumerate(zip(self.edges, self.counts.tolist(), strict=True)):
            own = np.empty(len(X), dtype=np.uint8)
            encode_column(np.ascontiguousarray(X[:, j], dtype=np.float64), line[:count], own)
            found[:, j] = own
        return found

    def threshold(self, feature: int, left: int, right: int) -> float:
        """Return the threshold in the middle between two consecutive codes that occur at a node."""
        low, high = self.values[feature, left], self.values[feature, right]
        if np.isnan(low):
            return float(self.edges[feature, between(left, right)])
        middle = low / 2.0 + high / 2.0
        return float(middle if low <= middle < high else low)


def candidates_of(rows: PartitionedRows, max_bins: int | None) -> Candidates:
    """Return the candidates of all columns, by one pass for the distinct values and one per 128 columns with many values.

    If ``max_bins`` is given, thresholds are bin edges, as for rows in memory. Otherwise, for a column with at most 255
    distinct values, they are midpoints of neighboring values at a node.
    """
    d, most = rows.shape[1], max_bins or MOST
    found = tuple(own if own is None else _few(own, most) for own in rows.map_reduce(_values, combine=_merged))
    edges, counts, values = np.full((d, 254), np.inf), np.zeros(d, dtype=np.int64), np.full((d, 255), np.nan)
    many = np.array([j for j, own in enumerate(found) if own is None], dtype=np.int64)
    stride = -(-rows.shape[0] // SAMPLE)
    for first in range(0, len(many), COLUMNS):
        block = many[first : first + COLUMNS]
        bins = bin_columns(np.ascontiguousarray(rows.map_reduce(_sampled, block, stride, combine=_stacked).T), most)
        edges[block], counts[block] = bins.edges, bins.counts - 1
    for j, own in enumerate(found):
        if own is None or not len(own):
            continue
        bins = bin_columns(own[None], most)
        edges[j], counts[j] = bins.edges[0], bins.counts[0] - 1
        if max_bins is None:
            values[j, : len(own)] = own
    return Candidates(edges, counts, values)


def _values(part: Part) -> tuple[np.ndarray | None, ...]:
    """Return the distinct values of each column, or None if there are more than 255."""
    found = (np.unique(part.X[:, j].astype(np.float64) + 0.0) for j in range(part.X.shape[1]))
    return tuple(_few(own[~np.isnan(own)], MOST) for own in found)


def _few(values: np.ndarray, most: int) -> np.ndarray | None:
    return values if len(values) <= most else None


def _merged(a: tuple[np.ndarray | None, ...], b: tuple[np.ndarray | None, ...]) -> tuple[np.ndarray | None, ...]:
    pairs = zip(a, b, strict=True)
    return tuple(None if x is None or y is None else _few(np.union1d(x, y), MOST) for x, y in pairs)


def _sampled(part: Part, columns: np.ndarray, stride: int) -> np.ndarray:
    return part.X[-part.start % stride :: stride, columns].astype(np.float64)


def _stacked(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b])
