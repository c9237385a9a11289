r"""Newton's method for :math:`\tfrac12 \|f\|^2 + \sum_i c_i \ln(1 + e^{-t_i (f(x_i) + b)})` in an RKHS.

A Newton step is a weighted kernel ridge problem: with :math:`\theta_i = c_i t_i \sigma(-t_i m_i)` and
:math:`w_i = c_i \sigma(m_i) \sigma(-m_i)` at the scores :math:`m`, the targets are :math:`m + \theta / w` and the weights :math:`w`.
The vector :math:`\theta` is dual feasible once its sum is zero, and the gap is
:math:`\tfrac12 (\beta - \theta)^\top K (\beta - \theta)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from surefit.core.budget import Budget, Reason
from surefit.solvers.kernel import squares as kernel_squares

LEAST_WEIGHT = 1e-12  # smallest weight of a row in a step, relative to its :math:`c_i`


class LogisticFit(NamedTuple):
    """Coefficients, intercept, gap and objective, and how they were found."""

    beta: np.ndarray
    b: float
    gap: float
    objective: float
    square: float
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]


class _Point(NamedTuple):
    beta: np.ndarray
    f: np.ndarray  # K beta
    b: float
    objective: float


def minimize(
    K: np.ndarray, t: np.ndarray, c: np.ndarray, *, offset: bool, tol: float, budget: Budget, start: np.ndarray | None
) -> LogisticFit:
    """Minimize until the gap is at most ``tol`` times the objective, the budget is spent, or rounding limits progress."""
    zero = np.zeros(len(t))
    point = _at(zero, zero, t, c, offset)
    if start is not None:
        point = min(point, _at(start, K @ start, t, c, offset), key=lambda p: p.objective)
    best, gap, n_iter, late, history = point, _gap(K, point, t, c, offset), 0, 0, []
    while True:
        history.append((budget.seconds, n_iter, gap))
        if gap <= tol * best.objective:
            reason: Reason | None = Reason.CONVERGED
        elif late >= 3:
            reason = Reason.STALLED
        else:
            reason = budget.spent(n_iter, gap)
        if reason is not None:
            square = float(best.beta @ best.f)
            return LogisticFit(best.beta, best.b, gap, best.objective, square, n_iter, reason, history)
        last, point = point.objective, _step(K, point, t, c, offset)
        n_iter += 1
        now = _gap(K, point, t, c, offset)
        late = 0 if now < 0.9 * gap or point.objective < last * (1 - 1e-9) else late + 1
        if now < gap:
            best, gap = point, now


def _at(beta, f, t, c, offset: bool) -> _Point:
    b = best_offset(f, t, c) if offset else 0.0
    objective = 0.5 * max(float(beta @ f), 0.0) + float(c @ np.logaddexp(0.0, -t * (f + b)))
    return _Point(beta, f, b, objective)


def best_offset(f: np.ndarray, t: np.ndarray, c: np.ndarray) -> float:
    """Return the optimal intercept for the scores ``f``, at which the dual point sums to zero."""
    ratio = float(np.log(c[t > 0].sum() / c[t < 0].sum()))
    radius = float(np.max(np.abs(f))) + 1e-3

    def total(b: float) -> float:
        return float(np.sum(c * t * expit(-t * (f + b))))

    return float(brentq(total, ratio - radius, ratio + radius, xtol=1e-15, rtol=1e-15, maxiter=500))


def dual_point(f: np.ndarray, b: float, t: np.ndarray, c: np.ndarray, offset: bool) -> np.ndarray:
    """Return theta at these scores; with an intercept, its larger side is scaled so that the sum is zero."""
    theta = c * t * expit(-t * (f + b))
    if offset:
        up, down = float(theta[t > 0].sum()), -float(theta[t < 0].sum())
        least = min(up, down)
        theta = theta * np.where(t > 0, least / up if up else 0.0, least / down if down else 0.0)
    return theta


def _gap(K, point: _Point, t, c, offset: bool) -> float:
    theta = dual_point(point.f, point.b, t, c, offset)
    v = point.beta - theta
    p = expit(-t * (point.f + point.b))
    moved = np.abs(theta) / c - p  # change by the scaling, relative to c; its square bounds the effect on the gap
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(moved == 0.0, 0.0, c * moved**2 / (p * (1 - p)))
    return 0.5 * square_norm(K, v) + float(np.sum(cost))


def square_norm(K: np.ndarray, V: np.ndarray) -> float:
    """Return the sum of the squared norms of the functions with these coefficients, rounded up."""
    size = np.sqrt(np.maximum(K.diagonal(), 0.0)) @ np.abs(V)
    noise = (len(K) + 2) * np.finfo(np.float64).eps * float(np.sum(size**2))
    return max(float(np.vdot(V, K @ V)), 0.0) + noise


def _step(K, point: _Point, t, c, offset: bool) -> _Point:
    m = point.f + point.b
    theta, p = c * t * expit(-t * m), expit(m)
    w = np.maximum(c * p * (1 - p), LEAST_WEIGHT * c)
    free = kernel_squares.free_functions(np.ones((len(w), int(offset))), w)
    target, _ = kernel_squares.minimize(K, (m + theta / w)[:, None], w, 1.0, free)
    direction = target[:, 0] - point.beta
    image = K @ direction
    size = 1.0
    for _ in range(40):
        new = _at(point.beta + size * direction, point.f + size * image, t, c, offset)
        if new.objective <= point.objective or not np.any(direction):
            break
        size /= 2
    return _at(new.beta, K @ new.beta, t, c, offset)  # recompute, because accumulated steps lose accuracy
