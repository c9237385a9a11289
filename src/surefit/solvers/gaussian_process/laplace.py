r"""Mode of a Gaussian-process classifier by Newton's method, and the Laplace approximation of the evidence with its derivatives.

.. math:: P(a) = \sum_i \ln(1 + e^{-t_i f_i}) + \tfrac12 a^\top K a, \quad f = K a, \qquad
          P(a) - \min P \le \tfrac12 (a - u)^\top K (a - u), \quad u = y - l(f) .

With :math:`B = I + W^{1/2} K W^{1/2}` no inverse of K is needed. Since :math:`(K^{-1} + W)^{-1} = W^{-1/2} (I - B^{-1}) W^{-1/2}`, one
factorization and one inverse give all derivatives.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, lapack
from scipy.special import expit

from surefit.kernels import Kernel
from surefit.solvers import tiled_cholesky
from surefit.solvers.gaussian_process.exact import Evidence, factorize, traces

MAX_STEPS = 100
SHARP = 1e-15  # relative gap of a mode in a search; the evidence has an error of the order of its square root
HALVINGS = 30


class ClassProblem(NamedTuple):
    """Rows and their classes, 0 or 1."""

    X: Any
    targets: np.ndarray

    def take(self, rows: np.ndarray) -> ClassProblem:
        """Return the problem restricted to some rows."""
        return ClassProblem(self.X[rows], self.targets[rows])


class Mode(NamedTuple):
    """Dual vector of the mode, latent values, square roots of the curvatures, factor of B, objective and gap."""

    dual: np.ndarray
    latent: np.ndarray
    roots: np.ndarray
    factor: np.ndarray  # L with L L' = I + W^1/2 K W^1/2
    gap: float
    evidence: float
    n_steps: int


def mode(
    K: np.ndarray, y: np.ndarray, *, tol: float, start: np.ndarray | None = None, max_steps: int = MAX_STEPS
) -> Mode:
    """Minimize P by Newton's method until the gap is at most ``tol * n ln 2``, where ``n ln 2`` is the value at zero."""
    n, signs = len(y), 2 * y - 1
    dual = np.zeros(n) if start is None else start
    f = K @ dual
    value = _primal(dual, f, signs)
    if start is not None and not value < n * math.log(2):
        dual, f, value = np.zeros(n), np.zeros(n), n * math.log(2)
    for step in range(max_steps + 1):
        p = expit(f)
        u = y - p
        away = dual - u
        gap = max(0.5 * float(away @ (K @ away)), 0.0)
        roots = np.sqrt(p * (1 - p))
        U = factorize(_inner(K, roots), clean=True)
        if gap <= tol * n * math.log(2) or step == max_steps:
            break
        b = roots**2 * f + u
        c = roots * (K @ b)
        new = b - roots * lapack.dpotrs(U.T, c, lower=1)[0]
        move, shift = new - dual, K @ new - f
        length, improved = 1.0, False
        for _ in range(HALVINGS):
            candidate = _primal(dual + length * move, f + length * shift, signs)
            if candidate <= value:
                improved = True
                break
            length *= 0.5
        if not improved:  # rounding limits progress
            break
        dual, f, value = dual + length * move, f + length * shift, candidate
    evidence_ = -value - math.fsum(np.log(np.diagonal(U)))
    return Mode(dual, f, roots, U.T, gap, evidence_, step)


class LaplaceEvidence:
    """Log evidence of the Laplace approximation as a function of the kernel; each mode starts from the last one."""

    def __init__(self, tol: float, max_steps: int):
        self.tol, self.max_steps = min(tol, SHARP), max_steps
        self._last: dict[int, np.ndarray] = {}

    def __call__(self, kernel: Kernel, problem: ClassProblem) -> Evidence:
        """Return the log evidence and its derivatives."""
        K, derivatives = kernel.gram_and_gradient(problem.X)
        y = problem.targets
        at = mode(K, y, tol=self.tol, start=self._last.get(len(y)), max_steps=self.max_steps)
        self._last[len(y)] = at.dual
        p, roots = expit(at.latent), at.roots
        R = tiled_cholesky.invert(at.factor.T)  # upper half, C order
        by_mode = -0.5 * (1 - np.diagonal(R)) * (1 - 2 * p)  # derivative of ln det B with respect to the latent values
        R *= roots
        R *= roots[:, None]
        u = y - p
        # The derivative of the mode is (I + K W)^-1 dK u; its transpose applied to by_mode is by_mode - R K by_mode.
        pulled = by_mode - blas.dsymv(1.0, R.T, K @ by_mode, lower=1)
        found, sizes = [], []
        for derivative in derivatives:
            pull, push = traces(R, at.dual[:, None], derivative)
            through = float(pulled @ (derivative @ u))
            found.append(0.5 * (pull - push) + through)
            sizes.append(0.5 * (abs(pull) + abs(push)) + abs(through))
        return Evidence(at.evidence, np.array(found), np.array(sizes))


def _inner(K: np.ndarray, roots: np.ndarray) -> np.ndarray:
    B = K * roots
    B *= roots[:, None]
    B.flat[:: len(B) + 1] += 1.0
    return B


def _primal(dual: np.ndarray, f: np.ndarray, signs: np.ndarray) -> float:
    return float(np.sum(np.logaddexp(0.0, -signs * f))) + 0.5 * float(dual @ f)
