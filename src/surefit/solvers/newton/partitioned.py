"""Newton's method for softmax regression on rows in partitions: one pass for the derivatives, one for the line search.

Each pass recomputes scores and probabilities from the coefficients. The Hessian of all classes has K (d + 1) rows; the
client eliminates the intercepts and solves for the step.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.partitioned import ClusterLost, Part, PartitionedRows, PassStopped, by_blocks, weights_in
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes
from surefit.solvers.newton.minimize import Fit
from surefit.solvers.newton.quadratic import minimize_quadratic
from surefit.solvers.newton.softmax_scores import SoftmaxScores

STEPS = 0.5 ** np.arange(12.0)  # step lengths compared in one pass
AIM = 0.2  # fraction of the tolerance that the solver targets, as a margin for rounding
BALANCES = 6  # passes that balance the intercepts at the end
STUCK = 3  # steps without a smaller gap, or without descent, after which only rounding remains


class Setting(NamedTuple):
    """Data that a partition needs in addition to the point."""

    problem: dict[str, Any]  # classes, their weights, and the weight of the loss
    middle: np.ndarray  # subtracted from the columns

    def here(self, part: Part) -> tuple[np.ndarray, SoftmaxScores]:
        """Return the columns and a column of ones, and the loss."""
        codes, classes = class_codes(read_target(part.y), self.problem["classes"]), self.problem["classes"]
        c = weights_in(part) * np.asarray(self.problem["class_weights"])[codes] * self.problem["strength"]
        X = np.asarray(part.X, dtype=np.float64) - self.middle
        return np.column_stack([X, np.ones(len(X))]), SoftmaxScores(codes, len(classes), c)


class Sums(NamedTuple):
    """Sums over the rows at a point; the last column of a matrix belongs to the intercepts."""

    loss: float
    size: float  # of the derivatives
    gradient: np.ndarray  # (K, d + 1)
    hessian: np.ndarray  # (K, d + 1, K, d + 1)


@by_blocks
def derivatives(part: Part, setting: Setting, W: np.ndarray) -> Sums:
    """Return the sums that a Newton step needs."""
    (Z, scores), (K, m) = setting.here(part), W.shape
    value, D, P = scores.evaluate(Z @ W.T)
    hessian = np.zeros((K, m, K, m))
    for k in range(K):
        for j in range(k + 1):
            sign, h = scores.hessian_block(P, k, j)
            hessian[k, :, j, :] = sign * (Z * h[:, None]).T @ Z
            hessian[j, :, k, :] = hessian[k, :, j, :].T
    return Sums(value, float(np.abs(D).sum()), D.T @ Z, hessian)


@by_blocks
def along(part: Part, setting: Setting, W: np.ndarray, dW: np.ndarray, scale: float) -> np.ndarray:
    """Return the losses at all step lengths, and the Fenchel-Young terms at ``W`` with the derivatives times ``scale``."""
    Z, scores = setting.here(part)
    F, V = Z @ W.T, Z @ dW.T
    young = scores.young(F, scale * scores.evaluate(F)[1]) if scale < 1.0 else 0.0
    return np.array([*(scores.value(F + step * V) for step in STEPS), young])


@by_blocks
def balance(part: Part, setting: Setting, W: np.ndarray) -> np.ndarray:
    """Return the sums of the derivatives of each class, and their derivatives in the intercepts as further rows."""
    Z, scores = setting.here(part)
    _, D, P = scores.evaluate(Z @ W.T)
    return np.vstack([D.sum(axis=0), np.diag(scores.weights @ P) - (P * scores.weights[:, None]).T @ P])


def minimize_softmax(
    rows: PartitionedRows, problem: dict[str, Any], l1: float, l2: float, *, tolerance: float, budget: Budget
) -> Fit:
    """Minimize over all rows until the gap is at most ``tolerance``, the budget is spent, or rounding limits progress."""
    newton = _Newton(rows, problem, l1, l2)
    rows.budget = budget
    try:
        reason = newton.run(tolerance, budget)
        newton.balance()
    except PassStopped as stop:
        reason = stop.reason
    except ClusterLost as error:
        W, b = newton.outward()
        raise ClusterLost(str(error), {"coef": W, "intercept": b, "gap": newton.best.gap}) from None
    finally:
        rows.budget = None
    W, b = newton.outward()
    best = newton.best
    reason = Reason.CONVERGED if best.gap <= tolerance else reason
    return Fit(W, b, best.gap, best.value, newton.n_iter, reason, newton.history, 0.0, False, None)


class _Point(NamedTuple):
    W: np.ndarray  # (K, d + 1), intercepts last
    gap: float
    value: float


class _Newton:
    def __init__(self, rows: PartitionedRows, problem: dict[str, Any], l1: float, l2: float) -> None:
        assert rows.counts is not None
        self.rows, self.l1, self.l2, self.intercept = rows, l1, l2, bool(problem["fit_intercept"])
        K, d = len(problem["classes"]), rows.shape[1]
        sample = rows.sample[:, :d]
        self.setting = Setting(problem, sample.mean(axis=0) if self.intercept else np.zeros(d))
        self.W = np.zeros((K, d + 1))
        if self.intercept:
            counts = rows.counts * np.asarray(problem["class_weights"])
            logs = np.log(np.maximum(counts / counts.sum(), 1e-300))
            self.W[:, -1] = logs - logs.mean()
        self.n_iter, self.history = 0, []  # type: tuple[int, list[tuple[float, int, float]]]
        self.best = _Point(self.W, math.inf, math.inf)

    def run(self, tolerance: float, budget: Budget) -> Reason:
        stuck = 0
        while True:
            at: Sums = self.rows.map_reduce(derivatives, self.setting, self.W)
            value, previous = at.loss + self._penalty(self.W), self.best.gap
            dW = self._direction(at, value)
            scale = self._scale(at)
            linear = self.l2 == 0.0
            ahead = self.rows.map_reduce(along, self.setting, self.W, dW, scale) if linear else None
            gap = self._gap(at, value, scale) + (0.0 if ahead is None else float(ahead[-1]))
            self.history.append((budget.seconds, self.n_iter, gap))
            if gap <= self.best.gap:
                self.best = _Point(self.W, gap, value)
            if gap <= AIM * tolerance:
                return Reason.CONVERGED
            spent = budget.spent(self.n_iter, self.best.gap)
            if spent is not None:
                return spent
            if ahead is None:
                ahead = self.rows.map_reduce(along, self.setting, self.W, dW, 1.0)
            moved = self._search(at, value, dW, ahead[:-1])
            self.n_iter += 1
            stuck = 0 if moved and gap < 0.9 * previous else stuck + 1
            if stuck > STUCK and (not moved or self.best.gap < 1e-6 * abs(value)):
                return Reason.STALLED
            if stuck > 10 * STUCK:
                return Reason.STALLED

    def _penalty(self, W: np.ndarray) -> float:
        return self.l1 * float(np.abs(W[:, :-1]).sum()) + 0.5 * self.l2 * float(np.sum(W[:, :-1] ** 2))

    def _scale(self, at: Sums) -> float:
        """Return the factor that makes the derivatives dual feasible; 1 with an l2 penalty."""
        largest = float(np.max(np.abs(at.gradient[:, :-1])))
        return min(1.0, self.l1 / largest) if self.l2 == 0.0 and largest > 0 else 1.0

    def _gap(self, at: Sums, value: float, scale: float) -> float:
        """Return the penalty terms of the gap plus the increase from making the derivatives sum to zero."""
        W, v = self.W[:, :-1], -at.gradient[:, :-1]
        if self.l2 > 0.0:
            beyond = np.maximum(np.abs(v) - self.l1, 0.0)
            terms = self.l1 * np.abs(W) + 0.5 * self.l2 * W**2 - W * v + beyond**2 / (2 * self.l2)
        else:
            terms = self.l1 * np.abs(W) - scale * W * v
        gap = float(np.sum(np.maximum(terms, 0.0)))
        if self.intercept and at.size > 0:
            gap += 4.0 * float(np.max(np.abs(at.gradient[:, -1]))) / at.size * abs(value)
        return gap

    def _direction(self, at: Sums, value: float) -> np.ndarray:
        """Return the Newton step, with the intercepts eliminated."""
        K, m = self.W.shape
        d = m - 1
        g, H = at.gradient[:, :-1].ravel(), at.hessian[:, :d, :, :d].reshape(K * d, K * d)
        dW = np.zeros((K, m))
        target = min(0.01, max(0.1 * min(self.best.gap / max(abs(value), 1e-300), 1.0), 1e-13)) * self.l1
        if not self.intercept:
            dW[:, :-1] = minimize_quadratic(H, g, self.W[:, :-1].ravel(), self.l1, self.l2, target).reshape(K, d)
            return dW
        cross = at.hessian[:, d, :, :d].reshape(K, K * d)
        # The matrix is singular: a common shift of all classes has no effect.
        inverse = np.linalg.pinv(at.hessian[:, d, :, d], rcond=1e-13, hermitian=True)
        first = inverse @ at.gradient[:, -1]
        reduced = H - cross.T @ inverse @ cross
        step = minimize_quadratic(
            0.5 * (reduced + reduced.T), g - cross.T @ first, self.W[:, :-1].ravel(), self.l1, self.l2, target
        )
        dW[:, :-1], dW[:, -1] = step.reshape(K, d), -first - inverse @ (cross @ step)
        return dW

    def _search(self, at: Sums, value: float, dW: np.ndarray, losses: np.ndarray) -> bool:
        """Take the longest step that decreases the objective sufficiently; return False if there is none."""
        decrease = float(np.sum(at.gradient * dW)) + self._penalty(self.W + dW) - self._penalty(self.W)
        noise = 1e-15 * abs(value) * math.sqrt(self.rows.shape[0])
        for step, loss in zip(STEPS, losses, strict=True):
            W = self.W + step * dW
            if loss + self._penalty(W) <= value + 1e-4 * step * min(decrease, 0.0) + noise:
                self.W = W
                return True
        return False

    def balance(self) -> None:
        """Set the intercepts of the best point to their minimizers, so that the derivatives of each class sum to zero."""
        if not self.intercept:
            return
        W, smallest = self.best.W, math.inf
        for _ in range(BALANCES):
            found = self.rows.map_reduce(balance, self.setting, W)
            size = float(np.max(np.abs(found[0])))
            if not size < smallest:  # only rounding errors remain
                break
            smallest, self.best = size, self.best._replace(W=W)
            W = W.copy()
            W[:, -1] -= np.linalg.pinv(found[1:], rcond=1e-13, hermitian=True) @ found[0]

    def outward(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts for the original columns."""
        W, b = self.best.W[:, :-1], self.best.W[:, -1]
        return W.copy(), b - W @ self.setting.middle
