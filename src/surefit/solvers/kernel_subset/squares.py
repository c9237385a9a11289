r"""Kernel ridge regression in the span of some rows (Nystroem), with memory linear in the number of rows.

With the values :math:`Z = k(x_i, z_j)` and :math:`k(z, z) = U \Lambda U^\top`, the features :math:`\Phi = Z U \Lambda^{-1/2}` have the
inner products of the projections on the span, so the problem is ridge regression on :math:`\Phi`. Its functions lie in the RKHS of the
kernel: the objective is that of the exact problem.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.kernels import Kernel

PIECE = 1 << 21  # kernel values that are stored at a time
RANK = 1e-11  # eigenvalues of the landmarks below this fraction of the largest are dropped, so that coefficients stay small


class SubsetFit(NamedTuple):
    """Coefficients of the landmarks, intercept, and values on the rows."""

    a: np.ndarray
    b: float
    values: np.ndarray  # without the intercept
    square: float  # squared norm of the function


class Span(NamedTuple):
    """Span of the landmarks: ``whiten`` maps kernel values with them to coordinates."""

    kernel: Kernel
    A: object
    landmarks: np.ndarray
    inner: np.ndarray
    whiten: np.ndarray

    def pieces(self, rows: np.ndarray | None = None):
        """Yield slices of ``rows`` (by default all rows) and their kernel values with the landmarks."""
        every = np.arange(self.A.shape[0]) if rows is None else rows  # type: ignore[attr-defined]
        given = self.kernel.takes == "values"
        step = max(1, PIECE // len(self.landmarks))
        for start in range(0, len(every), step):
            part = slice(start, min(start + step, len(every)))
            some = every[part]
            if given:
                yield part, np.asarray(self.A[some][:, self.landmarks], dtype=np.float64)  # type: ignore[index]
                continue
            values = self.kernel(self.A[some], self.A[self.landmarks])  # type: ignore[index]
            i, j = np.nonzero(some[:, None] == self.landmarks)
            values[i, j] = self.inner[j, j]
            yield part, values

    def values(self, a: np.ndarray) -> np.ndarray:
        """Return the values at all rows of functions with coefficients ``a``, one column per function."""
        out = np.empty((self.A.shape[0], a.shape[1]))  # type: ignore[attr-defined]
        for part, K in self.pieces():
            out[part] = K @ a
        return out


def span_of(kernel: Kernel, A, landmarks: np.ndarray, rank: float = RANK) -> Span:
    """Prepare the span of some rows, without directions whose eigenvalue is at most ``rank`` times the largest."""
    rows = kernel.rows(A).take(landmarks)
    inner = rows.block(np.arange(len(landmarks)))
    values, vectors = linalg.eigh(inner, check_finite=False)
    kept = values > rank * max(float(values[-1]), 0.0)
    return Span(kernel, A, landmarks, inner, vectors[:, kept] / np.sqrt(values[kept]))


def minimize(span: Span, y: np.ndarray, s: np.ndarray, alpha: float, offset: bool) -> SubsetFit:
    """Solve the normal equations with one step of iterative refinement."""
    q = span.whiten.shape[1]
    G = np.zeros((q + 1, q + 1))
    for part, values in span.pieces():
        phi = np.column_stack([values @ span.whiten, np.ones(values.shape[0])])
        G += (phi * s[part, None]).T @ phi
    G[np.arange(q), np.arange(q)] += alpha
    size = q + 1 if offset else q
    solve = _solver(G[:size, :size])
    w, fitted = np.zeros(q + 1), np.zeros(len(y))
    for _ in range(2):
        derivative = _gradient(span, s * (y - fitted - w[q]), w, alpha)
        w[:size] += solve(derivative[:size])
        for part, values in span.pieces():
            fitted[part] = values @ (span.whiten @ w[:q])
    return SubsetFit(span.whiten @ w[:q], float(w[q]), fitted, float(w[:q] @ w[:q]))


def _solver(G: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that solves with ``G``; if ``G`` is singular in floating point, within its numerical range."""
    try:
        return partial(linalg.cho_solve, linalg.cho_factor(G, lower=True, check_finite=False), check_finite=False)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(G, check_finite=False)
        kept = vectors[:, values > len(G) * np.finfo(np.float64).eps * values[-1]]
        return lambda right: kept @ ((kept.T @ right) / values[-kept.shape[1] :])


def _gradient(span: Span, weighted: np.ndarray, w: np.ndarray, alpha: float) -> np.ndarray:
    """Return half the negative gradient of the objective."""
    q = len(w) - 1
    total = np.zeros(len(span.landmarks))
    for part, values in span.pieces():
        total += values.T @ weighted[part]
    return np.append(span.whiten.T @ total - alpha * w[:q], weighted.sum())
