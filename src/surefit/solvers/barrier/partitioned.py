r"""Interior-point method for rows in partitions: two passes per Newton step, and no array as long as the data.

Scores, derivatives and curvatures are functions of the point and of the weight of the barrier, so every partition computes its own. A
Newton step needs :math:`X^\top g` and :math:`X^\top D X`, which take one pass. A second pass evaluates the objective at
several step lengths and the gap of the current point. The dual point follows from the point, the weight of the barrier
and, if the loss has kinks, the step. Certificates store these instead of the dual variables.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.partitioned import ClusterLost, PartitionedRows, PassStopped
from surefit.losses import curvature, make_smoothed
from surefit.problems.partitioned import RowTarget
from surefit.solvers.barrier.linear import FREE, best_constant, solve_definite
from surefit.solvers.barrier.passes import (
    Derivatives,
    Here,
    Setting,
    along,
    derivatives,
    keep_sensitive,
    primal_change,
    sensitive,
)
from surefit.solvers.barrier.path import TUNING, Result, follow
from surefit.solvers.barrier.penalty import PenaltyTerms, smoothed_penalty
from surefit.solvers.barrier.rows import exact_total

STEPS = 0.5 ** np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0])  # step lengths compared in one pass
SENSITIVE = 4  # rows per coefficient whose dual variables a certificate stores


def minimize_partitioned(
    rows: PartitionedRows,
    target: RowTarget,
    loss: Any,
    penalty: PenaltyTerms,
    *,
    intercept: bool,
    tol: float,
    budget: Budget,
) -> tuple[Result, dict[str, Any]]:
    """Minimize over all rows; return the result and a dictionary that defines the dual point.

    The dictionary contains a point. If the loss has kinks, it also contains a step, the weight of the barrier, and the
    derivatives of the few rows whose derivatives are most sensitive to rounding of their scores.
    """
    make_smoothed(loss)
    problem = _Problem(rows, target, loss, penalty, intercept)
    null = problem.null
    rows.budget = budget
    try:
        reason, n_iter, history = follow(problem, null, tol * null, budget)
    except PassStopped as stop:
        reason, n_iter, history = stop.reason, problem.n_steps, [(budget.seconds, problem.n_steps, problem.kept.gap)]
        problem.restore()
    except ClusterLost as error:
        problem.restore()
        w, b = problem.outward(problem.w)
        raise ClusterLost(str(error), {"coef": w, "intercept": b, "gap": problem.kept.gap}) from None
    finally:
        rows.budget = None
    at: dict[str, Any] = {"point": np.append(*problem.outward(problem.w))}
    if problem.kinked and math.isfinite(problem.kept.gap):
        here = problem.kept.here
        few = rows.map_reduce(sensitive, problem.setting, here, SENSITIVE * (len(here.w) + 1), combine=keep_sensitive)
        at |= {
            "step": np.append(*problem.outward(here.dw, here.db)),
            "barrier": here.mu,
            "rows": few.rows,
            "slopes": few.slopes,
        }
    w, b = problem.outward(problem.sparsified(tol * null))
    reason = Reason.CONVERGED if problem.kept.gap <= tol * null else reason
    return Result(w, b, np.zeros(0), problem.kept.gap, problem.kept.objective, null, n_iter, reason, history), at


class Kept(NamedTuple):
    """The best point so far."""

    here: Here
    mu: float
    v: np.ndarray
    gap: float
    objective: float


class _Problem:
    """The smoothed problem for one weight of the barrier, and the current point, as required by :func:`follow`."""

    mu = 1.0
    dw: np.ndarray
    db: float
    at: Derivatives
    _passed: np.ndarray | None

    def __init__(
        self, rows: PartitionedRows, target: RowTarget, loss: Any, penalty: PenaltyTerms, intercept: bool
    ) -> None:
        self.rows, self.loss, self.intercept = rows, loss, intercept
        self.columns = np.flatnonzero(penalty.used)
        self.penalty = penalty.restricted(self.columns)
        sample = rows.sample[:, self.columns]
        middle = sample.mean(axis=0) if intercept else np.zeros(len(self.columns))
        self.setting = Setting(target, loss, self.columns, middle)
        self.sizes = np.sqrt(np.maximum(np.mean((sample - middle) ** 2, axis=0), 1e-300))
        self.kinked = type(loss) not in curvature.classes
        self.kinks = (2 * rows.shape[0] if self.kinked else 0) + self.penalty.kinks
        y, c = target.outline(rows)
        self.typical = float(np.sum(c)) / rows.shape[0]  # weight of a row
        self.b = best_constant(loss, y, c) if intercept else 0.0
        self.null = float(exact_total(loss, y, c, np.full(len(y), self.b)))
        self.w = np.full(len(self.columns), 1e-3) / self.sizes if penalty.positive else np.zeros(len(self.columns))
        self.n_steps, self.objective = 0, math.inf
        zero = np.zeros(len(self.columns))
        self.kept = Kept(Here(zero, self.b, zero, 0.0, 1.0, False), 1.0, zero, math.inf, math.inf)

    @property
    def weight(self) -> float:
        """Weight of the barrier for a row of weight 1."""
        return self.mu / self.typical

    def newton(self) -> float:
        """Compute the Newton direction by one pass; return half the squared Newton decrement."""
        self.at = at = self.rows.map_reduce(derivatives, self.setting, self.w, self.b, self.weight)
        self.n_steps += 1
        own = smoothed_penalty(self.penalty, self.w, self.mu)
        g = at.up + at.down
        gradient, derivative = g[:-1] + own.gradient, float(g[-1]) if self.intercept else 0.0
        H = at.gram[:-1, :-1] + np.diag(own.diagonal)
        total = max(float(at.gram[-1, -1]), 1e-300)
        mean = at.gram[:-1, -1] / total
        if self.intercept:
            H = H - total * np.outer(mean, mean)
            gradient = gradient - derivative * mean
        self.dw = solve_definite(H, -gradient)
        self.db = -derivative / total - float(mean @ self.dw) if self.intercept else 0.0
        self.descent = float((g[:-1] + own.gradient) @ self.dw) + derivative * self.db
        self._passed = None
        return max(-0.5 * self.descent, 0.0)

    def _along(self) -> np.ndarray:
        """Return the sums of the second pass: smoothed losses along the direction, and the Fenchel-Young terms of the gap."""
        if self._passed is None:
            up, down = float(self.at.up[-1]), -float(self.at.down[-1])
            s = (1.0, 1.0)
            if self.kinked:  # the derivatives after the step sum to zero
                ahead = self.at.up + self.at.down + self.at.gram @ np.append(self.dw, self.db)
                self.v = -ahead[:-1]
            else:  # scale the larger side so that the sum is zero
                if self.intercept:
                    s = (min(up, down) / up if up > 0 else 0.0, min(up, down) / down if down > 0 else 0.0)
                self.v = -(s[0] * self.at.up + s[1] * self.at.down)[:-1]
            self.own, factor = self.penalty.gap(self.w, self.v, FREE * self.sizes * (up + down))
            self.v = factor * self.v
            self.steps = STEPS * self._longest()
            self.here = Here(self.w, self.b, self.dw, self.db, self.weight, self.kinked)
            factors = factor * s[0], factor * s[1]
            self._passed = self.rows.map_reduce(along, self.setting, self.here, self.steps, factors)
        return self._passed

    def _longest(self) -> float:
        if self.penalty.positive and np.any(self.dw < 0):
            return min(1.0, 0.95 * float(np.min(-self.w[self.dw < 0] / self.dw[self.dw < 0])))
        return 1.0

    def search(self) -> bool:
        """Take the longest candidate step that decreases the smoothed objective sufficiently; return False if there is none."""
        current = self.at.smoothed + smoothed_penalty(self.penalty, self.w, self.mu).value
        values = self._along()[:-1]
        for step, value in zip(self.steps, values, strict=True):
            w = self.w + step * self.dw
            if (
                value + smoothed_penalty(self.penalty, w, self.mu).value
                <= current + TUNING.armijo * step * self.descent
            ):
                self.w, self.b = w, self.b + step * self.db
                return True
        return False

    def gap(self) -> float:
        """Return the smaller gap of two dual points: the smoothed derivatives, and zero, because losses are non-negative."""
        terms = float(self._along()[-1])
        found = terms + max(self.own, 0.0) if math.isfinite(self.own) else math.inf
        return min(found, self.current()) if found == found else self.current()

    def current(self) -> float:
        """Return the objective without smoothing at the point of the last Newton direction."""
        return self.at.objective + self.penalty.value(self.w)

    def keep(self) -> None:
        """Store the point with its gap."""
        self.kept = Kept(self.here, self.mu, self.v, self.gap(), self.current())

    def restore(self) -> None:
        """Restore the stored point."""
        self.w, self.b, self.mu, self.objective = self.kept.here.w, self.kept.here.b, self.kept.mu, self.kept.objective

    def sparsified(self, tolerance: float) -> np.ndarray:
        """Return the coefficients with small ones set to zero, as far as the gap allows; the dual point is unchanged."""
        w, gap = self.w, self.kept.gap
        if not (np.any(self.penalty.l1 > 0) or self.penalty.positive) or not math.isfinite(gap):
            return w
        size = np.abs(w) * np.maximum(self.penalty.l1, np.abs(self.kept.v) if self.penalty.positive else 0.0)
        can = (self.penalty.l1 > 0) | self.penalty.positive
        for threshold in (math.sqrt(self.mu * max(self.objective, 1e-300)), 100 * self.mu, 4 * self.mu):
            fewer = np.where((size < threshold) & can, 0.0, w)
            if np.array_equal(fewer, w):
                break
            own = self.penalty.gap(fewer, self.kept.v, FREE * self.sizes)[0]
            terms = self.rows.map_reduce(primal_change, self.setting, fewer, self.kept.here)
            changed = gap + float(terms) + own - self.penalty.gap(w, self.kept.v, FREE * self.sizes)[0]
            if changed <= max(gap, 0.7 * tolerance):
                self.kept = self.kept._replace(gap=max(changed, 0.0))
                return fewer
        return w

    def outward(self, w: np.ndarray, b: float | None = None) -> tuple[np.ndarray, float]:
        """Return all coefficients and the intercept (the current one, unless given) for the original columns."""
        full = np.zeros(self.rows.shape[1])
        full[self.columns] = w
        return full, float((self.b if b is None else b) - self.setting.middle @ w)
