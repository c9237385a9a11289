r"""Checks the duality gap of multinomial kernel logistic regression, with kernel values computed anew and enclosed.

For rows :math:`Q_i` of the simplex and :math:`\theta = c (Y - Q)`, with zero column sums where the offsets are free,

.. math:: P - \min P \le \tfrac12 \sum_k (\beta_k - \theta_k)^\top K (\beta_k - \theta_k) + \sum_i c_i\, \mathrm{KL}(Q_i \,\|\, P_i) .

:math:`Q` is the softmax at the model's scores, mixed with one constant row that makes the sums exactly right. Entry by entry it is known
up to a radius, and :math:`q \ln(q/p) - q + p`, which is convex in :math:`q` and at most :math:`(q - p)^2 / p`, pays for that
(theory: ``kernel-softmax-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, gamma, upper_sum
from surefit.checks.kernel_scores import enclosed_scores
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, level_of
from surefit.checks.linear_scores import class_codes, rounding
from surefit.checks.multinomial import log_softmax, with_column_sums
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Proof(NamedTuple):
    """What the data prove."""

    gap: float
    gap_mid: float
    objective: float


@checker("kernel_softmax.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P - min P is at most value."""
    p = prove(certificate, data)
    ok = bool(p.gap_mid - claim.value <= p.gap - p.gap_mid + rounding(claim.value, p.objective))
    level, words = level_of(kernel_of(certificate)), f"P - min P <= {p.gap:.3g} by a dual point."
    return Finding(claim.name, claim.value, p.gap if ok else p.gap_mid, ok, level, words)


@checker("kernel_softmax.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The functions together are within value of the optimal ones in the norm of the kernel's space."""
    p = prove(certificate, data)
    ok = bool(p.gap_mid - 0.5 * claim.value**2 <= p.gap - p.gap_mid + rounding(p.gap, p.objective))
    bound = math.sqrt(2 * (p.gap if ok else p.gap_mid)) * (1 + 8 * UNIT)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, bound, ok, level, "from the gap and strong convexity.")


def prove(certificate: Certificate, data: Data) -> Proof:
    """Bound P - min P."""
    if "kernel softmax" not in data.memo:
        data.memo["kernel softmax"] = _prove(certificate, data)
    return data.memo["kernel softmax"]


def _prove(certificate: Certificate, data: Data) -> Proof:
    problem, model = certificate.problem, certificate.model
    codes, n = class_codes(certificate, data), data.X.shape[0]
    s = np.ones(n) if data.weights is None else data.weights
    c = problem["C"] * s * np.asarray(problem["class_weights"])[codes]
    beta, b = np.asarray(model["dual_coef_"], dtype=np.float64).T, np.asarray(model["intercept_"], dtype=np.float64)
    Y = np.zeros_like(beta)
    Y[np.arange(n), codes] = 1.0
    F = enclosed_scores(certificate, data, beta)
    log_p, off = log_probabilities(F, b)
    P = np.exp(log_p)
    Q = with_column_sums(P, Y, c) if problem["fit_intercept"] else P
    moved = simplex_moves(Q, Y, c, problem["fit_intercept"])
    if moved is None:
        return Proof(math.inf, math.inf, math.inf)
    theta = c[:, None] * (Y - Q)
    v = beta - theta
    image = enclosed_scores(certificate, data, v)
    kernel = kernel_of(certificate)
    lengths = np.sqrt(enclosed_diagonal(kernel, kernel.read(data.X)).magnitude) * (1 + 4 * UNIT)
    v_rad = c[:, None] * (moved + 4 * UNIT * (Y + Q)) + 2 * UNIT * (np.abs(beta) + np.abs(theta))
    gap = mid = 0.0
    for k in range(beta.shape[1]):
        terms = v[:, k] * image.mid[:, k]
        square = math.fsum(terms)
        square_rad = upper_sum(np.abs(v[:, k]) * image.rad[:, k]) + gamma(4) * upper_sum(np.abs(terms))
        norm = math.sqrt(max(square + square_rad, 0.0)) + upper_sum(v_rad[:, k] * lengths)
        gap += 0.5 * norm**2 * (1 + 16 * UNIT)
        mid += 0.5 * max(square, 0.0)
    paid, least = divergences(Q, moved, log_p, off)
    gap += upper_sum(c * np.sum(paid, axis=1)) * (1 + 64 * UNIT)
    mid += math.fsum(c * np.sum(least, axis=1))
    objective = 0.5 * math.fsum((beta * F.mid).ravel()) - math.fsum(c * log_p[np.arange(n), codes])
    if not math.isfinite(gap + mid + objective):  # beyond what floats can say
        return Proof(math.inf, 0.0, 0.0)
    return Proof(max(gap * (1 + 16 * UNIT), mid), mid, objective)


def log_probabilities(F: Enclosed, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms of the softmax of ``F + b``, and by how much they can be off."""
    Z = F.mid + b
    log_p = log_softmax(Z)
    size = np.abs(F.mid) + np.abs(b) + np.abs(Z - Z.max(axis=1, keepdims=True)) + np.abs(log_p)
    own = np.max(F.rad + 8 * UNIT * size, axis=1, keepdims=True)
    return log_p, np.broadcast_to(2 * own + (4 * F.mid.shape[1] + 64) * UNIT, Z.shape)


def divergences(Q: np.ndarray, moved: np.ndarray, log_p: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bound ``q ln(q/p) - q + p`` for all q within ``moved`` of ``Q`` and p with a logarithm within ``off`` of ``log_p``.

    The second array has the values at ``Q`` itself, from below.
    """
    P, low, high = np.exp(log_p), np.maximum(Q - moved, 0.0), Q + moved
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        grown = 2 * np.expm1(off)
        near = (np.abs(Q - P) + moved + P * grown) ** 2 / (P * np.exp(-2 * off))
        ends = [np.where(q > 0.0, q * (np.log(q) - log_p), 0.0) for q in (low, high)]
        size = np.maximum(np.abs(ends[0]), np.abs(ends[1])) + high + P
        far = np.maximum(*ends) + off * high - low + P * (1 + grown) + 16 * UNIT * size
        least = far - 2 * (off + moved + 32 * UNIT) * (size + 1.0)
    near, far = (np.where(np.isnan(part), np.inf, part) for part in (near, far))
    paid = np.minimum(near, np.maximum(far, 0.0)) * (1 + 64 * UNIT) + np.finfo(np.float64).tiny
    return paid, np.minimum(paid, np.where(least > 0.0, least, 0.0))


def simplex_moves(P: np.ndarray, Y: np.ndarray, c: np.ndarray, offset: bool) -> np.ndarray | None:
    """Bound, entry by entry, how far rows of the simplex with the right sums are from ``P``; None if there are none."""
    width = P.shape[1]
    slip = np.abs(P.sum(axis=1, keepdims=True) - 1.0) + 2 * (width + 4) * UNIT  # to sums of exactly one
    moved = P * slip * (1 + 2 * slip)
    if not offset:
        return moved
    lacking = np.array([math.fsum(column) for column in (c[:, None] * (Y - P)).T])
    noise = np.array([upper_sum(c * column) for column in (moved + 4 * UNIT * (Y + P)).T])
    sums = np.array([math.fsum(c * column) for column in P.T])
    least = (sums - noise) * (1 - 8 * UNIT)
    if not np.all(least > 0.0):
        return None
    share = float(np.max(np.maximum(noise - lacking, 0.0) / least)) * (1 + 8 * UNIT)
    constant = (np.abs(lacking) + noise + share * (sums + noise)) / math.fsum(c) * (1 + 16 * UNIT)
    return (moved + share * (P + moved) + constant) * (1 + 16 * UNIT) if share < 1.0 else None
