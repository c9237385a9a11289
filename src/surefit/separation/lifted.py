r"""Coordinates in which solvers search for candidates: signed rows :math:`a_i = t_i (x_i, 1)`, centered, scaled and of length one.

Scaling rows and columns by positive numbers, and moving the origin if there is an intercept, does not affect
separability. It improves floating-point accuracy, so candidates are computed in these coordinates; proofs use the data
as given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Lifted(NamedTuple):
    """Signed unit rows, and the map back to the coordinates of the data."""

    A: Any
    norms: np.ndarray  # norms of the rows before normalization
    center: np.ndarray
    scale: np.ndarray
    intercept: bool

    def back(self, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Return ``(w, b)`` in the coordinates of the data."""
        w = v[: len(self.scale)] / self.scale
        return w, (float(v[-1] - w @ self.center) if self.intercept else 0.0)


def lift(X, t: np.ndarray, intercept: bool) -> Lifted:
    """Return the signed unit rows of the data."""
    n, d = X.shape
    if sparse.issparse(X):
        scale = _positive(abs(X).max(axis=0).toarray().ravel().astype(np.float64))
        A = sparse.diags_array(t) @ X.astype(np.float64) @ sparse.diags_array(1 / scale)
        A = sparse.hstack([A, sparse.csr_array(t[:, None])]) if intercept else A
        norms = _positive(np.sqrt(np.asarray(A.power(2).sum(axis=1)).ravel()))
        return Lifted(sparse.csr_array(sparse.diags_array(1 / norms) @ A), norms, np.zeros(d), scale, intercept)
    A = np.empty((n, d + int(intercept)))
    A[:, :d] = X
    center = np.zeros(d)
    if intercept:
        A[:, d] = 1.0
        with np.errstate(over="ignore"):
            mean = A[:, :d].mean(axis=0)
        center = np.where(np.isfinite(mean), mean, 0.0)
        A[:, :d] -= center
    scale = _positive(np.max(np.abs(A[:, :d]), axis=0))
    A[:, :d] /= scale
    norms = _positive(np.sqrt(np.einsum("ij,ij->i", A, A)))
    A *= (t / norms)[:, None]
    return Lifted(A, norms, center, scale, intercept)


def on_face(A: np.ndarray, face: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Restrict directions to those that vanish on the rows of ``face``.

    Return unit rows in coordinates of that subspace, and their indices in ``A``. All other rows are, up to rounding,
    combinations of rows of the face.
    """
    _, singular, vt = np.linalg.svd(A[face], full_matrices=True)
    rank = int(np.sum(singular > 1e-10 * singular[0])) if len(singular) and singular[0] > 0 else 0
    reduced = A @ vt[rank:].T
    norms = np.sqrt(np.einsum("ij,ij->i", reduced, reduced))
    rows = np.flatnonzero(norms > 1e-9)
    return reduced[rows] / norms[rows, None], rows


def _positive(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 1.0)
