r"""Checks how far a classifier in the span of some rows is from the optimum of the exact kernel problem, rounding enclosed.

The function lies in the kernel's space, so its objective P is that of the exact problem. For slopes :math:`q_i` of the loss with
:math:`\theta = \tau c q`, sum zero if there is an offset, and :math:`g = \sum_i \theta_i k(x_i, \cdot)`,

.. math:: P - \min P \le \sum_i c_i \bigl[\phi(z_i) + \phi^*(-\tau q_i) + \tau q_i z_i\bigr] + \tfrac12 \|f - g\|^2 .

How the last norm is bounded is told in ``kernel_subset_span`` (theory: ``kernel-subset-machines``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.dual_repair import balanced, best_offset
from surefit.checks.enclosure import UNIT, Enclosed, upper_sum
from surefit.checks.kernel_scores import enclosed_scores
from surefit.checks.kernel_subset_softmax import prove_softmax
from surefit.checks.kernel_subset_span import LandmarkSpan, Proof
from surefit.checks.kernel_values import kernel_of, level_of
from surefit.checks.linear_scores import class_codes
from surefit.checks.score_losses import differences, dual_numbers, values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

DIGITS = 1e-5  # to which a claimed gap and its check must agree, relative to the gap
ROUNDING = 1e-9  # and relative to the objective: kernel values of the solver are not enclosed


class Slopes(NamedTuple):
    """A dual point: minus the slopes of the loss, each within its domain."""

    q: np.ndarray
    heavy: np.ndarray  # rows of the side that is heavier by rounding
    excess: float  # share of that side by which the sum misses zero


@checker("nystroem.exact_gap")
def check_exact_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the problems is at most value, the minimum over the whole space of the kernel."""
    proofs = prove(certificate, data)
    gap, mid, objective = (sum(p[k] for p in proofs) for k in (0, 1, 3))
    ok = bool(mid - claim.value <= gap - mid + _noise(claim.value, proofs))
    message = f"P = {objective:.6g}, min P >= {objective - gap:.6g} by a dual point of the exact problem."
    return Finding(claim.name, claim.value, gap if ok else mid, ok, level_of(kernel_of(certificate)), message)


@checker("nystroem.gap")
def check_subset_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the problems is at most value, the minimum over the span of the landmarks."""
    proofs = prove(certificate, data)
    found, slack = sum(p.subset for p in proofs), sum(p.gap - p.gap_mid for p in proofs)
    ok = bool(found - claim.value <= slack + _noise(claim.value, proofs))
    return Finding(claim.name, claim.value, found, ok, "recomputed", "by the same dual point, in the span.")


@checker("nystroem.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Each function is within value of the optimal one in the norm of the kernel's space: strong convexity."""
    proofs = prove(certificate, data)
    bound = max(math.sqrt(2 * p.gap) for p in proofs) * (1 + 8 * UNIT)
    mid = max(math.sqrt(2 * p.gap_mid) for p in proofs)
    noise = max(p.gap - p.gap_mid + _noise(p.gap, [p]) for p in proofs)
    ok = bool(mid**2 - claim.value**2 <= 2 * noise)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, bound if ok else mid, ok, level, "from the gap and strong convexity.")


def _noise(gap: float, proofs: list[Proof]) -> float:
    """Return by how much a claim, computed in plain floats, may differ from what is computed here."""
    return DIGITS * abs(gap) + sum(ROUNDING * p.objective + p.wobble for p in proofs)


def slopes_of(problem: dict, t: np.ndarray, c: np.ndarray, f: np.ndarray, b: float, offset: bool) -> Slopes:
    """Return the slopes at the scores ``f + b``, weighted sum zero but for rounding if there is an offset."""
    best = best_offset(problem, t, c, f, b) if offset and problem["loss"] == "logistic" else b
    theta = c * dual_numbers(problem, t, f + best)
    if offset:
        theta = balanced(theta, c, 1.0)[0]
    remainder = math.fsum(theta) if offset else 0.0
    heavy = theta > 0 if remainder > 0 else theta < 0
    side = math.fsum(np.abs(theta[heavy]))
    q = np.divide(theta, c, out=np.zeros(len(c)), where=c > 0)
    return Slopes(q, heavy, abs(remainder) / side if remainder else 0.0)


def prove(certificate: Certificate, data: Data) -> list[Proof]:
    """Bound P - min P of every problem (one, or one a class against the rest)."""
    if "nystroem" not in data.memo:
        problem, model = certificate.problem, certificate.model
        landmarks, lines, n = model["landmarks_"], model["dual_coef_"], data.X.shape[0]
        codes = class_codes(certificate, data)
        s = np.ones(n) if data.weights is None else data.weights
        c = problem["C"] * s * np.asarray(problem["class_weights"])[codes]
        coefficients = np.zeros((n, len(lines)))
        coefficients[landmarks] = lines.T
        scores = enclosed_scores(certificate, data, coefficients)
        span = LandmarkSpan.of(certificate, data)
        if problem["loss"] == "softmax":
            data.memo["nystroem"] = [prove_softmax(certificate, span, scores, codes, c)]
            return data.memo["nystroem"]
        data.memo["nystroem"] = [
            _prove_one(
                span, {**problem, "width": problem["widths"][k]}, lines[k], float(model["intercept_"][k]),
                Enclosed(scores.mid[:, k], scores.rad[:, k]), np.where(codes == positive, 1.0, -1.0), c,
                min(max(problem["scales"][k], 0.0), 1.0), max(int(problem["groups"][k]), 1),
            )
            for k, positive in enumerate([1] if len(lines) == 1 else range(len(lines)))
        ]  # fmt: skip
    return data.memo["nystroem"]


def _prove_one(span: LandmarkSpan, problem: dict, a, b: float, f: Enclosed, t, c, scale: float, groups: int) -> Proof:
    slopes = slopes_of(problem, t, c, f.mid, b, problem["fit_intercept"])
    z = Enclosed(f.mid + b, f.rad + 4 * UNIT * (np.abs(f.mid) + abs(b)))
    theta = c * slopes.q
    image = span.image(theta, groups)

    # The true point has its heavier side made lighter by the excess, twice at most: the terms are convex, so an end is the largest.
    lighter = np.where(slopes.heavy, slopes.q * (1 - 2 * slopes.excess), slopes.q)
    ends = [
        np.add(*differences(problem, t, z.mid + sign * z.rad, scale * q))
        for sign in (-1.0, 1.0)
        for q in ((slopes.q, lighter) if slopes.excess else (slopes.q,))
    ]
    young = upper_sum(c * np.max(ends, axis=0)) * (1 + 8 * UNIT)
    size = upper_sum(np.abs(theta))
    slip = (4 * slopes.excess + 32 * UNIT) * size * span.largest

    norm, square = span.apart(a, image, scale)
    gap = (young + 0.5 * (norm + slip) ** 2) * (1 + 16 * UNIT)
    mid = math.fsum(c * differences(problem, t, z.mid, scale * slopes.q)[0]) + 0.5 * square
    left = max(float(span.form(a - image.e).mid), 0.0)
    subset = math.fsum(c * differences(problem, t, z.mid, slopes.q)[0]) + 0.5 * left
    penalty = span.form(a)
    losses = [values(problem, t, z.mid + sign * z.rad) for sign in (-1.0, 0.0, 1.0)]
    objective = math.fsum(c * losses[1]) + 0.5 * max(float(penalty.mid), 0.0)
    most = upper_sum(c * np.max(losses, axis=0)) * (1 + 64 * UNIT) + 0.5 * float(penalty.mid + penalty.rad)
    return Proof.of(gap, mid, subset, objective, most, _wobble(problem, t, c, z, span.largest, norm))


def _wobble(problem: dict, t: np.ndarray, c: np.ndarray, z: Enclosed, largest: float, norm: float) -> float:
    """Within a narrow band the dual point of the hinge changes quickly with the scores, and so does its gap."""
    width = problem["width"]
    if problem["loss"] != "hinge" or not width > 0.0:
        return 0.0
    band = np.abs(1.0 - t * z.mid) <= 0.5 * width + z.rad
    change = float(np.sum((c * np.minimum(z.rad / width, 1.0))[band]))
    return change * (largest * norm + width) + 0.5 * (change * largest) ** 2
