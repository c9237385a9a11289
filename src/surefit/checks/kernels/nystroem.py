r"""Checks of Nyström fits: distances from the optimum of the exact kernel problem, with enclosed rounding errors.

The function lies in the kernel's space, so P is the objective of the exact problem. For the dual point :math:`\theta`
in the certificate, any multiple :math:`\tau` of it, and :math:`g = \tfrac1\lambda \sum_i \theta_i k(x_i, \cdot)`,

.. math:: P - \min P \le \sum_i c_i \bigl[\phi(z_i) + \phi^*(-\tau q_i) + \tau q_i z_i\bigr] + \tfrac\lambda2 \|f - \tau g\|^2 .

If only functions that differ from f by an element of the span are compared, the last term is half the squared gradient
in orthonormal directions of the span (theory: ``kernel-subset-machines``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Bound, Enclosed, upper_sum
from surefit.checks.gap import rows as loss_rows
from surefit.checks.gap.dual_points import balanced
from surefit.checks.gap.losses import LOSSES
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.landmarks import Landmarks, count_groups
from surefit.checks.kernels.logistic import intercepts, signs
from surefit.checks.kernels.model import class_codes, require_no_intercept, require_rows, spread_out
from surefit.checks.kernels.nystroem_partitioned import examine_aligned
from surefit.checks.kernels.operator import Gram
from surefit.checks.kernels.softmax import divergence, indicators, log_probabilities, simplex_moves, with_column_sums
from surefit.checks.kernels.subset_gap import Found, Problem
from surefit.checks.kernels.values import about_kernel, assumptions_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data

SQUARES_GOAL = 1e-8  # expected gap in the span for normal equations, relative to the objective
GRID = 1024  # number of grid points for multiples of the dual point
LARGEST = 1e300  # value that stands for an infinite gap in the search for a multiple
bound = partial(
    claim, kind="optimality", side="upper", theory="kernel-subset-machines", infinite=True, assumptions=assumptions_of,
    partitioned=True,
)  # fmt: skip


@bound(
    "nystroem.exact_gap",
    says="The objective is within {value:.3g} of the smallest one over the whole space of the kernel.",
)
def exact_gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that P - min P over the whole kernel space, summed over the problems, is at most ``value``."""
    total, objective = _sums(certificate, data, "exact")
    note = (
        f"P <= {objective.value:.6g}, min P is smaller by at most {total.value:.3g} (dual point of the exact problem)."
    )
    return about_kernel(certificate, total, note)


@bound("nystroem.distance",
       says="The functions are within {value:.3g} of the optimal ones in the norm of the kernel's space, so at "
       "any x within {value:.3g} sqrt(k(x, x)), without their intercepts.")  # fmt: skip
def distance(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that each function is within ``value`` of the optimal one in the RKHS norm, by strong convexity."""
    widest = max((f.exact for f in examine(certificate, data)), key=lambda g: g.value + 2 * g.spread)
    away = widest.over(certificate.problem.get("alpha", 0.5)).root()
    return about_kernel(certificate, away, "from the gap and strong convexity.")


@bound("nystroem.gap", about="functions that differ by one of the span of the landmarks",
       says="No function that differs from it by a combination of {rank} directions in the span of {landmarks} rows has an objective that "
       "is smaller by more than {value:.3g}.")  # fmt: skip
def subset_gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that P - min P over the span of the landmarks, summed over the problems, is at most ``value``."""
    total, objective = _sums(certificate, data, "subset")
    tol = certificate.problem.get("tol", SQUARES_GOAL)
    counts = {"rank": _rank(certificate), "landmarks": int(np.size(certificate.model["landmarks_"]))}
    rounding = tol * objective.spread + 4 * UNIT * tol * objective.value
    note = "gradient in the span recomputed."
    return about_kernel(certificate, total, note, numbers=counts, limit=tol * objective.value, limit_spread=rounding)


def _sums(certificate: Certificate, data: Data, name: str) -> tuple[Bound, Bound]:
    total, objective = Bound(0.0, 0.0), Bound(0.0, 0.0)
    for found in examine(certificate, data):
        total, objective = total.plus(getattr(found, name)), objective.plus(found.objective)
    return total, objective


def _rank(certificate: Certificate) -> int:
    return int(certificate.claims[0].witness["rank"])


@shared
def examine(certificate: Certificate, data: Data) -> list[Found]:
    """Bound P - min P of every problem (one, or one-vs-rest)."""
    model, n = certificate.model, data.X.shape[0]
    if "width" in certificate.claims[0].witness:
        return examine_aligned(certificate, data)
    if isinstance(data.X, PartitionedRows):
        raise ValueError("the witness has one number per row and is read with the rows in memory only")
    require_rows(certificate, data, "X_fit_", model["landmarks_"])
    lines = np.atleast_2d(np.asarray(model["dual_coef_"], dtype=np.float64))
    scores = Gram.of(certificate, data).times(spread_out(lines, model["landmarks_"], n).T)
    span = Landmarks.of(Gram.of(certificate, data), np.asarray(model["landmarks_"]), _rank(certificate))
    dual = np.asarray(certificate.claims[0].witness["dual"], dtype=np.float64)
    if dual.shape != (n, len(lines)) or not np.all(np.isfinite(dual)):
        raise CertificateError("The dual point must have one finite number per row and function.")
    return [_bounded(one) for one in _problems(certificate, data, span, lines, scores, dual)]


def _problems(
    certificate: Certificate, data: Data, span: Any, lines: Any, scores: Enclosed, dual: Any
) -> list[Problem]:
    problem, s = certificate.problem, weights_of(data)
    free = problem["fit_intercept"]
    if "alpha" in problem:
        y, b = np.asarray(data.target, dtype=np.float64), float(np.ravel(certificate.model["intercept_"])[0])
        require_no_intercept(certificate)
        return [_scalar(span, lines, _column(scores, 0), ("squared_error", y, s, b, free), dual[:, 0], problem)]
    codes, offsets = class_codes(certificate, data), np.asarray(intercepts(certificate, len(lines)))
    c = problem["C"] * (np.asarray(problem["class_weights"])[codes] * s)
    if problem["loss"] == "softmax":
        return [_joint(span, lines, scores, (codes, c, offsets, free), dual, problem)]
    found = []
    for k, t in enumerate(signs(codes, len(lines))):
        terms = (problem["loss"], t, c, float(offsets[k]), free)
        found.append(_scalar(span, lines[k : k + 1], _column(scores, k), terms, dual[:, k], problem))
    return found


def _column(scores: Enclosed, k: int) -> Enclosed:
    return Enclosed(scores.mid[:, k], scores.rad[:, k])


def _scalar(
    span: Landmarks, lines: Any, f: Enclosed, terms: tuple[Any, ...], q: np.ndarray, problem: dict[str, Any]
) -> Problem:
    """Return the problem of a loss of one score, with the row terms of the gap theorem."""
    name, y, c, b, free = terms
    loss, strength = LOSSES[name](problem), float(problem.get("alpha", 1.0))
    z = Enclosed(f.mid + b, f.rad + 4 * UNIT * (np.abs(f.mid) + abs(b)))
    g = loss_rows.clipped(loss, y, -q)
    theta, rad = balanced(np.where(c > 0, -c * g, 0.0), free)
    share, share_rad = (np.divide(part, c, out=np.zeros(len(c)), where=c > 0) for part in (-theta, rad))

    def at(scale: float) -> Bound:
        off = scale * share_rad + 4 * UNIT * np.abs(share)
        plain, upper, other = loss_rows.row_terms(loss, y, c, z.mid, z.rad, scale * share, off, 2 * z.rad, off)
        value = upper_sum(upper) * (1 + 8 * UNIT)
        return Bound(value, upper_sum(other) * (1 + 8 * UNIT) - math.fsum(plain))

    slip = upper_sum(rad * span.gram.lengths()) / strength * (1 + 8 * UNIT)
    groups = count_groups(int(np.count_nonzero(theta)), problem["dual"])
    images = [span.image(theta / strength, groups)]
    return Problem(span, lines, images, slip, strength, at, 2.0 if "alpha" in problem else 1.0)


def _joint(
    span: Landmarks, lines: Any, F: Enclosed, terms: tuple[Any, ...], dual: np.ndarray, problem: dict[str, Any]
) -> Problem:
    """Return the problem of the softmax, with divergences between rows of the simplex."""
    codes, c, b, free = terms
    Y, (log_p, off) = indicators(codes, len(lines)), log_probabilities(F, b)
    Q = np.maximum(dual, 0.0)
    sums = Q.sum(axis=1, keepdims=True)
    Q = np.where(sums > 0, Q / np.where(sums > 0, sums, 1.0), Y)
    Q = with_column_sums(Q, Y, c) if free else Q
    moved = simplex_moves(Q, Y, c, free)
    if moved is None:
        raise CertificateError("The dual point has no probability for some class.")

    def at(scale: float) -> Bound:
        return divergence(c, Y + scale * (Q - Y), moved + 8 * UNIT, log_p, off)

    slips = c[:, None] * (moved + 8 * UNIT * (Y + Q))
    slip = upper_sum((slips * span.gram.lengths()[:, None]).ravel()) * (1 + 8 * UNIT)
    groups = count_groups(int(np.count_nonzero(c)), problem["dual"])
    images = [span.image(theta, groups) for theta in (c[:, None] * (Y - Q)).T]
    return Problem(span, lines, images, slip, 1.0, at, 1.0)


def _bounded(p: Problem) -> Found:
    # The gap is convex in the multiple: the best one lies between two points of the grid.
    options = {"maxiter": 30}

    def value(scale: float) -> float:
        return min(p.gap(scale).value, LARGEST)  # SciPy subtracts values, which must not be infinite

    best = minimize_scalar(value, bounds=(0.0, 1.0), method="bounded", options=options)
    low = min(math.floor(best.x * GRID), GRID - 1)
    return p.found(min((p.gap(scale / GRID) for scale in (low, low + 1, GRID)), key=lambda bound: bound.value))
