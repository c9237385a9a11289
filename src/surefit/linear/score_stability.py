"""How far the scores of a fitted classifier or tube regression can be from those of the exact optimum, row by row."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks import multinomial
from surefit.checks.base import Data, read
from surefit.checks.linear_scores import columns_of, prove
from surefit.checks.score_losses import dual_numbers
from surefit.core.stability import PredictionStability

MARGIN = 1 + 1e-9  # for the rounding of norms
ANCHORS = 16  # training rows that may answer for others


def score_stability(model, X, y, X_new=None, sample_weight=None) -> PredictionStability:
    r"""Bound the distance of each score from that of the exact optimum.

    With the proved gap :math:`g`, :math:`\|w - w^*\| \le \rho = \sqrt{2g / l_2}`. Write the score as :math:`(x - \bar x)^\top w + \beta`.
    Row :math:`i` moves by at most :math:`\rho_i = \rho\|x_i - \bar x\|` through :math:`w`; slopes grow with the score, so the offset
    of the optimum lies between the roots :math:`t` of :math:`\sum_i c_i \phi'(z_i \pm \rho_i + t) = 0`. Several classes (one against the
    rest) are judged by the lead of the first class over the second. Without strong convexity (no l2 penalty) bounds are infinite.
    Multinomial models: see :func:`multinomial_stability`.
    """
    certificate = model.certificate_
    problem = certificate.problem
    certificate.verify(X, y, sample_weight=sample_weight)
    data = read(X, y, sample_weight)
    if len(np.atleast_2d(model.coef_)) > 1 and problem["loss"] == "logistic":
        return multinomial_stability(model, data, None if X_new is None else read(X_new).X)
    rows = data.X if X_new is None else read(X_new).X
    mean = np.asarray(data.X.mean(axis=0), dtype=np.float64).ravel()
    own, new = _distances(data.X, mean), _distances(rows, mean)
    scores, bounds = [], []
    for column, proof in zip(columns_of(certificate, data), prove(certificate, data), strict=True):
        z = np.asarray(data.X @ column.w).ravel() + column.b
        scores.append(np.asarray(rows @ column.w).ravel() + column.b)
        if problem["l2"] == 0.0 or not math.isfinite(proof.gap):
            bounds.append(np.full(rows.shape[0], np.inf))
            continue
        rho = math.sqrt(2 * proof.gap / problem["l2"]) * MARGIN
        shift = 0.0
        if problem["fit_intercept"]:
            shift = max(abs(_offset(problem, column, z, rho * own, sign)) for sign in (-1.0, 1.0))
        bounds.append((rho * new + shift) * MARGIN)
    if len(scores) == 1:
        return PredictionStability(scores[0], bounds[0])
    S, B = np.array(scores), np.array(bounds)
    first, second = np.argsort(-S, axis=0, kind="stable")[:2]
    at = np.arange(S.shape[1])
    return PredictionStability(S[first, at] - S[second, at], B[first, at] + B[second, at])


def multinomial_stability(model, data: Data, X_new=None) -> PredictionStability:
    r"""Bound the distance of each lead, first score less second, from that of the exact optimum.

    The dual is strongly concave: at the optimum no probability of training row :math:`i` differs from the certified dual point
    :math:`Q_i` by more than :math:`\sqrt{g / 2c_i}` (Pinsker), which bounds every lead :math:`f_a - f_b = \ln (P_a / P_b)` there. From a
    training row to any other row a lead changes by :math:`(x - x_i)^\top (w_a - w_b)`, known up to
    :math:`\sqrt2 \|x - x_i\| \sqrt{2g / l_2}`. The best of several training rows is taken for each pair of classes; a training row may
    also answer for itself, which needs no l2 penalty.
    """
    proof, l2 = multinomial.prove(model.certificate_, data), model.certificate_.problem["l2"]
    rows = data.X if X_new is None else X_new
    own, scores = (np.asarray(model.decision_function(X), dtype=np.float64) for X in (data.X, rows))
    first, second = np.argsort(-scores, axis=1, kind="stable")[:, :2].T
    at = np.arange(len(scores))
    leads, bounds = scores[at, first] - scores[at, second], np.full(len(scores), np.inf)
    reach = math.sqrt(4 * proof.gap / l2) * MARGIN if l2 > 0 else math.inf
    with np.errstate(divide="ignore"):
        error = np.sqrt(proof.gap / (2 * proof.weights)) * MARGIN
    for a, b in {(int(i), int(j)) for i, j in zip(first, second, strict=True)}:
        chosen = np.flatnonzero((first == a) & (second == b))
        known = _known_leads(proof.dual[:, a], proof.dual[:, b], error, own[:, a] - own[:, b])
        found = known[chosen] if X_new is None else np.full(len(chosen), np.inf)
        for i in np.argsort(known, kind="stable")[:ANCHORS] if l2 > 0 else ():
            anchor = data.X[[i]]
            anchor = np.asarray(anchor.toarray() if hasattr(anchor, "toarray") else anchor, dtype=np.float64).ravel()
            found = np.minimum(found, known[i] + reach * _distances(rows[chosen], anchor))
        bounds[chosen] = found * MARGIN
    return PredictionStability(leads, bounds)


def _known_leads(p: np.ndarray, q: np.ndarray, error: np.ndarray, lead: np.ndarray) -> np.ndarray:
    """Return how far ``lead`` can be from ``log(p / q)`` if both probabilities may be off by ``error``."""
    with np.errstate(divide="ignore"):
        most = np.log(np.minimum(p + error, 1.0)) - np.log(np.maximum(q - error, 0.0))
        least = np.log(np.maximum(p - error, 0.0)) - np.log(np.minimum(q + error, 1.0))
    return np.maximum(most - lead, lead - least)


def _distances(X, mean: np.ndarray) -> np.ndarray:
    if hasattr(X, "multiply"):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * np.asarray(X @ mean).ravel() + mean @ mean
        return np.sqrt(np.maximum(squares, 0.0)) * (1 + 1e-7) + 1e-7 * np.sqrt(mean @ mean)
    return np.linalg.norm(np.asarray(X, dtype=np.float64) - mean, axis=1)


def _offset(problem, column, z: np.ndarray, reach: np.ndarray, sign: float) -> float:
    """Farthest offset on the side of ``sign`` at which the slopes can still sum to zero; an outer bound."""

    def surely_beyond(t: float) -> bool:
        # minus the slopes, at the scores that move as little as possible in this direction: all of one sign beyond
        return sign * float(np.sum(column.weights * dual_numbers(exact, column.y, z + sign * t - sign * reach))) < 0.0

    exact = {**problem, "width": 0.0}
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
