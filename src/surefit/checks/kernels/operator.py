"""Enclosed products of a sample's Gram matrix with coefficients, in memory linear in the number of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.balls import TINY
from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma
from surefit.checks.judge import shared
from surefit.checks.kernels.gaussian import Gaussian, depth, product, terms_at_a_time
from surefit.checks.kernels.values import enclosed_diagonal, kernel_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.sample import Data
from surefit.core.threads import blas_threads, threads_to_check
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
    mid = max(float(form.mid.sum()), 0.0)
    value = (math.sqrt(mid + float(form.rad.sum())) + slip) ** 2 * (1 + 16 * UNIT)
    return Bound(value, value - mid * (1 - 16 * UNIT))


class Gram:
    """Kernel values between the elements of one sample; the number of threads does not change them."""

    def __init__(self, kernel: Kernel, A: Any, threads: int = 1) -> None:
        self.kernel, self.A, self.n, self.threads = kernel, A, A.shape[0], threads
        self._diagonal: np.ndarray | None = None
        self._near = Gaussian(kernel, A) if type(kernel) is RBF and not sparse.issparse(A) else None

    @classmethod
    def of(cls, certificate: Certificate, data: Data) -> Gram:
        """Return the Gram matrix of a certificate, which its claims share."""
        if "gram" not in data.memo:
            kernel, params = kernel_on(certificate, data), certificate.params
            threads = threads_to_check(params["n_jobs"]) if "n_jobs" in params else blas_threads()
            data.memo["gram"] = cls(kernel, kernel.read(data.X), threads)
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
        used = (C != 0.0).any(axis=1).nonzero()[0]
        if not len(used):
            return Enclosed(np.zeros((len(rows), C.shape[1])), np.zeros((len(rows), C.shape[1])))
        return self.times_some(C if len(used) == len(C) else C[used], used, rows)

    def times_some(self, C: np.ndarray, used: np.ndarray, rows: np.ndarray) -> Enclosed:
        """Enclose ``K C`` at ``rows``; each row of ``C`` has the coefficients of one element of ``used``."""
        if type(self.kernel) is Linear:
            return _linear_times(self.A[rows], self.A[used], C)
        if self._near is not None and self._near.error(rows, used) <= LOOSE:
            return self._near.times(used, rows, C, self.threads)
        mid, rad = np.empty((len(rows), C.shape[1])), np.empty((len(rows), C.shape[1]))
        for part in pieces(len(rows), len(used)):
            mid[part], rad[part] = times_block(self.values(rows[part], used), C)
        return Enclosed(mid, rad)

    def square(self, v: np.ndarray) -> Enclosed:
        """Enclose ``v' K v``."""
        used = np.flatnonzero(v)
        if not len(used):
            return Enclosed(np.zeros(()), np.zeros(()))
        if type(self.kernel) is Linear:
            found = self.form(v[:, None], Enclosed(np.zeros(1), np.zeros(1)))
            return Enclosed(found.mid[0], found.rad[0])
        image = self.times_some(v[used][:, None], used, used)
        products = v[used] * image.mid[:, 0]
        rad = float(np.abs(v[used]) @ image.rad[:, 0]) + 4 * UNIT * float(np.sum(np.abs(products)))
        return Enclosed(np.asarray(math.fsum(products)), np.asarray(rad * (1 + gamma(len(used) + 8))))

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


def pieces(count: int, width: int) -> Iterator[slice]:
    """Divide ``count`` rows of ``width`` values into parts that fit in memory."""
    step = max(1, PIECE // max(1, width))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


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
    step, size = terms_at_a_time(len(C)), np.abs(C)
    mid, reach = np.zeros((len(m), C.shape[1])), np.zeros((len(m), C.shape[1]))
    for start in range(0, len(C), step):
        part = B[start : start + step]
        part = part if sparse.issparse(part) else part - m
        mid += part.T @ C[start : start + step]
        reach += abs(part).T @ size[start : start + step]
    far = np.outer(m, [math.fsum(column) for column in C.T])
    rad = gamma(depth(len(C)) + 2) * reach * (1 + gamma(len(C) + 4)) + 4 * UNIT * (np.abs(far) + np.abs(mid))
    return Enclosed(mid + far, rad * (1 + 8 * UNIT) + TINY)
