r"""Checks the duality gap of losses of a linear score: logistic, hinge, squared hinge and tubes, with an elastic-net penalty.

.. math:: P(w, b) = \sum_i c_i\,\phi(y_i, x_i^\top w + b) + l_1\|w\|_1 + \tfrac{l_2}{2}\|w\|^2.

Any :math:`\theta_i = c_i q_i` with :math:`q_i` in the domain of :math:`\phi^*(-\cdot)` and, when :math:`b` is free,
:math:`\sum_i\theta_i = 0` proves a lower bound of :math:`\min P`. With :math:`v = X^\top\theta`,

.. math:: P - D = \sum_i c_i\left[\phi(z_i) + \phi^*(-q_i) + q_i z_i\right] + \sum_j\left[\Omega_j(w_j) + \Omega_j^*(v_j) - w_j v_j\right],

every bracket non-negative, so nothing cancels. The dual point is the slope of the loss at the coefficients; its sum is repaired
by scaling the heavier side, the rest is moved exactly onto one row (theory: ``fenchel-gap``).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks import enclosure
from surefit.checks.base import Data, Finding, checker
from surefit.checks.centring import centre, moved_intercept
from surefit.checks.dual_repair import balanced, best_offset, orthogonal, solved
from surefit.checks.enclosure import UNIT, Enclosed, upper_sum
from surefit.checks.score_losses import differences, dual_numbers, largest_dual, values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

#: A claim was computed in plain floats by the solver; being off by this share of the objective, or in digits of the gap
#: that nobody reads, is not a lie.
ROUNDING_OF_CLAIMS = 1e-11
DIGITS_OF_CLAIMS = 1e-6
#: Losses of a label times a score: their dual numbers have the label's sign.
MARGIN_LOSSES = ("logistic", "hinge", "squared_hinge", "perceptron", "modified_huber")
#: Share of dual numbers that rounding may leave on the wrong side where columns were removed from them by least squares. On
#: separable rows no such point exists, and what least squares leaves is wrong by far more.
ROUNDED_SIGNS = 1e-10


def rounding(gap: float, objective: float) -> float:
    """Return by how much a claimed gap may be off."""
    return ROUNDING_OF_CLAIMS * abs(objective) + DIGITS_OF_CLAIMS * abs(gap)


class Column(NamedTuple):
    """One problem with one score: targets and weights as the checker reads them."""

    y: np.ndarray
    weights: np.ndarray
    w: np.ndarray
    b: float
    width: float
    dual: np.ndarray | None = None  # dual numbers given as a witness; else they follow from the coefficients


class Proof(NamedTuple):
    """What the data prove about one column of coefficients."""

    gap: float
    gap_mid: float
    objective: float
    level: str
    dual: np.ndarray  # q_i
    correlations: np.ndarray  # upper bounds of |v_j|


@checker("linear.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the columns is at most value."""
    proofs = prove(certificate, data)
    gap, mid = sum(p.gap for p in proofs), sum(p.gap_mid for p in proofs)
    objective = sum(abs(p.objective) for p in proofs)
    ok = mid - claim.value <= gap - mid + rounding(claim.value, objective)
    level = "enclosed" if all(p.level == "enclosed" for p in proofs) else "recomputed"
    return Finding(
        claim.name, claim.value, gap if ok else mid, ok, level, f"P - min P <= {gap:.3g} proved by a dual point."
    )


@checker("linear.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The coefficients are within value of those of the exact optimum: strong convexity of the penalty."""
    l2 = certificate.problem["l2"]
    proofs = prove(certificate, data)
    mid = max(math.sqrt(2 * p.gap_mid / l2) for p in proofs)
    bound = max(math.sqrt(2 * p.gap / l2) for p in proofs) * (1 + 8 * UNIT)
    noise = max(p.gap - p.gap_mid + rounding(p.gap, p.objective) for p in proofs)
    ok = mid**2 - claim.value**2 <= 2 * noise / l2
    return Finding(claim.name, claim.value, bound if ok else mid, ok, "enclosed", "from the gap and strong convexity.")


@checker("linear.inactive")
def check_inactive(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Features marked inactive are zero in every solution: the dual optimum is within a known distance of ours."""
    proof = prove(certificate, data)[0]
    marked, problem = certificate.model["inactive_"], certificate.problem
    column = columns_of(certificate, data)[0]
    norms = enclosure.column_norms(data.X, column.weights)
    reach = norms * math.sqrt(dual_reach(problem) * proof.gap) * (1 + 4 * UNIT)
    failing = marked & ~(proof.correlations + reach < problem["l1"])
    unproved = int(np.sum(~marked))
    ok = not failing.any() and unproved <= claim.value and not np.any(certificate.model["coef_"][:, marked])
    message = f"{len(marked) - unproved} features are zero in every solution."
    if failing.any():
        message = f"feature {int(np.flatnonzero(failing)[0])} was not proved zero."
    return Finding(claim.name, claim.value, float(unproved + failing.sum()), ok, proof.level, message)


@checker("logistic.labels_at_risk")
def check_labels_at_risk(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At most value training labels could differ at the exact optimum."""
    proof = prove(certificate, data)[0]
    column = columns_of(certificate, data)[0]
    p = np.abs(proof.dual)
    at_risk = int(np.sum(rows_at_risk(np.abs(1.0 - 2.0 * p), column.weights, proof.gap_mid * (1 - 1e-6))))
    proved = int(np.sum(rows_at_risk(np.abs(1.0 - 2.0 * p), column.weights, proof.gap)))
    ok = at_risk <= claim.value
    return Finding(
        claim.name, claim.value, float(proved if ok else at_risk), ok, proof.level, "from the gap and entropy."
    )


def rows_at_risk(lead: np.ndarray, weights: np.ndarray, gap: float) -> np.ndarray:
    r"""Rows whose most probable class could change: the lead is at most :math:`\sqrt{2g/c_i}`.

    Minus the entropy is 1-strongly convex in the 1-norm, hence
    :math:`\tfrac12 c_i\|q_i - q_i^*\|_1^2 \le g` for the probabilities of the dual point and of the exact optimum.
    """
    with np.errstate(divide="ignore"):
        return lead <= np.sqrt(2 * gap / weights)


def dual_reach(problem: dict) -> float:
    r"""Return k with :math:`\sum_i (\theta_i - \theta_i^*)^2 / c_i \le k g`: the slopes of the loss are (k/2)-Lipschitz."""
    return {"logistic": 0.5, "squared_hinge": 4.0, "squared_epsilon_insensitive": 4.0}.get(problem["loss"], math.inf)


def columns_of(certificate: Certificate, data: Data) -> list[Column]:
    """Return targets and weights of every column of coefficients."""
    problem, model = certificate.problem, certificate.model
    n = data.X.shape[0]
    s = np.ones(n) if data.weights is None else data.weights
    W = np.atleast_2d(model["coef_"])
    b = np.atleast_1d(model["intercept_"]).astype(np.float64) * np.ones(len(W))
    widths = np.atleast_1d(problem.get("widths") or np.zeros(len(W)))
    if problem.get("classes") is None:
        targets = [np.asarray(data.y, dtype=np.float64)]
        factors = np.ones(n)
    else:
        codes = class_codes(certificate, data)
        positives = [1] if len(W) == 1 else range(len(W))
        targets = [np.where(codes == k, 1.0, -1.0) for k in positives]
        factors = np.asarray(problem["class_weights"])[codes]
    c = s * factors * problem["C"]
    witness = next((claim.witness for claim in certificate.claims if claim.name == "linear.gap"), {})
    return [Column(t, c, W[k], float(b[k]), float(widths[k]), witness.get(f"dual_{k}")) for k, t in enumerate(targets)]


def class_codes(certificate: Certificate, data: Data) -> np.ndarray:
    """Return the position of each label among the classes of the certificate."""
    if "codes" not in data.memo:
        assert data.y is not None
        y = data.y if data.y.dtype.kind == "f" else data.y.astype(str)
        codes = np.full(len(y), -1)
        for k, label in enumerate(certificate.problem["classes"]):
            codes[y == label] = k
        if np.any(codes < 0):
            raise CertificateError(
                f"{certificate.estimator}: row {int(np.argmin(codes))} has a label that is not among the certified classes."
            )
        data.memo["codes"] = codes
    return data.memo["codes"]


def prove(certificate: Certificate, data: Data) -> list[Proof]:
    """Bound P - min P for every column."""
    if "linear_scores" not in data.memo:
        proofs = [prove_column(certificate.problem, data.X, column) for column in columns_of(certificate, data)]
        data.memo["linear_scores"] = proofs
    return data.memo["linear_scores"]


def prove_column(problem: dict, X, column: Column) -> Proof:
    """Bound P(w, b) - min P by the slopes of the loss as dual point."""
    y, c, w, b = column.y, column.weights, column.w, column.b
    l1, l2, free = problem["l1"], problem["l2"], problem["fit_intercept"]
    problem = {**problem, "width": column.width}
    signed = problem["loss"] in MARGIN_LOSSES  # a dual number has the sign of its label, or the dual value is infinite
    shift = centre(X) if free and (l1 > 0.0 or l2 > 0.0) else None
    target = centre(y[:, None]) if free and not signed else None  # only y - z matters there
    if shift is not None or target is not None:  # columns and targets far from the origin would cost digits
        middle = np.append(np.zeros(len(w)) if shift is None else shift, 0.0 if target is None else -target)
        b, y = moved_intercept(b, middle, np.append(w, 1.0)), y + middle[-1]
    fitted = enclosure.times(X, w, shift)
    z = Enclosed(fitted.mid + b, fitted.rad + 4 * UNIT * (np.abs(fitted.mid) + abs(b) + np.abs(y)))
    dual_b = best_offset(problem, y, c, fitted.mid, b) if free and not column.width else b
    q = (
        dual_numbers(problem, y, fitted.mid + dual_b)
        if column.dual is None
        else np.asarray(column.dual, dtype=np.float64)
    )
    if signed:
        q = y * np.clip(q * y, 0.0, largest_dual(problem))
    theta = c * q
    level, receiver, remainder = "enclosed", 0, 0.0
    if l1 == 0.0 and l2 == 0.0:
        theta = orthogonal(X, c, z.mid, theta, free)
        level = "recomputed"
    elif free:
        theta, receiver, remainder = balanced(theta, c, largest_dual(problem))
    q = np.divide(theta, c, out=np.zeros(len(c)), where=c > 0)
    wrong = math.fsum(np.abs(theta[q * y < 0])) if signed else 0.0
    infeasible = wrong > (ROUNDED_SIGNS * math.fsum(np.abs(theta)) if level == "recomputed" else 0.0)
    infeasible |= np.max(np.abs(q), initial=0.0) > largest_dual(problem) * (1 + 4 * UNIT)
    if infeasible or not np.isfinite(remainder):
        return Proof(math.inf, math.inf, math.inf, level, q, np.full(len(w), math.inf))

    v = enclosure.transposed_times(X, theta, shift)
    if l1 == 0.0 and l2 == 0.0 and not solved(X, v.mid, theta, free):
        return Proof(math.inf, math.inf, math.inf, level, q, np.full(len(w), math.inf))
    moved = np.abs(_row(X, receiver) - (0.0 if shift is None else shift)) * abs(remainder) * (1 + 8 * UNIT)
    v_rad = v.rad + moved
    scale, plain_scale = 1.0, 1.0  # with rounding counted against feasibility, and without
    if l2 == 0.0 and l1 > 0.0:
        largest, plain = float(np.max(np.abs(v.mid) + v_rad, initial=0.0)), float(np.max(np.abs(v.mid), initial=0.0))
        scale = 1.0 if largest <= l1 else l1 / largest * (1 - 8 * UNIT)
        plain_scale = 1.0 if plain <= l1 else l1 / plain
    slack = np.zeros(len(c))
    if remainder:
        slack[receiver] = abs(remainder) / c[receiver] * (1 + 8 * UNIT)

    mid_terms, _ = differences(problem, y, z.mid, plain_scale * q)
    ends = []
    for sign in (-1.0, 1.0):
        for move in (-1.0, 1.0) if remainder else (0.0,):
            terms, error = differences(problem, y, z.mid + sign * z.rad, scale * (q + move * slack))
            ends.append(terms + error)
    loss = upper_sum(c * np.max(ends, axis=0)) * (1 + 8 * UNIT)
    edges = [_penalty_differences(l1, l2, w, scale * (v.mid + sign * v_rad)) for sign in (-1.0, 1.0)]
    size = l1 * np.abs(w) + l2 * w**2 + np.abs(w * v.mid)
    gap = loss + upper_sum(np.maximum(*edges) + 16 * UNIT * size)
    mid = math.fsum(c * mid_terms) + math.fsum(_penalty_differences(l1, l2, w, plain_scale * v.mid))
    objective = math.fsum(c * values(problem, y, z.mid)) + l1 * math.fsum(np.abs(w)) + 0.5 * l2 * math.fsum(w**2)
    return Proof(max(gap, mid) * (1 + 4 * UNIT), mid, objective, level, scale * q, scale * (np.abs(v.mid) + v_rad))


def _penalty_differences(l1: float, l2: float, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    if l1 == 0.0 and l2 == 0.0:
        return np.zeros(len(w))
    own = l1 * np.abs(w) + 0.5 * l2 * w**2 - w * v
    if l2 > 0.0:
        own = own + np.maximum(np.abs(v) - l1, 0.0) ** 2 / (2 * l2)
    return np.maximum(own, 0.0)


def _row(X, i: int) -> np.ndarray:
    row = X[[i]]
    return row.toarray().ravel() if sparse.issparse(row) else np.asarray(row, dtype=np.float64).ravel()
