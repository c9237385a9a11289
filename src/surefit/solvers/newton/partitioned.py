"""Newton's method over rows in partitions, for the softmax or one score: one pass for a step and its gap, one for the step length.

Scores and derivatives are computed again in each pass from the coefficients. The Hessian of K scores has K (d + 1) rows; the client
eliminates the intercepts and solves for the step. The width of a smoothed loss is reduced until the gap of the original loss is small.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.partitioned import ClusterLost, PartitionedRows, PassStopped
from surefit.problems.partitioned import RowTarget
from surefit.solvers.newton.minimize import Fit
from surefit.solvers.newton.passes import STEPS, Setting, Sums, along, balance, derivatives, total_loss
from surefit.solvers.newton.quadratic import minimize_quadratic

AIM = 0.2  # fraction of the tolerance that the solver targets, as a margin for rounding
BALANCES = 6  # passes that balance the intercepts at the end
SHARPER = 0.35  # initial factor by which the width of a smoothed loss is reduced
FLAT = 2.0  # longest step of an intercept without curvature: the distance between the margins
BLUNT = 0.98  # largest factor with which the width is still reduced
STUCK = 3  # steps without a smaller gap, or without descent, after which only rounding remains


def minimize_softmax(
    rows: PartitionedRows, problem: dict[str, Any], l1: float, l2: float, *, tolerance: float, budget: Budget
) -> Fit:
    """Minimize over all rows until the gap is at most ``tolerance``, the budget is spent, or rounding limits progress."""
    return _minimize(_Newton(rows, problem, l1, l2), tolerance, budget)


def minimize_relative(
    rows: PartitionedRows,
    problem: dict[str, Any],
    l2: float,
    *,
    tol: float,
    budget: Budget,
    target: RowTarget | None = None,
    loss: Any = None,
) -> Fit:
    """Minimize the softmax loss, or ``loss`` of one score, with an l2 penalty, to a gap of ``tol`` times the objective."""
    return _minimize(_Newton(rows, problem, 0.0, l2, target, loss, relative=True), tol, budget)


def _minimize(newton: _Newton, tolerance: float, budget: Budget) -> Fit:
    rows = newton.rows
    rows.budget = budget
    try:
        try:
            reason = newton.run(tolerance, budget)
            newton.balance()
        except PassStopped as stop:
            reason = stop.reason
        finally:
            rows.budget = None
        newton.evaluate()
    except ClusterLost as error:
        W, b = newton.outward()
        raise ClusterLost(str(error), {"coef": W, "intercept": b, "gap": newton.best.gap}) from None
    W, b = newton.outward()
    best = newton.best
    reason = Reason.CONVERGED if best.gap <= newton.goal(tolerance, best.value) else reason
    return Fit(W, b, best.gap, best.value, newton.n_iter, reason, newton.history, best.width, False, None)


class _Point(NamedTuple):
    W: np.ndarray  # (K, d + 1), intercepts last
    gap: float
    value: float
    width: float = 0.0  # smoothing width of the loss


class _Newton:
    def __init__(
        self,
        rows: PartitionedRows,
        problem: dict[str, Any],
        l1: float,
        l2: float,
        target: RowTarget | None = None,
        loss: Any = None,
        relative: bool = False,
    ) -> None:
        self.rows, self.l1, self.l2, self.intercept = rows, l1, l2, bool(problem["fit_intercept"])
        self.relative = relative  # whether tolerances are relative to the objective
        K, d = 1 if target is not None else len(problem["classes"]), rows.shape[1]
        sample = rows.sample[:, :d]
        self.setting = Setting(problem, sample.mean(axis=0) if self.intercept else np.zeros(d), target, loss)
        self.W = np.zeros((K, d + 1))
        if self.intercept and target is None:
            assert rows.counts is not None
            counts = rows.counts * np.asarray(problem["class_weights"])
            logs = np.log(np.maximum(counts / counts.sum(), 1e-300))
            self.W[:, -1] = logs - logs.mean()
        self.n_iter, self.history = 0, []  # type: tuple[int, list[tuple[float, int, float]]]
        self.best = _Point(self.W, math.inf, math.inf, self.width)
        self.solved, self.sharper = (self.W, self.width), SHARPER

    @property
    def width(self) -> float:
        """Width of the smoothed loss; zero if it is not smoothed."""
        return float(getattr(self.setting.loss, "width", 0.0))

    def goal(self, tolerance: float, value: float) -> float:
        """Return the gap at which to stop, for an objective ``value``."""
        return tolerance * abs(value) if self.relative else tolerance

    def run(self, tolerance: float, budget: Budget) -> Reason:
        stuck = 0
        while True:
            at: Sums = self.rows.map_reduce(derivatives, self.setting, self.W)
            value, previous = at.loss + self._penalty(self.W), self.best.gap
            dW = self._direction(at, value)
            scale = self._scale(at)
            linear = self.l2 == 0.0
            ahead = self.rows.map_reduce(along, self.setting, self.W, dW, scale) if linear else None
            own = self._gap(at, value, scale)
            gap = own + at.young + (0.0 if ahead is None else float(ahead[-1]))
            self.history.append((budget.seconds, self.n_iter, gap))
            if gap <= self.best.gap:
                self.best = _Point(self.W, gap, value, self.width)
            if gap <= AIM * self.goal(tolerance, value):
                return Reason.CONVERGED
            spent = budget.spent(self.n_iter, self.best.gap)
            if spent is not None:
                return spent
            if ahead is None:
                ahead = self.rows.map_reduce(along, self.setting, self.W, dW, 1.0)
            moved = self._search(at, value, dW, ahead[:-1])
            self.n_iter += 1
            stuck = 0 if moved and gap < 0.9 * previous else stuck + 1
            if self.width and self._sharpen(own <= at.young, moved):
                stuck = 0
            if stuck > STUCK and (not moved or self.best.gap < 1e-6 * abs(value)):
                return Reason.STALLED
            if stuck > 10 * STUCK:
                return Reason.STALLED

    def _sharpen(self, solved: bool, moved: bool) -> bool:
        """Reduce the width if the smoothing error dominates the gap; go back and reduce it by less if no step decreases the objective."""
        if solved:
            self.solved, self.sharper = (self.W, self.width), max(SHARPER, self.sharper**2)
        elif moved or self.sharper > BLUNT:
            return False
        else:
            self.W, self.sharper = self.solved[0], math.sqrt(self.sharper)
        self._smooth(self.sharper * self.solved[1])
        return True

    def _smooth(self, width: float) -> None:
        self.setting = self.setting._replace(loss=self.setting.loss._replace(width=width))

    def _penalty(self, W: np.ndarray) -> float:
        return self.l1 * float(np.abs(W[:, :-1]).sum()) + 0.5 * self.l2 * float(np.sum(W[:, :-1] ** 2))

    def _scale(self, at: Sums) -> float:
        """Return the factor that makes the derivatives dual feasible; 1 with an l2 penalty."""
        largest = float(np.max(np.abs(at.gradient[:, :-1]), initial=0.0))
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
        if self.width and not at.hessian.any():  # no row is in a smoothed region: move the intercept
            first = FLAT * np.sign(at.gradient[:, -1])
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
        if self.best.width:
            self._smooth(self.best.width)
        for _ in range(BALANCES):
            found = self.rows.map_reduce(balance, self.setting, W)
            size = float(np.max(np.abs(found[0])))
            if not size < smallest:  # only rounding errors remain
                break
            smallest, self.best = size, self.best._replace(W=W)
            W = W.copy()
            W[:, -1] -= np.linalg.pinv(found[1:], rcond=1e-13, hermitian=True) @ found[0]

    def evaluate(self) -> None:
        """Compute the objective at the best point if it is unknown or that of the smoothed loss."""
        if self.best.width:
            self._smooth(1e-300)
        if self.best.width or not math.isfinite(self.best.value):
            loss = float(self.rows.map_reduce(total_loss, self.setting, self.best.W))
            self.best = self.best._replace(value=loss + self._penalty(self.best.W))

    def outward(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts for the original columns."""
        W, b = self.best.W[:, :-1], self.best.W[:, -1]
        return W.copy(), b - W @ self.setting.middle
