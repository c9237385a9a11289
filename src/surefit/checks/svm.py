r"""Checks the duality gap of support vector machines, with kernel values computed anew and enclosed.

For a model :math:`f = \sum_j \beta_j k(x_j, \cdot) + b` and the residuals :math:`r_i = y_i - f(x_i)`,

.. math:: P - D = \sum_i \bigl[h_i (r_i - \varepsilon)_+ - l_i (-r_i - \varepsilon)_+ + \varepsilon|\beta_i| - \beta_i r_i\bigr]
          - b \textstyle\sum_i\beta_i,

every bracket non-negative for :math:`l \le \beta \le h`, so nothing cancels. A classifier has :math:`y_i = \pm 1`, no tube and the
box between 0 and :math:`y_i c_i`. A sum of beta that rounding has left is moved onto the heavier side, at a price that is counted.
Kernel values are taken in blocks of rows, so memory grows with the data and not with their square (theory: ``svm-gap``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, gamma, upper_sum
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, level_of, training_values
from surefit.checks.linear_scores import class_codes, rounding
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.kernels import Linear

PIECE = 1 << 20  # kernel values that are held at a time
BATCH = 1 << 10  # support rows whose sum is one product


class Machine(NamedTuple):
    """One dual problem, on the rows that take part in it."""

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
        """Whether slack is forbidden."""
        return bool(np.isinf(self.high).any())


class Proof(NamedTuple):
    """What the data prove about one dual problem."""

    gap: float
    gap_mid: float
    objective: float
    scores: Enclosed  # of the rows that take part, without the offset
    square: Enclosed  # squared norm of the function


@checker("svc.gap", "svr.gap", "svc.stationarity", "svr.stationarity")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The sum of P - min P over the problems is at most value (for a kernel that is none: the violation of its conditions)."""
    proofs = prove(certificate, data)
    gap, mid = sum(p.gap for p in proofs), sum(p.gap_mid for p in proofs)
    ok = bool(mid - claim.value <= gap - mid + rounding(claim.value, sum(abs(p.objective) for p in proofs)))
    message = f"P - min P <= {gap:.3g} proved by the dual coefficients."
    if claim.name.endswith("stationarity"):
        message = f"conditions of optimality violated by {gap:.3g} in all; the kernel is not known to be one."
    return Finding(claim.name, claim.value, gap if ok else mid, ok, level_of(kernel_of(certificate)), message)


@checker("svc.distance", "svr.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The function is within value of the optimal one in the norm of the kernel's space: strong convexity."""
    proofs = prove(certificate, data)
    mid = max(math.sqrt(2 * p.gap_mid) for p in proofs)
    bound = max(math.sqrt(2 * p.gap) for p in proofs) * (1 + 8 * UNIT)
    noise = max(p.gap - p.gap_mid + rounding(p.gap, p.objective) for p in proofs)
    ok = bool(mid**2 - claim.value**2 <= 2 * noise)
    level = level_of(kernel_of(certificate))
    return Finding(claim.name, claim.value, bound if ok else mid, ok, level, "from the gap and strong convexity.")


@checker("svc.budget")
def check_budget(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Slacks keep the budget, and half the squared norm is within value of the smallest that does."""
    machine, proof = machines_of(certificate, data)[0], prove(certificate, data)[0]
    B, C = claim.numbers["budget"], certificate.problem["C"]
    shares = np.maximum(machine.high, -machine.low) / C
    slack = np.maximum(1 - machine.y * (proof.scores.mid + machine.b), 0.0)
    total = math.fsum(shares * slack)
    error = upper_sum(shares * (proof.scores.rad + 8 * UNIT * (1 + np.abs(proof.scores.mid) + abs(machine.b))))
    kept = total - error <= B * (1 + 1e-9)
    mid = proof.gap_mid + C * max(B - total, 0.0)
    gap = proof.gap + C * (max(B - total, 0.0) + error) * (1 + 8 * UNIT)
    ok = bool(kept and mid - claim.value <= gap - mid + rounding(claim.value, proof.objective))
    message = f"slacks add up to {total:.6g}, the budget is {B:.6g}."
    return Finding(claim.name, claim.value, gap if ok else mid, ok, level_of(kernel_of(certificate)), message)


def prove(certificate: Certificate, data: Data) -> list[Proof]:
    """Bound P - min P of every dual problem."""
    if "svm" not in data.memo:
        machines, scores = machines_of(certificate, data), scores_of(certificate, data)
        kernel = kernel_of(certificate)
        largest = float(np.max(enclosed_diagonal(kernel, kernel.read(data.X)).magnitude, initial=0.0))
        data.memo["svm"] = [
            prove_machine(m, Enclosed(scores.mid[m.rows, p], scores.rad[m.rows, p]), largest)
            for p, m in enumerate(machines)
        ]
    return data.memo["svm"]


def prove_machine(m: Machine, scores: Enclosed, largest: float) -> Proof:
    """Bound P - D of one problem; infinite if the coefficients are outside their box."""
    total = math.fsum(m.beta) if m.b_free else 0.0
    terms = m.beta * scores.mid
    square_rad = upper_sum(np.abs(m.beta) * scores.rad) + gamma(8) * upper_sum(np.abs(terms))
    square = Enclosed(np.asarray(math.fsum(terms)), np.asarray(square_rad))
    outside = bool(np.any(m.beta < m.low) or np.any(m.beta > m.high))
    if outside:
        return Proof(math.inf, math.inf, math.inf, scores, square)
    if m.hard:
        return _prove_hard(m, scores, square, total, largest)
    r = m.y - scores.mid - m.b
    rad = scores.rad + 4 * UNIT * (np.abs(m.y) + np.abs(scores.mid) + abs(m.b))
    mid = math.fsum(_terms(m, r))
    size = np.abs(m.beta) * (np.abs(r) + m.epsilon) + _prices(m, r) * (np.abs(r) + m.epsilon)
    ends = np.maximum(_terms(m, r - rad), _terms(m, r + rad)) + 8 * UNIT * (size + _prices(m, r) * rad)
    # a sum that is not zero: taken from the heavier side towards zero, and b times it
    repair = abs(total) * (abs(m.b) + float(np.max(np.abs(m.y) + np.abs(scores.mid) + scores.rad)) + m.epsilon)
    repair += 0.5 * total**2 * largest
    gap = (upper_sum(ends) + repair) * (1 + 8 * UNIT)
    loss = math.fsum(_prices(m, r) * np.maximum(np.abs(r) - m.epsilon, 0.0))
    mid -= m.b * total
    return Proof(max(gap, mid), max(mid, 0.0), loss + 0.5 * float(square.mid), scores, square)


def _prove_hard(m: Machine, scores: Enclosed, square: Enclosed, total: float, largest: float) -> Proof:
    """Divide by the least margin to be feasible; the best multiple of beta is the dual point."""
    margins = m.y * (scores.mid + m.b)
    rad = scores.rad + 4 * UNIT * (np.abs(scores.mid) + abs(m.b))
    least, plain = float(np.min(margins - rad)), float(np.min(margins))
    top = float(square.mid + square.rad)
    sum_of_alphas = math.fsum(np.abs(m.beta))
    if least <= 0.0 or float(square.mid) <= 0.0:
        return Proof(math.inf, math.inf, math.inf, scores, square)
    norm = math.sqrt(top) + abs(total) * math.sqrt(largest)
    dual = (sum_of_alphas - abs(total)) ** 2 / (2 * norm**2) * (1 - 16 * UNIT)
    primal = top / (2 * min(least, 1.0) ** 2) * (1 + 16 * UNIT)
    plain_primal = float(square.mid) / (2 * min(plain, 1.0) ** 2)
    mid = plain_primal - sum_of_alphas**2 / (2 * float(square.mid))
    return Proof(max(primal - dual, mid), max(mid, 0.0), plain_primal, scores, square)


def _terms(m: Machine, r: np.ndarray) -> np.ndarray:
    """Brackets of the gap at residuals r; non-negative in exact arithmetic."""
    own = m.epsilon * np.abs(m.beta) - m.beta * r
    return np.maximum(own + _prices(m, r) * np.maximum(np.abs(r) - m.epsilon, 0.0), 0.0)


def _prices(m: Machine, r: np.ndarray) -> np.ndarray:
    """Price of a unit of residual beyond the tube, on the side where the residual lies."""
    return np.where(r > 0, m.high, -m.low)


def scores_of(certificate: Certificate, data: Data) -> Enclosed:
    """Enclose the functions of all problems on all rows, without their offsets: one column a problem."""
    if "svm scores" not in data.memo:
        kernel, support = kernel_of(certificate), certificate.model["support_"]
        A, coefficients = kernel.read(data.X), coefficients_of(certificate, data).T
        if type(kernel) is Linear:
            data.memo["svm scores"] = _linear_scores(A, A[support], coefficients)
            return data.memo["svm scores"]
        n, size = A.shape[0], np.abs(coefficients)
        mid, rad = np.zeros((n, coefficients.shape[1])), np.zeros((n, coefficients.shape[1]))
        step = max(1, PIECE // max(1, len(support)))
        for start in range(0, n if len(support) else 0, step):
            rows = np.arange(start, min(start + step, n))
            K = training_values(kernel, A, rows, support)
            mid[rows] = K.mid @ coefficients
            rad[rows] = (K.rad + gamma(len(support) + 2) * np.abs(K.mid)) @ size * (1 + gamma(len(support) + 4))
        data.memo["svm scores"] = Enclosed(mid, rad)
    return data.memo["svm scores"]


def _linear_scores(A, vectors, coefficients: np.ndarray) -> Enclosed:
    """Enclose ``A (vectors' coefficients)``: the columns of a linear kernel stand between, and no kernel value is formed.

    Sums over the support go by pieces of ``BATCH`` rows: each entry meets at most that many roundings, and one a piece.
    """
    starts, columns = range(0, len(coefficients), BATCH), A.shape[1]
    size = np.abs(coefficients)
    weights, reach = np.zeros((columns, coefficients.shape[1])), np.zeros((columns, coefficients.shape[1]))
    for start in starts:
        part = vectors[start : start + BATCH]
        weights += part.T @ coefficients[start : start + BATCH]
        reach += abs(part).T @ size[start : start + BATCH]
    terms = min(BATCH, len(coefficients)) + len(starts)
    off = gamma(terms + 2) * reach * (1 + gamma(terms + 4))  # of the weights
    mid = np.asarray(A @ weights)
    rad = np.asarray(abs(A) @ (off + gamma(columns + 2) * np.abs(weights))) * (1 + gamma(columns + 4))
    return Enclosed(mid, rad)


def coefficients_of(certificate: Certificate, data: Data) -> np.ndarray:
    """Return one line of coefficients of the support a problem; one against one shares lines as in LIBSVM."""
    dual, classes = np.atleast_2d(certificate.model["dual_coef_"]), certificate.problem.get("classes")
    if classes is None or len(classes) == 2 or certificate.problem["strategy"] == "ovr":
        return dual
    codes = class_codes(certificate, data)[certificate.model["support_"]]
    pairs = [(i, j) for i in range(len(classes)) for j in range(i + 1, len(classes))]
    return np.array([np.where(codes == i, dual[j - 1], np.where(codes == j, dual[i], 0.0)) for i, j in pairs])


def machines_of(certificate: Certificate, data: Data) -> list[Machine]:
    """Return the dual problems that the certificate speaks of."""
    problem, model = certificate.problem, certificate.model
    n, support = data.X.shape[0], model["support_"]
    s = np.ones(n) if data.weights is None else data.weights
    lines, b, free = coefficients_of(certificate, data), np.atleast_1d(model["intercept_"]), problem["fit_intercept"]
    betas = np.zeros((len(lines), n))
    betas[:, support] = lines
    if problem.get("classes") is None:
        rows = np.flatnonzero(s > 0)
        c = problem["C"] * s[rows]
        y = np.asarray(data.target, dtype=np.float64)[rows]
        return [Machine(rows, y, -c, c, problem["epsilon"], betas[0, rows], float(b[0]), free)]
    codes, K = class_codes(certificate, data), len(problem["classes"])
    if K == 2:
        pairs = [(1, 0)]
    elif problem["strategy"] == "ovo":
        pairs = [(i, j) for i in range(K) for j in range(i + 1, K)]
    else:
        pairs = [(i, -1) for i in range(K)]
    weights = s * np.asarray(problem["class_weights"])[codes]
    machines = []
    for p, (i, j) in enumerate(pairs):
        rows = np.flatnonzero((weights > 0) & ((codes == i) | (codes == j) | (j < 0)))
        t, c = np.where(codes[rows] == i, 1.0, -1.0), problem["C"] * weights[rows]
        low, high = np.where(t > 0, 0.0, -c), np.where(t > 0, c, 0.0)
        machines.append(Machine(rows, t, low, high, 0.0, betas[p, rows], float(b[p]), free))
    return machines
