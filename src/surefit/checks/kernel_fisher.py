r"""Checks Fisher's criterion in the space of a kernel, with kernel values computed anew and enclosed.

For :math:`f = \sum_j \beta_j k(x_j, \cdot)` the residual :math:`\rho = (m_1 - m_0) - (\Sigma + \lambda I) f` has the coefficients
:math:`v = d - P F / \mu - \lambda \beta` (F: values on the rows, P: class means taken away), and
:math:`J^* - J(f) \le \rho^\top (\Sigma + \lambda I)^{-1} \rho \le v^\top K v / \lambda`. Without a ridge, for every function :math:`g` with
:math:`\langle g, \Sigma g \rangle \ge \tau \|g\|^2`: :math:`J(g) \le (\langle f, \Sigma f \rangle^{1/2} + \|\rho\| \tau^{-1/2})^2`
(theory: ``kernel-fisher-gap``).
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
    """What the data say about the function; radii and upper bounds count all rounding."""

    rest: float  # squared norm of the residual, from above
    rest_mid: float
    spread: float  # within classes, from above
    spread_mid: float
    distance: float  # of the class means, from below
    distance_mid: float
    square: float  # squared norm of the function
    cut: float  # distance of the offset from its formula
    cut_radius: float


@checker("kernel_fisher.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No function has a criterion larger than that of the model by more than value."""
    p, ridge = prove(certificate, data), certificate.problem["ridge"]
    gap, mid = (p.rest / ridge * (1 + 16 * UNIT), p.rest_mid / ridge) if ridge > 0 else (math.inf, math.inf)
    within = p.spread_mid + ridge * p.square
    criterion = p.distance_mid**2 / within if within > 0 else 0.0
    return _judged(certificate, claim, gap, mid, criterion, f"J = {criterion:.6g}; no function has more by {gap:.3g}.")


@checker("kernel_fisher.restricted_gap")
def check_restricted_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No function with enough spread within classes has a criterion larger than that of the model by more than value."""
    p, least = prove(certificate, data), float(claim.numbers["least_spread"])
    if not least > 0:
        return Finding(claim.name, claim.value, math.inf, False, "recomputed", "No least spread is named.")
    low, criterion = (
        distance**2 / spread if spread > 0 else 0.0
        for distance, spread in ((p.distance, p.spread), (p.distance_mid, p.spread_mid))
    )
    gap = max((math.sqrt(p.spread) + math.sqrt(p.rest / least)) ** 2 * (1 + 32 * UNIT) - low * (1 - 32 * UNIT), 0.0)
    mid = max((math.sqrt(p.spread_mid) + math.sqrt(p.rest_mid / least)) ** 2 - criterion, 0.0)
    return _judged(
        certificate, claim, gap, mid, criterion, f"J = {criterion:.6g}; no such function has more by {gap:.3g}."
    )


@checker("kernel_fisher.separation")
def check_separation(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The spread within classes is at most value times the distance of the means."""
    p = prove(certificate, data)
    bound, mid = (
        math.sqrt(spread) / distance if distance > 0 else math.inf
        for spread, distance in ((p.spread, p.distance), (p.spread_mid, p.distance_mid))
    )
    ok = bool(mid - claim.value <= bound - mid + 1e-12 * claim.value)
    level = level_of(kernel_of(certificate))
    words = f"criterion at least {1 / bound**2 if bound > 0 else math.inf:.3g}."
    return Finding(claim.name, claim.value, bound * (1 + 8 * UNIT) if ok else mid, ok, level, words)


def _judged(certificate: Certificate, claim: Claim, gap: float, mid: float, criterion: float, words: str) -> Finding:
    ok = bool(mid - claim.value <= gap - mid + rounding(claim.value, criterion))
    return Finding(claim.name, claim.value, gap if ok else mid, ok, level_of(kernel_of(certificate)), words)


@checker("kernel_fisher.cut")
def check_cut(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The cut is half-way between the class means, up to value."""
    p = prove(certificate, data)
    ok = bool(p.cut <= claim.value + p.cut_radius)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, p.cut, ok, level, "class means recomputed.")


def prove(certificate: Certificate, data: Data) -> Proof:
    """Measure the function in the kernel's space."""
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
    rest = (math.sqrt(max(square + square_rad, 0.0)) + slip) ** 2 * (1 + 16 * UNIT)
    about_rad = F_rad + means_rad[codes] + 4 * UNIT * (np.abs(F) + np.abs(means[codes]))
    spread = upper_sum(s * (np.abs(about) + about_rad) ** 2) / divisor * (1 + 16 * UNIT)
    radius = float(means_rad.sum()) + 8 * UNIT * float(np.abs(means).sum())
    distance = abs(float(means[1] - means[0]))
    cut = abs(float(certificate.model["intercept_"].ravel()[0]) + float(means.sum()) / 2)
    return Proof(
        max(rest, square), max(square, 0.0), spread, math.fsum(s * about**2) / divisor, max(distance - radius, 0.0), distance,
        math.fsum(beta * F), cut, radius,
    )  # fmt: skip
