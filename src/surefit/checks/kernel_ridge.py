r"""Checks the duality gap of kernel ridge regression, with kernel values computed anew and enclosed.

For :math:`f = \sum_j c_j k(x_j, \cdot)` and a free part :math:`p` with residuals :math:`r`, and the values :math:`t` of the free function
that :math:`\alpha c / s` is off by (zero but for rounding),

.. math:: P - \min P \le \sum_i s_i (r_i - \alpha c_i / s_i + t_i)^2 + \frac1\alpha \Bigl(\sum_i s_i |t_i| \sqrt{k(x_i, x_i)}\Bigr)^2 ,

a sum of squares, so nothing cancels (theory: ``kernel-ridge-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Enclosed, gamma, upper_sum
from surefit.checks.kernel_scores import enclosed_scores
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, level_of, training_values
from surefit.checks.linear_scores import rounding
from surefit.checks.null_space import free_values, repairs
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Proof(NamedTuple):
    """What the data prove about all targets together."""

    gap: float
    gap_mid: float
    reach: float  # bound of the distance to the optimal functions, squared
    reach_mid: float
    objective: float
    square: float  # squared norm of the functions
    square_radius: float


@checker("kernel_ridge.gap", "kernel_ridge.stationarity")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P - min P is at most value (for a kernel that is none: the conditions are violated by value)."""
    p = prove(certificate, data)
    ok = bool(p.gap_mid - claim.value <= p.gap - p.gap_mid + rounding(claim.value, p.objective))
    words = "conditions of optimality violated by" if claim.name.endswith("stationarity") else "P - min P <="
    return Finding(
        claim.name, claim.value, p.gap if ok else p.gap_mid, ok, _level(certificate), f"{words} {p.gap:.3g}."
    )


@checker("kernel_ridge.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The functions are within value of the optimal ones, in the norm of the kernel's space."""
    p = prove(certificate, data)
    noise = p.reach - p.reach_mid + rounding(p.reach, p.objective / max(min(_alphas(certificate)), UNIT))
    ok = bool(p.reach_mid - claim.value**2 <= noise)
    proved = math.sqrt(p.reach if ok else p.reach_mid) * (1 + 8 * UNIT)
    return Finding(claim.name, claim.value, proved, ok, _level(certificate), "from the gap and strong convexity.")


@checker("kernel_ridge.norm")
def check_norm(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The norm of the functions is value, and at most the radius where one was asked for."""
    p = prove(certificate, data)
    ok = abs(p.square - claim.value**2) <= p.square_radius + rounding(p.square, p.square)
    proved = math.sqrt(max(p.square + p.square_radius, 0.0)) * (1 + 8 * UNIT)
    return Finding(claim.name, claim.value, proved, bool(ok), _level(certificate), "norm of the functions recomputed.")


@checker("kernel_ridge.leave_one_out")
def check_leave_one_out(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean squared leave-one-out error is value: from a factor, where the fit used a spectrum."""
    kernel, alphas, s = kernel_of(certificate), _alphas(certificate), weights_of(data)
    rows = np.flatnonzero(s > 0)
    A, s, Y = kernel.read(data.X), s[rows], np.reshape(data.target, (len(data.target), -1))[rows]
    K, T = training_values(kernel, A, rows, rows).mid, free_values(certificate, data).mid[rows]
    T = linalg.qr(T, mode="economic")[0] if T.shape[1] else T
    total = 0.0
    for k, alpha in enumerate(alphas):
        inverse = linalg.inv(K + np.diag(alpha / s))
        if T.shape[1]:
            free = inverse @ T
            inverse -= free @ linalg.solve(T.T @ free, free.T)
        residual, once = alpha * (inverse @ Y[:, k]) / s, np.minimum(s, 1.0)
        leverage = 1 - alpha * inverse.diagonal() / s
        total += float(s @ (residual / (1 - once * leverage / s)) ** 2) / math.fsum(s)
    found = total / len(alphas)
    ok = abs(found - claim.value) <= 1e-6 * max(abs(found), abs(claim.value)) + 1e-12 * float(np.mean(Y**2))
    return Finding(claim.name, claim.value, found, bool(ok), "recomputed", "errors recomputed from an inverse.")


def prove(certificate: Certificate, data: Data) -> Proof:
    """Bound P - min P; the targets share the kernel values."""
    if "kernel ridge" not in data.memo:
        data.memo["kernel ridge"] = _prove(certificate, data)
    return data.memo["kernel ridge"]


def _prove(certificate: Certificate, data: Data) -> Proof:
    problem, model, all_weights = certificate.problem, certificate.model, weights_of(data)
    C = np.reshape(model["dual_coef_"], (data.X.shape[0], -1))
    if np.any(C[all_weights == 0.0] != 0.0):
        return Proof(*[math.inf] * 7)
    scores, rows = enclosed_scores(certificate, data, C), np.flatnonzero(all_weights > 0)
    s, Y = all_weights[rows], np.reshape(data.target, (len(data.target), -1))[rows]
    c, f, f_rad = C[rows], scores.mid[rows], scores.rad[rows]
    alphas, kernel = np.array(_alphas(certificate)), kernel_of(certificate)
    largest = np.sqrt(enclosed_diagonal(kernel, kernel.read(data.X)).magnitude[rows]) * (1 + 4 * UNIT)
    T = free_values(certificate, data)
    T = Enclosed(T.mid[rows], T.rad[rows])
    b = _free_coefficients(certificate, c.shape[1])
    p = T.mid @ b
    p_rad = (T.rad + gamma(len(b) + 2) * np.abs(T.mid)) @ np.abs(b) * (1 + gamma(len(b) + 4))
    t = repairs(T, s, alphas * c)
    if t is None:
        return Proof(*[math.inf] * 7)
    gaps, mids, objective, square, square_rad = [], [], 0.0, 0.0, 0.0
    for k, alpha in enumerate(alphas.tolist()):
        own = alpha * c[:, k] / s
        off = Y[:, k] - f[:, k] - p[:, k] - own + t.mid[:, k]
        size = np.abs(Y[:, k]) + np.abs(f[:, k]) + np.abs(p[:, k]) + np.abs(own) + np.abs(t.mid[:, k])
        rad = f_rad[:, k] + p_rad[:, k] + t.rad[:, k] + 8 * UNIT * size
        drift, drift_mid = (upper_sum(s * part * largest) ** 2 / alpha * (1 + 16 * UNIT) for part in
                            (np.abs(t.mid[:, k]) + t.rad[:, k], np.abs(t.mid[:, k])))  # fmt: skip
        mids.append(math.fsum(s * off**2) + drift_mid)
        gaps.append((upper_sum(s * (np.abs(off) + rad) ** 2) + drift) * (1 + 8 * UNIT))
        terms = c[:, k] * f[:, k]
        square += math.fsum(terms)
        square_rad += upper_sum(np.abs(c[:, k]) * f_rad[:, k]) + gamma(4) * upper_sum(np.abs(terms))
        residual = Y[:, k] - f[:, k] - p[:, k]
        objective += math.fsum(s * residual**2) + alpha * math.fsum(terms)
    distance = [sum(g / a for g, a in zip(part, alphas, strict=True)) for part in (gaps, mids)]
    radius = problem.get("radius")
    if (
        radius is not None
    ):  # a multiplier of the ball proves the constrained form, up to what the norm leaves of the radius
        spare = alphas[0] * (radius**2 - square)
        gaps.append(abs(spare) + alphas[0] * square_rad)
        mids.append(max(spare, 0.0))
    return Proof(sum(gaps), sum(mids), distance[0], distance[1], objective, square, square_rad)


def _free_coefficients(certificate: Certificate, targets: int) -> np.ndarray:
    """Coefficients of the free functions, the constant first, one column a target."""
    model, lines = certificate.model, []
    if certificate.problem["fit_intercept"]:
        lines.append(np.broadcast_to(np.atleast_1d(model["intercept_"]), (1, targets)))
    if "null_coef_" in model:
        lines.append(np.reshape(model["null_coef_"], (-1, targets)))
    return np.vstack([np.zeros((0, targets)), *lines])


def _alphas(certificate: Certificate) -> list[float]:
    return [float(alpha) for alpha in certificate.problem["alphas"]]


def _level(certificate: Certificate) -> str:
    return level_of(kernel_of(certificate))
