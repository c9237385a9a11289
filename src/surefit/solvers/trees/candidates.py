"""Candidate thresholds of rows in partitions: between all values of a column that has few, else edges of bins from evenly spaced rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows
from surefit.solvers.trees.binned import bin_columns, encode_column

SAMPLE = 2**16  # rows that determine the edges of columns with many values, evenly spaced
MOST = 255  # values of a column between which all cuts are candidates
COLUMNS = 128  # whose sample travels in one pass


class Candidates(NamedTuple):
    """Thresholds by column, ascending; value x has the code c of the first edge with x <= edges[j, c]."""

    edges: np.ndarray  # (d, 254) float64, inf beyond the last
    counts: np.ndarray  # (d,) int64, number of edges
    values: np.ndarray  # (d, 255) float64: the only value of each code in columns with few values, else nan

    def codes(self, X: np.ndarray) -> np.ndarray:
        """Return the codes of rows; 255 is missing."""
        found = np.empty(X.shape, dtype=np.uint8)
        for j, (line, count) in enumerate(zip(self.edges, self.counts.tolist(), strict=True)):
            own = np.empty(len(X), dtype=np.uint8)
            encode_column(np.ascontiguousarray(X[:, j], dtype=np.float64), line[:count], own)
            found[:, j] = own
        return found

    def threshold(self, feature: int, left: int, right: int) -> float:
        """Return the threshold between two codes that follow each other at a node."""
        low, high = self.values[feature, left], self.values[feature, right]
        if np.isnan(low):
            return float(self.edges[feature, left])
        middle = low / 2.0 + high / 2.0
        return float(middle if low <= middle < high else low)


def candidates_of(rows: PartitionedRows, max_bins: int | None) -> Candidates:
    """Return the candidates of all columns: one pass for the values, and one per 128 columns of which some have many.

    If ``max_bins`` was asked for, thresholds are edges of bins, as in memory; else they are in the middle of two values of a node where
    a column has at most 255 values.
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
    """Return the distinct values of each column, None if they are too many."""
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
