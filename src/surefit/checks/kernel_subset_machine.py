r"""Checks how far a classifier in the span of some rows is from the optimum of the exact kernel problem, rounding enclosed.

The function lies in the kernel's space, so its objective P is that of the exact problem. For slopes :math:`q_i` of the loss with
:math:`\theta = \tau c q`, sum zero if there is an offset, and :math:`g = \sum_i \theta_i k(x_i, \cdot)`,

.. math:: P - \min P \le \sum_i c_i \bigl[\phi(z_i) + \phi^*(-\tau q_i) + \tau q_i z_i\bigr] + \tfrac12 \|f - g\|^2 .

For any :math:`p_b = \sum_j e_{bj} k(z_j, \cdot)`, one a group of rows, and :math:`p = \sum_b p_b`,

.. math:: \|f - g\|^2 \le \|f - p\|^2 + 2 \langle f - p, p - g \rangle + \Bigl(\sum_b \|g_b - p_b\|\Bigr)^2 ,

where everything is a sum of kernel values with landmarks and within groups (theory: ``kernel-subset-machines``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.checks.base import Data, Finding, checker
from surefit.checks.dual_repair import balanced, best_offset
from surefit.checks.enclosure import UNIT, Enclosed, gamma, upper_sum
from surefit.checks.kernel_scores import PIECE, enclosed_scores
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, level_of, training_values
from surefit.checks.linear_scores import class_codes
from surefit.checks.score_losses import differences, dual_numbers, values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

RANK = 1e-11  # eigenvalues of the landmarks' kernel values below this share of the largest are left out: coefficients stay small
DIGITS = 1e-6  # to which a claimed gap and its check must agree, relative to the gap
ROUNDING = 1e-9  # and relative to the objective: kernel values of the solver are not enclosed


class Slopes(NamedTuple):
    """A dual point: minus the slopes of the loss, each within its domain."""

    q: np.ndarray
    heavy: np.ndarray  # rows of the side that is heavier by rounding
    excess: float  # share of that side by which the sum misses zero


class Proof(NamedTuple):
    """What the data prove about one problem."""

    gap: float
    gap_mid: float
    subset: float
    objective: float


@checker("nystroem.exact_gap")
def check_exact_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the problems is at most value, the minimum over the whole space of the kernel."""
    proofs = prove(certificate, data)
    gap, mid, objective = (sum(p[k] for p in proofs) for k in (0, 1, 3))
    ok = bool(mid - claim.value <= gap - mid + _noise(claim.value, objective))
    message = f"P = {objective:.6g}, min P >= {objective - gap:.6g} by a dual point of the exact problem."
    return Finding(claim.name, claim.value, gap if ok else mid, ok, level_of(kernel_of(certificate)), message)


@checker("nystroem.gap")
def check_subset_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the problems is at most value, the minimum over the span of the landmarks."""
    proofs = prove(certificate, data)
    found, objective = sum(p.subset for p in proofs), sum(p.objective for p in proofs)
    slack = sum(p.gap - p.gap_mid for p in proofs)
    ok = bool(found - claim.value <= slack + _noise(claim.value, objective))
    return Finding(claim.name, claim.value, found, ok, "recomputed", "by the same dual point, in the span.")


@checker("nystroem.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Each function is within value of the optimal one in the norm of the kernel's space: strong convexity."""
    proofs = prove(certificate, data)
    bound = max(math.sqrt(2 * p.gap) for p in proofs) * (1 + 8 * UNIT)
    mid = max(math.sqrt(2 * p.gap_mid) for p in proofs)
    noise = max(p.gap - p.gap_mid + _noise(p.gap, p.objective) for p in proofs)
    ok = bool(mid**2 - claim.value**2 <= 2 * noise)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, bound if ok else mid, ok, level, "from the gap and strong convexity.")


def _noise(gap: float, objective: float) -> float:
    return DIGITS * abs(gap) + ROUNDING * abs(objective)


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


def group_rows(theta: np.ndarray, groups: int) -> Iterator[np.ndarray]:
    """Yield the rows with a coefficient, group by group: every so-many-th row, whatever the order of the data means."""
    for first in range(groups):
        rows = np.arange(first, len(theta), groups)
        rows = rows[theta[rows] != 0.0]
        if len(rows):
            yield rows


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
        span = _Span.of(certificate, data)
        data.memo["nystroem"] = [
            _prove_one(
                span, {**problem, "width": problem["widths"][k]}, lines[k], float(model["intercept_"][k]),
                Enclosed(scores.mid[:, k], scores.rad[:, k]), np.where(codes == positive, 1.0, -1.0), c,
                min(max(problem["scales"][k], 0.0), 1.0), max(int(problem["groups"][k]), 1),
            )
            for k, positive in enumerate([1] if len(lines) == 1 else range(len(lines)))
        ]  # fmt: skip
    return data.memo["nystroem"]


def _prove_one(span: _Span, problem: dict, a, b: float, f: Enclosed, t, c, scale: float, groups: int) -> Proof:
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

    v = a - scale * image.e
    near = span.form(v)
    off = span.inner.mid @ image.e - image.pulled.mid
    off_rad = (span.inner.rad + gamma(len(v) + 2) * np.abs(span.inner.mid)) @ np.abs(image.e) + image.pulled.rad
    cross = 2 * scale * float(np.abs(v) @ (np.abs(off) + 2 * off_rad))
    rounded = 8 * UNIT * float(np.sum(np.abs(a)) + np.sum(np.abs(image.e))) * span.largest
    square = max(float(near.mid + near.rad), 0.0) + cross + (scale * image.missed) ** 2
    norm = math.sqrt(square) * (1 + 16 * UNIT) + slip + rounded
    gap = (young + 0.5 * norm**2) * (1 + 16 * UNIT)

    def middle(factor: float, apart: float, missed: float) -> float:
        terms = differences(problem, t, z.mid, factor * slopes.q)[0]
        return math.fsum(c * terms) + 0.5 * (max(apart, 0.0) + (factor * missed) ** 2)

    mid = middle(scale, float(near.mid), image.missed_mid)
    subset = middle(1.0, float(span.form(a - image.e).mid), 0.0)
    objective = math.fsum(c * values(problem, t, z.mid)) + 0.5 * float(span.form(a).mid)
    return Proof(max(gap, mid), mid, subset, objective)


class _Image(NamedTuple):
    """The function of a dual point as the landmarks see it."""

    e: np.ndarray  # coefficients of its approximation in the span
    pulled: Enclosed  # its inner products with the landmarks
    missed: float  # bound of the distance between the two
    missed_mid: float


class _Span(NamedTuple):
    """The landmarks with their kernel values."""

    kernel: object
    A: object
    landmarks: np.ndarray
    inner: Enclosed
    inverse: np.ndarray
    largest: float  # of the norms of all rows

    @classmethod
    def of(cls, certificate: Certificate, data: Data) -> _Span:
        kernel, landmarks = kernel_of(certificate), certificate.model["landmarks_"]
        A = kernel.read(data.X)
        inner = training_values(kernel, A, landmarks, landmarks)
        eigenvalues, vectors = linalg.eigh(inner.mid)
        kept = eigenvalues > RANK * max(float(eigenvalues[-1]), 0.0)
        inverse = (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T
        largest = math.sqrt(float(np.max(enclosed_diagonal(kernel, A).magnitude))) * (1 + 4 * UNIT)
        return cls(kernel, A, landmarks, inner, inverse, largest)

    def form(self, v: np.ndarray) -> Enclosed:
        """Enclose the squared norm of the function with coefficients ``v``."""
        size, m = np.abs(v), len(v)
        rad = size @ (self.inner.rad + gamma(2 * m + 4) * np.abs(self.inner.mid)) @ size * (1 + gamma(2 * m + 4))
        return Enclosed(v @ self.inner.mid @ v, rad)

    def image(self, theta: np.ndarray, groups: int) -> _Image:
        """Approximate the function of ``theta`` in the span, group by group."""
        m = len(self.landmarks)
        e, pulled, rad, sizes, missed, mid = np.zeros(m), np.zeros(m), np.zeros(m), 0.0, 0.0, 0.0
        count = 0
        for rows in group_rows(theta, groups):
            part = theta[rows]
            inside, with_marks = self._square(rows, part), self._pulled(rows, part)
            own = self.inverse @ with_marks.mid
            near = self.form(own)
            square = float(inside.mid - 2 * own @ with_marks.mid + near.mid)
            sums = float(np.abs(own) @ np.abs(with_marks.mid))
            error = float(inside.rad + 2 * np.abs(own) @ with_marks.rad + near.rad) + gamma(2 * m + 8) * (
                abs(float(inside.mid)) + 2 * sums + abs(float(near.mid))
            )
            missed += math.sqrt(max(square, 0.0) + error) * (1 + 4 * UNIT)
            mid += math.sqrt(max(square, 0.0))
            e += own
            pulled += with_marks.mid
            rad += with_marks.rad + gamma(groups + 2) * np.abs(with_marks.mid)
            sizes += float(np.sum(np.abs(own)))
            count += 1
        missed = missed * (1 + gamma(count + 2)) + gamma(count + 2) * sizes * self.largest  # e is a rounded sum
        return _Image(e, Enclosed(pulled, rad), missed, mid)

    def _square(self, rows: np.ndarray, part: np.ndarray) -> Enclosed:
        """Enclose the squared norm of the function with coefficients ``part`` at ``rows``."""
        mid = rad = 0.0
        step, bound, size = max(1, PIECE // len(rows)), gamma(len(rows) + 4), np.abs(part)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            K = training_values(self.kernel, self.A, rows[some], rows)  # type: ignore[arg-type]
            mid += float(part[some] @ (K.mid @ part))
            rad += float(size[some] @ ((K.rad + 3 * bound * np.abs(K.mid)) @ size)) * (1 + 2 * bound)
        return Enclosed(np.asarray(mid), np.asarray(rad))

    def _pulled(self, rows: np.ndarray, part: np.ndarray) -> Enclosed:
        """Enclose the inner products of that function with the landmarks."""
        mid, rad = np.zeros(len(self.landmarks)), np.zeros(len(self.landmarks))
        step, bound, size = max(1, PIECE // len(self.landmarks)), gamma(len(rows) + 4), np.abs(part)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            K = training_values(self.kernel, self.A, rows[some], self.landmarks)  # type: ignore[arg-type]
            mid += K.mid.T @ part[some]
            rad += (K.rad + bound * np.abs(K.mid)).T @ size[some] * (1 + 2 * bound)
        return Enclosed(mid, rad)
