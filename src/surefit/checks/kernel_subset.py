r"""Checks how far a kernel ridge regression in the span of some rows is from the optimum of the exact problem.

The function lies in the kernel's space, so its objective P is that of the exact problem. For :math:`\theta = s r` with sum zero,
:math:`\min P \ge (\theta^\top y)^2 / (\sum_i \theta_i^2 / s_i + \theta^\top K \theta / \alpha)`. The last form is computed from all kernel
values, or bounded by those with the landmarks and within groups of rows (theory: ``kernel-subset-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Enclosed, gamma, upper_sum
from surefit.checks.kernel_scores import PIECE, enclosed_scores
from surefit.checks.kernel_subset_span import LandmarkSpan
from surefit.checks.kernel_values import kernel_of, level_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

DIGITS = 1e-6  # to which a claim and its check must agree


class Bounds(NamedTuple):
    """Objective of the model and a lower bound of the least one, with rounding counted against us and without."""

    primal: float
    dual: float
    primal_mid: float
    dual_mid: float


@checker("kernel_subset.exact_gap")
def check_exact_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The exact objective is within value of the least one over the whole space of the kernel."""
    found = bounds_of(certificate, data)
    gap, mid = found.primal - found.dual, found.primal_mid - found.dual_mid
    ok = bool(mid - claim.value <= gap - mid + DIGITS * found.primal_mid)
    message = f"P = {found.primal_mid:.6g}, min P >= {found.dual:.6g}."
    return Finding(claim.name, claim.value, gap if ok else mid, ok, level_of(kernel_of(certificate)), message)


@checker("kernel_subset.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Within the span of the landmarks the objective is within value of the least one: size of its slope."""
    span, landmarks = LandmarkSpan.of(certificate, data), certificate.model["landmarks_"]
    alpha, a = certificate.problem["alpha"], certificate.model["dual_coef_"]
    s, r = weights_of(data), _residual(certificate, data).mid
    pairing = alpha * span.inner.mid @ a
    for rows, values in _pieces(span.kernel, span.A, landmarks):
        pairing -= values.T @ (s[rows] * r[rows])
    offset = math.fsum(s * r) ** 2 / math.fsum(s) if certificate.problem["fit_intercept"] else 0.0
    found = float(pairing @ span.inverse @ pairing) / alpha + offset
    ok = bool(found <= claim.value + DIGITS * bounds_of(certificate, data).primal_mid)
    return Finding(claim.name, claim.value, found, ok, "recomputed", "slope in the span recomputed.")


def bounds_of(certificate: Certificate, data: Data) -> Bounds:
    """Return the objective and the lower bound, from the data."""
    if "kernel subset" not in data.memo:
        data.memo["kernel subset"] = _bounds(certificate, data)
    return data.memo["kernel subset"]


def _bounds(certificate: Certificate, data: Data) -> Bounds:
    problem, span = certificate.problem, LandmarkSpan.of(certificate, data)
    r, s, y = _residual(certificate, data), weights_of(data), np.asarray(data.target, dtype=np.float64)
    alpha, norm = problem["alpha"], span.form(np.asarray(certificate.model["dual_coef_"], dtype=np.float64))
    primal = math.fsum(s * r.mid**2) + alpha * float(norm.mid)
    most = upper_sum(s * (np.abs(r.mid) + r.rad) ** 2) * (1 + 8 * UNIT) + alpha * float(norm.mid + norm.rad)
    theta = dual_point(r.mid, s, problem["fit_intercept"])
    groups = problem.get("groups", 1 if problem.get("dual") == "exact" else len(y))
    square, square_mid = span.square(span.image(theta, max(int(groups), 1)))
    # what rounding leaves of the sum is taken off, in the proportion of the weights: that lowers sum theta^2 / s
    lacking = abs(math.fsum(theta)) * (1 + 4 * UNIT) if problem["fit_intercept"] else 0.0
    used = s > 0
    pairing = math.fsum(theta * y)
    least = pairing - gamma(4) * upper_sum(np.abs(theta * y)) - lacking * float(np.max(np.abs(y)))
    cost = upper_sum(theta[used] ** 2 / s[used]) * (1 + 8 * UNIT)
    cost += (math.sqrt(square) + lacking * span.largest) ** 2 / alpha * (1 + 8 * UNIT)
    dual = max(least, 0.0) ** 2 / cost * (1 - 16 * UNIT) if cost > 0 else 0.0
    return Bounds(most * (1 + 8 * UNIT), dual, primal, lower_bound(theta, y, s, square_mid, alpha))


def dual_point(r: np.ndarray, s: np.ndarray, offset: bool) -> np.ndarray:
    """Return weighted residuals, with sum zero if there is an offset."""
    return s * (r - np.average(r, weights=s)) if offset else s * r


def lower_bound(theta: np.ndarray, y: np.ndarray, s: np.ndarray, square: float, alpha: float) -> float:
    """Return the dual value at the best multiple of ``theta``."""
    used = s > 0
    cost = float(np.sum(theta[used] ** 2 / s[used])) + max(square, 0.0) / alpha
    return max(float(theta @ y), 0.0) ** 2 / cost if cost > 0 else 0.0


def _residual(certificate: Certificate, data: Data) -> Enclosed:
    if "kernel subset residual" not in data.memo:
        coefficients = np.zeros((data.X.shape[0], 1))
        coefficients[certificate.model["landmarks_"], 0] = certificate.model["dual_coef_"]
        f, b = enclosed_scores(certificate, data, coefficients), float(certificate.model["intercept_"])
        y = np.asarray(data.target, dtype=np.float64)
        rad = f.rad[:, 0] + 4 * UNIT * (np.abs(y) + np.abs(f.mid[:, 0]) + abs(b))
        data.memo["kernel subset residual"] = Enclosed(y - f.mid[:, 0] - b, rad)
    return data.memo["kernel subset residual"]


def _pieces(kernel, A, landmarks: np.ndarray):
    step = max(1, PIECE // len(landmarks))
    for start in range(0, A.shape[0], step):
        rows = np.arange(start, min(start + step, A.shape[0]))
        yield rows, training_values(kernel, A, rows, landmarks).mid
