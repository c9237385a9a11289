r"""Newton's method for the softmax of functions of a kernel's space.

The objective is :math:`\tfrac12 \sum_k \|f_k\|^2 + \sum_i c_i [\ln \sum_k e^{z_{ik}} - z_{i, y_i}]`, :math:`z_{ik} = f_k(x_i) + b_k`.
With the probabilities :math:`P` and :math:`\theta = c (Y - P)` the optimum has :math:`\beta = \theta`. The step of
:math:`\beta` solves :math:`(I + W K) \delta = \theta - \beta - W 1 \Delta b`, where :math:`W` couples the classes of a row:
:math:`\delta = r - A (K r + 1 \Delta b)` with :math:`A = E - E R (\sum_k E_k)^{-1} R^\top E`, :math:`E_k = (K + (c P_k)^{-1})^{-1}` and
:math:`R` the sum over classes. One factor a class and one for the sum. The gap is
:math:`\tfrac12 \sum_k (\beta_k - \theta_k)^\top K (\beta_k - \theta_k)` once the sums of :math:`\theta` over the rows are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from surefit.core.budget import Budget, Reason
from surefit.solvers.kernel_logistic import square_norm
from surefit.solvers.newton.softmax_scores import SoftmaxScores

ROUNDING = 1e-14  # by which an objective may rise, relatively, without having grown


class SoftmaxFit(NamedTuple):
    """Coefficients of the rows and offsets, one column a class, gap and objective, and how they were found."""

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
    Y: np.ndarray  # one column a class, 1 in that of the row
    c: np.ndarray
    loss: SoftmaxScores
    offset: bool

    def at(self, beta: np.ndarray, F: np.ndarray, b: np.ndarray) -> _Point:
        """Return the point with the best offsets near ``b``."""
        b = b + self.loss.best_shift(F + b) if self.offset else b
        return _Point(beta, F, b, 0.5 * max(float(np.vdot(beta, F)), 0.0) + self.loss.value(F + b))

    def gap(self, point: _Point) -> float:
        """Return the bound on P - min P that the probabilities prove, their column sums made right."""
        P = self.loss.evaluate(point.F + point.b)[2]
        Q = with_column_sums(P, self.Y, self.c) if self.offset else P
        v = point.beta - self.c[:, None] * (self.Y - Q)
        moved = Q - P
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            near, far = moved**2 / P, Q * np.log(Q / np.where(P > 0.0, P, np.finfo(np.float64).tiny)) - moved
        cost = np.where(moved == 0.0, 0.0, np.fmin(near, far))
        return 0.5 * square_norm(self.K, v) + float(self.c @ np.maximum(cost.sum(axis=1), 0.0))

    def step(self, point: _Point) -> _Point:
        """Return the point after a Newton step, halved until the objective does not rise."""
        P = self.loss.evaluate(point.F + point.b)[2]
        rest = self.c[:, None] * (self.Y - P) - point.beta
        times = curvature(self.K, self.c[:, None] * P)
        image, shift = self.K @ rest, np.zeros(len(point.b))
        direction = rest - times(image)
        if self.offset:
            columns = [times(np.eye(1, len(shift), k).repeat(len(self.c), axis=0)) for k in range(len(shift))]
            sums = np.column_stack([column.sum(axis=0) for column in columns])
            shift = np.linalg.lstsq(sums, direction.sum(axis=0) + point.beta.sum(axis=0), rcond=1e-12)[0]
            direction = direction - sum(d * column for d, column in zip(shift, columns, strict=True))
        move, size = self.K @ direction, 1.0
        for _ in range(40):
            new = self.at(point.beta + size * direction, point.F + size * move, point.b + size * shift)
            if new.objective <= point.objective * (1 + ROUNDING):
                break
            size /= 2
        return self.at(new.beta, self.K @ new.beta, new.b)  # sums of steps drift away from the sum


def minimise(
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
    """Minimise until the gap is at most ``tol`` times the objective, the budget is spent, or rounding stops progress."""
    Y = np.zeros((len(c), n_classes))
    Y[np.arange(len(c)), codes] = 1.0
    problem = _Problem(K, Y, c, SoftmaxScores(codes, n_classes, c), offset)
    zero, none = np.zeros_like(Y), np.zeros(n_classes)
    point = problem.at(zero, zero, none)
    if start is not None:
        point = min(point, problem.at(start, K @ start, none), key=lambda p: p.objective)
    best, gap, n_iter, late, history = point, problem.gap(point), 0, 0, []
    while True:
        history.append((budget.seconds, n_iter, gap))
        if gap <= tol * best.objective:
            reason: Reason | None = Reason.CONVERGED
        else:
            reason = Reason.STALLED if late >= 3 else budget.spent(n_iter, gap)
        if reason is not None:
            squares = np.einsum("ij,ij->j", best.beta, best.F)
            return SoftmaxFit(best.beta, best.b, gap, best.objective, squares, n_iter, reason, history)
        last, point = point.objective, problem.step(point)
        n_iter += 1
        now = problem.gap(point)
        late = 0 if now < 0.9 * gap or point.objective < last * (1 - 1e-9) else late + 1
        if now < gap:
            best, gap = point, now


def with_column_sums(Q: np.ndarray, Y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Mix probabilities with one constant row so that their weighted column sums are those of ``Y``."""
    q, lacking = c @ Q, c @ (Y - Q)
    share = float(np.max(np.maximum(-lacking, 0.0) / np.where(q > 0.0, q, 1.0)))
    return (1.0 - share) * Q + np.maximum(lacking + share * q, 0.0) / float(c.sum())


def curvature(K: np.ndarray, D: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map of ``A`` for the prices times probabilities ``D``, one column a class."""
    inverses, total = [], np.zeros_like(K)
    for d in D.T:
        root = np.sqrt(d)
        B = K * root[:, None] * root
        B[np.diag_indices(len(d))] += 1.0
        inverse = _inverse(B, 1.0) * (root[:, None] * root)
        inverses.append(inverse)
        total += inverse
    common = _inverse(total, np.finfo(np.float64).eps * float(np.max(total.diagonal())))

    def times(V: np.ndarray) -> np.ndarray:
        parts = np.column_stack([inverse @ v for inverse, v in zip(inverses, V.T, strict=True)])
        shared = common @ parts.sum(axis=1)
        return parts - np.column_stack([inverse @ shared for inverse in inverses])

    return times


def _inverse(B: np.ndarray, least: float) -> np.ndarray:
    """Invert a symmetric matrix whose eigenvalues are at least ``least``, also where rounding says otherwise."""
    factor, failed = lapack.dpotrf(B, lower=1)
    if not failed:
        inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if not failed and np.all(np.isfinite(inverse.diagonal())):
        return np.tril(inverse) + np.tril(inverse, -1).T
    values, vectors = linalg.eigh(B, check_finite=False)
    return (vectors / np.maximum(values, least or 1.0)) @ vectors.T
