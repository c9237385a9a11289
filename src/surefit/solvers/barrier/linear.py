r"""Primal interior-point method for a convex loss of a linear score with any penalty.

Kinks of the loss and of the penalty are smoothed by logarithmic barriers on their dual variables, so the derivatives are always strictly
feasible dual points. Newton's method minimizes the smoothed function while the weight of the barrier goes to zero. Each step costs one
product :math:`X^\top D X` (or :math:`X D X^\top`, whichever is smaller) and a Cholesky factorization.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg, sparse

from surefit.core.budget import Budget, Reason
from surefit.losses import curvature, make_smoothed
from surefit.solvers.barrier.path import TUNING, Result, follow
from surefit.solvers.barrier.penalty import PenaltyTerms, smoothed_penalty
from surefit.solvers.barrier.rows import constant_root, exact_total, fenchel_young, loss_terms, loss_total

DIGITS = 1e8  # size of the rows, relative to the penalty, above which their inner products have too few digits
FREE = 1e-7  # relative tolerance at which the correlation of an unpenalized column counts as zero


def minimize(
    X, y, c, loss, penalty: PenaltyTerms, *, intercept: bool, tol: float, budget: Budget, start=None
) -> Result:
    """Minimize ``sum_i c_i loss(y_i, x_i'w + b) + penalty(w)`` to a gap of ``tol`` times the objective of the best constant."""
    make_smoothed(loss)
    problem = _Problem(X, np.asarray(y, dtype=np.float64), np.asarray(c, dtype=np.float64), loss, penalty, intercept)
    null = problem.null_objective()
    if null == 0.0:  # the best constant has zero loss
        return Result(np.zeros(X.shape[1]), problem.b, np.zeros(len(problem.y)), 0.0, 0.0, 0.0, 0, Reason.CONVERGED, [])
    if start is not None:
        problem.start(*start)
    reason, n_iter, history = follow(problem, null, tol * null, budget)
    w, b, gap = problem.sparsified(tol * null)
    return Result(w, b, problem.dual(), gap, problem.objective, null, n_iter, reason, history)


class _Problem:
    """The smoothed problem for one weight ``mu`` of the barrier, and the current point."""

    mu: float

    def __init__(self, X, y, c, loss, penalty: PenaltyTerms, intercept: bool):
        self.columns = np.flatnonzero(penalty.used)
        self.d_all = X.shape[1]
        self.penalty = penalty.restricted(self.columns)
        self.sparse = sparse.issparse(X)
        self.X = (
            X.tocsr().astype(np.float64)[:, self.columns] if self.sparse else np.asarray(X, np.float64)[:, self.columns]
        )
        self.middle = np.zeros(len(self.columns))
        if intercept and not self.sparse and len(self.columns):  # columns far from the origin would lose digits
            self.middle = np.average(self.X, axis=0, weights=c)
            self.X = self.X - self.middle
        self.y, self.c, self.loss, self.intercept = y, c, loss, intercept
        self.sizes = self._sizes()
        self.w = np.full(len(self.columns), 1e-3) / self.sizes if penalty.positive else np.zeros(len(self.columns))
        self.b = 0.0
        self.z = self._scores(self.w, self.b)
        self.kinked = type(loss) not in curvature.classes
        self.kinks = (2 * int(np.sum(c > 0)) if self.kinked else 0) + self.penalty.kinks
        self.objective = math.inf

    def _sizes(self) -> np.ndarray:
        X: Any = self.X
        square = X.multiply(X) if self.sparse else X**2
        return np.sqrt(np.maximum(np.asarray(square.mean(axis=0)).ravel(), 1e-300))

    def _scores(self, w, b) -> np.ndarray:
        return np.asarray(self.X @ w).ravel() + b

    def start(self, w, b) -> None:
        """Start from a given point if it is inside the domain."""
        w = np.asarray(w, dtype=np.float64)[self.columns]
        if np.isfinite(smoothed_penalty(self.penalty, w, 1.0).value):
            self.w, self.b = w, float(b) + float(self.middle @ w)
            self.z = self._scores(self.w, self.b)

    def null_objective(self) -> float:
        """Return the objective of the best constant, which the same method finds for a problem without columns."""
        if not self.intercept:
            return float(exact_total(self.loss, self.y, self.c, np.zeros(len(self.y))))
        low = best_constant(self.loss, self.y, self.c)
        self.b, self.z = low, self.z + low
        return float(exact_total(self.loss, self.y, self.c, np.full(len(self.y), low)))

    # --- Newton's method --------------------------------------------------------------------------------------------------

    def newton(self) -> float:
        """Compute the Newton direction; return half the squared Newton decrement."""
        _, self.g, self.h = loss_terms(self.loss, self.y, self.c, self.z, self.mu)
        own = smoothed_penalty(self.penalty, self.w, self.mu)
        gradient = np.asarray(self.X.T @ self.g).ravel() + own.gradient
        derivative = float(np.sum(self.g)) if self.intercept else 0.0
        self.dw, self.db = self._direction(gradient, derivative, self.h, own)
        self.dz = np.asarray(self.X @ self.dw).ravel() + self.db
        self.descent = float(gradient @ self.dw) + derivative * self.db
        return max(-0.5 * self.descent, 0.0)

    def _direction(self, gradient, derivative, h, own) -> tuple[np.ndarray, float]:
        h = np.maximum(h, 1e-14 * np.max(h, initial=0.0) + 1e-300)
        n, d = self.X.shape
        if d > n and np.all(own.diagonal > 0):
            return self._short_direction(gradient, derivative, h, own)
        H = _gram(self.X, h)
        H[np.diag_indices(d)] += own.diagonal
        if own.direction is not None:
            H += np.outer(own.direction, own.direction)
        total = float(np.sum(h))
        if self.intercept:
            mean = np.asarray(self.X.T @ h).ravel() / total
            H -= total * np.outer(mean, mean)
            gradient = gradient - derivative * mean
        dw = solve_definite(H, -gradient)
        db = -derivative / total - float(mean @ dw) if self.intercept else 0.0
        return dw, db

    def _short_direction(self, gradient, derivative, h, own) -> tuple[np.ndarray, float]:
        """Return the direction by the Woodbury identity if there are fewer rows than columns."""
        D, g = own.diagonal, gradient
        Z: Any = self.X
        Z = Z.toarray() if self.sparse else Z
        if self.intercept:
            Z, D, g = np.column_stack([Z, np.ones(len(h))]), np.append(D, 1e-9 * np.sum(h)), np.append(g, derivative)
        if own.direction is not None:
            extra = np.append(own.direction, 0.0) if self.intercept else own.direction
            Z, h = np.vstack([Z, extra]), np.append(h, 1.0)
        root = np.sqrt(h)[:, None] * Z
        with np.errstate(over="ignore"):
            sizes = np.sum((root**2 / D)[:, : self.X.shape[1]], axis=1)  # without the intercept
            size = float(np.max(sizes, initial=0.0))
        if not self.kinks and DIGITS < size < math.inf:
            part, rest = np.zeros(len(h)), np.zeros(len(D))
            part[: len(self.g)], rest[: len(own.gradient)] = self.g, own.gradient
            step = _accurate_step(root, D, part / np.sqrt(h), rest)
            return (step[:-1], float(step[-1])) if self.intercept else (step, 0.0)
        inner = (root / D) @ root.T
        inner[np.diag_indices(len(inner))] += 1.0
        step = -(g / D - (root.T @ solve_definite(inner, root @ (g / D))) / D)
        return (step[:-1], float(step[-1])) if self.intercept else (step, 0.0)

    def search(self) -> bool:
        """Take a step along the direction that decreases the smoothed objective sufficiently; return False if there is none."""
        step = 1.0
        if self.penalty.positive and np.any(self.dw < 0):
            step = min(1.0, 0.95 * float(np.min(-self.w[self.dw < 0] / self.dw[self.dw < 0])))
        current = self._value(self.w, self.z)
        for _ in range(TUNING.halvings):
            w, z = self.w + step * self.dw, self.z + step * self.dz
            if self._value(w, z) <= current + TUNING.armijo * step * self.descent:
                self.w, self.b = w, self.b + step * self.db
                self.z = self._scores(self.w, self.b)
                return True
            step *= 0.5
        return False

    def _value(self, w, z) -> float:
        return loss_total(self.loss, self.y, self.c, z, self.mu) + smoothed_penalty(self.penalty, w, self.mu).value

    # --- the gap ----------------------------------------------------------------------------------------------------------

    def gap(self) -> float:
        """Return the gap for a dual point: the derivatives or, with kinks or unpenalized columns, those after the Newton step."""
        linear = self.kinked or np.any((self.penalty.l1 == 0) & (self.penalty.l2 == 0))
        found = self._gap_with(-(self.g + self.h * self.dz) if linear else -self.g)
        if linear and not math.isfinite(found):
            found = self._gap_with(-self.g)
        objective = self.current()  # losses are non-negative, so zero is also a dual point
        if objective < found:
            found, self.theta, self.v = objective, 0.0 * self.g, 0.0 * self.w
        return found

    def _gap_with(self, theta: np.ndarray) -> float:
        theta = balanced(theta) if self.intercept else theta
        v = np.asarray(self.X.T @ theta).ravel()
        gap, factor = self._gap_of(self.w, self.z, theta, v)
        self.theta, self.v = factor * theta, factor * v
        return gap

    def _gap_of(self, w, z, theta, v) -> tuple[float, float]:
        own, factor = self.penalty.gap(w, v, FREE * self.sizes * float(np.sum(np.abs(theta))))
        if not math.isfinite(own):
            return math.inf, 0.0
        return fenchel_young(self.loss, self.y, self.c, z, factor * theta) + max(own, 0.0), factor

    def keep(self) -> None:
        """Store the point and its dual point."""
        self.kept = self.w, self.b, self.z, self.theta, self.v, self.mu

    def restore(self) -> None:
        """Restore the stored point."""
        self.w, self.b, self.z, self.theta, self.v, self.mu = self.kept
        self.objective = self.current()

    def current(self) -> float:
        """Return the objective without smoothing at the current point."""
        return self._objective(self.w, self.z)

    def _objective(self, w, z) -> float:
        return float(exact_total(self.loss, self.y, self.c, z)) + self.penalty.value(w)

    def dual(self) -> np.ndarray:
        """Return the dual point of the last gap as derivatives, one per row of weight 1."""
        return np.divide(-self.theta, self.c, out=np.zeros(len(self.c)), where=self.c > 0)

    def sparsified(self, tolerance: float) -> tuple[np.ndarray, float, float]:
        """Return the point with small coefficients set to zero, as far as the gap allows."""
        gap = self._gap_of(self.w, self.z, self.theta, self.v)[0]
        w = self.w
        if np.any(self.penalty.l1 > 0) or self.penalty.positive:
            size = np.abs(w) * np.maximum(self.penalty.l1, np.abs(self.v) if self.penalty.positive else 0.0)
            can = (self.penalty.l1 > 0) | self.penalty.positive
            for threshold in (math.sqrt(self.mu * max(self.objective, 1e-300)), 100 * self.mu, 4 * self.mu):
                fewer = np.where((size < threshold) & can, 0.0, w)
                z = self._scores(fewer, self.b)
                theta, v = self.theta, self.v
                if not self.kinked:  # the checker uses the derivatives at the point itself
                    theta = -loss_terms(self.loss, self.y, self.c, z, self.mu)[1]
                    theta = balanced(theta) if self.intercept else theta
                    v = np.asarray(self.X.T @ theta).ravel()
                found = self._gap_of(fewer, z, theta, v)[0]
                if found <= max(gap, 0.7 * tolerance):
                    w, gap, self.objective = fewer, found, self._objective(fewer, z)
                    break
        full = np.zeros(self.d_all)
        full[self.columns] = w
        return full, float(self.b - self.middle @ w), gap


def best_constant(loss, y, c) -> float:
    """Return the constant score with the smallest loss: the root of the sum of derivatives, by bisection and Newton's method."""
    b = constant_root(loss, y, c)
    zero = np.zeros(len(y))
    return b if exact_total(loss, y, c, zero + b) < exact_total(loss, y, c, zero) else 0.0


def balanced(theta: np.ndarray) -> np.ndarray:
    """Scale the positive or the negative entries, whichever sum is larger, so that all entries sum to zero."""
    up, down = float(np.sum(theta[theta > 0])), -float(np.sum(theta[theta < 0]))
    if up == down or up == 0.0 or down == 0.0:
        return theta if up == down else 0.0 * theta
    return np.where((theta > 0) == (up > down), theta * (min(up, down) / max(up, down)), theta)


def _gram(X, h: np.ndarray) -> np.ndarray:
    if sparse.issparse(X):
        return np.asarray((X.T @ X.multiply(h[:, None]).tocsr()).todense())
    root = np.sqrt(h)[:, None] * X
    return root.T @ root


def _accurate_step(root: np.ndarray, D: np.ndarray, g: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Minimize ``|root s + g|^2 + |D^(1/2) s + D^(-1/2) own|^2``; singular values keep the digits that their squares lose."""
    scale = np.sqrt(D)
    U, sizes, Vt = linalg.svd(root / scale, full_matrices=False)
    rest = -own / scale
    inside = Vt @ rest
    return (rest + Vt.T @ ((inside - sizes * (U.T @ g)) / (1.0 + sizes**2) - inside)) / scale


def solve_definite(H: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solve a positive definite system scaled to unit diagonal; a ridge of rounding size handles singular systems."""
    if len(rhs) == 0:
        return rhs
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    scaled = H * np.outer(scale, scale)
    for ridge in (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6):
        try:
            factor = linalg.cho_factor(scaled + ridge * np.eye(len(rhs)), check_finite=True)
        except (linalg.LinAlgError, ValueError):
            continue
        with np.errstate(over="ignore"):
            solution = scale * linalg.cho_solve(factor, scale * rhs)
        if np.all(np.isfinite(solution)):
            return solution
    return np.zeros(len(rhs))
