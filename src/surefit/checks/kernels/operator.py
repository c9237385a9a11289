r"""Enclosed products of a sample's Gram matrix with coefficients, in memory linear in the number of rows.

For a Gaussian kernel :math:`k = e^{-|a - b|^2 / 2}` of scaled and centered rows, one matrix product gives all exponents
of a block. Their errors are at most :math:`\tfrac12 \gamma_{d+16} (|a| + |b|)^2`, so one relative error per row
suffices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.balls import LIBM, TINY
from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma
from surefit.checks.judge import shared
from surefit.checks.kernels.values import enclosed_diagonal, kernel_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.sample import Data
from surefit.kernels import RBF, Linear
from surefit.kernels.base import Kernel

PIECE = 1 << 20  # number of kernel values in memory at a time
LOOSE = 2.0**-40  # error of an exponent above which distances are computed from differences


@shared
def kernel_on(certificate: Certificate, data: Data) -> Kernel:
    """Return the kernel of a certificate, built once for all claims about the same rows."""
    return kernel_of(certificate)


def norm_square(form: Enclosed, slip: float = 0.0) -> Bound:
    """Bound an enclosed squared norm of a vector whose error is at most ``slip`` in that norm."""
    mid = max(float(np.sum(form.mid)), 0.0)
    value = (math.sqrt(mid + float(np.sum(form.rad))) + slip) ** 2 * (1 + 16 * UNIT)
    return Bound(value, value - mid * (1 - 16 * UNIT))


class Gram:
    """Kernel values between the elements of one sample."""

    def __init__(self, kernel: Kernel, A: Any) -> None:
        self.kernel, self.A, self.n = kernel, A, A.shape[0]
        self._diagonal: np.ndarray | None = None
        self._near = _Gaussian(kernel, A) if _is_gaussian(kernel, A) else None

    @classmethod
    def of(cls, certificate: Certificate, data: Data) -> Gram:
        """Return the Gram matrix of a certificate, which its claims share."""
        if "gram" not in data.memo:
            kernel = kernel_on(certificate, data)
            data.memo["gram"] = cls(kernel, kernel.read(data.X))
        return data.memo["gram"]

    def diagonal(self) -> np.ndarray:
        """Return upper bounds on the kernel values of each element with itself."""
        if self._diagonal is None:
            self._diagonal = enclosed_diagonal(self.kernel, self.A).magnitude
        return self._diagonal

    def lengths(self) -> np.ndarray:
        """Return upper bounds on the norms of the elements in the kernel's space."""
        return np.sqrt(self.diagonal()) * (1 + 4 * UNIT)

    def values(self, rows: np.ndarray, columns: np.ndarray) -> Enclosed:
        """Enclose the kernel values of some rows and columns."""
        return training_values(self.kernel, self.A, rows, columns)

    def near_values(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return kernel values, and a bound on the norm of the errors of each row."""
        if self._near is not None and self._near.error(rows, columns) <= LOOSE:
            K, relative = self._near.block(rows, columns)
            off = relative * np.linalg.norm(K, axis=1) + len(columns) * TINY
        else:
            K, rad = self.values(rows, columns)
            off = np.linalg.norm(rad, axis=1)
        return K, off * (1 + gamma(len(columns) + 8))

    def matrix(self) -> tuple[np.ndarray, float]:
        """Return all kernel values, and a bound on the Frobenius norm of their errors."""
        every = np.arange(self.n)
        if self._near is not None and self._near.error(every, every) <= LOOSE:
            K, relative = self._near.block(every, every)
            off = float(np.max(relative)) * float(np.linalg.norm(K)) + self.n * TINY
        else:
            K, rad = self.values(every, every)
            off = float(np.linalg.norm(rad))
        return K, off * (1 + gamma(self.n**2))

    def times(self, C: np.ndarray, rows: np.ndarray | None = None) -> Enclosed:
        """Enclose ``K C`` for coefficients of all elements, one column per function; only at ``rows`` if given."""
        C = np.asarray(C, dtype=np.float64)
        if C.ndim == 1:
            one = self.times(C[:, None], rows)
            return Enclosed(one.mid[:, 0], one.rad[:, 0])
        rows = np.arange(self.n) if rows is None else rows
        used = np.flatnonzero(np.any(C != 0.0, axis=1))
        if not len(used):
            return Enclosed(np.zeros((len(rows), C.shape[1])), np.zeros((len(rows), C.shape[1])))
        return self.times_some(C[used], used, rows)

    def times_some(self, C: np.ndarray, used: np.ndarray, rows: np.ndarray) -> Enclosed:
        """Enclose ``K C`` at ``rows``; each row of ``C`` has the coefficients of one element of ``used``."""
        if type(self.kernel) is Linear:
            return _linear_times(self.A[rows], self.A[used], C)
        mid, rad = np.empty((len(rows), C.shape[1])), np.empty((len(rows), C.shape[1]))
        block = self._block(rows, used)
        for part in pieces(len(rows), len(used)):
            mid[part], rad[part] = block(rows[part], used, C)
        return Enclosed(mid, rad)

    def square(self, v: np.ndarray) -> Enclosed:
        """Enclose ``v' K v``, using the symmetry of K."""
        used = np.flatnonzero(v)
        if not len(used):
            return Enclosed(np.zeros(()), np.zeros(()))
        if type(self.kernel) is Linear:
            found = self.form(v[:, None], Enclosed(np.zeros(1), np.zeros(1)))
            return Enclosed(found.mid[0], found.rad[0])
        block, terms, rad = self._block(used, used), [], 0.0
        for part in pieces(len(used), len(used)):
            rows, own = used[part], np.abs(v[used[part]])
            for times, columns in ((1.0, rows), (2.0, used[part.stop :])):
                if len(columns):
                    image = block(rows, columns, v[columns][:, None])
                    products = v[rows] * image.mid[:, 0]
                    terms.append(times * math.fsum(products))
                    rad += times * (float(own @ image.rad[:, 0]) + 4 * UNIT * float(np.sum(np.abs(products))))
        return Enclosed(np.asarray(math.fsum(terms)), np.asarray(rad * (1 + gamma(len(used) + 8))))

    def _block(self, rows: np.ndarray, columns: np.ndarray) -> Callable[..., Enclosed]:
        """Return the fastest function for products of a block with coefficients that is accurate enough."""
        if self._near is not None and self._near.error(rows, columns) <= LOOSE:
            return self._near.times
        return lambda some, others, C: times_block(self.values(some, others), C)

    def form(self, v: np.ndarray, image: Enclosed) -> Enclosed:
        """Enclose ``v' K v`` given the enclosed ``K v``, column by column (linear kernel: from the weights)."""
        if type(self.kernel) is Linear:
            weights = _weights(self.A, v, np.zeros(self.A.shape[1]))
            rad = np.sum(weights.rad * (2 * np.abs(weights.mid) + weights.rad), axis=0)
            squares = np.sum(weights.mid**2, axis=0)
            return Enclosed(squares, (rad + gamma(len(weights.mid) + 2) * squares) * (1 + gamma(len(weights.mid) + 4)))
        terms = v * image.mid
        mid, size = terms.sum(axis=0), np.abs(terms).sum(axis=0)
        rad = (np.abs(v) * image.rad).sum(axis=0) + gamma(len(v) + 2) * size
        return Enclosed(mid, rad * (1 + gamma(len(v) + 4)))


def times_block(K: Enclosed, C: np.ndarray) -> Enclosed:
    """Enclose the product of enclosed values with coefficients."""
    m, mid = len(C), product(K.mid, C)
    rad = (K.rad + gamma(depth(m)) * np.abs(K.mid)) @ np.abs(C) * (1 + gamma(m + 4))
    return Enclosed(mid, rad)


def product(K: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return a product computed by pieces of columns, so that an entry has ``depth`` rounding errors only."""
    step = _step(len(C))
    total = K[:, :step] @ C[:step]
    for start in range(step, len(C), step):
        total += K[:, start : start + step] @ C[start : start + step]
    return total


def depth(count: int) -> int:
    """Return the number of rounding errors in an entry of a product over ``count`` terms."""
    step = _step(count)
    return min(count, step) + -(-count // step) + 2


def _step(count: int) -> int:
    return max(8, math.isqrt(count))


def pieces(count: int, width: int) -> Iterator[slice]:
    """Divide ``count`` rows of ``width`` values into parts that fit in memory."""
    step = max(1, PIECE // max(1, width))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _is_gaussian(kernel: Kernel, A: Any) -> bool:
    return type(kernel) is RBF and not sparse.issparse(A)


class _Gaussian:
    """Centered rows, scaled by the length scales."""

    def __init__(self, kernel: Kernel, A: np.ndarray) -> None:
        assert isinstance(kernel, RBF)
        factors = np.sqrt(2.0 * kernel.gamma) if kernel.gamma is not None else 1.0 / kernel.lengths
        with np.errstate(over="ignore", invalid="ignore"):
            self.A = (A - np.mean(A, axis=0)) * factors
            self.halves = 0.5 * np.einsum("ij,ij->i", self.A, self.A)
            self.lengths = np.sqrt(2.0 * self.halves) * (1 + gamma(A.shape[1] + 8))
        self.share = 0.5 * gamma(A.shape[1] + 16)

    def error(self, rows: np.ndarray, columns: np.ndarray) -> float:
        """Bound the errors of all exponents between these elements."""
        with np.errstate(over="ignore", invalid="ignore"):
            worst = self.share * (np.max(self.lengths[rows]) + np.max(self.lengths[columns])) ** 2
        return float(worst) if np.isfinite(worst) else np.inf

    def block(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values between the elements, and the relative error of each row."""
        K = self.A[rows] @ self.A[columns].T
        K -= self.halves[rows, None]
        K -= self.halves[columns]
        np.minimum(K, 0.0, out=K)
        np.exp(K, out=K)
        place = np.full(len(self.A), -1)
        place[columns] = np.arange(len(columns))
        same = place[rows]
        i = (same >= 0).nonzero()[0]
        K[i, same[i]] = 1.0  # an element with itself
        reach = self.share * (self.lengths[rows] + float(np.max(self.lengths[columns]))) ** 2
        return K, np.expm1(reach * (1 + 8 * UNIT)) * (1 + 4 * LIBM) + 2 * LIBM

    def times(self, rows: np.ndarray, columns: np.ndarray, C: np.ndarray) -> Enclosed:
        """Enclose the values between the elements times ``C``."""
        K, relative = self.block(rows, columns)
        both = product(K, np.hstack([C, np.abs(C)]))
        mid, size = both[:, : C.shape[1]], both[:, C.shape[1] :] * (1 + gamma(len(C) + 4))
        relative = (relative + gamma(depth(len(C)))) * (1 + 8 * UNIT)
        return Enclosed(mid, size * relative[:, None] + TINY * np.sum(np.abs(C), axis=0))


def _linear_times(A: Any, B: Any, C: np.ndarray) -> Enclosed:
    r"""Enclose ``A (B' C)`` by way of the column weights ``B' C``, without kernel values.

    Dense rows are centered at a point ``m``: :math:`x^\top w = (x - m)^\top w + m^\top w` and
    :math:`w = \sum_j c_j (x_j - m) + m \sum_j c_j`, where the last sum is zero up to rounding if there is an intercept.
    """
    m = np.zeros(A.shape[1]) if sparse.issparse(A) else np.mean(B, axis=0)
    weights = _weights(B, C, m)
    near = A if sparse.issparse(A) else A - m
    d, size = A.shape[1], np.abs(weights.mid)
    bound = gamma(d + 4)
    mid = np.asarray(near @ weights.mid) + m @ weights.mid
    spread = weights.rad + bound * size
    rad = np.asarray(abs(near) @ spread) + np.abs(m) @ spread + 4 * UNIT * np.abs(mid)
    return Enclosed(mid, rad * (1 + bound) + TINY)


def _weights(B: Any, C: np.ndarray, m: np.ndarray) -> Enclosed:
    """Enclose ``B' C`` with sums in blocks, as in ``product``."""
    step, size = _step(len(C)), np.abs(C)
    mid, reach = np.zeros((len(m), C.shape[1])), np.zeros((len(m), C.shape[1]))
    for start in range(0, len(C), step):
        part = B[start : start + step]
        part = part if sparse.issparse(part) else part - m
        mid += part.T @ C[start : start + step]
        reach += abs(part).T @ size[start : start + step]
    far = np.outer(m, [math.fsum(column) for column in C.T])
    rad = gamma(depth(len(C)) + 2) * reach * (1 + gamma(len(C) + 4)) + 4 * UNIT * (np.abs(far) + np.abs(mid))
    return Enclosed(mid + far, rad * (1 + 8 * UNIT) + TINY)
