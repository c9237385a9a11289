r"""Checks the duality gap of penalised least squares (lasso, elastic net), with all rounding accounted for.

Problem, with :math:`S = \sum_i s_i` and per-feature factors :math:`f_j`:

.. math:: P(w, b) = \frac{1}{2S} \sum_i s_i r_i^2 + \sum_j f_j (\alpha |w_j| + \tfrac{\beta}{2} w_j^2), \quad r = y - Xw - b.

Any :math:`\theta` (with :math:`\sum \theta_i = 0` when :math:`b` is free) proves a lower bound of :math:`\min P`. With
:math:`v = X^\top\theta / S` the gap splits into Fenchel-Young differences that are never negative,

.. math::

    P - D = \frac{1}{2S} \sum_i s_i (r_i - \theta_i / s_i)^2
          + \sum_j \left[ \Omega_j(w_j) + \Omega_j^*(v_j) - w_j v_j \right],

so nothing cancels. The dual point is the scaled residual; its equality constraint is repaired exactly by moving the
remainder onto one row, and feasibility is reached by shrinking (theory: ``fenchel-gap``).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks import enclosure
from surefit.checks.base import Data, Finding, checker
from surefit.checks.centring import moved_intercept
from surefit.checks.enclosure import UNIT, block_sum, upper_sum
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

#: A claim was computed in plain floats by the solver; being off by this share of the objective is not a lie.
ROUNDING_OF_CLAIMS = 1e-12


class Proof(NamedTuple):
    """What the data prove about a coefficient vector."""

    gap: float  # P(w, b) - min P is at most this
    gap_mid: float  # the same without rounding margins
    objective: float  # P(w, b), for scale
    level: str
    correlations: np.ndarray  # upper bounds of |x_j' theta| (signed for positive=True)
    least_correlations: np.ndarray  # lower bounds of the same
    total: float  # S
    weights: np.ndarray
    shift: np.ndarray | None


@checker("penalised_squares.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P(w, b) - min P <= value."""
    proof = _proof(certificate, data)
    ok = proof.gap_mid - claim.value <= proof.gap - proof.gap_mid + ROUNDING_OF_CLAIMS * proof.objective
    message = f"P - min P <= {proof.gap:.3g} proved by a dual point."
    return Finding(claim.name, claim.value, proof.gap if ok else proof.gap_mid, ok, proof.level, message)


@checker("penalised_squares.feasible")
def check_feasible(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The constraints (sign, radius) are met by the coefficients as stored."""
    problem, w = certificate.problem, certificate.model["coef_"]
    worst = 0.0
    if problem["positive"]:
        worst = max(worst, float(np.max(-w, initial=0.0)))
    if problem["radius"] is not None:
        worst = max(worst, _complexity(problem, certificate, w) - problem["radius"])
    return Finding(claim.name, claim.value, worst, worst <= claim.value, "recomputed", "constraints re-evaluated.")


@checker("penalised_squares.inactive")
def check_inactive(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every feature marked inactive is zero in all solutions (theory: ``gap-safe``)."""
    proof = _proof(certificate, data)
    marked = certificate.model["inactive_"]
    factors = _factors(certificate, len(marked))
    norms = enclosure.column_norms(data.X, proof.weights, proof.shift)
    reach = math.sqrt(2 * proof.total * proof.gap) * (1 + 4 * UNIT)
    slope = _least_slope(certificate.problem, proof, factors, norms * reach)
    with np.errstate(invalid="ignore"):  # an excluded feature has an infinite factor
        margin = proof.total * slope * factors - proof.correlations - norms * reach
    constant = norms <= 64 * UNIT * np.sqrt(proof.total) * np.abs(proof.shift if proof.shift is not None else 0.0)
    failing = marked & ~(margin > 0) & ~constant & ~np.isinf(factors)
    unproved = int(np.sum(~marked))
    ok = not failing.any() and unproved <= claim.value and not np.any(certificate.model["coef_"][marked])
    message = f"{len(marked) - unproved} features are zero in every solution."
    if failing.any():
        message = f"feature {int(np.flatnonzero(failing)[0])} was not proved zero."
    return Finding(claim.name, claim.value, float(unproved + failing.sum()), ok, proof.level, message)


def _least_slope(problem, proof: Proof, factors: np.ndarray, reaches: np.ndarray) -> float:
    """Slope of the penalty at zero; with a radius, a lower bound of its slope at the unknown optimal multiplier.

    There the multiplier is at least every correlation with the optimal residual, divided by what the penalty can answer:
    a coefficient is at most radius / (l1_ratio f), so the slope at it is bounded.
    """
    if problem["radius"] is None:
        return problem["alpha"]
    ratio, penalised = problem["l1_ratio"], (factors > 0) & np.isfinite(factors)
    if ratio == 0:
        return 0.0
    f = factors[penalised]
    answers = proof.total * (ratio * f + (1 - ratio) * problem["radius"] / ratio)
    least = (proof.least_correlations - reaches)[penalised] / answers
    return ratio * max(float(np.max(least, initial=0.0)) * (1 - 16 * UNIT), 0.0)


@checker("penalised_squares.stability")
def check_stability(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No training prediction is farther than value from that of the exact optimum (theory: ``prediction-stability``)."""
    proof = _proof(certificate, data)
    lightest = float(np.min(proof.weights[proof.weights > 0]))
    scale = 2 * proof.total / lightest
    mid, bound = math.sqrt(scale * proof.gap_mid), math.sqrt(scale * proof.gap) * (1 + 8 * UNIT)
    tolerance = proof.gap - proof.gap_mid + ROUNDING_OF_CLAIMS * proof.objective
    ok = proof.gap_mid - claim.value**2 / scale <= tolerance
    return Finding(claim.name, claim.value, bound if ok else mid, ok, proof.level, "from the gap and strong convexity.")


def _proof(certificate: Certificate, data: Data) -> Proof:
    if "penalised_squares" not in data.memo:
        data.memo["penalised_squares"] = prove(certificate, data)
    return data.memo["penalised_squares"]


def prove(certificate: Certificate, data: Data) -> Proof:
    """Bound ``P(w, b) - min P`` for the certified coefficients by the best scaled-residual dual point."""
    problem, X, y = certificate.problem, data.X, data.target
    n, d = X.shape
    w, b = certificate.model["coef_"], float(certificate.model["intercept_"])
    s = np.ones(n) if data.weights is None else data.weights
    total = float(n) if data.weights is None else block_sum(s)
    factors = _factors(certificate, d)
    free = problem["fit_intercept"]

    shift = _column_means(X, s, total) if free and not sparse.issparse(X) else None
    if shift is not None:  # columns and target far from the origin would cost digits of the residual
        level_of_y = block_sum(s * y) / total
        y, b = y - level_of_y, moved_intercept(b, np.append(shift, -1.0), np.append(w, level_of_y))
    fitted = enclosure.times(X, w, shift)
    r = (y - fitted.mid) - b
    r_rad = fitted.rad + enclosure.gamma(5) * (np.abs(y) + np.abs(fitted.mid) + abs(b))
    best_shift = block_sum(s * r) / total if free else 0.0  # re-optimise the intercept before building the dual point
    theta = np.where(s > 0, s * (r - best_shift), 0.0)
    theta, level = _orthogonal_to_unpenalised(X, theta, s, factors, free, problem["positive"], w)
    remainder = math.fsum(theta) if free else 0.0  # moved, exactly, onto the heaviest row
    heaviest = int(np.argmax(s))

    v = enclosure.transposed_times(X, theta, shift)
    row = X[[heaviest]]
    row = row.toarray().ravel() if sparse.issparse(row) else np.asarray(row, dtype=np.float64).ravel()
    row = row if shift is None else row - shift
    v_rad = v.rad + np.abs(row) * abs(remainder) * (1 + 8 * UNIT)

    slack = np.zeros(n)
    slack[heaviest] = abs(remainder) * (1 + 4 * UNIT) / s[heaviest]
    shares = np.divide(theta, s, out=np.zeros(n), where=s > 0)
    size = factors_times(factors, problem["alpha"] * np.abs(w) + problem["beta"] * w**2) + np.abs(w * v.mid) / total

    def at(c: float) -> float:
        """Return the gap with the dual point ``c theta``, in plain floats."""
        loss = block_sum(s * (r - c * shares) ** 2) / (2 * total)
        return loss + block_sum(_differences(problem, factors, w, c * v.mid / total))

    def at_most(c: float) -> float:
        """Return the same with every rounding error counted against it."""
        off = np.abs(r - c * shares) + np.abs(r) * 8 * UNIT + r_rad + abs(c) * slack
        loss = upper_sum(s * off**2) / (2 * total) * (1 + 16 * UNIT)
        edges = [_differences(problem, factors, w, c * (v.mid + sign * v_rad) / total) for sign in (-1, 1)]
        return loss + upper_sum(np.maximum(*edges) + 16 * UNIT * size)

    scalings = [_scalings(problem, w, s, r, theta, v.mid, rad, total, factors) for rad in (0.0 * v_rad, v_rad)]
    mid = min(at(c) for c in scalings[0])
    c = min(scalings[1], key=at_most)
    gap = max(at_most(c), mid)
    if problem["radius"] is not None:  # Lagrangian bound: any multiplier alpha >= 0 proves one
        multiplier = problem["multiplier"]
        spare = multiplier * (problem["radius"] - _complexity(problem, certificate, w))
        gap, mid = gap + spare + 8 * UNIT * abs(multiplier * problem["radius"]), mid + spare
    signed = v.mid if problem["positive"] else np.abs(v.mid)
    objective = block_sum(s * r**2) / (2 * total) + block_sum(size)
    return Proof(
        gap * (1 + 4 * UNIT),
        mid,
        objective,
        level,
        abs(c) * (signed + v_rad),
        abs(c) * (signed - v_rad),
        total,
        s,
        shift,
    )


def _scalings(problem, w, s, r, theta, v, v_rad, total, factors) -> list[float]:
    """Candidate multiples of theta: the best feasible one, and for the elastic net (no constraint) theta itself."""
    limits = factors_times(factors, problem["alpha"] * total)
    size = (np.maximum(v, 0.0) if problem["positive"] else np.abs(v)) + v_rad
    bound = limits > 0
    tightest = float(np.max(size[bound] / limits[bound], initial=0.0)) * (1 + 8 * UNIT)
    squares = block_sum(np.divide(theta**2, s, out=np.zeros(len(s)), where=s > 0))
    if squares == 0.0:
        return [1.0]
    penalised = factors > 0  # theta is orthogonal to the other columns, up to rounding that must not be divided by
    best = (block_sum(theta * r) + block_sum(np.where(penalised, w * v, 0.0))) / squares
    largest = 1.0 / tightest if tightest > 0 else math.inf
    feasible = min(max(best, 0.0 if problem["positive"] else -largest), largest)
    return [feasible, 0.0, 1.0] if problem["beta"] > 0 or not penalised.any() else [feasible, 0.0]


def _differences(problem, factors, w, v) -> np.ndarray:
    """Fenchel-Young differences ``Omega_j(w_j) + Omega_j*(v_j) - w_j v_j``, one a feature."""
    alpha, beta = problem["alpha"], problem["beta"]
    excluded, unpenalised = np.isinf(factors), factors == 0
    f = np.where(excluded | unpenalised, 1.0, factors)
    size = np.maximum(v, 0.0) if problem["positive"] else np.abs(v)
    beyond = np.maximum(size - alpha * f, 0.0)
    own = f * (alpha * np.abs(w) + 0.5 * beta * w**2) - w * v
    if beta > 0:
        own = own + beyond**2 / (2 * beta * f)
    loose = np.maximum(-w * v, 0.0) if problem["positive"] else np.zeros(len(w))  # zero where theta is orthogonal
    return np.where(excluded, 0.0, np.where(unpenalised, loose, np.maximum(own, 0.0)))


def factors_times(factors: np.ndarray, values) -> np.ndarray:
    """``factors * values`` with infinity times zero read as zero (an excluded feature has a zero coefficient)."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(factors) & (np.asarray(values) == 0), 0.0, factors * values)


def _factors(certificate: Certificate, d: int) -> np.ndarray:
    problem = certificate.problem
    if problem["alpha"] == 0 and problem["beta"] == 0:
        return np.zeros(d)  # plain least squares: no feature is penalised
    return certificate.model.get("penalty_factors_", np.ones(d))


def _complexity(problem, certificate, w) -> float:
    """Return what the radius bounds: the penalty with alpha divided out, rounded up."""
    ratio = problem["l1_ratio"]
    terms = factors_times(_factors(certificate, len(w)), ratio * np.abs(w) + 0.5 * (1 - ratio) * w**2)
    return math.fsum(terms)


def _column_means(X, s: np.ndarray, total: float) -> np.ndarray:
    return np.asarray(s @ X, dtype=np.float64).ravel() / total


def _orthogonal_to_unpenalised(X, theta, s, factors, free, positive, w) -> tuple[np.ndarray, str]:
    """Remove from theta what unpenalised columns explain: their dual constraint is an equality.

    With ``positive`` it is an inequality for those at zero, so a column joins only while it would still help. Floats cannot
    meet an equality exactly; the proof is then ``recomputed`` instead of ``enclosed``.
    """
    columns = np.flatnonzero(factors == 0)
    if len(columns) == 0:
        return theta, "enclosed"
    root = np.sqrt(s)
    Z = X[:, columns]
    Z = root[:, None] * (Z.toarray() if sparse.issparse(Z) else np.asarray(Z, dtype=np.float64))
    target = np.divide(theta, root, out=np.zeros(len(s)), where=s > 0)
    sizes = np.linalg.norm(Z, axis=0) * (np.linalg.norm(target) or 1.0)
    joined = w[columns] != 0 if positive else np.ones(len(columns), dtype=bool)
    while True:
        basis = np.hstack([Z[:, joined], root[:, None]]) if free else Z[:, joined]
        left = target - basis @ np.linalg.lstsq(basis, target, rcond=None)[0] if basis.shape[1] else target
        more = ~joined & (Z.T @ left > 1e-12 * sizes)
        if not more.any():
            return root * left, "recomputed"
        joined |= more
