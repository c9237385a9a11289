r"""Checks Fisher's criterion in the space of a kernel, with kernel values computed anew and enclosed.

For :math:`f = \sum_j \beta_j k(x_j, \cdot)` the residual :math:`\rho = (m_1 - m_0) - (\Sigma + \lambda I) f` has the coefficients
:math:`v = d - P F / \mu - \lambda \beta` (F: values on the rows, P: class means taken away), and
:math:`J^* - J(f) \le \rho^\top (\Sigma + \lambda I)^{-1} \rho \le v^\top K v / \lambda` (theory: ``kernel-fisher-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, gamma, upper_sum
from surefit.checks.kernel_scores import enclosed_scores
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, level_of
from surefit.checks.linear_scores import class_codes, rounding
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Proof(NamedTuple):
    """What the data prove."""

    gap: float
    gap_mid: float
    criterion: float
    cut: float  # distance of the offset from its formula
    cut_radius: float


@checker("kernel_fisher.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No function has a criterion larger than that of the model by more than value."""
    p = prove(certificate, data)
    ok = bool(p.gap_mid - claim.value <= p.gap - p.gap_mid + rounding(claim.value, p.criterion))
    message = f"J = {p.criterion:.6g}; no function has more by {p.gap:.3g}."
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, p.gap if ok else p.gap_mid, ok, level, message)


@checker("kernel_fisher.cut")
def check_cut(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The cut is half-way between the class means, up to value."""
    p = prove(certificate, data)
    ok = bool(p.cut <= claim.value + p.cut_radius)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, p.cut, ok, level, "class means recomputed.")


def prove(certificate: Certificate, data: Data) -> Proof:
    """Bound J* - J."""
    if "kernel fisher" not in data.memo:
        data.memo["kernel fisher"] = _prove(certificate, data)
    return data.memo["kernel fisher"]


def _prove(certificate: Certificate, data: Data) -> Proof:
    beta = np.asarray(certificate.model["dual_coef_"], dtype=np.float64).ravel()
    ridge, codes, s = certificate.problem["ridge"], class_codes(certificate, data), weights_of(data)
    n, scores = data.X.shape[0], enclosed_scores(certificate, data, beta[:, None])
    F, F_rad = scores.mid[:, 0], scores.rad[:, 0]
    divisor = math.fsum(s) - 2
    means, means_rad = np.zeros(2), np.zeros(2)
    d = np.zeros(n)
    for side in (0, 1):
        own = codes == side
        total = math.fsum(s[own])
        means[side] = math.fsum(s[own] * F[own]) / total
        means_rad[side] = upper_sum(s[own] * (F_rad[own] + 4 * UNIT * np.abs(F[own]))) / total * (1 + 8 * UNIT)
        d[own] = (1.0 if side else -1.0) * s[own] / total
    about = F - means[codes]
    v = d - s * about / divisor - ridge * beta
    size = np.abs(d) + s * (np.abs(F) + np.abs(means[codes])) / divisor + ridge * np.abs(beta)
    v_rad = s * (F_rad + means_rad[codes]) / divisor + gamma(8) * size
    image = enclosed_scores(certificate, data, v[:, None])
    square = math.fsum(v * image.mid[:, 0])
    square_rad = upper_sum(np.abs(v) * image.rad[:, 0]) + gamma(4) * upper_sum(np.abs(v * image.mid[:, 0]))
    kernel = kernel_of(certificate)
    slip = upper_sum(v_rad * np.sqrt(enclosed_diagonal(kernel, kernel.read(data.X)).magnitude)) * (1 + 8 * UNIT)
    bound = (math.sqrt(max(square + square_rad, 0.0)) + slip) ** 2 / ridge * (1 + 16 * UNIT)
    spread = math.fsum(s * about**2) / divisor + ridge * math.fsum(beta * F)
    criterion = float(means[1] - means[0]) ** 2 / spread if spread > 0 else 0.0
    cut = abs(float(certificate.model["intercept_"].ravel()[0]) + float(means.sum()) / 2)
    mid = max(square, 0.0) / ridge
    return Proof(max(bound, mid), mid, criterion, cut, float(means_rad.sum()) + 8 * UNIT * float(np.abs(means).sum()))
