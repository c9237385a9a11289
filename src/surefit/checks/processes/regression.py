r"""Checks of Gaussian-process regression: the posterior mean at every point, the evidence, and its gradient.

With :math:`A = K + D \succeq \sigma^2 I` and the residual :math:`\rho = y - A a`, the error of the mean is
:math:`|k_x^\top A^{-1} \rho| \le \sqrt{k(x, x)} \, \|\rho\| / \sigma`, since :math:`k_x^\top A^{-1} k_x \le k(x, x)`. A
Cholesky factor satisfies :math:`\|LL^\top - A\|_F \le \gamma_{n+1} \operatorname{tr}(LL^\top)` (theory:
``gp-evidence``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, claim, no_claim, refused, shared
from surefit.checks.kernels.values import kernel_of, level_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.core.threads import blas_threads, sum_blocks
from surefit.kernels import Kernel, Noise, Sum

ROWS = 256  # rows of the Gram matrix that are enclosed at a time
OTHER_ROWS = "X_train_ are not the training rows"

fact = partial(claim, side="upper", theory="gp-evidence")
no_claim(
    "gaussian_process.global",
    "The evidence may have higher maxima at other hyperparameters; nothing is claimed about them.",
)


class Process(NamedTuple):
    """A certified process: kernel, noise per row, dual vectors, scaled targets, and the scale of each target."""

    kernel: Kernel
    noise: np.ndarray
    dual: np.ndarray
    targets: np.ndarray
    scale: np.ndarray

    @property
    def floor(self) -> float:
        """Lower bound on the eigenvalues of ``K + D``: the total noise, if the kernel is positive semidefinite."""
        if not self.kernel.positive_semidefinite:
            return 0.0
        return (float(np.min(self.noise)) + noise_in(self.kernel)) * (1 - 8 * UNIT)


class Residual(NamedTuple):
    """Bounds on ``y - A a`` per target, the rounding in them, the rounding of A, and its trace."""

    norms: np.ndarray
    rounding: np.ndarray
    of_kernel: float
    trace: float


def noise_in(kernel: Kernel) -> float:
    """Return the variance of the noise terms of a kernel."""
    if isinstance(kernel, Sum):
        return noise_in(kernel.left) + noise_in(kernel.right)
    return float(kernel.variance) if isinstance(kernel, Noise) else 0.0


def read_process(certificate: Certificate, data: Data) -> Process:
    """Return the certified process."""
    model, y = certificate.model, np.asarray(data.target, dtype=np.float64)
    y = y.reshape(len(y), -1)
    center, scale = np.atleast_1d(model["y_mean_"]), np.atleast_1d(model["y_scale_"])
    if not standardized(certificate, y, center, scale):
        raise ValueError("y_mean_ and y_scale_ are not mean and deviation of the targets")
    targets = (y - center) / scale
    noise = np.broadcast_to(model["noise_"], (len(y),)).astype(np.float64)
    asked = certificate.problem.get("noise")
    if asked is not None and not np.array_equal(model["noise_"], np.asarray(asked) + certificate.problem["jitter"]):
        raise ValueError("noise_ is not alpha and the jitter")
    return Process(kernel_of(certificate), noise, model["alpha_"].reshape(len(y), -1), targets, scale)


def standardized(certificate: Certificate, y: np.ndarray, center: np.ndarray, scale: np.ndarray) -> bool:
    """Return whether targets are unchanged, or standardized by mean and deviation, as ``normalize_y`` specifies."""
    wanted = certificate.problem.get("normalize_y")
    if wanted is None:  # for a model of another library, the residual is decisive
        return bool(np.all(scale > 0))
    if not wanted:
        return bool(np.all(center == 0) and np.all(scale == 1))
    n = len(y)
    mean, off = np.mean(y, axis=0), gamma(n + 16) * np.mean(np.abs(y), axis=0)
    deviation = np.sqrt(np.mean((y - mean) ** 2, axis=0))
    near = np.abs(scale - deviation) <= gamma(n + 16) * deviation + 2 * off
    return bool(np.all(np.abs(center - mean) <= 2 * off) and np.all(near | (scale == 1)))


def holds_other_rows(certificate: Certificate, data: Data, name: str = "X_train_") -> bool:
    """Return whether the model would predict with stored rows other than those of the data."""
    own = getattr(certificate.subject, name, None)
    if own is None:
        return False
    if sparse.issparse(own) or sparse.issparse(data.X):
        return own.shape != data.X.shape or abs(own - data.X).sum() != 0
    return not np.array_equal(own, data.X)


@shared
def _residual(certificate: Certificate, data: Data) -> Residual:
    return residual(read_process(certificate, data), data.X)


def residual(process: Process, X: Any) -> Residual:
    """Enclose ``y - (K + D) a`` block by block, including the rounding of the kernel values."""
    kernel, noise, dual, targets, _ = process
    A = kernel.read(X)
    n = A.shape[0]
    size = np.abs(dual)

    def of_rows(start: int, stop: int) -> np.ndarray:
        rows = np.arange(start, stop)
        G = training_values(kernel, A, rows, np.arange(n))
        mid = targets[rows] - noise[rows, None] * dual[rows] - G.mid @ dual
        terms = np.abs(G.mid) @ size + noise[rows, None] * size[rows] + np.abs(targets[rows])
        rad = (G.rad @ size + gamma(n + 6) * terms) * (1 + 8 * gamma(n))
        trace = float(np.sum(np.abs(G.mid[np.arange(len(rows)), rows] + noise[rows])))
        squares, rounding = np.sum((np.abs(mid) + rad) ** 2, axis=0), np.sum(rad**2, axis=0)
        return np.concatenate([squares, rounding, [float(np.sum(G.rad**2)), trace]])

    *both, of_kernel, trace = sum_blocks(of_rows, n, ROWS, blas_threads())
    squares, rounding = np.reshape(both, (2, -1))
    safe = 1 + gamma(n + 8)
    return Residual(np.sqrt(squares) * safe, np.sqrt(rounding) * safe, math.sqrt(of_kernel) * safe, trace * safe)


def _mean_in_words(claim: Claim) -> str:
    if math.isinf(claim.value):
        return (
            "The kernel is not known to be positive semidefinite, or there is no noise: no bound on the posterior mean."
        )
    return f"For every x the posterior mean is within {claim.value:.2g} sqrt(k(x, x)) of the exact one, rounding of the fit included."


@fact("gaussian_process.mean", kind="optimality", infinite=True, says=_mean_in_words)
def mean(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the posterior mean is at most ``value * sqrt(k(x, x))`` from the exact one, for every x."""
    process = read_process(certificate, data)
    if holds_other_rows(certificate, data):
        return refused(OTHER_ROWS)
    if not process.floor > 0:
        return Proof(math.inf, level_of(process.kernel), "the noise is not known.")
    found, root = _residual(certificate, data), math.sqrt(process.floor) * (1 - 4 * UNIT)
    value, rounding = (float(np.max(part * process.scale)) / root for part in (found.norms, found.rounding))
    note = f"noise is at least {process.floor:.3g}."
    return Proof(value, level_of(process.kernel), note, spread=rounding * (1 + gamma(16)))


def _evidence_in_words(claim: Claim) -> str:
    if math.isinf(claim.value):
        return f"The log evidence is about {claim.numbers['log_evidence']:.8g}; there is too little noise to bound its error."
    return f"The log evidence is {claim.numbers['log_evidence']:.8g}, up to {claim.value:.2g}."


@fact("gaussian_process.evidence", kind="data_fact", infinite=True, says=_evidence_in_words)
def evidence(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the error of ``log_marginal_likelihood_value_`` is at most ``value``, with a new factorization."""
    process, stored = read_process(certificate, data), float(certificate.model["log_marginal_likelihood_value_"])
    kernel, noise, dual, targets, _ = process
    numbers = {"log_evidence": stored}
    unknown = Proof(math.inf, level_of(kernel), "there is too little noise.", numbers)
    if not process.floor > 0:
        return unknown
    A = kernel(data.X)
    A.flat[:: len(A) + 1] += noise
    n, columns = dual.shape
    try:
        L = linalg.cholesky(A, lower=True, overwrite_a=True)
    except linalg.LinAlgError:
        return unknown
    logs = np.log(np.diag(L))
    found = -0.5 * float(np.sum(targets * dual)) - columns * (math.fsum(logs) + 0.5 * n * math.log(2 * math.pi))
    size = 0.5 * float(np.sum(np.abs(targets * dual))) + columns * float(np.sum(np.abs(logs)) + n)
    backward = gamma(n + 2) * float(np.sum(L**2)) * (1 + gamma(2 * n)) / (1 - gamma(n + 2))
    error = _error(_residual(certificate, data), process, backward) + 2 * gamma(n + 8) * size
    if not math.isfinite(error):
        return unknown
    note = f"log evidence {found:.8g}, factor off by at most {backward:.2g}."
    return Proof(abs(found - stored) + error, level_of(kernel), note, numbers, spread=error)


def _error(found: Residual, process: Process, backward: float) -> float:
    """Bound the error of the log evidence, given a bound on ``|L L' - A|`` in the Frobenius norm."""
    relative = (backward + 2 * found.of_kernel) / process.floor
    if not relative < 0.5:
        return math.inf
    n, columns = process.dual.shape
    determinant = columns * 0.5 * math.sqrt(n) * relative / (1 - relative)  # trace norm <= sqrt(n) Frobenius norm
    lengths = np.linalg.norm(process.dual, axis=0)
    quadratic = 0.5 * float(lengths @ found.norms) + 0.5 * float(found.norms @ found.norms) / process.floor
    return (determinant + quadratic) * (1 + gamma(n + 64))


@fact("gaussian_process.stationary", kind="stationarity",
      says="No free hyperparameter has a derivative of the log evidence above {value:.2g} (by its logarithm), except at a bound of its "
      "search range, if the evidence increases beyond it.")  # fmt: skip
def stationary(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no derivative of the log evidence exceeds ``value`` in size, except at bounds of hyperparameters."""
    process = read_process(certificate, data)
    kernel, noise, _, targets, _ = process
    A, slopes = kernel.gram_and_gradient(data.X)
    A = A.copy()
    A.flat[:: len(A) + 1] += noise
    n, average = len(A), float(np.mean(np.diag(A)))
    try:
        factor = linalg.cholesky(A.T, lower=True, overwrite_a=True)  # symmetric; LAPACK's order, so it is not copied
    except linalg.LinAlgError:
        return refused("the covariance of the rows is not positive definite")
    dual = linalg.cho_solve((factor, True), targets)
    inverse = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)[0].T  # its upper half; the rest is zero
    inverse.flat[:: n + 1] *= 0.5
    largest, size = 0.0, 0.0
    for slope, log_value, (low, high) in zip(slopes, kernel.theta, kernel.bounds, strict=True):
        image, (trace, sizes) = slope @ dual, _trace(inverse, slope)
        uphill = 0.5 * (float(np.sum(dual * image)) - targets.shape[1] * trace)
        terms = 0.5 * (float(np.sum(np.abs(dual * image))) + targets.shape[1] * sizes)
        near = 64 * UNIT * (1 + abs(log_value))
        held = (log_value <= low + near and uphill <= 0) or (log_value >= high - near and uphill >= 0)
        largest, size = max(largest, 0.0 if held else abs(uphill)), max(size, terms)
    # Solutions with A lose accuracy by its condition number; the smallest eigenvalue is at least the noise.
    condition = average / process.floor if process.floor > 0 else math.inf
    rounding = min(64 * UNIT * n * condition, 1.0) * size
    limit = float(certificate.problem["tol"]) * n + 4 * rounding
    note, value = "derivatives by a full inverse.", largest + rounding
    return Proof(value, "recomputed", note, limit=limit, spread=rounding, limit_spread=1e-3 * rounding)


def _trace(half: np.ndarray, slope: np.ndarray) -> tuple[float, float]:
    """Return the sum of the products with a symmetric matrix, and of their sizes, given the upper half with half the diagonal."""

    def of_rows(start: int, stop: int) -> np.ndarray:
        products = half[start:stop, start:] * slope[start:stop, start:]
        return np.array([products.sum(), np.abs(products, out=products).sum()])

    total, sizes = 2.0 * sum_blocks(of_rows, len(half), ROWS, blas_threads())
    return float(total), float(sizes)
