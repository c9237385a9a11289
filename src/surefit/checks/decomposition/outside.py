r"""Bounds on the largest variance in directions orthogonal to given ones.

A small covariance matrix is bounded by its spectrum, a larger one by a Cholesky factor of :math:`\nu I - Q S Q` with
:math:`Q = I - V^\top V`. If computing the covariance matrix would take longer than the fit, Lanczos steps from a random
vector give a bound that holds with a stated probability (theory: ``eigen-residual``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, eigsh

from surefit.checks.eigen import Spectrum, dense, rows_at_once, spectrum
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.kernels.definite import runs_through
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, count_parts, over_rows

SMALL = 256  # largest number of rows or columns, whichever is smaller, for which the whole spectrum is computed
CHEAP = 10**9  # number of multiplications that is always acceptable
TRUNCATED = ("arpack", "randomized")  # solvers that do not compute the covariance matrix
STEPS = 30  # of Lanczos
DELTA = 1e-6  # probability that a random start underestimates the largest variance


class Rows(NamedTuple):
    """The centered rows; ``g`` is the relative rounding of one product with all of them."""

    X: Any  # in memory or in partitions
    mean: np.ndarray
    mean_off: np.ndarray  # rounding of the mean, column by column
    total: float  # upper bound on the total variance
    g: float

    def times_covariance(self, W: np.ndarray) -> np.ndarray:
        """Return S W; the image of a unit vector has an error of at most ``rounding``."""
        return over_rows(self.X, None, _image, self.mean, W) / (self.X.shape[0] - 1)

    @property
    def rounding(self) -> float:
        """Rounding of the image of a unit vector, including that of the mean."""
        n = self.X.shape[0]
        return 3 * self.g * self.total + n / (n - 1) * float(np.sum(self.mean_off**2)) * (1 + self.g)


class Outside(NamedTuple):
    """Bounds on the variance orthogonal to the directions."""

    most: float  # upper bound on the variance of an orthogonal direction, or the first eigenvalue left out
    spread: float
    delta: float = 0.0  # probability that the bound is wrong
    whole: Spectrum | None = None  # all eigenvalues, if they were enclosed


def rows_about_mean(X: Any) -> Rows:
    """Return the centered rows; the mean is corrected by the mean of the differences from a first mean."""
    n, d = X.shape
    step = rows_at_once(d)
    depth = min(step, n) + n // step + d + 23 + count_parts(X)
    first = over_rows(X, None, _sum) / n
    rest, size = over_rows(X, None, _sums_about, first)
    mean = first + rest / n
    total = float(np.sum(over_rows(X, None, _squares_about, mean))) / (n - 1) * (1 + gamma(depth))
    return Rows(X, mean, gamma(depth) * size / n + 2 * UNIT * np.abs(mean), total, gamma(depth))


def _blocks(part: Part, shift: np.ndarray) -> Iterator[np.ndarray]:
    """Yield blocks of rows minus ``shift``."""
    step = rows_at_once(len(shift))
    for start in range(0, part.X.shape[0], step):
        yield dense(part.X[start : start + step]) - shift


def _sum(part: Part) -> np.ndarray:
    return np.asarray(np.ones(part.X.shape[0]) @ part.X, dtype=np.float64).ravel()


def _sums_about(part: Part, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rest, size = np.zeros(len(shift)), np.zeros(len(shift))
    for block in _blocks(part, shift):
        rest, size = rest + block.sum(axis=0), size + np.abs(block).sum(axis=0)
    return rest, size


def _squares_about(part: Part, shift: np.ndarray) -> np.ndarray:
    squares = np.zeros(len(shift))
    for block in _blocks(part, shift):
        squares += np.sum(block**2, axis=0)
    return squares


def _image(part: Part, shift: np.ndarray, W: np.ndarray) -> np.ndarray:
    result = np.zeros((len(shift), W.shape[1]))
    for block in _blocks(part, shift):
        result += block.T @ (block @ W)
    return result


def too_dear(certificate: Certificate, rows: Rows, q: int) -> bool:
    """Return whether the products of all rows or columns would take longer than the fit."""
    n, d = rows.X.shape
    truncated = certificate.problem.get("svd_solver") in TRUNCATED
    return truncated and min(n, d) > 16 * (q + 10) and n * d * min(n, d) > CHEAP


def by_products(rows: Rows, V: np.ndarray, defect: float, M: np.ndarray, off: float) -> Outside:
    """Bound the largest variance in a direction orthogonal to ``V``."""
    n, d = rows.X.shape
    q, small = len(V), min(n, d)
    M, off = M / (n - 1), off / (n - 1) + rows.rounding + gamma(4) * rows.total
    if small <= SMALL:
        whole = spectrum(M, off)
        most = float(whole.values[q] if q < small else 0.0) + whole.radius
        return Outside(most, whole.radius, whole=whole)
    if n < d:  # the matrix of inner products has the same nonzero eigenvalues
        C = np.concatenate([(dense(rows.X[i : i + 4096]) - rows.mean) @ V.T for i in range(0, n, 4096)])
        rest = M - C @ C.T / (n - 1)
        off = off + (defect + gamma(d + q + 16)) * rows.total
    else:
        rest = M - V.T @ (V @ M)
        rest = rest - (rest @ V.T) @ V
        off = off + gamma(d + q + 16) * 8 * max(q, 1) * rows.total
    return _proved((rest + rest.T) / 2, off, rows.total)


def _proved(rest: np.ndarray, off: float, total: float) -> Outside:
    """Prove an upper bound on the largest eigenvalue by a successful Cholesky factorization."""
    try:
        start = np.random.default_rng(0).standard_normal(len(rest))
        estimate = float(eigsh(rest, k=1, which="LA", v0=start, tol=1e-7, return_eigenvectors=False)[0])
    except ArpackError:
        estimate = total
    step = 4 * (off + gamma(2 * len(rest) + 8) * (total + len(rest) * abs(estimate)))
    for share in (1e-4, 1e-2):
        most = estimate + share * abs(estimate) + step
        if runs_through(-rest, off, most):
            return Outside(most, share * abs(estimate) / 8 + step)
    return Outside(total, 2 * gamma(64) * total)


def by_chance(rows: Rows, V: np.ndarray) -> Outside:
    """Bound the largest orthogonal variance by Lanczos steps from a random vector (Kuczynski and Wozniakowski 1992)."""
    d, q = rows.X.shape[1], len(V)
    basis = np.zeros((0, d))
    vector = _without(V, np.asarray(np.random.default_rng(0).standard_normal(d)))
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(STEPS):
        basis = np.vstack([basis, vector / np.linalg.norm(vector)])
        image = _without(V, rows.times_covariance(basis[-1][:, None]).ravel())
        diagonal.append(float(basis[-1] @ image))
        vector = _without(basis, image)  # the bound requires orthogonal steps
        beside.append(float(np.linalg.norm(vector)))
        if beside[-1] <= 2 * STEPS * rows.rounding:
            break  # no variance is left
    found = float(linalg.eigh_tridiagonal(diagonal, beside[:-1], eigvals_only=True)[-1])
    share = (math.log(1.648 * math.sqrt(d - q) / DELTA) / (2 * STEPS - 1)) ** 2
    spread = 8 * STEPS * rows.rounding
    return Outside(found / (1 - share) + spread, spread, delta=DELTA)


def _without(V: np.ndarray, vector: np.ndarray) -> np.ndarray:
    for _ in range(2):
        vector = vector - V.T @ (V @ vector)
    return vector
