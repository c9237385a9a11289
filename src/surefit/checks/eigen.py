r"""Bounds on eigenvalues that hold whatever the eigenvalue routine did, and the claims of principal components.

If :math:`M = V \Lambda V^\top + R` for some matrix :math:`V` of any quality, then by Weyl and Ostrowski every eigenvalue of the
symmetric :math:`M` is within :math:`\|R\|_F + (\|V^\top V - I\|_F) \max|\Lambda|` of the matching entry of :math:`\Lambda`.
Computed vectors are the witness; only the residual, whose rounding is bounded, enters the proof (theory: ``eigen-residual``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

#: Up to this many rows or columns, whichever are fewer, the whole spectrum is enclosed.
LARGEST_SPECTRUM = 3000


class Directions(NamedTuple):
    """What the rows say about certified directions."""

    residual: float  # largest |S v - lambda v|
    radius: float  # of each image S v
    defect: float  # |V V' - I|
    captured: float  # variance in the space that the directions span
    gap: float  # of the captured variance below the best
    gap_radius: float
    level: str
    mean_is_right: bool
    spectrum: Spectrum | None


class Spectrum(NamedTuple):
    """All eigenvalues of a symmetric matrix, largest first, each within ``radius`` of the truth."""

    values: np.ndarray
    vectors: np.ndarray
    radius: float

    def largest_sum(self, count: int) -> tuple[float, float]:
        """Return the sum of the ``count`` largest eigenvalues and a radius."""
        return float(np.sum(self.values[:count])), count * self.radius + gamma(count + 1) * float(
            np.sum(np.abs(self.values[:count]))
        )

    def count_above(self, threshold: float) -> tuple[int, int]:
        """Return how many eigenvalues surely lie above ``threshold``, and how many possibly do (inertia, Sylvester)."""
        return int(np.sum(self.values - self.radius > threshold)), int(np.sum(self.values + self.radius > threshold))


def spectrum(M: np.ndarray, radius: float = 0.0) -> Spectrum:
    """Enclose the eigenvalues of a symmetric matrix that is known up to ``radius`` in the Frobenius norm."""
    n = len(M)
    if n == 0:
        return Spectrum(np.zeros(0), np.zeros((0, 0)), radius)
    values, V = np.linalg.eigh(M)
    size = float(np.max(np.abs(values)))
    bound = gamma(3 * n + 8)
    residual = float(np.linalg.norm(M - (V * values) @ V.T)) + bound * (float(np.linalg.norm(M)) + n * size)
    defect = float(np.linalg.norm(V.T @ V - np.eye(n))) + bound * n
    total = (residual + defect * size + radius) * (1 + gamma(8))
    return Spectrum(values[::-1], V[:, ::-1], total)


def centred_product(X, weights: np.ndarray, shift: np.ndarray, by_rows: bool) -> tuple[np.ndarray, float]:
    r"""Return :math:`B^\top B` (``by_rows``: :math:`BB^\top`) and its radius; rows of B are :math:`\sqrt{w_i}(x_i - shift)`."""
    n, d = X.shape
    root = np.sqrt(weights)
    if by_rows:
        B = root[:, None] * (dense(X) - shift)
        product, depth = B @ B.T, d
    else:
        product, rows = np.zeros((d, d)), rows_at_once(d)
        for start in range(0, n, rows):
            piece = slice(start, min(start + rows, n))
            B = root[piece, None] * (dense(X[piece]) - shift)
            product += B.T @ B
        depth = min(rows, n) + n // rows
    # Entry by entry the error is gamma times |B|'|B|, whose Frobenius norm is at most its trace, that of the product.
    return product, gamma(depth + 8) * float(np.trace(product)) * (1 + gamma(8))


def dense(X) -> np.ndarray:
    """Return the rows as a dense float64 array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def rows_at_once(d: int) -> int:
    """Rows of a block that, made dense, takes moderate memory."""
    return max(1, min(4096, 2**22 // max(d, 1)))


def weights_of(data) -> np.ndarray:
    """Return the sample weights, ones if there are none."""
    return np.ones(data.X.shape[0]) if data.weights is None else data.weights


def weighted_mean(X, weights: np.ndarray) -> np.ndarray:
    """Return the mean of the rows; its rounding does not matter to callers, who treat it as a given shift."""
    return np.asarray(weights @ X, dtype=np.float64).ravel() / math.fsum(weights)


@checker("eigen.residual")
def check_residual(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every explained variance is within value of an eigenvalue of the covariance matrix."""
    found = directions_of(certificate, data)
    ok = found.residual - claim.value <= found.radius
    proved = (found.residual + found.radius) * (1 + 2 * found.defect)  # a vector v proves it up to |S v - l v| / |v|
    return Finding(claim.name, claim.value, proved if ok else found.residual, ok, "enclosed", "residuals recomputed.")


@checker("eigen.orthonormal")
def check_orthonormal(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The directions are orthonormal up to value, and the mean is the mean of the rows."""
    found = directions_of(certificate, data)
    ok = found.defect <= claim.value + gamma(data.X.shape[1] + 8) and found.mean_is_right
    message = "products of the directions recomputed." if found.mean_is_right else "mean_ is not the mean of the rows."
    return Finding(claim.name, claim.value, found.defect, ok, "recomputed", message)


@checker("eigen.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No other directions, as many, capture more variance than these by more than value."""
    found = directions_of(certificate, data)
    ok = found.gap - claim.value <= found.gap_radius
    message = f"the directions capture {found.captured:.9g}; the best possible is at most {found.gap:.3g} more."
    return Finding(claim.name, claim.value, max(found.gap, 0.0) + found.gap_radius, ok, found.level, message)


@checker("eigen.complete")
def check_complete(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Exactly the stated number of eigenvalues lie above the threshold (inertia, Sylvester)."""
    found, numbers = directions_of(certificate, data), claim.numbers
    if found.spectrum is None:
        return Finding(claim.name, claim.value, math.inf, False, "recomputed", "the matrix is too large to count.")
    surely, possibly = found.spectrum.count_above(numbers["threshold"])
    missed = float(abs(surely - numbers["count"]) + possibly - surely)
    ok = missed <= claim.value and numbers["count"] == len(certificate.model["components_"])
    return Finding(claim.name, claim.value, missed, ok, "enclosed", f"{surely} eigenvalues are above the threshold.")


def directions_of(certificate: Certificate, data: Data) -> Directions:
    """Return what the rows say about the certified directions."""
    if "eigen" not in data.memo:
        data.memo["eigen"] = _examine(certificate, data)
    return data.memo["eigen"]


def _examine(certificate: Certificate, data: Data) -> Directions:
    n, d = data.X.shape
    V = np.asarray(certificate.model["components_"], dtype=np.float64).reshape(-1, d)
    variances = np.asarray(certificate.model["explained_variance_"], dtype=np.float64)
    q, mean = len(V), _mean(data.X)
    digits = float(np.finfo(certificate.model["mean_"].dtype).eps)
    slack = 4 * (digits + gamma(n)) * (np.abs(mean) + np.sqrt(_mean_square(data.X, mean)))
    mean_is_right = bool(np.all(np.abs(certificate.model["mean_"] - mean) <= slack))
    images = _times_covariance(data.X, mean, V.T)
    total = _mean_square(data.X, mean).sum() * n / (n - 1)
    radius = gamma(2 * rows_at_once(d) + n // rows_at_once(d) + d + 16) * total * 2
    residual = float(np.max(np.linalg.norm(images - V.T * variances, axis=0), initial=0.0))
    defect = float(np.linalg.norm(V @ V.T - np.eye(q)))
    captured = float(np.trace(np.linalg.solve(V @ V.T, V @ images))) if q else 0.0
    if min(n, d) <= LARGEST_SPECTRUM:
        M, M_radius = centred_product(data.X, np.ones(n), mean, by_rows=n < d)
        whole = spectrum(M / (n - 1), M_radius / (n - 1) + gamma(4) * total)
        best, best_radius = whole.largest_sum(q)
        return Directions(
            residual,
            radius,
            defect,
            captured,
            best - captured,
            best_radius + q * radius,
            "enclosed",
            mean_is_right,
            whole,
        )
    gap = _gap_by_residuals(data.X, mean, V, images)
    return Directions(residual, radius, defect, captured, gap, q * radius, "recomputed", mean_is_right, None)


def _gap_by_residuals(X, mean, V, images) -> float:
    """Bound the gap from the part of S V outside V and the largest variance outside V (theory: ``eigen-residual``)."""
    d = X.shape[1]

    def outside(w):
        w = w.ravel() - V.T @ (V @ w.ravel())
        w = _times_covariance(X, mean, w[:, None]).ravel()
        return w - V.T @ (V @ w)

    operator = LinearOperator((d, d), matvec=outside, dtype=np.float64)
    start = np.random.default_rng(1).standard_normal(d)
    largest = float(eigsh(operator, k=1, v0=start, tol=1e-3, return_eigenvectors=False)[0]) * 1.01
    A = (V @ images + (V @ images).T) / 2
    own = np.linalg.eigvalsh(A)
    B = images - V.T @ A
    first = float(np.sum(np.linalg.svd(B, compute_uv=False)) + np.sum(np.maximum(largest - own, 0.0)))
    return min(first, float(np.sum(B**2)) / (own[0] - largest)) if own[0] > largest else first


def _mean(X) -> np.ndarray:
    """Mean of the rows, by a first mean and the mean of the differences from it."""
    n, d = X.shape
    first = weighted_mean(X, np.ones(n))
    rest, rows = np.zeros(d), rows_at_once(d)
    for start in range(0, n, rows):
        rest += (dense(X[start : start + rows]) - first).sum(axis=0)
    return first + rest / n


def _mean_square(X, mean: np.ndarray) -> np.ndarray:
    n, d = X.shape
    total, rows = np.zeros(d), rows_at_once(d)
    for start in range(0, n, rows):
        total += np.sum((dense(X[start : start + rows]) - mean) ** 2, axis=0)
    return total / n


def _times_covariance(X, mean: np.ndarray, W: np.ndarray) -> np.ndarray:
    n, d = X.shape
    total, rows = np.zeros((d, W.shape[1])), rows_at_once(d)
    for start in range(0, n, rows):
        block = dense(X[start : start + rows]) - mean
        total += block.T @ (block @ W)
    return total / (n - 1)
