r"""Checks of support vector machines: the gap at their dual coefficients, with enclosed kernel values.

The dual coefficients :math:`\beta` are the dual point, so the penalty's term is zero up to rounding, and the gap is the
sum of the Fenchel-Young terms of the rows. For a hard margin, the primal point is the function divided by its smallest
margin, and the dual point is the best multiple of :math:`\beta` (theory: ``svm-gap``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma, upper_sum
from surefit.checks.gap import Piecewise, Point, prove_kernel
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.model import class_codes, require_codes, require_no_intercept, require_rows, spread_out
from surefit.checks.kernels.operator import Gram, kernel_on
from surefit.checks.kernels.values import about_kernel, assumptions_of, require_definite
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

ROUNDED = 1e-9  # largest relative change of the coefficients that counts as rounding


class Machine(NamedTuple):
    """One dual problem on its rows."""

    rows: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    epsilon: float
    beta: np.ndarray
    b: float
    b_free: bool

    @property
    def hard(self) -> bool:
        """Whether the margin is hard (no slack)."""
        return bool(np.isinf(self.high).any())

    @property
    def loss(self) -> Piecewise:
        """Hinge loss for labels, or epsilon-insensitive loss."""
        tube = bool(np.any((self.low < 0) & (self.high > 0)))
        return Piecewise(math.inf, self.epsilon, -1.0, 1.0 if tube else 0.0, not tube, 0.0 if tube else 1.0)

    @property
    def c(self) -> np.ndarray:
        """Weights of the losses."""
        return np.maximum(self.high, -self.low)


class Found(NamedTuple):
    """Proved bounds for one dual problem."""

    gap: float
    spread: float
    gap_mid: float
    objective: float
    objective_spread: float
    scores: Enclosed  # of the rows of the problem, without the intercept
    distance: Bound  # from the optimal function


class Scored:
    """The Gram matrix for the gap theorem: products with the coefficients are given, others are bounded."""

    def __init__(
        self, beta: np.ndarray, scores: Enclosed, largest: float, times: Callable[..., Any] | None = None
    ) -> None:
        self.beta, self.scores, self.largest, self._times = beta, scores, largest, times

    def times(self, v: np.ndarray) -> Enclosed:
        """Enclose the values of the function with coefficients ``v``."""
        if v is self.beta:
            return self.scores
        size = upper_sum(np.abs(v))
        if self._times is not None and size > ROUNDED * upper_sum(np.abs(self.beta)):
            return self._times(v)
        return Enclosed(np.zeros(len(v)), np.full(len(v), size * self.largest * (1 + 4 * UNIT)))

    def diagonal(self) -> np.ndarray:
        """Return upper bounds on the kernel values of each row with itself."""
        return np.full(len(self.beta), self.largest)


WITHIN = "The objective is within {value:.3g} of the smallest possible one."
NEAR = "The function is within {value:.3g} of the optimal one, in the norm of the kernel's space."
VIOLATED = "The optimality conditions are violated by {value:.3g}; the kernel is indefinite, so no optimum is claimed."
bounded = partial(claim, side="upper", theory="svm-gap", infinite=True)
bound = partial(bounded, kind="optimality", assumptions=assumptions_of)


@bound("svc.gap", says=WITHIN)
@bound("svr.gap", says=WITHIN)
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the sum of P - min P over the problems is at most ``value``."""
    require_definite(kernel_on(certificate, data))
    return gap_of(certificate, data, examine(certificate, data))


@bounded("svc.stationarity", kind="stationarity", says=VIOLATED)
@bounded("svr.stationarity", kind="stationarity", says=VIOLATED)
def stationarity(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the optimality conditions are violated by at most ``value`` in total, for an indefinite kernel."""
    return gap_of(certificate, data, examine(certificate, data))._replace(numbers={})


def gap_of(certificate: Certificate, data: Data, found: list[Found]) -> Proof:
    """Return the proof of the sum of the gaps; ``tol`` is relative to the objective."""
    tol = certificate.problem["tol"]
    total, objective = Bound(0.0, 0.0), Bound(0.0, 0.0)
    for f in found:
        total, objective = total.plus(Bound(f.gap, f.spread)), objective.plus(Bound(f.objective, f.objective_spread))
    met = math.isfinite(objective.value)  # false if a hard margin has no feasible point
    limit = tol * objective.value if met else 0.0
    rounding = tol * objective.spread + 4 * UNIT * limit if met else 0.0
    note = f"P - min P <= {total.value:.3g} proved by the dual coefficients."
    return about_kernel(certificate, total, note, kernel_on(certificate, data), limit=limit, limit_spread=rounding)


@bound("svc.distance", says=NEAR)
@bound("svr.distance", says=NEAR)
def distance(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that each function is within ``value`` of the optimal one in the RKHS norm, by strong convexity."""
    return distance_of(certificate, data, examine(certificate, data))


def distance_of(certificate: Certificate, data: Data, found: list[Found]) -> Proof:
    """Return the proof of the largest distance from the optimal functions."""
    widest = max((f.distance for f in found), key=lambda d: d.value + 2 * d.spread)
    return about_kernel(certificate, widest, "from the gap and strong convexity.", kernel_on(certificate, data))


@shared
def examine(certificate: Certificate, data: Data) -> list[Found]:
    """Return the proved bounds for every dual problem; the problems share the kernel values."""
    require_rows(certificate, data, "support_vectors_", certificate.model["support_"])
    require_codes(certificate, data)
    gram, scores = Gram.of(certificate, data), scores_of(certificate, data)
    largest = float(np.max(gram.diagonal(), initial=0.0))
    return [
        prove_machine(m, Enclosed(scores.mid[m.rows, p], scores.rad[m.rows, p]), largest, on_rows(gram, m.rows))
        for p, m in enumerate(machines_of(certificate, data))
    ]


def on_rows(gram: Gram, rows: np.ndarray) -> Callable[[np.ndarray], Enclosed]:
    """Return a function that multiplies by the Gram matrix of some rows."""

    def times(v: np.ndarray) -> Enclosed:
        full = np.zeros(gram.n)
        full[rows] = v
        return gram.times(full, rows)

    return times


def prove_machine(m: Machine, scores: Enclosed, largest: float, times: Callable[..., Any] | None = None) -> Found:
    """Bound P - min P of one problem; ``times`` is needed for coefficients outside their box."""
    if m.hard:
        return _prove_hard(m, scores, largest)
    point = Point(m.y, m.c, m.beta, m.b, m.b_free)
    found = prove_kernel(Scored(m.beta, scores, largest, times), m.loss, 1.0, point)
    away = Bound(2 * found.value * (1 + 2 * UNIT), 2 * found.spread).root()
    return Found(found.value, found.spread, found.plain, found.objective, found.objective_spread, scores, away)


def _prove_hard(m: Machine, scores: Enclosed, largest: float) -> Found:
    """Bound the gap of a hard margin: the function divided by its smallest margin, and the best multiple of beta."""
    total = math.fsum(m.beta) if m.b_free else 0.0
    margins = m.y * (scores.mid + m.b)
    rad = scores.rad + 4 * UNIT * (np.abs(scores.mid) + abs(m.b))
    least, plain = float(np.min(margins - rad)), float(np.min(margins))
    terms = m.beta * scores.mid
    square = max(math.fsum(terms), 0.0)
    square_rad = upper_sum(np.abs(m.beta) * scores.rad) + gamma(8) * upper_sum(np.abs(terms))
    sum_of_alphas = math.fsum(np.abs(m.beta))
    if least <= 0.0 or square <= 0.0 or np.any(m.beta < m.low) or np.any(m.beta > m.high):
        return Found(math.inf, 0.0, math.inf, math.inf, 0.0, scores, Bound(math.inf, 0.0))
    top = square + square_rad
    norm = math.sqrt(top) + abs(total) * math.sqrt(largest)
    dual = (sum_of_alphas - abs(total)) ** 2 / (2 * norm**2) * (1 - 16 * UNIT)
    primal = top / (2 * min(least, 1.0) ** 2) * (1 + 16 * UNIT)
    plain_primal = square / (2 * min(plain, 1.0) ** 2)
    mid = max(plain_primal - sum_of_alphas**2 / (2 * square), 0.0)
    value = max(primal - dual, mid) * (1 + 4 * UNIT)
    spread = value - mid + 16 * UNIT * primal
    shrunk = (1 / min(least, 1.0) - 1) * math.sqrt(top) * (1 + 8 * UNIT)  # distance to the feasible function
    away = Bound(2 * value, 2 * spread).root()
    away = Bound(away.value + shrunk, away.spread + shrunk)
    return Found(value, spread, mid, primal, primal - plain_primal + 16 * UNIT * primal, scores, away)


@shared
def scores_of(certificate: Certificate, data: Data) -> Enclosed:
    """Enclose the functions of all problems on all rows, without intercepts; one column per problem."""
    return Gram.of(certificate, data).times(lines_of(certificate, data).T)


@shared
def lines_of(certificate: Certificate, data: Data) -> np.ndarray:
    """Return one line of coefficients per problem; one-vs-one problems share lines as in LIBSVM."""
    support, n = certificate.model["support_"], data.X.shape[0]
    dual, classes = spread_out(certificate.model["dual_coef_"], support, n), certificate.problem.get("classes")
    if classes is None or len(classes) == 2 or certificate.problem["strategy"] == "ovr":
        return dual
    codes, pairs = class_codes(certificate, data), combinations(range(len(classes)), 2)
    return np.array([np.where(codes == i, dual[j - 1], np.where(codes == j, dual[i], 0.0)) for i, j in pairs])


def machines_of(certificate: Certificate, data: Data) -> list[Machine]:
    """Return the dual problems of the certificate."""
    problem, s = certificate.problem, weights_of(data)
    betas, b = lines_of(certificate, data), np.atleast_1d(certificate.model["intercept_"])
    free = problem["fit_intercept"]
    require_no_intercept(certificate)
    if problem.get("classes") is None:
        rows = counted(s > 0, betas[0])
        c = problem["C"] * s[rows]
        y = np.asarray(data.target, dtype=np.float64)[rows]
        found = "nu" in problem and "epsilon_" in certificate.model  # models of other libraries do not store it
        epsilon = float(certificate.model["epsilon_"]) if found else problem["epsilon"]
        return [Machine(rows, y, -c, c, epsilon, betas[0, rows], float(b[0]), free)]
    codes, K = class_codes(certificate, data), len(problem["classes"])
    if K == 2:
        pairs = [(1, 0)]
    elif problem["strategy"] == "ovo":
        pairs = list(combinations(range(K), 2))
    else:
        pairs = [(i, -1) for i in range(K)]
    weights = np.asarray(problem["class_weights"])[codes] * s
    found = "nu" in problem and "C_" in certificate.model
    machines, C = [], certificate.model["C_"] if found else np.full(len(pairs), problem["C"])
    for p, (i, j) in enumerate(pairs):
        rows = counted((weights > 0) & ((codes == i) | (codes == j) | (j < 0)), betas[p])
        t, c = np.where(codes[rows] == i, 1.0, -1.0), float(C[p]) * weights[rows]
        low, high = np.where(t > 0, 0.0, -c), np.where(t > 0, c, 0.0)
        machines.append(Machine(rows, t, low, high, 0.0, betas[p, rows], float(b[p]), free))
    return machines


def counted(takes_part: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the rows of a problem; all other rows must have a zero coefficient."""
    if np.any(beta[~takes_part] != 0.0):
        raise CertificateError("Rows that do not belong to a problem must have no dual coefficient.")
    return np.flatnonzero(takes_part)
