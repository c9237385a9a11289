"""Principal component analysis."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from surefit.core.partitioned import Part, PartitionedRows, over_rows

BLOCK = 4096  # rows per block of centered copies


class Axes(NamedTuple):
    """Principal axes, before truncation to the requested number of components."""

    components: np.ndarray  # (q, d) float64, orthonormal rows, signs fixed
    variances: np.ndarray  # (q,) decreasing
    total_variance: float
    spectrum: np.ndarray | None  # all variances, if they were computed


class Centered(NamedTuple):
    """Centered rows as an operator, without copies; sparse rows stay sparse."""

    X: Any
    mean: np.ndarray

    def times(self, W: np.ndarray) -> np.ndarray:
        """Return ``(X - 1 mean') W``."""
        if sparse.issparse(self.X):
            return np.asarray(self.X @ W) - self.mean @ W
        return np.concatenate([(self.block(start)) @ W for start in self.starts()])

    def transposed_times(self, Z: np.ndarray) -> np.ndarray:
        """Return ``(X - 1 mean')' Z``."""
        if sparse.issparse(self.X):
            return np.asarray(self.X.T @ Z) - np.multiply.outer(self.mean, Z.sum(axis=0))
        total = np.zeros((self.X.shape[1], *Z.shape[1:]))
        for start in self.starts():
            total += self.block(start).T @ Z[start : start + BLOCK]
        return total

    def block(self, start: int) -> np.ndarray:
        """Return a block of centered rows."""
        return np.asarray(self.X[start : start + BLOCK], dtype=np.float64) - self.mean

    def starts(self) -> range:
        """Return the start of each block."""
        return range(0, self.X.shape[0], BLOCK)

    def scatter(self) -> np.ndarray:
        """Return the scatter matrix of the centered rows."""
        if isinstance(self.X, PartitionedRows):
            return self.X.map_reduce(_scatter, self.mean)
        if sparse.issparse(self.X):
            X = self.X.astype(np.float64)
            product = np.asarray((X.T @ X).todense())
            return product - self.X.shape[0] * np.outer(self.mean, self.mean)
        total = np.zeros((self.X.shape[1], self.X.shape[1]))
        for start in self.starts():
            rows = self.block(start)
            total += rows.T @ rows
        return total

    def squares(self) -> float:
        """Return the sum of all squares."""
        if sparse.issparse(self.X):
            squares = self.X.astype(np.float64).power(2).sum()
            return max(float(squares) - self.X.shape[0] * float(self.mean @ self.mean), 0.0)
        return math.fsum(float(np.sum(self.block(start) ** 2)) for start in self.starts())


def center(X: Any) -> Centered:
    """Return the centered rows, in memory or in partitions."""
    mean = over_rows(X, None, _sum) / X.shape[0]
    if not sparse.issparse(X):  # a second pass restores digits lost by the first for data far from the origin
        mean = mean + over_rows(X, None, _sum_about, mean) / X.shape[0]
    return Centered(X, mean)


def _sum(part: Part) -> np.ndarray:
    return np.asarray(np.ones(part.X.shape[0]) @ part.X, dtype=np.float64).ravel()


def _sum_about(part: Part, mean: np.ndarray) -> np.ndarray:
    rows = Centered(part.X, mean)
    return sum(rows.block(start).sum(axis=0) for start in rows.starts())


def _scatter(part: Part, mean: np.ndarray) -> np.ndarray:
    return Centered(part.X, mean).scatter()


def all_axes(rows: Centered, method: str) -> Axes:
    """Return all principal axes, by ``"full"`` singular value decomposition or ``"covariance_eigh"``."""
    n, d = rows.X.shape
    if method == "full":
        matrix = np.concatenate([rows.block(start) for start in rows.starts()])
        _, singular, components = linalg.svd(matrix, full_matrices=False, overwrite_a=True)
        variances = singular**2 / (n - 1)
    else:
        values, vectors = np.linalg.eigh(rows.scatter() / (n - 1))
        variances, components = np.maximum(values[::-1], 0.0), vectors[:, ::-1].T
    count = min(n, d)
    return Axes(with_fixed_signs(components[:count]), variances[:count], float(np.sum(variances)), variances)


def randomized_axes(rows: Centered, q: int, oversamples: int, power: int, random: Any) -> Axes:
    """Return the first axes by subspace iteration from a random start (Halko, Martinsson and Tropp 2011)."""
    n, d = rows.X.shape
    width = min(q + oversamples, n, d)
    basis = np.linalg.qr(random.standard_normal((d, width)))[0]
    for _ in range(power + 1):
        basis = np.linalg.qr(rows.transposed_times(rows.times(basis)))[0]
    images = rows.times(basis)
    values, turn = linalg.eigh(images.T @ images / (n - 1))
    components = (basis @ turn[:, ::-1]).T[:q]
    return Axes(with_fixed_signs(components), values[::-1][:q], rows.squares() / (n - 1), None)


def lanczos_axes(rows: Centered, q: int, tol: float, random: Any) -> Axes:
    """Return the first axes by implicitly restarted Lanczos steps (ARPACK)."""
    n, d = rows.X.shape
    if rows.squares() == 0.0:  # Lanczos steps need a direction; without variance all axes are equivalent
        return Axes(np.eye(q, d), np.zeros(q), 0.0, None)
    if n < d:
        operator = LinearOperator(
            (n, n), matvec=lambda z: rows.times(rows.transposed_times(z.ravel())), dtype=np.float64
        )
        values, left = eigsh(operator, k=q, tol=tol, v0=random.uniform(-1, 1, n))
        vectors = np.linalg.qr(rows.transposed_times(left[:, ::-1]))[0][:, ::-1]
    else:
        operator = LinearOperator(
            (d, d), matvec=lambda w: rows.transposed_times(rows.times(w.ravel())), dtype=np.float64
        )
        values, vectors = eigsh(operator, k=q, tol=tol, v0=random.uniform(-1, 1, d))
    variances = np.maximum(values[::-1], 0.0) / (n - 1)
    return Axes(with_fixed_signs(vectors[:, ::-1].T), variances, rows.squares() / (n - 1), None)


def with_fixed_signs(components: np.ndarray) -> np.ndarray:
    """Make the largest entry of each row positive; ties go to the first entry."""
    largest = components[np.arange(len(components)), np.abs(components).argmax(axis=1)] if components.size else 1.0
    return components * np.where(np.asarray(largest) < 0, -1.0, 1.0).reshape(-1, 1)
