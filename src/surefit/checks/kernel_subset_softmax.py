r"""Checks the multinomial loss in the span of some rows: how far its functions are from the optimum of the exact kernel problem.

For rows :math:`Q_i` of the simplex, :math:`\theta = \tau c (Y - Q)` with zero column sums where the offsets are free, and
:math:`g_k = \sum_i \theta_{ik} k(x_i, \cdot)`,

.. math:: P - \min P \le \sum_i c_i\, \mathrm{KL}\bigl((1 - \tau) Y_i + \tau Q_i \,\|\, P_i\bigr) + \tfrac12 \sum_k \|f_k - g_k\|^2

(theory: ``kernel-subset-machines``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, upper_sum
from surefit.checks.kernel_softmax import divergences, log_probabilities, simplex_moves
from surefit.checks.kernel_subset_span import LandmarkSpan, Proof
from surefit.checks.multinomial import with_column_sums
from surefit.core.certificate import Certificate


def simplex_rows(P: np.ndarray, Y: np.ndarray, c: np.ndarray, offset: bool) -> np.ndarray:
    """Return the probabilities ``P``, mixed with a constant row until the weighted sums are those of ``Y`` if there are offsets."""
    return with_column_sums(P, Y, c) if offset else P


def prove_softmax(certificate: Certificate, span: LandmarkSpan, F: Enclosed, codes: np.ndarray, c: np.ndarray) -> Proof:
    """Bound P - min P over the whole space of the kernel."""
    problem, lines = certificate.problem, certificate.model["dual_coef_"]
    scale, groups = min(max(problem["scales"][0], 0.0), 1.0), max(int(problem["groups"][0]), 1)
    Y = np.zeros_like(F.mid)
    Y[np.arange(len(codes)), codes] = 1.0
    log_p, off = log_probabilities(F, np.asarray(certificate.model["intercept_"], dtype=np.float64))
    Q = simplex_rows(np.exp(log_p), Y, c, problem["fit_intercept"])
    moved = simplex_moves(Q, Y, c, problem["fit_intercept"])
    if moved is None:
        return Proof(math.inf, math.inf, math.inf, math.inf, 0.0)
    theta = c[:, None] * (Y - Q)
    slips = c[:, None] * (moved + 8 * UNIT * (Y + Q))
    gap = mid = subset = 0.0
    for k, a in enumerate(lines):
        image = span.image(theta[:, k], groups)
        norm, square = span.apart(a, image, scale)
        gap += 0.5 * (norm + upper_sum(slips[:, k]) * span.largest) ** 2
        mid += 0.5 * square
        subset += 0.5 * max(float(span.form(a - image.e).mid), 0.0)
    mixed = Y + scale * (Q - Y)
    paid, least = divergences(mixed, moved + 8 * UNIT, log_p, off)
    gap += upper_sum(c * np.sum(paid, axis=1)) * (1 + 64 * UNIT)
    mid += math.fsum(c * np.sum(least, axis=1))
    subset += math.fsum(c * np.sum(divergences(Q, moved, log_p, off)[1], axis=1))
    penalties = [span.form(a) for a in lines]
    losses = -log_p[np.arange(len(codes)), codes]
    objective = math.fsum(c * losses) + 0.5 * math.fsum(max(float(p.mid), 0.0) for p in penalties)
    most = upper_sum(c * (losses + off[:, 0])) * (1 + 64 * UNIT) + 0.5 * math.fsum(
        float(p.mid + p.rad) for p in penalties
    )
    return Proof.of(gap * (1 + 16 * UNIT), mid, subset, objective, most * (1 + 16 * UNIT))
