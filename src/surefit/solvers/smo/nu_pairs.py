r"""Sequential minimal optimization with a fixed sum for each sign, for nu-SVMs whose kernel matrix fits into the cache.

.. math:: \min_{a}\ \tfrac12 \beta^\top K \beta - y^\top \beta, \qquad \beta_r = \sum_{p:\ r_p = r} t_p a_p, \quad 0 \le a_p \le s_p,
    \quad \sum_{t_p = 1} a_p = \sum_{t_p = -1} a_p = T / 2.

A step moves weight between two variables of the same sign, which preserves both sums: the variable with the smallest
derivative, and the partner chosen by second-order information. A regression has two variables per row, one of each
sign. Up to 500 rows, the steps choose among all variables; for more rows, among those of a working set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.solvers.smo.evaluation import combine
from surefit.solvers.smo.inner import TINY
from surefit.solvers.smo.minimize import FEW, SMALL, DualFit
from surefit.solvers.smo.nu import TIGHT, Judged
from surefit.solvers.smo.nu_sets import SIZE, Signed, move_pairs, run_sets
from surefit.solvers.smo.rows import LinearRows, RowCache, stored
from surefit.solvers.smo.strategies import exhausted

PAIRS = "pairs within each sign"
MARGIN = 0.9  # fraction of the tolerance at which a round with float32 ends; the exact gap is slightly different
STEPS = 4000  # steps between two checks of the budget
ROUNDS = 40
MOST_WORK = 4  # steps before the search is tried, relative to the steps after which an SVC uses another solver
MOST_ROWS = 7000  # a search over problems with C or epsilon, with shrinking, is used for more rows
MOST_LINEAR = 1500  # with a linear kernel, where Newton's method solves these problems
SHARPER = 0.1  # factor for the tolerance after each round with many rows
SHARPEST = 1e-3  # largest factor with few rows, where a round is short


def fits(gram: Any, megabytes: float) -> bool:
    """Return whether the kernel matrix fits into the cache and is small enough for this method."""
    most = MOST_LINEAR if isinstance(gram, LinearRows) else MOST_ROWS
    return gram.n <= most and 4.0 * gram.n**2 <= megabytes * 2**20


def solve(
    gram: Any,
    rows32: Any,
    y: np.ndarray,
    variables: Signed,
    total: float,
    judge: Callable[[np.ndarray, np.ndarray], Judged],
    tol: float,
    options: dict[str, Any],
) -> tuple[Judged, DualFit]:
    """Minimize until the gap is small, progress stalls, or the budget is spent; return the best point and how it was found."""
    n, up, budget = len(y), variables.n_up, options["budget"]
    gram = stored(gram) if n <= SMALL else gram
    a = np.concatenate([filled(part, total / 2) for part in (variables.high[:up], variables.high[up:])])
    goal = tol if n > FEW else min(tol, TIGHT)
    beta, scores = _function(gram, variables, a, options["n_jobs"])
    best, steps, history = None, 0, []
    rounds = (
        _Whole(gram.K, variables, float(np.ptp(scores - y)))
        if n <= SMALL
        else _Sets(rows32, y, variables, judge, tol, options)
    )
    reason: Reason | None = None
    for _ in range(ROUNDS):
        did, reason = rounds.run(a, beta, scores - y, steps)
        steps += did
        beta, scores = _function(gram, variables, a, options["n_jobs"])
        found = judge(beta, scores)
        rounds.tighten(found, goal)
        best = found if best is None else min(best, found, key=lambda judged: judged.point.gap)
        history.append((budget.seconds, steps, best.point.gap))
        reason = reason or budget.spent(steps, best.point.gap)
        if reason is not None or best.point.gap <= goal * best.point.primal < np.inf or rounds.at_rounding:
            break
        if steps >= MOST_WORK * exhausted(n):
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


def _function(gram: Any, variables: Signed, a: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    up = variables.n_up
    beta = np.bincount(variables.rows[:up], weights=a[:up], minlength=gram.n)
    beta -= np.bincount(variables.rows[up:], weights=a[up:], minlength=gram.n)
    return beta, combine(gram, beta, n_jobs)


class _Whole:
    """Rounds on the whole kernel matrix in float64, each to a smaller violation."""

    def __init__(self, K: np.ndarray, variables: Signed, spread: float):
        self.K, self.variables = K.take(variables.rows, axis=0).take(variables.rows, axis=1), variables
        self.floor, self.few = TINY * float(np.max(np.diagonal(K))), len(K) <= FEW
        self.tolerance, self.rounding, self.reached = 0.01 * spread, 1e-14 * spread, False

    @property
    def at_rounding(self) -> bool:
        """Whether rounding prevents further progress."""
        return self.tolerance < self.rounding

    def run(self, a: np.ndarray, beta: np.ndarray, v: np.ndarray, steps: int) -> tuple[int, Reason | None]:
        """Improve ``a`` in place; return the number of steps, and the reason if the budget is spent."""
        rows, high, n_up = self.variables
        did = move_pairs(self.K, v[rows], a, high, n_up, self.tolerance, STEPS, self.floor)
        self.reached = did < STEPS  # the violation is below the tolerance
        return did, None

    def tighten(self, found: Judged, goal: float) -> None:
        """Reduce the tolerance of the next round after one that reached it."""
        if self.reached:
            self.tolerance *= _sharper(found, goal) if self.few else SHARPER


class _Sets:
    """Rounds with working sets and float32 rows, each from an exact gradient."""

    def __init__(self, rows32: Any, y: np.ndarray, variables: Signed, judge, tol: float, options: dict[str, Any]):
        self.cache = RowCache(rows32, options["megabytes"], 2 * SIZE, options["n_jobs"])
        self.y, self.variables, self.judge, self.tol = y, variables, judge, tol
        self.budget: Budget = options["budget"]
        self.at_rounding = False

    def run(self, a: np.ndarray, beta: np.ndarray, v: np.ndarray, steps: int) -> tuple[int, Reason | None]:
        """Improve ``a`` in place; return the number of steps, and the reason if the budget is spent."""
        most = MOST_WORK * exhausted(len(v)) - steps
        did, reason = run_sets(self.cache, self.variables, a, beta, v, self._judged, self.budget, steps, most)
        self.at_rounding = did == 0
        return did, reason

    def tighten(self, found: Judged, goal: float) -> None:
        """Do nothing: a round ends at the tolerance of the fit."""

    def _judged(self, beta: np.ndarray, v: np.ndarray) -> tuple[float, bool]:
        point = self.judge(beta, v + self.y).point
        return point.gap, point.gap <= MARGIN * self.tol * point.primal < np.inf
