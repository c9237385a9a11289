r"""Checks least squares and ridge: how far the objective is from its minimum, with all rounding accounted for.

Problem, for each target, with :math:`\tilde x = (x, 1)` and :math:`D` the penalised coordinates:

.. math:: P(\tilde w) = \sum_i s_i (y_i - \tilde x_i^\top \tilde w)^2 + \alpha\, \tilde w^\top D \tilde w.

With half the slope :math:`g = \tilde X^\top S r - \alpha D \tilde w` and :math:`A = \tilde X^\top S \tilde X + \alpha D` the
excess over the minimum is exactly :math:`g^\top A^{-1} g`. Any :math:`T` with :math:`\|T^\top A T - I\| \le \epsilon < 1` proves that
:math:`A` is invertible and the excess at most :math:`\|T^\top g\|^2 / (1 - \epsilon)`; the checker inverts its own triangular factor
and bounds :math:`\epsilon` rigorously. With a penalty a dual point gives a second bound (theory: ``least-squares-gap``).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from surefit.checks import enclosure
from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, block_sum, gamma, row_blocks, upper_sum
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

MOST_ROWS = 5000  # up to so many rows, the checker solves for a dual point of its own
LARGEST_FRAME = 8_000  # beyond so many rows and columns no factor of sparse data is formed
LOOSE = 1e-20  # share of the objective up to which the cheap bound is good enough


class Frame(NamedTuple):
    """What the design proves: a matrix T that makes the normal equations nearly the identity."""

    T: np.ndarray | None  # None if the columns are, numerically, dependent
    epsilon: float
    rank: int
    basis: np.ndarray | None  # orthonormal basis of the column space when T is None


class Proof(NamedTuple):
    """Bounds of the excess over all targets."""

    gap: float
    mid: float
    objective: float
    level: str
    lightest: float

    @property
    def margin(self) -> float:
        """By how much a right claim may differ from the checker's own number."""
        return self.gap - self.mid


@checker("least_squares.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P - min P <= value, summed over the targets."""
    proof = _proof(certificate, data)
    ok = proof.mid - claim.value <= proof.margin
    found = proof.gap if ok else proof.mid
    return Finding(claim.name, claim.value, found, ok, proof.level, f"P - min P <= {proof.gap:.3g}.")


@checker("least_squares.stability")
def check_stability(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No training prediction is farther than value from that of the exact optimum."""
    proof = _proof(certificate, data)
    ok = proof.mid - claim.value**2 * proof.lightest <= proof.margin
    found = math.sqrt((proof.gap if ok else proof.mid) / proof.lightest) * (1 + 8 * UNIT)
    return Finding(
        claim.name, claim.value, found, ok, proof.level, "squared distances of predictions are at most the gap."
    )


@checker("least_squares.rank")
def check_rank(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At most ``value`` directions of the coefficients are left undetermined by the data."""
    frame = _frame(certificate, data, 0.0)
    missing = float(_columns(certificate, data) - frame.rank)
    level = "enclosed" if frame.T is not None else "recomputed"
    return Finding(claim.name, claim.value, missing, missing <= claim.value, level, "columns orthogonalised anew.")


@checker("least_squares.feasible")
def check_feasible(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The constraints (sign, radius) are met by the coefficients as stored."""
    problem, w = certificate.problem, certificate.model["coef_"]
    worst = float(np.max(-w, initial=0.0)) if problem["positive"] else 0.0
    if problem["radius"] is not None:
        worst = max(worst, math.sqrt(math.fsum(w.ravel() ** 2)) - problem["radius"])
    return Finding(claim.name, claim.value, worst, worst <= claim.value, "recomputed", "constraints re-evaluated.")


def _proof(certificate: Certificate, data: Data) -> Proof:
    if "least_squares" not in data.memo:
        data.memo["least_squares"] = prove(certificate, data)
    return data.memo["least_squares"]


def prove(certificate: Certificate, data: Data) -> Proof:
    """Bound the excess of the certified coefficients, target by target."""
    problem, X = certificate.problem, data.X
    Y = data.target.reshape(X.shape[0], -1)
    W = np.atleast_2d(certificate.model["coef_"])
    b = np.broadcast_to(np.ravel(certificate.model["intercept_"]), len(W))
    s = np.ones(X.shape[0]) if data.weights is None else data.weights
    alphas = np.broadcast_to(np.asarray(problem["alpha"], dtype=np.float64), len(W))
    parts = [_one(certificate, data, Y[:, k], W[k], float(b[k]), s, float(alphas[k])) for k in range(len(W))]
    gap, mid, objective = (math.fsum(part[i] for part in parts) for i in range(3))
    level = "enclosed" if all(part[3] for part in parts) else "recomputed"
    if problem["radius"] is not None:  # Lagrange: any multiplier >= 0 bounds the constrained minimum from below
        multiplier = float(alphas[0])
        spare = multiplier * (problem["radius"] ** 2 - math.fsum(W.ravel() ** 2))
        mid, gap = mid + max(spare, 0.0), gap + max(spare, 0.0) + 16 * UNIT * multiplier * problem["radius"] ** 2
    return Proof(gap * (1 + 8 * UNIT), mid, objective, level, float(np.min(s[s > 0])))


def _one(certificate, data: Data, y, w, b: float, s, alpha: float) -> tuple[float, float, float, bool]:
    """Bound one target: (proved, without rounding margins, objective, whether rounding is all accounted for)."""
    problem, X = certificate.problem, data.X
    fitted = enclosure.times(X, w)
    r = Enclosed((y - fitted.mid) - b, fitted.rad + gamma(4) * (np.abs(y) + np.abs(fitted.mid) + abs(b)))
    noise = upper_sum(s * r.rad**2)
    penalty = alpha * (math.fsum(w * w) + (b * b if problem["penalize_intercept"] else 0.0))
    objective = block_sum(s * r.mid**2) + penalty
    trivial = (upper_sum(s * r.magnitude**2) + penalty * (1 + 8 * UNIT), objective, objective, True)  # min P >= 0
    cheap = _dual(problem, X, r, w, b, s, alpha) if alpha > 0 else trivial
    best = min(trivial, (*cheap[:2], objective, True), key=lambda bound: bound[0])
    claimed = min((c.value for c in certificate.claims if c.name == "least_squares.gap"), default=math.inf)
    enough = best[0] <= LOOSE * objective and best[1] * np.size(problem["alpha"]) <= claimed
    if enough or (sparse.issparse(X) and min(X.shape) > LARGEST_FRAME):
        return best
    if alpha > 0 and X.shape[1] > X.shape[0]:
        if problem["positive"] or X.shape[0] > MOST_ROWS:
            return best
        own = _dual(problem, X, r, w, b, s, alpha, _dual_point(problem, X, y, s, alpha))
        return min(best[0], own[0]), min(best[1], own[1]), objective, True
    frame = _frame(certificate, data, alpha)
    g = slopes(problem, data, r, w, b, s, alpha, bool(problem["positive"]))
    if frame.T is not None:
        size = np.abs(frame.T)
        along = frame.T.T @ g.mid
        off = size.T @ (g.rad + gamma(len(along) + 2) * np.abs(g.mid))
        # Rounding of the residuals moves their projection by no more than its own length.
        length = math.sqrt(upper_sum((np.abs(along) + off) ** 2) / (1 - frame.epsilon)) + math.sqrt(noise)
        mid, gap = float(along @ along), length**2
        if problem["positive"]:
            mu = (1 - frame.epsilon) / (float((size**2).sum()) * (1 + gamma(size.size)))
            mid, gap = _sign_bounds(g, w, mu)
        found = (gap * (1 + 16 * UNIT) + noise, mid, objective, True)
    elif problem["positive"] or frame.basis is None:
        return best
    else:
        mid = float(np.sum((frame.basis.T @ (np.sqrt(s) * r.mid)) ** 2))
        found = (mid + 4 * noise, mid, objective, False)
    tighter = min(best, found, key=lambda bound: bound[0])
    return tighter[0], min(best[1], found[1]), objective, tighter[3]


def _sign_bounds(g: Enclosed, w, mu: float) -> tuple[float, float]:
    """Bound ``max 2 g'u - mu |u|^2`` over steps u that keep w + u >= 0; the intercept, last if any, is free."""
    least = np.concatenate([-w, np.full(len(g.mid) - len(w), -np.inf)])

    def gain(slope):
        u = np.maximum(slope / mu, least)
        return np.maximum(2 * slope * u - mu * u * u, 0.0)

    edges = np.maximum(gain(g.mid - g.rad), gain(g.mid + g.rad))
    return block_sum(gain(g.mid)), upper_sum(edges)


def _dual_point(problem, X, y, s, alpha: float) -> np.ndarray:
    """Return the best dual point up to rounding, from the inner products of the rows."""
    free = problem["fit_intercept"] and not problem["penalize_intercept"]
    total, root = block_sum(s), np.sqrt(s)
    Z = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if free:
        Z, y = Z - (s @ Z) / total, y - block_sum(s * y) / total
    K = (Z @ Z.T + (1.0 if problem["penalize_intercept"] else 0.0)) * np.outer(root, root)
    return alpha * root * linalg.solve(K + alpha * np.eye(len(s)), root * y, assume_a="pos")


def _dual(problem, X, r: Enclosed, w, b: float, s, alpha: float, theta=None) -> tuple[float, float]:
    """Bound by a dual point, ``theta = s r`` unless given, its sum repaired where the intercept is free."""
    free = problem["fit_intercept"] and not problem["penalize_intercept"]
    total = block_sum(s)
    if theta is None:
        theta = s * (r.mid - (block_sum(s * r.mid) / total if free else 0.0))
    off = np.where(s > 0, np.abs(r.mid - np.divide(theta, s, out=np.zeros(len(s)), where=s > 0)), 0.0)
    remainder = math.fsum(theta) if free else 0.0
    heaviest = int(np.argmax(s))
    shift = np.asarray(s @ X, dtype=np.float64).ravel() / total if free and not sparse.issparse(X) else None
    v = enclosure.transposed_times(X, theta, shift)
    row = X[[heaviest]]
    row = row.toarray().ravel() if sparse.issparse(row) else np.asarray(row, dtype=np.float64).ravel()
    rad = v.rad + np.abs(row if shift is None else row - shift) * abs(remainder) * (1 + 8 * UNIT)
    g = Enclosed(v.mid - alpha * w, rad + gamma(4) * (np.abs(v.mid) + alpha * np.abs(w)))
    if problem["penalize_intercept"]:
        both = math.fsum(theta)
        g = Enclosed(
            np.append(g.mid, both - alpha * b), np.append(g.rad, gamma(4) * (np.abs(theta).sum() + abs(alpha * b)))
        )
    mid, gap = float(g.mid @ g.mid) / alpha, upper_sum(g.magnitude**2) / alpha
    if problem["positive"]:
        mid, gap = _sign_bounds(g, w, alpha)
    slack = off + r.rad + 8 * UNIT * np.abs(r.mid)
    slack[heaviest] += abs(remainder) * (1 + 4 * UNIT) / s[heaviest]
    return (gap + upper_sum(s * slack**2)) * (1 + 16 * UNIT), mid + block_sum(s * off**2)


def _shift(problem, data: Data, s) -> np.ndarray:
    """Return what is subtracted from the columns: another basis of the same space, unless the intercept is penalised."""
    if not problem["fit_intercept"] or problem["penalize_intercept"] or sparse.issparse(data.X):
        return np.zeros(data.X.shape[1])
    return np.asarray(s @ data.X, dtype=np.float64).ravel() / block_sum(s)


def slopes(problem, data: Data, r: Enclosed, w, b: float, s, alpha: float, all_of_it: bool) -> Enclosed:
    """Enclose ``g`` at the middle of the residuals, or at all of them; the intercept's coordinate is last."""
    X, sr = data.X, s * r.mid
    shift = _shift(problem, data, s)
    v = enclosure.transposed_times(X, sr, shift if shift.any() else None)
    size = np.abs(sr) * 2 * UNIT + (s * r.rad * (1 + 4 * UNIT) if all_of_it else 0.0)
    if sparse.issparse(X):
        extra = np.asarray(abs(X).T @ size).ravel()
    else:
        extra = np.zeros(X.shape[1])
        for rows in row_blocks(X.shape[0]):
            extra += np.abs(X[rows] - shift).T @ size[rows]
    mid = v.mid - alpha * w
    rad = v.rad + extra * (1 + gamma(X.shape[0])) + gamma(4) * (np.abs(v.mid) + alpha * np.abs(w))
    if problem["fit_intercept"]:
        held = alpha * b if problem["penalize_intercept"] else 0.0
        mid = np.append(mid, math.fsum(sr) - held)
        rad = np.append(rad, upper_sum(size) + 4 * UNIT * (abs(float(mid[-1])) + abs(held)))
    return Enclosed(mid, rad)


def _columns(certificate, data: Data) -> int:
    return int(data.X.shape[1]) + bool(certificate.problem["fit_intercept"])


def _frame(certificate, data: Data, alpha: float) -> Frame:
    key = ("least_squares.frame", alpha)
    if key not in data.memo:
        data.memo[key] = _make_frame(certificate, data, alpha)
    return data.memo[key]


def _make_frame(certificate, data: Data, alpha: float) -> Frame:
    problem, X = certificate.problem, data.X
    s = np.ones(X.shape[0]) if data.weights is None else data.weights
    shift, m = _shift(problem, data, s), _columns(certificate, data)
    held = np.full(m, alpha)
    if problem["fit_intercept"] and not problem["penalize_intercept"]:
        held[-1] = 0.0

    def block(rows):
        part = X[rows]
        part = part.toarray() if sparse.issparse(part) else np.asarray(part, dtype=np.float64)
        part = part - shift
        part = np.hstack([part, np.ones((len(part), 1))]) if problem["fit_intercept"] else part
        return part * np.sqrt(s[rows])[:, None]

    X = X.tocsr() if sparse.issparse(X) else X
    R = np.diag(np.sqrt(held))
    for rows in row_blocks(X.shape[0]):
        R = linalg.qr(np.vstack([R, block(rows)]), mode="r", check_finite=False)[0][:m]
    scale = np.sqrt((R**2).sum(axis=0))
    values = linalg.svdvals(R / np.where(scale > 0, scale, 1.0))
    rank = int(np.sum(values > max(X.shape) * 2 * UNIT * values[0])) if len(values) else 0
    if rank == m and min(R.shape) == m:
        T = linalg.solve_triangular(R, np.eye(m), check_finite=False)
        epsilon = _distance_to_identity(T, held, block, X.shape[0])
        if epsilon < 0.5:
            return Frame(T, epsilon, m, None)
    if X.shape[0] * m > 2e8:
        return Frame(None, 1.0, rank, None)
    Z = np.vstack([block(rows) for rows in row_blocks(X.shape[0])])
    norms = np.sqrt((Z**2).sum(axis=0))
    U, values, _ = linalg.svd(Z / np.where(norms > 0, norms, 1.0), full_matrices=False, check_finite=False)
    kept = values > max(Z.shape) * 2 * UNIT * values[0]
    return Frame(None, 1.0, int(kept.sum()), U[:, kept] if alpha == 0 else None)


def _distance_to_identity(T, held, block, n: int) -> float:
    """Bound the Frobenius norm of ``T' A T - I``, every rounding counted."""
    m = len(T)
    size, product = np.abs(T), np.zeros((m, m))
    off = 0.0
    for rows in row_blocks(n):
        part = block(rows)
        B = part @ T
        product += B.T @ B
        off += float(((np.abs(part) @ size) ** 2).sum())
    off = math.sqrt(off) * gamma(m + 6) * 1.01
    scaled = np.sqrt(held)[:, None] * T
    product += scaled.T @ scaled
    distance = float(np.linalg.norm(product - np.eye(m)))
    norm = math.sqrt(float(np.trace(product))) * 1.01
    return 1.01 * distance + 2 * norm * off + off**2 + gamma(enclosure.BLOCK + n // enclosure.BLOCK + m + 8) * norm**2
