r"""Gaussian-process regression: one factorization per evaluation, and derivatives from traces, without an n x n x p array.

With :math:`A = K_\theta + D` and :math:`a = A^{-1} y`, the log evidence and its derivatives are

.. math:: \ln p(y) = -\tfrac12 y^\top a - \tfrac12 \ln\det A - \tfrac n2 \ln 2\pi, \qquad
          \partial_j \ln p(y) = \tfrac12 \sum_{ik} (a a^\top - A^{-1})_{ik} \, \partial_j A_{ik} .

The inverse overwrites the factor, which overwrites A; only the upper half is computed and read. Noise terms are
diagonal and add no computing time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, lapack

from surefit.core.threads import blas_threads, map_blocks
from surefit.kernels import Kernel, Noise, Sum
from surefit.solvers import tiled_cholesky

ROWS = 256  # rows per block of traces, so that products stay in the cache
LADDER = (0.0, *(10.0**k for k in range(-12, -3)))  # jitter levels, relative to the mean of the diagonal


class Problem(NamedTuple):
    """Observations of a Gaussian process: one column per target, one noise variance per row."""

    X: Any
    targets: np.ndarray
    noise: np.ndarray

    def take(self, rows: np.ndarray) -> Problem:
        """Return the problem restricted to some rows."""
        return Problem(self.X[rows], self.targets[rows], self.noise[rows])


class Posterior(NamedTuple):
    """Factor ``L L' = A``, ``dual = A^-1 y``, the log evidence summed over the targets, and the jitter added to the diagonal."""

    factor: np.ndarray
    dual: np.ndarray
    evidence: float
    jitter: float


class Evidence(NamedTuple):
    """Log evidence with its derivatives; ``sizes`` are the magnitudes of the terms whose difference is a derivative."""

    value: float
    derivatives: np.ndarray
    sizes: np.ndarray


class NotPositiveDefinite(Exception):
    """The Cholesky factorization failed."""


def terms(kernel: Kernel) -> list[Kernel]:
    """Return the terms of a sum of kernels, in the order of their hyperparameters."""
    return terms(kernel.left) + terms(kernel.right) if isinstance(kernel, Sum) else [kernel]


def noise_in(kernel: Kernel) -> float:
    """Return the variance of the noise term of the kernel."""
    return math.fsum(float(term.variance) for term in terms(kernel) if isinstance(term, Noise))


def posterior(kernel: Kernel, problem: Problem, *, start: float = 0.0) -> Posterior:
    """Factorize; if this fails, add the first jitter level (from ``start``) for which it succeeds."""
    unit = float(np.mean(kernel.diag(problem.X))) + float(np.mean(problem.noise))
    for step in LADDER:
        jitter = step * unit
        if jitter < start:
            continue
        try:
            U = factorize(_system(kernel, problem, jitter), clean=True)
        except NotPositiveDefinite:
            continue
        dual = _solve(U, problem.targets)
        return Posterior(U.T, dual, _log_evidence(U, dual, problem.targets), jitter)
    raise NotPositiveDefinite


def evidence(kernel: Kernel, problem: Problem) -> Evidence:
    """Return the log evidence and its derivatives with respect to the logarithms of the free hyperparameters."""
    parts = [term for term in terms(kernel) if not isinstance(term, Noise)]
    shared = parts[0].gram_and_gradient(problem.X) if len(parts) == 1 else None  # kernel values are used twice
    A = _system(kernel, problem, 0.0, values=None if shared is None else shared[0])
    U = factorize(A)
    dual = _solve(U, problem.targets)
    value = _log_evidence(U, dual, problem.targets)
    inverse = tiled_cholesky.invert(U)
    pulls, pushes = [], []
    for term in terms(kernel):
        if isinstance(term, Noise):
            if not term.hyperparameters[0].fixed:
                pulls.append(float(term.variance) * float(np.sum(dual**2)))
                pushes.append(float(term.variance) * dual.shape[1] * float(np.trace(inverse)))
            continue
        derivatives = shared[1] if shared is not None else term.gram_and_gradient(problem.X)[1]
        for derivative in derivatives:
            pull, push = traces(inverse, dual, derivative)
            pulls.append(pull)
            pushes.append(push)
            del derivative
    up, down = np.array(pulls), np.array(pushes)
    return Evidence(value, (up - down) / 2, (np.abs(up) + np.abs(down)) / 2)


def inverse_diagonal(factor: np.ndarray) -> np.ndarray:
    """Return the diagonal of ``(L L')^-1``."""
    inverse, _ = lapack.dpotri(np.array(factor, order="F"), lower=1, overwrite_c=1)
    return np.diagonal(inverse).copy()


def _system(kernel: Kernel, problem: Problem, jitter: float, values: np.ndarray | None = None) -> np.ndarray:
    """Return ``K + D`` as a new C-contiguous array."""
    if values is None:
        A = np.zeros((len(problem.targets),) * 2)
        for term in terms(kernel):
            if not isinstance(term, Noise):
                A += term(problem.X)
    else:
        A = values.copy()
    A.flat[:: len(A) + 1] += problem.noise + (noise_in(kernel) + jitter)
    return A


def factorize(A: np.ndarray, clean: bool = False) -> np.ndarray:
    """Overwrite A by its upper factor, ``U' U = A``."""
    try:
        U = tiled_cholesky.factorize(A, clean)
    except LinAlgError:
        raise NotPositiveDefinite from None
    if not np.all(np.isfinite(np.diagonal(U))):
        raise NotPositiveDefinite
    return U


def _solve(U: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return lapack.dpotrs(U.T, targets, lower=1)[0]


def _log_evidence(U: np.ndarray, dual: np.ndarray, targets: np.ndarray) -> float:
    n, columns = targets.shape
    log_root = math.fsum(np.log(np.diagonal(U)))
    return -0.5 * float(np.vdot(targets, dual)) - columns * (log_root + 0.5 * n * math.log(2 * math.pi))


def traces(inverse: np.ndarray, dual: np.ndarray, derivative: np.ndarray) -> tuple[float, float]:
    """Return ``a' S a`` summed over the targets, and ``columns * tr(A^-1 S)``; only the upper half of the inverse is read."""

    def of_rows(start: int, stop: int) -> float:
        corner = np.triu(inverse[start:stop, start:stop])
        push = 2 * float(np.vdot(corner, derivative[start:stop, start:stop]))
        push -= float(np.diagonal(corner) @ np.diagonal(derivative)[start:stop])
        return push + 2 * float(np.einsum("ij,ij->", inverse[start:stop, stop:], derivative[start:stop, stop:]))

    push = sum(map_blocks(of_rows, len(inverse), ROWS, blas_threads()))
    return float(np.vdot(dual, derivative @ dual)), dual.shape[1] * push
