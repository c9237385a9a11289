r"""Newton's method for few dense rows, with one compiled loop for all steps at each width of the smoothed loss.

The problem and the gap are those of :mod:`surefit.solvers.newton.minimize` with one score and an :math:`l_2` penalty.
On few rows, the overhead of a step in Python exceeds the time of its arithmetic.
"""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.solvers.newton.minimize import SHARPER, Fit
from surefit.solvers.newton.rows import Rows
from surefit.solvers.newton.scalar_scores import (
    ScalarScores,
    loss_along,
    loss_terms,
    young_sum,
)

MOST_WORK = 500_000  # limit on the number of rows times the squared number of columns
MOST_STEPS = 100  # problems that need more steps use the general solver
NARROWEST = 1e-9
RIDGE = 1e-12  # keeps a step finite if all curvatures are zero
BACKTRACKS = 30


def fit_few_rows(
    rows: Rows, scores: ScalarScores, l2: float, intercept: bool, tolerance: float, budget: Budget
) -> Fit | None:
    """Fit from zero coefficients; return None if the rows are sparse or too many, or if too many steps are needed."""
    n, d = rows.shape
    if rows.sparse or n * d * d > MOST_WORK:
        return None
    A, loss = np.ones((n, d + intercept)), scores.loss
    A[:, :d] = rows.X
    w, penalties = np.zeros(d + intercept), np.full(d + intercept, float(l2))
    penalties[d:] = 0.0
    history: list[tuple[float, int, float]] = []
    n_iter, best = 0, None
    watched = budget.on_progress is not None or budget.max_time is not None
    while True:
        most = MOST_STEPS - n_iter if budget.max_iter is None else min(MOST_STEPS, budget.max_iter) - n_iter
        if intercept:
            shift = scores.best_shift((A @ w)[:, None])[0]
            w[d] += shift if np.isfinite(shift) else 0.0
        steps, gap, slack, value = _descend(
            scores.loss, A, scores.y, scores.weights, penalties, tolerance, 1 if watched else most, w
        )
        n_iter += steps
        history.append((budget.seconds, n_iter, gap))
        if best is None or gap <= best.gap:
            b = w[d:].copy() if intercept else np.zeros(1)
            best = Fit(w[None, :d].copy(), b, gap, value, n_iter, Reason.CONVERGED, history, scores.width, False, None)
        reason = Reason.CONVERGED if best.gap <= tolerance else budget.spent(n_iter, gap)
        if reason is not None:
            return best._replace(n_iter=n_iter, reason=reason)
        width, sharper = scores.width, slack > 0.5 * tolerance and gap - slack <= 0.5 * slack
        if sharper:  # the smoothing error is quadratic in the width
            width *= min(max(np.sqrt(0.3 * max(tolerance, 1e-300) / slack), SHARPER), 0.5)
            scores.sharpen(width)
        if n_iter >= MOST_STEPS or (steps == 0 and (width < NARROWEST or not sharper)):
            scores.loss = loss
            return None


@compiled
def _descend(loss, A, y, c, l2, tolerance, most, w):
    """Take up to ``most`` steps in place, until the gap is reached, smoothing dominates it, or no step decreases the objective.

    Return the number of steps, the gap, the part of it that is due to smoothing, and the objective.
    """
    n, d = A.shape
    z, v, curvatures, moves = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    gradient, step, H = np.empty(d), np.empty(d), np.empty((d, d))
    taken = 0
    while True:
        _times(A, w, z)
        value, size = loss_terms(loss, y, c, z, v, curvatures), 1e-300
        for j in range(d):
            gradient[j] = l2[j] * w[j]
            value += 0.5 * l2[j] * w[j] * w[j]
            for k in range(j + 1):
                H[j, k] = l2[j] + RIDGE if j == k else 0.0
        for i in range(n):
            size += abs(v[i])
            for j in range(d):
                gradient[j] += v[i] * A[i, j]
                if curvatures[i] != 0.0:
                    for k in range(j + 1):
                        H[j, k] += curvatures[i] * A[i, j] * A[i, k]
        slack = young_sum(loss, y, c, z, v)
        gap = slack
        for j in range(d):
            gap += 0.5 * gradient[j] ** 2 / l2[j] if l2[j] > 0.0 else 4.0 * abs(gradient[j]) / size * abs(value)
        if taken == most or gap <= tolerance or (slack > 0.5 * tolerance and gap - slack <= 0.5 * slack):
            return taken, gap, slack, value
        _solve(H, gradient, step)
        _times(A, step, moves)
        t = _step_size(loss, y, c, l2, w, step, z, moves, value)
        if t == 0.0:
            return taken, gap, slack, value
        for j in range(d):
            w[j] += t * step[j]
        taken += 1


@compiled
def _times(A, w, z):
    for i in range(len(z)):
        z[i] = 0.0
        for j in range(len(w)):
            z[i] += A[i, j] * w[j]


@compiled
def _solve(H, gradient, step):
    """Solve ``H step = -gradient`` by a Cholesky factorization, which overwrites the lower triangle of H."""
    d = len(step)
    for j in range(d):
        for k in range(j + 1):
            rest = H[j, k]
            for m in range(k):
                rest -= H[j, m] * H[k, m]
            H[j, k] = np.sqrt(max(rest, 1e-300)) if j == k else rest / H[k, k]
        rest = -gradient[j]
        for m in range(j):
            rest -= H[j, m] * step[m]
        step[j] = rest / H[j, j]
    for j in range(d - 1, -1, -1):
        for m in range(j + 1, d):
            step[j] -= H[m, j] * step[m]
        step[j] /= H[j, j]


@compiled
def _step_size(loss, y, c, l2, w, step, z, moves, value):
    """Return a step length that decreases the objective: 1, or one with a nearly zero directional derivative; 0 if there is none."""
    at, along, whole, noise = 0.0, 0.0, 0.0, 1e-15 * abs(value) * np.sqrt(len(y))
    for j in range(len(w)):
        at += l2[j] * w[j] * w[j]
        along += l2[j] * w[j] * step[j]
        whole += l2[j] * step[j] * step[j]
    low, high, at_low, at_high, first, t = 0.0, np.inf, 0.0, np.inf, 0.0, 0.0
    for trial in range(BACKTRACKS):
        total, slope = loss_along(loss, y, c, z, moves, t)
        slope += along + t * whole
        if trial == 0:
            if not slope < noise:
                return 0.0
            first, at_low, t = slope, slope, 1.0
            continue
        objective = total + 0.5 * (at + 2.0 * t * along + t * t * whole)
        near = abs(slope) <= 0.1 * abs(first) or t == 1.0
        if near and objective <= value + 1e-4 * t * first + (noise if -first < 1e3 * noise else 0.0):
            return t
        if slope < 0.0:
            low, at_low = t, slope
        else:
            high, at_high = t, slope
        if high == np.inf:
            return t
        secant = low - at_low * (high - low) / (at_high - at_low)
        t = min(max(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low))
    return low
