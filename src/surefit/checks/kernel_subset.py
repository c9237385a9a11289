r"""Checks how far a kernel ridge regression in the span of some rows is from the optimum of the exact problem.

The function lies in the kernel's space, so its objective P is that of the exact problem. For :math:`\theta = s r` with sum zero,
:math:`\min P \ge (\theta^\top y)^2 / (\sum_i \theta_i^2 / s_i + \theta^\top K \theta / \alpha)`. The last form is computed from all kernel
values, or bounded with values of the landmarks alone: for any projections :math:`p_i = \sum_j B_{ij} k(z_j, \cdot)` and
:math:`e = B^\top \theta`

.. math:: \theta^\top K \theta \le 2 e^\top K_{zx} \theta - e^\top K_{zz} e + \Bigl(\sum_i |\theta_i| \, \|k(x_i, \cdot) - p_i\|\Bigr)^2

(theory: ``kernel-subset-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import gamma
from surefit.checks.kernel_scores import PIECE, enclosed_scores
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

DIGITS = 1e-6  # to which a claim and its check must agree


class Bounds(NamedTuple):
    """Objective of the model, and a lower bound of the least one."""

    primal: float
    dual: float


@checker("kernel_subset.exact_gap")
def check_exact_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The exact objective is within value of the least one over the whole space of the kernel."""
    found = bounds_of(certificate, data)
    gap = found.primal - found.dual
    ok = bool(gap <= claim.value + DIGITS * found.primal)
    message = f"P = {found.primal:.6g}, min P >= {found.dual:.6g}."
    return Finding(claim.name, claim.value, gap, ok, "recomputed", message)


@checker("kernel_subset.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Within the span of the landmarks the objective is within value of the least one: size of its slope."""
    kernel, landmarks = kernel_of(certificate), certificate.model["landmarks_"]
    alpha, a = certificate.problem["alpha"], certificate.model["dual_coef_"]
    A, s, r = kernel.read(data.X), weights_of(data), _residual(certificate, data)
    inner = training_values(kernel, A, landmarks, landmarks).mid
    pairing = alpha * inner @ a
    for rows, values in _pieces(kernel, A, landmarks):
        pairing -= values.T @ (s[rows] * r[rows])
    values, vectors = linalg.eigh(inner)
    kept = values > 1e-12 * max(float(values[-1]), 0.0)
    slope = vectors[:, kept].T @ pairing / np.sqrt(values[kept])
    offset = math.fsum(s * r) ** 2 / math.fsum(s) if certificate.problem["fit_intercept"] else 0.0
    found = float(slope @ slope) / alpha + offset
    ok = bool(found <= claim.value + DIGITS * bounds_of(certificate, data).primal)
    return Finding(claim.name, claim.value, found, ok, "recomputed", "slope in the span recomputed.")


def bounds_of(certificate: Certificate, data: Data) -> Bounds:
    """Return the objective and the lower bound, from the data."""
    if "kernel subset" not in data.memo:
        r, s = _residual(certificate, data), weights_of(data)
        kernel, landmarks = kernel_of(certificate), certificate.model["landmarks_"]
        a, y = certificate.model["dual_coef_"], np.asarray(data.target, dtype=np.float64)
        inner = training_values(kernel, kernel.read(data.X), landmarks, landmarks).mid
        primal = math.fsum(s * r**2) + certificate.problem["alpha"] * float(a @ inner @ a)
        theta = dual_point(r, s, certificate.problem["fit_intercept"])
        if certificate.problem["dual"] == "exact":
            form = enclosed_scores(certificate, data, theta[:, None])
            square = float(theta @ form.mid[:, 0] + np.abs(theta) @ form.rad[:, 0])
        else:
            square = bounded_square(kernel, kernel.read(data.X), landmarks, inner, theta)
        data.memo["kernel subset"] = Bounds(primal, lower_bound(theta, y, s, square, certificate.problem["alpha"]))
    return data.memo["kernel subset"]


def dual_point(r: np.ndarray, s: np.ndarray, offset: bool) -> np.ndarray:
    """Return weighted residuals, with sum zero if there is an offset."""
    return s * (r - np.average(r, weights=s)) if offset else s * r


def lower_bound(theta: np.ndarray, y: np.ndarray, s: np.ndarray, square: float, alpha: float) -> float:
    """Return the dual value at the best multiple of ``theta``."""
    used = s > 0
    cost = float(np.sum(theta[used] ** 2 / s[used])) + max(square, 0.0) / alpha
    return max(float(theta @ y), 0.0) ** 2 / cost if cost > 0 else 0.0


def bounded_square(kernel, A, landmarks: np.ndarray, inner: np.ndarray, theta: np.ndarray) -> float:
    """Bound ``theta' K theta`` from the values with the landmarks and the diagonal."""
    values, vectors = linalg.eigh(inner)
    kept = values > 1e-12 * max(float(values[-1]), 0.0)
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    m, e, pulled, far = len(landmarks), np.zeros(len(landmarks)), np.zeros(len(landmarks)), 0.0
    for rows, Z in _pieces(kernel, A, landmarks):
        B = Z @ inverse
        own = enclosed_diagonal(kernel, A[rows][:, rows] if kernel.takes == "values" else A[rows]).magnitude
        product = np.einsum("ij,ij->i", B @ inner, B)
        size = own + 2 * np.einsum("ij,ij->i", np.abs(B), np.abs(Z)) + np.abs(product)
        square = own - 2 * np.einsum("ij,ij->i", B, Z) + product
        far += float(np.abs(theta[rows]) @ np.sqrt(np.maximum(square, 0.0) + gamma(4 * m) * size))
        e += B.T @ theta[rows]
        pulled += Z.T @ theta[rows]
    return float(2 * e @ pulled - e @ inner @ e) + far**2


def _residual(certificate: Certificate, data: Data) -> np.ndarray:
    if "kernel subset residual" not in data.memo:
        coefficients = np.zeros((data.X.shape[0], 1))
        coefficients[certificate.model["landmarks_"], 0] = certificate.model["dual_coef_"]
        values = enclosed_scores(certificate, data, coefficients).mid[:, 0]
        y = np.asarray(data.target, dtype=np.float64)
        data.memo["kernel subset residual"] = y - values - float(certificate.model["intercept_"])
    return data.memo["kernel subset residual"]


def _pieces(kernel, A, landmarks: np.ndarray):
    step = max(1, PIECE // len(landmarks))
    for start in range(0, A.shape[0], step):
        rows = np.arange(start, min(start + step, A.shape[0]))
        yield rows, training_values(kernel, A, rows, landmarks).mid
