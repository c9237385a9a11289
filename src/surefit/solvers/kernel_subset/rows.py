"""Coordinates of many rows in the span of a few, with the products that Newton's method needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefit.solvers.kernel_subset.squares import Span

BLOCK = 8192  # rows that are converted to float64 at a time
MOST_DOUBLES = 1 << 26  # number of coordinates beyond which they are stored in float32 (half a gigabyte)


class SpanRows:
    """Matrix of coordinates with the interface of ``surefit.solvers.newton.Rows``.

    Large matrices are rounded to float32, which changes the problem by a relative 1e-7. The gap of a fit is computed afterward from
    kernel values in float64, so the rounding affects accuracy but not the validity of the gap. Sums are always in float64.
    """

    sparse = False

    def __init__(self, F: np.ndarray):
        self.F, self.shape = F, F.shape

    @classmethod
    def of(cls, span: Span) -> SpanRows:
        """Compute the coordinates of all rows."""
        n, q = span.A.shape[0], span.whiten.shape[1]  # type: ignore[attr-defined]
        F = np.empty((n, q), dtype=np.float64 if n * q <= MOST_DOUBLES else np.float32)
        for part, values in span.pieces():
            F[part] = values @ span.whiten
        return cls(F)

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, self.shape[0], BLOCK):
            part = slice(start, min(start + BLOCK, self.shape[0]))
            yield part, self.F[part].astype(np.float64, copy=False)

    def times(self, W: np.ndarray) -> np.ndarray:
        """Return ``F W'``."""
        out = np.empty((self.shape[0], len(W)))
        for part, F in self._blocks():
            out[part] = F @ W.T
        return out

    def transposed(self, V: np.ndarray) -> np.ndarray:
        """Return ``V' F``."""
        out = np.zeros((V.shape[1], self.shape[1]))
        for part, F in self._blocks():
            out += V[part].T @ F
        return out

    def gram(self, columns: np.ndarray, weights: np.ndarray, means: np.ndarray) -> np.ndarray:
        """Return the Gram matrix of ``columns``, with weighted rows and columns centered at ``means``; rows of weight zero are skipped."""
        out = np.zeros((self.shape[1], self.shape[1]))
        for start in range(0, self.shape[0], BLOCK):
            used = start + np.flatnonzero(weights[start : start + BLOCK])
            F = (self.F[used] - means) * np.sqrt(weights[used])[:, None]
            out += F.T @ F
        return out if len(columns) == len(out) else out[np.ix_(columns, columns)]

    def weighted_means(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted means of the columns; unweighted means if all weights are zero."""
        weights = weights if weights.sum() > 0 else np.ones(self.shape[0])
        return self.transposed(weights[:, None])[0] / weights.sum()

    def curvature_times(self, curvatures: np.ndarray, v: np.ndarray, center: bool) -> np.ndarray:
        """Return ``F' D (F v - mean)`` for curvatures ``D``, with the D-weighted mean or zero."""
        u = self.times(v[None, :])[:, 0]
        if center:
            u -= (curvatures @ u) / max(curvatures.sum(), 1e-300)
        return self.transposed((curvatures * u)[:, None])[0]

    def square_sums(self, weights: np.ndarray) -> np.ndarray:
        """Return ``sum_i weights_i F_ij^2`` for every column."""
        out = np.zeros(self.shape[1])
        for part, F in self._blocks():
            out += weights[part] @ F**2
        return out

    def part(self, step: int) -> SpanRows:
        """Return every ``step``-th row."""
        return SpanRows(np.ascontiguousarray(self.F[::step]))
