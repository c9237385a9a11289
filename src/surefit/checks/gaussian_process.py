r"""Checks Gaussian-process regression: the posterior mean everywhere, the evidence, and its slopes.

With :math:`A = K + D \succeq \sigma^2 I` and the residual :math:`\rho = y - A a` the mean is off by
:math:`|k_x^\top A^{-1} \rho| \le \sqrt{k(x, x)} \, \|\rho\| / \sigma`, since :math:`k_x^\top A^{-1} k_x \le k(x, x)`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.kernel_values import kernel_of, level_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.kernels import Kernel, Noise, Sum

ROWS = 256  # rows of the Gram matrix enclosed at a time


class Residual(NamedTuple):
    """Bounds on ``y - A a``, target by target, on the rounding of A in Frobenius norm, and on its trace."""

    norms: np.ndarray
    rounding: float
    trace: float


def floor_of(kernel: Kernel, noise: np.ndarray) -> float:
    """Lower bound on the eigenvalues of ``K + D``: all the noise there is, if the kernel is positive semidefinite."""
    if not kernel.positive_semidefinite:
        return 0.0
    return (float(np.min(noise)) + _noise_in(kernel)) * (1 - 8 * UNIT)


def _noise_in(kernel: Kernel) -> float:
    if isinstance(kernel, Sum):
        return _noise_in(kernel.left) + _noise_in(kernel.right)
    return float(kernel.variance) if isinstance(kernel, Noise) else 0.0


def residual(kernel: Kernel, X: Any, noise: np.ndarray, dual: np.ndarray, targets: np.ndarray) -> Residual:
    """Enclose ``y - (K + D) a`` block by block, the rounding of the kernel's values included."""
    A = kernel.read(X)
    n = A.shape[0]
    squares, rounding, trace = np.zeros(dual.shape[1]), 0.0, 0.0
    size = np.abs(dual)
    for start in range(0, n, ROWS):
        rows = np.arange(start, min(start + ROWS, n))
        G = training_values(kernel, A, rows, np.arange(n))
        mid = targets[rows] - noise[rows, None] * dual[rows] - G.mid @ dual
        rad = G.rad @ size + gamma(n + 6) * (
            np.abs(G.mid) @ size + noise[rows, None] * size[rows] + np.abs(targets[rows])
        )
        squares += np.sum((np.abs(mid) + rad * (1 + 8 * gamma(n))) ** 2, axis=0)
        rounding += float(np.sum(G.rad**2))
        diagonal = G.mid[np.arange(len(rows)), rows] + noise[rows]
        trace += float(np.sum(np.abs(diagonal)))
    safe = 1 + gamma(n + 8)
    return Residual(np.sqrt(squares) * safe, math.sqrt(rounding) * safe, trace * safe)


def evidence_error(found: Residual, floor: float, dual: np.ndarray, backward: float) -> float:
    """Bound the error of the log evidence, given a bound on ``|L L' - A|`` in Frobenius norm; infinite if nothing can be said."""
    relative = (backward + found.rounding) / floor if floor > 0 else math.inf
    if not relative < 0.5:
        return math.inf
    n, columns = dual.shape
    determinant = columns * 0.5 * n * -math.log1p(-relative)
    quadratic = 0.5 * float(np.linalg.norm(dual, axis=0) @ found.norms) + 0.5 * float(found.norms @ found.norms) / floor
    return (determinant + quadratic) * (1 + 1e-9)


def _stated(certificate: Certificate, data: Data) -> tuple[Kernel, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Kernel, noise a row, dual vectors, scaled targets, and the scale of each target."""
    model, y = certificate.model, np.asarray(data.target, dtype=np.float64)
    y = y.reshape(len(y), -1)
    scale = np.atleast_1d(model["y_scale_"])
    targets = (y - np.atleast_1d(model["y_mean_"])) / scale
    noise = np.broadcast_to(model["noise_"], (len(y),)).astype(np.float64)
    return kernel_of(certificate), noise, model["alpha_"].reshape(len(y), -1), targets, scale


def _residual(certificate: Certificate, data: Data) -> Residual:
    if "gaussian_process" not in data.memo:
        kernel, noise, dual, targets, _ = _stated(certificate, data)
        data.memo["gaussian_process"] = residual(kernel, data.X, noise, dual, targets)
    return data.memo["gaussian_process"]


@checker("gaussian_process.mean")
def check_mean(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The posterior mean is at most ``value * sqrt(k(x, x))`` from the exact one, for every x."""
    kernel, noise, _, _, scale = _stated(certificate, data)
    floor = floor_of(kernel, noise)
    found = float(np.max(_residual(certificate, data).norms * scale)) / math.sqrt(floor) if floor > 0 else math.inf
    return Finding(
        claim.name, claim.value, found, found <= claim.value, level_of(kernel), f"noise is at least {floor:.3g}."
    )


@checker("gaussian_process.evidence")
def check_evidence(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The log evidence is at most ``value`` from the exact one; factorised anew."""
    kernel, noise, dual, targets, _ = _stated(certificate, data)
    A = kernel(data.X)
    A.flat[:: len(A) + 1] += noise
    L = linalg.cholesky(A, lower=True)
    n, columns = dual.shape
    product = L @ L.T
    backward = float(np.linalg.norm(product - A)) + gamma(n + 2) * float(np.sum(L**2)) * 2
    found = -0.5 * float(np.sum(targets * dual))
    found -= columns * (math.fsum(np.log(np.diag(L))) + 0.5 * n * math.log(2 * math.pi))
    size = 0.5 * float(np.sum(np.abs(targets * dual))) + columns * float(np.sum(np.abs(np.log(np.diag(L)))) + n)
    error = evidence_error(_residual(certificate, data), floor_of(kernel, noise), dual, backward)
    error += abs(found - claim.numbers["log_evidence"]) + 2 * gamma(n + 8) * size
    message = f"log evidence {found:.8g}, factor off by at most {backward:.2g}."
    return Finding(claim.name, claim.value, error, error <= claim.value, level_of(kernel), message)


@checker("gaussian_process.stationary")
def check_stationary(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No free hyper-parameter has a slope of the log evidence above ``value`` in size, unless its bound forbids to follow it."""
    kernel, noise, _, targets, _ = _stated(certificate, data)
    A, slopes = kernel.gram_and_gradient(data.X)
    A = A.copy()
    A.flat[:: len(A) + 1] += noise
    factor = linalg.cho_factor(A, lower=True)
    inverse, dual = linalg.cho_solve(factor, np.eye(len(A))), linalg.cho_solve(factor, targets)
    found = 0.0
    for slope, log_value, (low, high) in zip(slopes, kernel.theta, kernel.bounds, strict=True):
        uphill = 0.5 * (float(np.sum(dual * (slope @ dual))) - targets.shape[1] * float(np.sum(inverse * slope)))
        near = 1e-9 * (1 + abs(log_value))
        if not (log_value <= low + near and uphill <= 0) and not (log_value >= high - near and uphill >= 0):
            found = max(found, abs(uphill))
    return Finding(claim.name, claim.value, found, found <= claim.value, "recomputed", "slopes by a full inverse.")
