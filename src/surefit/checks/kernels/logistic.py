"""Checks of kernel logistic regression: the gap for two classes and for the softmax, with enclosed kernel values."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Bound, Enclosed, upper_sum
from surefit.checks.gap import Dual, Gap, Logistic, Point, prove_kernel
from surefit.checks.gap.rows import slopes
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.machines import NEAR, ROUNDED, WITHIN, Scored, on_rows
from surefit.checks.kernels.model import class_codes, require_no_intercept, require_rows, spread_out
from surefit.checks.kernels.operator import Gram, kernel_on, norm_square
from surefit.checks.kernels.softmax import divergence, indicators, log_probabilities, simplex_moves, with_column_sums
from surefit.checks.kernels.values import about_kernel, assumptions_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

TOGETHER = "The functions together are within {value:.3g} of the optimal ones, in the norm of the kernel's space."
bound = partial(claim, kind="optimality", side="upper", infinite=True, assumptions=assumptions_of)


@bound("kernel_logistic.gap", theory="kernel-logistic-gap", says=WITHIN)
@bound("kernel_softmax.gap", theory="kernel-softmax-gap", says=WITHIN)
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the sum of P - min P over the problems is at most ``value``."""
    total, objective, tol = Bound(0.0, 0.0), Bound(0.0, 0.0), certificate.problem["tol"]
    for own, P in examine(certificate, data):
        total, objective = total.plus(own), objective.plus(P)
    rounding = tol * (objective.spread + 4 * UNIT * objective.value)
    note = f"P - min P <= {total.value:.3g} by a dual point."
    kernel = kernel_on(certificate, data)
    return about_kernel(certificate, total, note, kernel, limit=tol * objective.value, limit_spread=rounding)


@bound("kernel_logistic.distance", theory="kernel-logistic-gap", says=NEAR)
@bound("kernel_softmax.distance", theory="kernel-softmax-gap", says=TOGETHER)
def distance(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that each function is within ``value`` of the optimal one in the RKHS norm, by strong convexity."""
    widest = max((own for own, _ in examine(certificate, data)), key=lambda g: g.value + 2 * g.spread)
    away = widest.over(0.5).root() if math.isfinite(widest.value) else widest
    return about_kernel(certificate, away, "from the gap and strong convexity.", kernel_on(certificate, data))


@shared
def examine(certificate: Certificate, data: Data) -> list[tuple[Bound, Bound]]:
    """Bound P - min P and P of every problem (one, or one-vs-rest)."""
    problem, gram = certificate.problem, Gram.of(certificate, data)
    require_rows(certificate, data, "X_fit_")
    codes = class_codes(certificate, data)
    c = problem["C"] * (np.asarray(problem["class_weights"])[codes] * weights_of(data))
    beta = spread_out(certificate.model["dual_coef_"], np.arange(gram.n), gram.n).T
    b, scores, free = intercepts(certificate, beta.shape[1]), gram.times(beta), problem["fit_intercept"]
    if problem["loss"] == "softmax":
        return [_softmax(_Softmax(gram, beta, scores, b, codes, c, free))]
    return [
        two_classes(
            gram,
            Point(t, c, np.ascontiguousarray(beta[:, k]), float(b[k]), free),
            Enclosed(scores.mid[:, k], scores.rad[:, k]),
        )
        for k, t in enumerate(signs(codes, beta.shape[1]))
    ]


def signs(codes: np.ndarray, problems: int) -> list[np.ndarray]:
    """Return the labels of each problem: of the second class, or of each class against the rest."""
    return [np.where(codes == k, 1.0, -1.0) for k in ([1] if problems == 1 else range(problems))]


def intercepts(certificate: Certificate, count: int) -> np.ndarray:
    """Return one intercept per function; zero if none was fitted."""
    b = np.atleast_1d(np.asarray(certificate.model["intercept_"], dtype=np.float64))
    classes = certificate.problem["classes"]
    if b.shape != (count,) or count not in (1, len(classes)) or not np.all(np.isfinite(b)):
        raise CertificateError(f"{certificate.estimator}: dual_coef_ and intercept_ must have one line per function.")
    require_no_intercept(certificate)
    return b


def two_classes(gram: Gram, point: Point, scores: Enclosed) -> tuple[Bound, Bound]:
    """Bound one problem with its own coefficients, or the probabilities at its scores, as dual point."""
    largest = float(np.max(gram.diagonal(), initial=0.0))
    operator = Scored(point.w, scores, largest, on_rows(gram, np.arange(gram.n)))
    found = prove_kernel(operator, Logistic(), 1.0, point)
    if not found.value <= 1e-6 * found.objective:  # far from the optimum, the probabilities give a smaller bound
        witness = slopes(Logistic(), point.y, scores.mid + point.b, 0.0)[0]
        other = prove_kernel(operator, Logistic(), 1.0, point, Dual(witness))
        found = min(found, _with_moving_dual(other, point, scores, largest), key=lambda g: g.value)
    return Bound(found.value, found.spread), Bound(found.objective, found.objective_spread)


def _with_moving_dual(found: Gap, point: Point, scores: Enclosed, largest: float) -> Gap:
    """Add the effect of other probabilities in another evaluation: half the rounding of the scores per row."""
    moved = upper_sum(point.c * np.minimum(0.5 * scores.rad, 1.0)) * math.sqrt(largest)
    norm = math.sqrt(2 * found.value)
    return found._replace(spread=found.spread + 2 * moved * (norm + moved))


class _Softmax(NamedTuple):
    """The softmax problem of all classes."""

    gram: Gram
    beta: np.ndarray
    scores: Enclosed
    b: np.ndarray
    codes: np.ndarray
    c: np.ndarray
    free: bool


def _softmax(p: _Softmax) -> tuple[Bound, Bound]:
    """Bound the objective, and the gap with the coefficients or the probabilities as dual point."""
    Y, (log_p, off) = indicators(p.codes, p.beta.shape[1]), log_probabilities(p.scores, p.b)
    size = norm_square(p.gram.form(p.beta, p.scores)).over(2.0)
    total = upper_sum(p.c * np.maximum(-log_p[np.arange(len(Y)), p.codes], 0.0)) * (1 + 8 * UNIT)
    rounding = upper_sum(p.c * off[:, 0]) + 64 * UNIT * total
    objective = Bound(total + rounding, rounding).plus(size)
    shares = np.divide(p.beta, p.c[:, None], out=np.zeros_like(p.beta), where=p.c[:, None] > 0)
    own = np.maximum(Y - shares, 0.0)
    sums = own.sum(axis=1, keepdims=True)
    P = np.exp(log_p)
    found = _at_dual(p, Y, np.where(sums > 0, own / np.where(sums > 0, sums, 1.0), P), log_p, off, 0.0)
    if not found.value <= 1e-6 * objective.value:  # far from the optimum, the probabilities give a smaller bound
        found = min(found, _at_dual(p, Y, P, log_p, off, 1.0))
    return (found if found.value < objective.value else objective), objective


def _at_dual(p: _Softmax, Y: np.ndarray, Q: np.ndarray, log_p: Any, off: Any, moves: float) -> Bound:
    """Bound the gap at rows of the simplex; another evaluation may move them by ``moves`` times the score rounding."""
    gram, c = p.gram, p.c
    Q = with_column_sums(Q, Y, c) if p.free else Q
    moved = simplex_moves(Q, Y, c, p.free)
    if moved is None:
        return Bound(math.inf, 0.0)
    theta = c[:, None] * (Y - Q)
    v, lengths = p.beta - theta, gram.lengths()
    v_rad = c[:, None] * (moved + 4 * UNIT * (Y + Q)) + 2 * UNIT * (np.abs(p.beta) + np.abs(theta))
    near = np.sum(np.abs(v) * lengths[:, None], axis=0) <= ROUNDED * np.sum(np.abs(p.beta) * lengths[:, None], axis=0)
    form = gram.form(v, gram.times(v)) if not np.all(near) else None
    found = Bound(0.0, 0.0)
    for k in range(Q.shape[1]):
        slip = upper_sum(v_rad[:, k] * lengths)
        if form is None:  # rounding only: the triangle inequality is sufficient
            reach = 0.5 * (upper_sum(np.abs(v[:, k]) * lengths) + slip) ** 2 * (1 + 16 * UNIT)
            own = Bound(reach, reach)
        else:
            own = norm_square(Enclosed(form.mid[k], form.rad[k]), slip).over(2.0)
        drift = moves * upper_sum(c * Q[:, k] * np.minimum(2 * off[:, k], 1.0) * lengths)
        found = found.plus(own._replace(spread=own.spread + drift * (math.sqrt(2 * own.value) + drift)))
    found = found.plus(divergence(c, Q, moved, log_p, off))
    return found if math.isfinite(found.value + found.spread) else Bound(math.inf, 0.0)
