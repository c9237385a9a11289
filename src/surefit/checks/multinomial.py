r"""Checks the duality gap of multinomial logistic regression, symmetric or with a reference class.

.. math:: P(W, b) = \sum_i c_i\left[\ln\sum_k e^{f_{ik}} - f_{i,y_i}\right] + l_1\|W\|_1 + \tfrac{l_2}{2}\|W\|^2.

Any rows :math:`Q_i` of the simplex with :math:`\sum_i c_i (Y - Q)_{ik} = 0` for every class with a free intercept prove a lower
bound; the loss part of the gap is :math:`\sum_i c_i\,\mathrm{KL}(Q_i\|P_i)`. The dual point is the softmax at the best constants,
mixed with a constant row until the column sums agree (theory: ``fenchel-gap``).
"""

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.dual_repair import REMAINDER, solved
from surefit.checks.linear_scores import class_codes, rounding, rows_at_risk
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

DIGITS = 1e-12  # of a dual point that column sums must match


class Proof(NamedTuple):
    """What the data prove about the coefficients."""

    gap: float
    objective: float
    dual: np.ndarray  # (n, K), rows of the simplex
    correlations: np.ndarray  # (K, d)
    weights: np.ndarray
    noise: float  # by which rounding in the dual point can move the gap, where columns are large


@checker("multinomial.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P - min P is at most value."""
    proof = prove(certificate, data)
    ok = proof.gap - claim.value <= rounding(claim.value, proof.objective) + proof.noise
    return Finding(
        claim.name, claim.value, proof.gap, ok, "recomputed", f"P - min P <= {proof.gap:.3g} by a dual point."
    )


@checker("multinomial.distance")
def check_distance(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The coefficients are within value of those of the exact optimum."""
    proof, l2 = prove(certificate, data), certificate.problem["l2"]
    bound = math.sqrt(2 * proof.gap / l2)
    ok = proof.gap - 0.5 * l2 * claim.value**2 <= rounding(proof.gap, proof.objective) + proof.noise
    return Finding(claim.name, claim.value, bound, ok, "recomputed", "from the gap and strong convexity.")


@checker("multinomial.labels_at_risk")
def check_labels_at_risk(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At most value training labels could differ at the exact optimum."""
    proof = prove(certificate, data)
    at_risk = int(
        np.sum(rows_at_risk(lead_of(proof.dual), proof.weights, max(proof.gap - proof.noise, 0.0) * (1 - 1e-6)))
    )
    return Finding(
        claim.name, claim.value, float(at_risk), at_risk <= claim.value, "recomputed", "from the gap and entropy."
    )


def lead_of(Q: np.ndarray) -> np.ndarray:
    """Return the distance between the two largest probabilities of each row."""
    top = np.partition(Q, Q.shape[1] - 2, axis=1)
    return top[:, -1] - top[:, -2]


def prove(certificate: Certificate, data: Data) -> Proof:
    """Bound P - min P for the certified coefficients."""
    if "multinomial" not in data.memo:
        data.memo["multinomial"] = _prove(certificate, data)
    return data.memo["multinomial"]


def _prove(certificate: Certificate, data: Data) -> Proof:
    problem, W = certificate.problem, certificate.model["coef_"]
    b = certificate.model["intercept_"]
    codes, X = class_codes(certificate, data), data.X
    n, K = X.shape[0], len(problem["classes"])
    s = np.ones(n) if data.weights is None else data.weights
    c = s * np.asarray(problem["class_weights"])[codes] * problem["C"]
    used = [k for k in range(K) if k != problem.get("reference")]
    l1, l2 = problem["l1"], problem["l2"]
    scores = np.asarray(X @ W.T)
    Y = np.zeros((n, K))
    Y[np.arange(n), codes] = 1.0
    offset = _best_constants(scores, Y, c, b.copy(), used) if problem["fit_intercept"] else b
    Q = softmax(scores + offset)
    if l1 == 0.0 and l2 == 0.0:
        Q = _orthogonal(X, Q, Y, c, used, problem["fit_intercept"])
    elif problem["fit_intercept"]:
        Q = with_column_sums(Q, Y, c)
    V = np.asarray(X.T @ (c[:, None] * (Y - Q))).T  # (K, d)
    scale = 1.0
    if l2 == 0.0 and l1 > 0.0:
        largest = float(np.max(np.abs(V[used]), initial=0.0))
        scale = min(1.0, l1 / largest) if largest > 0 else 1.0
        Q = Y - scale * (Y - Q)
    log_p = log_softmax(scores + b)
    entropy = np.where(Q > 0, Q * (np.log(np.where(Q > 0, Q, 1.0)) - log_p), 0.0)
    loss = math.fsum(c * np.maximum(entropy.sum(axis=1), 0.0)) if np.min(Q, initial=0.0) >= -1e-12 else math.inf
    own = np.zeros_like(W[used])
    if l1 > 0.0 or l2 > 0.0:
        own = l1 * np.abs(W[used]) + 0.5 * l2 * W[used] ** 2 - W[used] * scale * V[used]
    if l2 > 0.0:
        own = own + np.maximum(np.abs(V[used]) - l1, 0.0) ** 2 / (2 * l2)
    elif l1 == 0.0:
        parts = c[:, None] * (Y - Q)
        wrong = math.fsum(np.maximum(-Q, 0.0).ravel()) > REMAINDER * math.fsum(np.abs(Y - Q).ravel())
        free = problem["fit_intercept"]
        if wrong or not all(solved(X, V[k], parts[:, k], free) for k in used):
            loss = math.inf
    gap = loss + math.fsum(np.maximum(own, 0.0).ravel())
    objective = -math.fsum(c * log_p[np.arange(n), codes]) + l1 * np.abs(W).sum() + 0.5 * l2 * np.vdot(W, W)
    noise = DIGITS * float(np.sum(np.abs(V[used]) @ (abs(X).T @ c))) / l2 if l2 > 0.0 else 0.0
    return Proof(gap, float(objective), Q, np.abs(scale * V), c, noise)


def softmax(F: np.ndarray) -> np.ndarray:
    """Return the probabilities of each row."""
    E = np.exp(F - F.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def log_softmax(F: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities of each row."""
    F = F - F.max(axis=1, keepdims=True)
    return F - np.log(np.exp(F).sum(axis=1, keepdims=True))


def with_column_sums(Q: np.ndarray, Y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Mix Q with one constant row so that its weighted column sums are those of Y."""
    q, goal, total = c @ Q, c @ Y, float(c.sum())
    share = float(np.max(np.maximum(q - goal, 0.0) / np.where(q > 0, q, 1.0)))
    if share == 0.0:
        return Q
    return (1.0 - share) * Q + (goal - (1.0 - share) * q)[None, :] / total


def _best_constants(scores, Y, c, b, used) -> np.ndarray:
    """A few damped Newton steps on the intercepts alone."""
    value = np.inf
    step, t = np.zeros(len(b)), 1.0
    for _ in range(30):
        new = b + t * step
        log_p = log_softmax(scores + new)
        loss = -float(np.sum(c[:, None] * Y * log_p))
        if loss > value:
            t *= 0.5
            continue
        b, value, t, P = new, loss, 1.0, np.exp(log_p)
        g = (c @ (P - Y))[used]
        if np.max(np.abs(g), initial=0.0) <= 1e-14 * c.sum():
            break
        H = np.diag(c @ P[:, used]) - (P[:, used] * c[:, None]).T @ P[:, used]
        step = np.zeros(len(b))
        step[used] = -np.linalg.lstsq(H, g, rcond=1e-12)[0]
    return b


def _orthogonal(X, Q, Y, c, used, free) -> np.ndarray:
    """Without a penalty the dual constraint is an equality: one Newton step in the linearised probabilities meets it."""
    Z = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    Z = np.hstack([Z, np.ones((len(c), 1))]) if free else Z
    m = Z.shape[1]
    H = np.empty((len(used), m, len(used), m))
    for i, k in enumerate(used):
        for j, other in enumerate(used):
            weight = c * (Q[:, k] * (k == other) - Q[:, k] * Q[:, other])
            H[i, :, j, :] = (Z * weight[:, None]).T @ Z
    g = (Z.T @ (c[:, None] * (Q - Y)[:, used])).T.ravel()
    size = len(used) * m
    H = H.reshape(size, size)
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    step = -np.linalg.lstsq(H / np.outer(scale, scale), g / scale, rcond=1e-13)[0] / scale
    V = np.zeros_like(Q)
    V[:, used] = Z @ step.reshape(len(used), m).T
    return Q + Q * (V - np.sum(Q * V, axis=1, keepdims=True))
