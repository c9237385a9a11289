"""How far the scores of a fitted classifier or tube regression can be from those of the exact optimum, row by row."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import read
from surefit.checks.linear_scores import columns_of, prove
from surefit.checks.score_losses import dual_numbers
from surefit.core.errors import SurefitError
from surefit.core.stability import PredictionStability

MARGIN = 1 + 1e-9  # for the rounding of norms


def score_stability(model, X, y, X_new=None, sample_weight=None) -> PredictionStability:
    r"""Bound the distance of each score from that of the exact optimum.

    With the proved gap :math:`g`, :math:`\|w - w^*\| \le \rho = \sqrt{2g / l_2}`. Write the score as :math:`(x - \bar x)^\top w + \beta`.
    Row :math:`i` moves by at most :math:`\rho_i = \rho\|x_i - \bar x\|` through :math:`w`; slopes grow with the score, so the offset
    of the optimum lies between the roots :math:`t` of :math:`\sum_i c_i \phi'(z_i \pm \rho_i + t) = 0`. Several classes (one against the
    rest) are judged by the lead of the first class over the second. Without strong convexity (no l2 penalty) bounds are infinite.
    """
    certificate = model.certificate_
    problem = certificate.problem
    certificate.verify(X, y, sample_weight=sample_weight)
    data = read(X, y, sample_weight)
    if len(np.atleast_2d(model.coef_)) > 1 and problem["loss"] == "logistic":
        raise SurefitError(
            f"{type(model).__name__}: rows of a multinomial model are covered by labels_at_risk_; bounds of scores exist for "
            "two classes and for one class against the rest."
        )
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
