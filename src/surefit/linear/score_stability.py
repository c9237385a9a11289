"""Bounds on the distance of the scores of classifiers and support vector regressors from those of the exact optimum."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import softmax
from sklearn.utils import check_array

from surefit.core.sample import Data, read
from surefit.core.stability import PredictionStability
from surefit.problems.labels import class_codes
from surefit.problems.terms import loss_term

MARGIN = 1 + 1e-9  # allowance for rounding errors of norms
ANCHORS = 16  # number of training rows from which bounds are extended to other rows


def score_stability(model, X, y, X_new=None, sample_weight=None) -> PredictionStability:
    r"""Bound the distance of each score from that of the exact optimum.

    With the proved gap :math:`g`, :math:`\|w - w^*\| \le \rho = \sqrt{2g / l_2}`. Write the score as
    :math:`(x - \bar x)^\top w + \beta`. The error of :math:`w` changes the score of row :math:`i` by at most
    :math:`\rho_i = \rho\|x_i - \bar x\|`. Derivatives of the loss increase with the score, so the optimal intercept
    lies between the roots :math:`t` of :math:`\sum_i c_i \phi'(z_i \pm \rho_i + t) = 0`. With several classes (one
    against the rest), the bound refers to the difference between the two largest scores. Without strong convexity (no
    l2 penalty) the bounds are infinite. Multinomial models: see :func:`multinomial_stability`.
    """
    certificate = model.certificate_
    problem = certificate.problem
    findings = certificate.verify(X, y, sample_weight=sample_weight)
    if problem["loss"] == "softmax":
        gap, new = findings["linear.gap"].proved, None if X_new is None else read(X_new).X
        return multinomial_stability(model, read(X, y, sample_weight), gap, new)
    train, gap, l2 = as_rows(X), findings["linear.gap"].proved, problem["penalty"]["l2"]
    rows = train if X_new is None else as_rows(X_new)
    mean = np.asarray(train.mean(axis=0), dtype=np.float64).ravel()
    own, new = _distances(train, mean), _distances(rows, mean)
    loss = loss_term(problem["loss"])
    loss = loss._replace(**{name: problem[name] for name in loss._fields})
    targets, c = _targets(problem, np.asarray(y), sample_weight, train.shape[0])
    scores, bounds = [], []
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    rho = math.sqrt(2 * gap / l2) * MARGIN if l2 > 0 and math.isfinite(gap) else math.inf
    for target, w, offset in zip(targets, W, b, strict=True):
        scores.append(np.asarray(rows @ w).ravel() + offset)
        if rho == math.inf:
            bounds.append(np.full(rows.shape[0], np.inf))
            continue
        shift = 0.0
        if problem["fit_intercept"]:
            z = np.asarray(train @ w).ravel() + offset
            shift = max(abs(_offset(loss, target, c, z, rho * own, sign)) for sign in (-1.0, 1.0))
        bounds.append((rho * new + shift) * MARGIN)
    if len(scores) == 1:
        return PredictionStability(scores[0], bounds[0])
    S, B = np.array(scores), np.array(bounds)
    first, second = np.argsort(-S, axis=0, kind="stable")[:2]
    at = np.arange(S.shape[1])
    return PredictionStability(S[first, at] - S[second, at], B[first, at] + B[second, at])


def as_rows(X):
    """Return the rows as a float array or sparse matrix."""
    return check_array(X, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32], ensure_all_finite=False)


def _targets(problem: dict, y: np.ndarray, sample_weight, n: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the target of each score, and the weights of the rows."""
    c = (np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)) * problem["strength"]
    if problem["classes"] is None:
        return [np.asarray(y, dtype=np.float64).ravel()], c
    codes = class_codes(y, problem["classes"])
    positives = [1] if len(problem["classes"]) == 2 else range(len(problem["classes"]))
    return [np.where(codes == k, 1.0, -1.0) for k in positives], c * np.asarray(problem["class_weights"])[codes]


def multinomial_stability(model, data: Data, gap: float, X_new=None) -> PredictionStability:
    r"""Bound the distance of each lead (largest minus second-largest score) from that of the exact optimum.

    With the probabilities :math:`P_i` of the model and :math:`P_i^*` of the optimum,
    :math:`\sum_i c_i \mathrm{KL}(P_i^* \| P_i)` is at most the gap :math:`g`. By Pinsker's inequality, no probability
    of training row :math:`i` differs by more than :math:`\sqrt{g / 2c_i}`, which bounds every lead
    :math:`f_a - f_b = \ln (P_a / P_b)` of that row. From a training row to any other row, a lead changes by
    :math:`(x - x_i)^\top (w_a - w_b)`, which is known up to :math:`\sqrt2 \|x - x_i\| \sqrt{2g / l_2}`. For each pair
    of classes, the smallest bound over several training rows is used. The bound of a training row from its own
    probabilities requires no l2 penalty.
    """
    problem = model.certificate_.problem
    factors = problem["penalty"]["factors"]
    l2 = problem["penalty"]["l2"] * (1.0 if factors is None else min(factors))
    c = _targets(problem, data.target, data.weights, data.X.shape[0])[1]
    rows = data.X if X_new is None else X_new
    own, scores = (np.asarray(model.decision_function(X), dtype=np.float64) for X in (data.X, rows))
    first, second = np.argsort(-scores, axis=1, kind="stable")[:, :2].T
    at = np.arange(len(scores))
    leads, bounds = scores[at, first] - scores[at, second], np.full(len(scores), np.inf)
    reach = math.sqrt(4 * gap / l2) * MARGIN if l2 > 0 else math.inf
    with np.errstate(divide="ignore"):
        error = np.sqrt(gap / (2 * c)) * MARGIN
    P = softmax(own, axis=1)
    for a, b in {(int(i), int(j)) for i, j in zip(first, second, strict=True)}:
        chosen = np.flatnonzero((first == a) & (second == b))
        known = _known_leads(P[:, a], P[:, b], error, own[:, a] - own[:, b])
        found = known[chosen] if X_new is None else np.full(len(chosen), np.inf)
        for i in np.argsort(known, kind="stable")[:ANCHORS] if l2 > 0 else ():
            anchor = data.X[[i]]
            anchor = np.asarray(anchor.toarray() if hasattr(anchor, "toarray") else anchor, dtype=np.float64).ravel()
            found = np.minimum(found, known[i] + reach * _distances(rows[chosen], anchor))
        bounds[chosen] = found * MARGIN
    return PredictionStability(leads, bounds)


def _known_leads(p: np.ndarray, q: np.ndarray, error: np.ndarray, lead: np.ndarray) -> np.ndarray:
    """Bound the distance of ``lead`` from the true log ratio if ``p`` and ``q`` have errors of at most ``error``."""
    with np.errstate(divide="ignore"):
        most = np.log(np.minimum(p + error, 1.0)) - np.log(np.maximum(q - error, 0.0))
        least = np.log(np.maximum(p - error, 0.0)) - np.log(np.minimum(q + error, 1.0))
    return np.maximum(most - lead, lead - least)


def _distances(X, mean: np.ndarray) -> np.ndarray:
    if hasattr(X, "multiply"):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * np.asarray(X @ mean).ravel() + mean @ mean
        return np.sqrt(np.maximum(squares, 0.0)) * (1 + 1e-7) + 1e-7 * np.sqrt(mean @ mean)
    return np.linalg.norm(np.asarray(X, dtype=np.float64) - mean, axis=1)


def _offset(loss, y: np.ndarray, c: np.ndarray, z: np.ndarray, reach: np.ndarray, sign: float) -> float:
    """Bound the shift of the intercept in direction ``sign`` for which the derivatives can sum to zero."""

    def surely_beyond(t: float) -> bool:
        # smallest possible shift of each score: beyond the bound, even these derivatives sum to the sign of the direction
        return sign * float(np.sum(c * loss.gradient(y, z + sign * t - sign * reach))) > 0.0

    step = 1e-6 + float(np.max(reach, initial=0.0))
    while not surely_beyond(step):
        step *= 2
        if step > 1e12:
            return math.inf
    low, high = 0.0, step
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if surely_beyond(middle) else (middle, high)
    return high
