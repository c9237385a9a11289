r"""Newton's method for softmax regression in an RKHS.

The objective is :math:`\tfrac12 \sum_k \|f_k\|^2 + \sum_i c_i [\ln \sum_k e^{z_{ik}} - z_{i, y_i}]`, :math:`z_{ik} = f_k(x_i) + b_k`.
With the probabilities :math:`P` and :math:`\theta = c (Y - P)` the optimum has :math:`\beta = \theta`, and the gap is
:math:`\tfrac12 \sum_k (\beta_k - \theta_k)^\top K (\beta_k - \theta_k)` once the sums of :math:`\theta` over the rows are zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.solvers.kernel.logistic import square_norm
from surefit.solvers.kernel.softmax_step import newton_step
from surefit.solvers.newton.softmax_scores import SoftmaxScores

ROUNDING = 1e-14  # relative increase of the objective that is attributed to rounding


class SoftmaxFit(NamedTuple):
    """Coefficients of the rows and intercepts, one column per class, gap and objective, and how they were found."""

    beta: np.ndarray
    b: np.ndarray
    gap: float
    objective: float
    squares: np.ndarray
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]


class _Point(NamedTuple):
    beta: np.ndarray
    F: np.ndarray  # K beta
    b: np.ndarray
    objective: float


class _Problem(NamedTuple):
    K: np.ndarray
    Y: np.ndarray  # one-hot labels, one column per class
    c: np.ndarray
    loss: SoftmaxScores
    offset: bool

    def at(self, beta: np.ndarray, F: np.ndarray, b: np.ndarray) -> _Point:
        """Return the point with the optimal intercepts, starting from ``b``."""
        if self.offset:
            b = b + self.loss.best_shift(F + b)
            b = b - b.mean()  # a constant added to all classes has no effect
        return _Point(beta, F, b, 0.5 * max(float(np.vdot(beta, F)), 0.0) + self.loss.value(F + b))

    def gap(self, point: _Point) -> float:
        """Return the bound on P - min P that the probabilities prove, after correcting their column sums."""
        P = self.loss.evaluate(point.F + point.b)[2]
        Q = with_column_sums(P, self.Y, self.c) if self.offset else P
        v = point.beta - self.c[:, None] * (self.Y - Q)
        moved = Q - P
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            near, far = moved**2 / P, Q * np.log(Q / np.where(P > 0.0, P, np.finfo(np.float64).tiny)) - moved
        cost = np.where(moved == 0.0, 0.0, np.fmin(near, far))
        return 0.5 * square_norm(self.K, v) + float(self.c @ np.maximum(cost.sum(axis=1), 0.0))

    def step(self, point: _Point, exact: bool) -> tuple[_Point, bool]:
        """Return the point after a Newton step, halved until the objective does not increase, and whether factorizations were used."""
        P = self.loss.evaluate(point.F + point.b)[2]
        rest = self.c[:, None] * (self.Y - P) - point.beta
        direction, shift, exact = newton_step(self.K, self.c, P, rest, point.beta.sum(axis=0), self.offset, exact)
        move, size = self.K @ direction, 1.0
        for _ in range(40):
            new = self.at(point.beta + size * direction, point.F + size * move, point.b + size * shift)
            if new.objective <= point.objective * (1 + ROUNDING):
                break
            size /= 2
        return self.at(new.beta, self.K @ new.beta, new.b), exact  # recompute, because accumulated steps lose accuracy


def minimize(
    K: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    c: np.ndarray,
    *,
    offset: bool,
    tol: float,
    budget: Budget,
    start: np.ndarray | None,
) -> SoftmaxFit:
    """Minimize until the gap is at most ``tol`` times the objective, the budget is spent, or rounding limits progress."""
    Y = np.zeros((len(c), n_classes))
    Y[np.arange(len(c)), codes] = 1.0
    problem = _Problem(K, Y, c, SoftmaxScores(codes, n_classes, c), offset)
    zero, none = np.zeros_like(Y), np.zeros(n_classes)
    point = problem.at(zero, zero, none)
    if start is not None:
        point = min(point, problem.at(start, K @ start, none), key=lambda p: p.objective)
    best, gap, n_iter, late, history = point, problem.gap(point), 0, 0, []
    exact = False  # conjugate gradients first, factorizations if they take too long
    while True:
        history.append((budget.seconds, n_iter, gap))
        if gap <= tol * best.objective:
            reason: Reason | None = Reason.CONVERGED
        else:
            reason = Reason.STALLED if late >= 3 else budget.spent(n_iter, gap)
        if reason is not None:
            squares = np.einsum("ij,ij->j", best.beta, best.F)
            return SoftmaxFit(best.beta, best.b, gap, best.objective, squares, n_iter, reason, history)
        last = point.objective
        with np.errstate(over="ignore", invalid="ignore"):  # a point that overflows has no gap and is rejected
            point, exact = problem.step(point, exact or late > 0)
            now = problem.gap(point)
        n_iter += 1
        late = 0 if now < 0.9 * gap or point.objective < last * (1 - 1e-9) else late + 1
        if now < gap:
            best, gap = point, now


def with_column_sums(Q: np.ndarray, Y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Mix the probabilities with a constant row so that their weighted column sums equal those of ``Y``."""
    q, lacking = c @ Q, c @ (Y - Q)
    share = float(np.max(np.maximum(-lacking, 0.0) / np.where(q > 0.0, q, 1.0)))
    return (1.0 - share) * Q + np.maximum(lacking + share * q, 0.0) / float(c.sum())
