r"""Bounds on the suboptimality for :math:`P(w, b) = \sum_i c_i\phi(y_i, z_i) + l_1\|w\|_1 + \frac{l_2}{2}\|w\|^2`.

The negative derivatives of the loss, times :math:`c_i`, are a dual point under two conditions. With an intercept, their
sum must be zero; without an l2 term, they must be scaled into the box of the l1 norm. The derivatives are evaluated at
the point, or at a second one closer to the optimum. Kinks are smoothed with several widths, and the best bound is used.
All losses here are non-negative, so :math:`P` itself is always a bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled
from surefit.losses import EpsilonInsensitive, Hinge, PerceptronLoss, fenchel_conjugate, lipschitz, slope, value
from surefit.solvers.newton.terms import SmoothedHinge, SmoothedTube, score_terms
from surefit.solvers.sgd.refinement import refined_dual_point

ROWS = 8192  # rows converted to float64 at a time
BANDS = (0.25, 1.0, 4.0)  # smoothing widths to try for a kink, in units of the margin or of the residuals


class Distance(NamedTuple):
    """Upper bound on ``P - min P``, and how it was proved."""

    gap: float
    objective: float
    width: float  # smoothing width; 0: no smoothing
    point: np.ndarray | None = (
        None  # weights and intercept at which the derivatives were evaluated; None: the point itself
    )


def distance_to_optimum(X, y, c, w, b: float, loss, l1: float, l2: float, intercept: bool) -> Distance:
    """Bound ``P(w, b) - min P``."""
    z = _scores(X, w) + b
    penalty = l1 * float(np.sum(np.abs(w))) + 0.5 * l2 * float(w @ w)
    objective = float(_loss_sum(loss, y, z, c)) + penalty
    best = Distance(objective, objective, 0.0)  # the loss is non-negative; the zero weights of a perceptron attain zero
    if isinstance(loss, PerceptronLoss) or (l1 == 0.0 and l2 == 0.0) or not np.isfinite(objective):
        return best
    widths, terms = _smoothings(loss, y, z)
    points: list[np.ndarray | None] = [None]
    if l1 == 0.0:
        other = refined_dual_point(X, y, c, w, b, terms[len(terms) // 2], l2, intercept)
        points = [None] if other is None else [None, other]
    for point in points:
        at = z if point is None else _scores(X, point[:-1]) + point[-1]
        duals = np.empty((len(widths), len(y)))
        for dual, term in zip(duals, terms, strict=True):
            if isinstance(term, (SmoothedHinge, SmoothedTube)):
                _smoothed_duals(term, y, at, c, dual)
            else:
                _duals(term, y, at, c, dual)
            if intercept:
                _balance(dual, c, float(lipschitz(loss)))
        for width, dual, v in zip(widths, duals, _correlations(X, duals), strict=True):
            scale = 1.0
            if l2 == 0.0:
                scale = min(1.0, l1 / max(float(np.max(np.abs(v), initial=0.0)), 1e-300))
            gap = penalty + float(_young_sum(loss, y, z, c, scale * dual)) - scale * float(v @ w)
            if l2 > 0.0:
                gap += float(np.sum(np.maximum(np.abs(v) - l1, 0.0) ** 2)) / (2 * l2)
            if gap < best.gap:
                best = Distance(max(gap, 0.0), objective, width, point)
    return best


def _smoothings(loss, y, z) -> tuple[list[float], list[Any]]:
    if isinstance(loss, Hinge):
        return list(BANDS), [SmoothedHinge(width) for width in BANDS]
    if isinstance(loss, EpsilonInsensitive):
        spread = float(np.mean(np.abs(y - z))) or 1.0
        widths = [spread * band for band in BANDS]
        return widths, [SmoothedTube(float(loss.epsilon), width) for width in widths]
    return [0.0], [loss]


def _balance(dual: np.ndarray, c: np.ndarray, largest: float) -> None:
    """Make the sum zero: distribute the excess over rows between their bounds, or scale the larger side if this is not possible."""
    size = np.abs(dual)
    room = np.minimum(size, largest * c - size) if np.isfinite(largest) else size
    excess, total = float(np.sum(dual)), float(np.sum(room))
    if total >= 4 * abs(excess):
        if excess != 0.0:
            dual -= room * (excess / total)
        return
    up, down = float(np.sum(dual[dual > 0])), -float(np.sum(dual[dual < 0]))
    dual[(dual > 0) == (up > down)] *= min(up, down) / max(up, down)


def _scores(X, w: np.ndarray) -> np.ndarray:
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ w, dtype=np.float64).ravel()
    return np.concatenate([X[i : i + ROWS].astype(np.float64) @ w for i in range(0, X.shape[0], ROWS)])


def _correlations(X, duals: np.ndarray) -> np.ndarray:
    """Return ``X' theta`` for every row ``theta``."""
    if sparse.issparse(X):
        return np.asarray((X.T @ duals.T).T)
    if X.dtype == np.float64:
        return duals @ X
    total = np.zeros((len(duals), X.shape[1]))
    for i in range(0, X.shape[0], ROWS):
        total += duals[:, i : i + ROWS] @ X[i : i + ROWS].astype(np.float64)
    return total


@compiled
def _loss_sum(loss, y, z, c):
    total = 0.0
    for i in range(len(y)):
        total += c[i] * value(loss, y[i], z[i])
    return total


@compiled
def _duals(loss, y, z, c, out):
    for i in range(len(y)):
        out[i] = -c[i] * slope(loss, y[i], z[i])


@compiled
def _smoothed_duals(term, y, z, c, out):
    for i in range(len(y)):
        out[i] = -c[i] * score_terms(term, y[i], z[i])[1]


@compiled
def _young_sum(loss, y, z, c, theta):
    """Return the sum of ``c (value + fenchel_conjugate(-q)) + theta z``, with ``q = theta / c`` clipped to the derivatives of the loss."""
    total, largest = 0.0, lipschitz(loss)
    for i in range(len(y)):
        if c[i] > 0.0:
            q = min(max(theta[i] / c[i], -largest), largest)
            total += c[i] * (value(loss, y[i], z[i]) + fenchel_conjugate(loss, y[i], -q) + q * z[i])
    return total
