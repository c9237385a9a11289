r"""Checks the duality gap of kernel logistic regression, with kernel values computed anew and enclosed.

At the scores :math:`m = f + b` of the model let :math:`p_i = \sigma(-t_i m_i)` and :math:`\theta_i = c_i t_i q_i` with :math:`q = p`
but for a factor near one that makes the sum zero. Then

.. math:: P - \min P \le \tfrac12 (\beta - \theta)^\top K (\beta - \theta) + \sum_i c_i\, \mathrm{kl}(q_i \,\|\, p_i) ,

a sum of terms that are not negative, so nothing cancels (theory: ``kernel-logistic-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, gamma, upper_sum
from surefit.checks.kernel_scores import enclosed_scores
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, level_of
from surefit.checks.linear_scores import class_codes, rounding
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Proof(NamedTuple):
    """What the data prove about one problem."""

    gap: float
    gap_mid: float
    objective: float


@checker("kernel_logistic.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the problems is at most value."""
    proofs = prove(certificate, data)
    gap, mid = sum(p.gap for p in proofs), sum(p.gap_mid for p in proofs)
    ok = bool(mid - claim.value <= gap - mid + rounding(claim.value, sum(p.objective for p in proofs)))
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, gap if ok else mid, ok, level, f"P - min P <= {gap:.3g} by a dual point.")


@checker("kernel_logistic.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Each function is within value of the optimal one in the norm of the kernel's space: strong convexity."""
    proofs = prove(certificate, data)
    mid, bound = (
        max(math.sqrt(2 * g) for g in part) for part in zip(*[(p.gap_mid, p.gap) for p in proofs], strict=True)
    )
    noise = max(p.gap - p.gap_mid + rounding(p.gap, p.objective) for p in proofs)
    ok = bool(mid**2 - claim.value**2 <= 2 * noise)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, bound if ok else mid, ok, level, "from the gap and strong convexity.")


def prove(certificate: Certificate, data: Data) -> list[Proof]:
    """Bound P - min P of every problem (one, or one a class against the rest)."""
    if "kernel logistic" not in data.memo:
        data.memo["kernel logistic"] = _prove(certificate, data)
    return data.memo["kernel logistic"]


def _prove(certificate: Certificate, data: Data) -> list[Proof]:
    problem, model = certificate.problem, certificate.model
    codes, n = class_codes(certificate, data), data.X.shape[0]
    s = np.ones(n) if data.weights is None else data.weights
    c = problem["C"] * s * np.asarray(problem["class_weights"])[codes]
    B, b = np.atleast_2d(model["dual_coef_"]).T, np.atleast_1d(model["intercept_"])
    first = [1] if B.shape[1] == 1 else range(B.shape[1])
    T = np.column_stack([np.where(codes == k, 1.0, -1.0) for k in first])
    kernel = kernel_of(certificate)
    largest = math.sqrt(float(np.max(enclosed_diagonal(kernel, kernel.read(data.X)).magnitude)))
    scores = enclosed_scores(certificate, data, B)
    theta, factor = np.zeros_like(B), np.zeros(B.shape[1])
    for k in range(B.shape[1]):
        theta[:, k] = c * T[:, k] * expit(-T[:, k] * (scores.mid[:, k] + b[k]))
        if problem["fit_intercept"]:
            up, down = (math.fsum(np.abs(theta[T[:, k] == side, k])) for side in (1.0, -1.0))
            least, most = min(up, down), max(up, down)
            factor[k] = (most - least) / most if most else 0.0
            theta[:, k] *= np.where((T[:, k] > 0) == (up > down), 1 - factor[k], 1.0)
    V = B - theta
    images = enclosed_scores(certificate, data, V)
    return [
        _prove_one(
            c, T[:, k], B[:, k], scores.mid[:, k], scores.rad[:, k], float(b[k]), V[:, k], images.mid[:, k],
            images.rad[:, k], theta[:, k], float(factor[k]), largest,
        )
        for k in range(B.shape[1])
    ]  # fmt: skip


def _prove_one(c, t, beta, f, f_rad, b, v, image, image_rad, theta, factor, largest) -> Proof:
    m, rows = t * (f + b), c > 0
    rad = f_rad + 4 * UNIT * (np.abs(f) + abs(b))
    p, rest = expit(-m), expit(m)
    # the scores are off by rad, so p by p (1 - p) (e^rad - 1) at most, twice that with room
    own = np.where(rad < 300.0, 2 * p * rest * (2 * np.expm1(np.minimum(rad, 300.0))) ** 2, np.inf)
    # q = (1 - factor) p costs its divergence, whose slope in the score is q - p
    q, odds = (1 - factor) * p, p / np.maximum(rest, np.finfo(np.float64).tiny)
    parts = q * (math.log1p(-factor) if factor < 1.0 else 0.0), (rest + factor * p) * np.log1p(factor * odds)
    paid = np.maximum(parts[0] + parts[1], 0.0)
    loose = (
        2 * factor * p * rad
        + 32 * UNIT * (np.abs(parts[0]) + parts[1])
        + (factor > 0) * UNIT * (factor + UNIT) * 8192 * odds
    )
    cost, cost_mid = upper_sum((c * (own + paid + loose))[rows]), math.fsum((c * np.maximum(paid - loose, 0.0))[rows])
    square = math.fsum(v * image)
    square_rad = upper_sum(np.abs(v) * image_rad) + gamma(4) * upper_sum(np.abs(v * image))
    # theta itself is rounded, entry by entry, by a few units in the last place, and so is its sum
    slip = 64 * UNIT * upper_sum(np.abs(theta)) * largest
    norm = math.sqrt(max(square + square_rad, 0.0)) + slip
    gap = (0.5 * norm**2 + cost) * (1 + 16 * UNIT)
    objective = 0.5 * math.fsum(beta * f) + math.fsum(c * np.logaddexp(0.0, -m))
    outside = bool(np.any(beta[~rows] != 0.0))
    mid = math.inf if outside else 0.5 * max(square, 0.0) + cost_mid
    return Proof(max(gap, mid), mid, objective)
