r"""Principal axes: the directions in which rows vary most, and how much better any others could be.

Let S be the covariance matrix, V have q orthonormal rows, :math:`A = VSV^\top` with least eigenvalue a,
:math:`B = (I - V^\top V) S V^\top`, and no direction orthogonal to V have a variance above :math:`\delta`. Then no q directions
capture more variance than :math:`\operatorname{tr} A` plus

.. math::

    \frac{\|B\|_F^2}{a - \delta} \quad (a > \delta), \qquad\text{and at most}\quad \|B\|_* + \sum_i (\delta - a_i)_+ .

Where all eigenvalues are computed the gap is their difference. Otherwise :math:`\delta` is measured by Lanczos steps from a
random vector, which exceed :math:`(1 - \epsilon)` times the truth except with probability :math:`1.648 \sqrt d e^{-\sqrt\epsilon (2m - 1)}`
after m steps (Kuczynski and Wozniakowski 1992).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

BLOCK = 4096  # rows whose centred copy is held at once
LANCZOS_STEPS = 30
FAILURE = 1e-6  # probability with which a measured bound may be wrong


class Axes(NamedTuple):
    """Principal axes, before they are cut to the number of components that is wanted."""

    components: np.ndarray  # (q, d) float64, orthonormal rows, signs fixed
    variances: np.ndarray  # (q,) decreasing
    total_variance: float
    spectrum: np.ndarray | None  # all variances, if they were computed


class Measured(NamedTuple):
    """What the data say about given directions."""

    residual: float  # largest |S v - lambda v|
    defect: float  # |V V' - I|
    captured: float  # variance captured by the directions
    gap: float  # no q directions capture more than ``captured`` plus this
    outside: float  # no direction orthogonal to them has more variance than this; the next eigenvalue if all are known
    confidence: float | None  # of the last two, None if they are certain


class Centred(NamedTuple):
    """Rows less their mean, as an operator: nothing is copied, sparse rows stay sparse."""

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
        """Return some rows less the mean."""
        return np.asarray(self.X[start : start + BLOCK], dtype=np.float64) - self.mean

    def starts(self) -> range:
        """Return where the blocks begin."""
        return range(0, self.X.shape[0], BLOCK)

    def scatter(self) -> np.ndarray:
        """Return the matrix of sums of squares and products."""
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


def centre(X: Any) -> Centred:
    """Return the rows less their mean."""
    ones = np.ones(X.shape[0])
    mean = np.asarray(ones @ X, dtype=np.float64).ravel() / X.shape[0]
    if not sparse.issparse(X):  # a second pass gives the digits that the first lost far from the origin
        rest = sum(Centred(X, mean).block(start).sum(axis=0) for start in range(0, X.shape[0], BLOCK))
        mean = mean + rest / X.shape[0]
    return Centred(X, mean)


def all_axes(rows: Centred, method: str) -> Axes:
    """Return all principal axes, by ``"full"`` singular value decomposition or ``"covariance_eigh"``."""
    n, d = rows.X.shape
    if method == "full":
        matrix = np.concatenate([rows.block(start) for start in rows.starts()])
        _, singular, components = linalg.svd(matrix, full_matrices=False, overwrite_a=True)
        variances = singular**2 / (n - 1)
    else:
        values, vectors = linalg.eigh(rows.scatter() / (n - 1))
        variances, components = np.maximum(values[::-1], 0.0), vectors[:, ::-1].T
    count = min(n, d)
    return Axes(with_fixed_signs(components[:count]), variances[:count], float(np.sum(variances)), variances)


def randomised_axes(rows: Centred, q: int, oversamples: int, power: int, random: Any) -> Axes:
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


def lanczos_axes(rows: Centred, q: int, tol: float, random: Any) -> Axes:
    """Return the first axes by implicitly restarted Lanczos steps (ARPACK)."""
    n, d = rows.X.shape
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
    """Make the largest entry of each row positive, the first of equals."""
    largest = components[np.arange(len(components)), np.abs(components).argmax(axis=1)] if components.size else 1.0
    return components * np.where(np.asarray(largest) < 0, -1.0, 1.0).reshape(-1, 1)


def measure(rows: Centred, V: np.ndarray, variances: np.ndarray, spectrum: np.ndarray | None, random: Any) -> Measured:
    """Measure directions against the data; the bound is certain if the whole spectrum is known."""
    n, q = rows.X.shape[0], len(V)
    if q == 0:
        return Measured(0.0, 0.0, 0.0, 0.0, math.inf, None)
    images = rows.transposed_times(rows.times(V.T)) / (n - 1)  # S V'
    residual = float(np.max(np.linalg.norm(images - V.T * variances, axis=0)))
    A = V @ images
    A = (A + A.T) / 2
    B = images - V.T @ A
    defect = float(np.linalg.norm(V @ V.T - np.eye(q)))
    scale = float(np.trace(A)) * (2 * defect + 4 * np.finfo(float).eps * q)  # V is orthonormal only up to its defect
    if spectrum is not None:
        gap = max(float(np.sum(spectrum[:q])) - float(np.trace(A)), 0.0)
        return Measured(residual, defect, float(np.trace(A)), gap + scale, float(np.append(spectrum, 0.0)[q]), None)
    outside = _largest_outside(rows, V, random)
    own = np.linalg.eigvalsh(A)
    first = float(np.sum(np.linalg.svd(B, compute_uv=False)) + np.sum(np.maximum(outside - own, 0.0)))
    second = float(np.sum(B**2)) / float(own[0] - outside) if own[0] > outside else math.inf
    return Measured(residual, defect, float(np.trace(A)), min(first, second) + scale, outside, 1 - FAILURE)


def _largest_outside(rows: Centred, V: np.ndarray, random: Any) -> float:
    """Bound the largest variance in a direction orthogonal to V, from Lanczos steps with a random start."""
    n, d = rows.X.shape
    steps = min(LANCZOS_STEPS, d - len(V))
    if steps <= 0:
        return 0.0
    vector = _outside(V, random.standard_normal(d))
    basis = [vector / np.linalg.norm(vector)]
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(steps):
        image = _outside(V, rows.transposed_times(rows.times(basis[-1])) / (n - 1))
        diagonal.append(float(basis[-1] @ image))
        for _ in range(2):  # full orthogonalisation, twice: the bound assumes exact steps
            image = image - np.array(basis).T @ (np.array(basis) @ image)
        norm = float(np.linalg.norm(image))
        if norm <= 1e-14 * max(diagonal) or len(basis) == d - len(V):
            return float(linalg.eigh_tridiagonal(diagonal, beside, eigvals_only=True)[-1]) * (1 + 1e-9)
        beside.append(norm)
        basis.append(image / norm)
    found = float(linalg.eigh_tridiagonal(diagonal, beside[:-1], eigvals_only=True)[-1])
    share = (math.log(1.648 * math.sqrt(d) / FAILURE) / (2 * steps - 1)) ** 2
    return found / (1 - share) if share < 1 else math.inf


def _outside(V: np.ndarray, vector: np.ndarray) -> np.ndarray:
    for _ in range(2):
        vector = vector - V.T @ (V @ vector)
    return vector
