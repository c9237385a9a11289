r"""Sequential minimal optimization with a fixed sum for each sign, for nu-SVMs whose kernel matrix fits into the cache.

.. math:: \min_{a}\ \tfrac12 \beta^\top K \beta - y^\top \beta, \qquad \beta_r = \sum_{p:\ r_p = r} t_p a_p, \quad 0 \le a_p \le s_p,
    \quad \sum_{t_p = 1} a_p = \sum_{t_p = -1} a_p = T / 2.

A step moves weight between two variables of the same sign, which preserves both sums: the variable with the smallest
derivative, and the partner chosen by second-order information. A regression has two variables per row, one of each
sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.solvers.smo.inner import TINY
from surefit.solvers.smo.minimize import FEW, DualFit
from surefit.solvers.smo.nu import TIGHT, Judged
from surefit.solvers.smo.rows import LinearRows

PAIRS = "pairs within each sign"
STEPS = 4000  # steps between two checks of the budget
ROUNDS = 40
MOST_ROWS = 4000  # for more rows, a search over problems with working sets is faster
MOST_LINEAR = 1500  # with a linear kernel, where Newton's method solves these problems
SHARPER = 0.1  # factor for the tolerance after each round with many rows
SHARPEST = 1e-3  # largest factor with few rows, where a round is short


class Signed(NamedTuple):
    """Variables of the dual, those of positive sign first."""

    rows: np.ndarray
    high: np.ndarray
    n_up: int  # number of positive signs


def fits(gram: Any, megabytes: float) -> bool:
    """Return whether the kernel matrix fits into the cache and is small enough for this method."""
    most = MOST_LINEAR if isinstance(gram, LinearRows) else MOST_ROWS
    return gram.n <= most and 8.0 * gram.n**2 <= megabytes * 2**20


def solve(
    gram: Any,
    y: np.ndarray,
    variables: Signed,
    total: float,
    judge: Callable[[np.ndarray, np.ndarray], Judged],
    tol: float,
    budget: Budget,
) -> tuple[Judged, DualFit]:
    """Minimize until the gap is small, progress stalls, or the budget is spent; return the best point and how it was found."""
    n = len(y)
    up, K = variables.n_up, gram.block(np.arange(n))
    a = np.concatenate([filled(part, total / 2) for part in (variables.high[:up], variables.high[up:])])
    goal = tol if n > FEW else min(tol, TIGHT)
    beta, scores = _function(K, variables, a)
    best, steps, history = None, 0, []
    floor = TINY * float(np.max(np.diagonal(K)))
    tolerance = 0.01 * float(np.ptp(scores - y))
    rounding = 1e-12 * tolerance
    reason: Reason | None = None
    for _ in range(ROUNDS):
        v = scores - y
        done = _move(K, v, a, variables.high, variables.rows, variables.n_up, tolerance, STEPS, floor)
        steps += done
        beta, scores = _function(K, variables, a)
        found = judge(beta, scores)
        if done < STEPS:  # the violation is below the tolerance
            tolerance *= _sharper(found, goal) if n <= FEW else SHARPER
        best = found if best is None else min(best, found, key=lambda judged: judged.point.gap)
        history.append((budget.seconds, steps, best.point.gap))
        reason = budget.spent(steps, best.point.gap)
        if reason is not None or best.point.gap <= goal * best.point.primal < np.inf or tolerance < rounding:
            break
    assert best is not None
    met = best.point.gap <= tol * best.point.primal < np.inf
    return best, DualFit(best.point, Reason.CONVERGED if met else reason or Reason.STALLED, steps, history, (PAIRS,))


def _sharper(found: Judged, goal: float) -> float:
    """Return the factor for the tolerance after which the gap, which is proportional to it, is about half the goal."""
    gap = found.point.gap
    return min(SHARPEST, 0.5 * goal * found.point.primal / gap) if 0.0 < gap < np.inf else SHARPEST


def filled(high: np.ndarray, total: float) -> np.ndarray:
    """Return variables with sum ``total``: the first ones at their upper bounds, at most one below, the others zero."""
    return np.clip(total - (np.cumsum(high) - high), 0.0, high)


def _function(K: np.ndarray, variables: Signed, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    beta = np.zeros(len(K))
    up = variables.n_up
    np.add.at(beta, variables.rows[:up], a[:up])
    np.subtract.at(beta, variables.rows[up:], a[up:])
    return beta, K @ beta


@compiled(relaxed=True)
def _move(K, v, a, high, rows, n_up, tolerance, max_steps, floor):
    """Move weight between pairs of equal sign until no pair violates optimality by more than ``tolerance``; return the steps."""
    diagonal = np.empty(len(v))
    for k in range(len(v)):
        diagonal[k] = K[k, k]
    for step in range(max_steps):
        best_i, best_j, best_value, worst = -1, -1, 0.0, 0.0
        for side in range(2):
            first, last, sign = (0, n_up, 1.0) if side == 0 else (n_up, len(a), -1.0)
            i, least = -1, np.inf
            for p in range(first, last):
                slope = sign * v[rows[p]]
                if a[p] < high[p] and slope < least:
                    least, i = slope, p
            if i < 0:
                continue
            row, own = K[rows[i]], diagonal[rows[i]]
            for p in range(first, last):
                fall = sign * v[rows[p]] - least
                if a[p] > 0.0 and fall > 0.0:
                    worst = max(worst, fall)
                    curvature = max(own + diagonal[rows[p]] - 2.0 * row[rows[p]], floor)
                    value = fall * fall / curvature
                    if value > best_value:
                        best_value, best_i, best_j = value, i, p
        if best_i < 0 or worst <= tolerance:
            return step
        i, j = rows[best_i], rows[best_j]
        sign = 1.0 if best_i < n_up else -1.0
        size = sign * (v[j] - v[i]) / max(K[i, i] + K[j, j] - 2.0 * K[i, j], floor)
        room_i, room_j = high[best_i] - a[best_i], a[best_j]
        size = min(size, room_i, room_j)
        a[best_i] = high[best_i] if size == room_i else a[best_i] + size
        a[best_j] = 0.0 if size == room_j else a[best_j] - size
        up, down = K[i], K[j]
        for k in range(len(v)):
            v[k] += sign * size * (up[k] - down[k])
    return max_steps
