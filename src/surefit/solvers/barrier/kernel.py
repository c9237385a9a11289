r"""Interior-point method for a convex loss in an RKHS, with :math:`f = K\beta + Tb` and penalty :math:`\tfrac\lambda2\beta^\top K\beta`.

The columns of :math:`T` are the values of unpenalized functions, usually only the constant. With weighted derivatives
:math:`g` and curvatures :math:`W = S^2`, a Newton step solves
:math:`(\lambda I + SKS)q = S(\lambda T\,\Delta b - K\rho)`, :math:`\rho = g + \lambda\beta`; then
:math:`\lambda\,\Delta\beta = -\rho - Sq`. The matrix is at least :math:`\lambda I`, for any kernel. A dual point must
be orthogonal to :math:`T`, as it is after a full Newton step.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from surefit.core.budget import Budget, Reason
from surefit.losses import curvature, make_smoothed
from surefit.solvers.barrier.linear import balanced, best_constant, solve_definite
from surefit.solvers.barrier.path import TUNING, Result, follow
from surefit.solvers.barrier.rows import exact_total, fenchel_young, loss_terms, loss_total


def minimize_kernel(
    K, y, c, loss, strength: float, *, intercept: bool, tol: float, budget: Budget, free=None
) -> Result:
    """Minimize ``sum_i c_i loss(y_i, f_i) + strength / 2 beta' K beta`` to a gap of ``tol`` times the objective of the best constant.

    The columns of ``free`` are the values of the unpenalized functions, the constant first if ``intercept`` is True. By
    default, only the intercept is unpenalized.
    """
    make_smoothed(loss)
    y, c = np.asarray(y, dtype=np.float64), np.asarray(c, dtype=np.float64)
    T = np.ones((len(y), int(intercept))) if free is None else free
    problem = _Problem(np.asarray(K, dtype=np.float64), T, y, c, loss, float(strength), intercept)
    null = problem.null_objective()
    if null == 0.0:  # the best constant has zero loss
        return Result(problem.beta, problem.free_coef(), 0.0 * y, 0.0, 0.0, 0.0, 0, Reason.CONVERGED, [])
    reason, n_iter, history = follow(problem, null, tol * null, budget)
    b, gap = problem.free_coef(), history[-1][2]
    return Result(problem.beta, b, problem.dual(), gap, problem.objective, null, n_iter, reason, history)


class _Problem:
    mu: float
    T: np.ndarray  # values of the unpenalized functions; orthonormal columns if there are several
    triangle: np.ndarray  # the values as given are T times this matrix

    def __init__(self, K, T, y, c, loss, strength: float, intercept: bool):
        self.K, self.y, self.c, self.loss, self.strength, self.intercept = K, y, c, loss, strength, intercept
        self.T, self.triangle = np.linalg.qr(T) if T.shape[1] > 1 else (T, np.eye(T.shape[1]))
        self.only_constant = bool(intercept and T.shape[1] == 1)
        self.beta, self.b, self.f = np.zeros(len(y)), np.zeros(T.shape[1]), np.zeros(len(y))
        self.kinks = 2 * int(np.sum(c > 0)) if type(loss) not in curvature.classes else 0
        self.objective, self.floor = math.inf, 0.0

    def null_objective(self) -> float:
        """Return the objective of the best constant, and start from it."""
        constant = best_constant(self.loss, self.y, self.c) if self.intercept else 0.0
        if self.intercept:
            self.b = self.triangle[:, 0] * constant
        return float(exact_total(self.loss, self.y, self.c, np.full(len(self.y), constant)))

    def free_coef(self) -> np.ndarray:
        """Return the coefficients of the unpenalized functions as given, before orthonormalization."""
        return linalg.solve_triangular(self.triangle, self.b) if len(self.b) else self.b

    def refresh(self) -> None:
        """Recompute the function values at the rows."""
        self.f = self.K @ self.beta

    def newton(self) -> float:
        """Compute the Newton direction; return half the squared Newton decrement."""
        _, g, h = loss_terms(self.loss, self.y, self.c, self.f + self.T @ self.b, self.mu)
        self.g, self.h = g, h
        if self.floor > 0.0:
            h = np.maximum(h, self.floor * np.max(h, initial=0.0))
        rho, s = g + self.strength * self.beta, np.sqrt(h)
        M = s[:, None] * self.K * s
        M[np.diag_indices(len(s))] += self.strength
        factor = linalg.cho_factor(M, overwrite_a=True, check_finite=False)
        image = self.K @ rho
        q = -linalg.cho_solve(factor, s * image)
        weighted = s[:, None] * self.T
        inner = self.strength * linalg.cho_solve(factor, weighted)
        self.db = -solve_definite(weighted.T @ inner, self.T.T @ g + weighted.T @ q)
        q = q + inner @ self.db
        self.dbeta = -(rho + s * q) / self.strength
        self.df = self.K @ self.dbeta
        self.descent = float(rho @ self.df) + float((self.T.T @ g) @ self.db)
        return max(-0.5 * self.descent, 0.0)

    def search(self) -> bool:
        """Take a step along the direction that decreases the smoothed objective sufficiently; return False if there is none."""
        step, current = 1.0, self._value(self.beta, self.f, self.b)
        for _ in range(TUNING.halvings):
            beta, f, b = self.beta + step * self.dbeta, self.f + step * self.df, self.b + step * self.db
            if self._value(beta, f, b) <= current + TUNING.armijo * step * self.descent:
                self.beta, self.b = beta, b
                self.refresh()
                self._adapt(step > TUNING.short)
                return True
            step *= 0.5
        self._adapt(False)
        return False

    def _adapt(self, long: bool) -> None:
        """Raise the curvature floor of a smooth loss after a short or failed step, and lower it after a long one."""
        if self.kinks:
            return
        raised = max(min(10 * self.floor, 1.0), TUNING.floor)
        lowered = 0.1 * self.floor if self.floor > 0.1 * TUNING.floor else 0.0
        self.floor = lowered if long else raised

    def _value(self, beta, f, b) -> float:
        return loss_total(self.loss, self.y, self.c, f + self.T @ b, self.mu) + 0.5 * self.strength * float(beta @ f)

    def gap(self) -> float:
        """Return the smaller gap of two dual points: the derivatives, and the derivatives after the Newton step."""
        found = math.inf
        values = self.f + self.T @ self.b
        after = -(self.g + self.h * (self.df + self.T @ self.db))
        for theta in (after, -self.g) if self.kinks else (-self.g,):
            theta = self._feasible(theta)
            apart = self.beta - theta / self.strength
            penalty = 0.5 * self.strength * max(float(apart @ (self.K @ apart)), 0.0)
            gap = fenchel_young(self.loss, self.y, self.c, values, theta) + penalty
            if gap <= found:
                found, self.theta = gap, theta
        objective = self.current()  # losses are non-negative, so zero is also a dual point
        if objective < found:
            found, self.theta = objective, 0.0 * self.g
        return found

    def _feasible(self, theta: np.ndarray) -> np.ndarray:
        """Return a dual point near ``theta`` that is orthogonal to the unpenalized functions."""
        if self.only_constant:
            return balanced(theta)
        for _ in range(2):  # the second projection removes rounding errors
            moved = solve_definite(self.T.T @ (self.h[:, None] * self.T), self.T.T @ theta)
            theta = theta - self.h * (self.T @ moved)
        return theta

    def keep(self) -> None:
        """Store the point and its dual point."""
        self.kept = self.beta, self.b, self.f, self.theta

    def restore(self) -> None:
        """Restore the stored point."""
        self.beta, self.b, self.f, self.theta = self.kept
        self.objective = self.current()

    def current(self) -> float:
        """Return the objective without smoothing at the current point."""
        penalty = 0.5 * self.strength * max(float(self.beta @ self.f), 0.0)
        return float(exact_total(self.loss, self.y, self.c, self.f + self.T @ self.b)) + penalty

    def dual(self) -> np.ndarray:
        """Return the dual point of the last gap as derivatives, one per row of weight 1."""
        return np.divide(-self.theta, self.c, out=np.zeros(len(self.c)), where=self.c > 0)
