"""Maximization of the evidence: a search on a subsample, then a few quasi-Newton steps on all rows.

The evidence of n/4 rows costs 1/64 of that of n rows and has its maximum nearby. Its curvature, scaled up, makes the first step on all
rows nearly a Newton step. The result is stationary for all rows, and never worse than the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from surefit.core.budget import Budget, Reason
from surefit.kernels import Kernel
from surefit.solvers.gaussian_process.exact import Evidence, NotPositiveDefinite, evidence

THIN = 1000  # number of rows up to which no subsample is used
SHARE = 4  # the subsample has one row in this many
STEP = 2.0  # largest change of a log hyperparameter in one step
DIFFERENCE = 1e-3  # step of the finite differences for the curvature
NOISE = 1e-11  # relative rounding error of the evidence: smaller changes are ignored


class Found(NamedTuple):
    """Result of the search: log hyperparameters, their evidence, and statistics of the search."""

    theta: np.ndarray
    evidence: Evidence | None
    n_evaluations: int
    reason: Reason


class _Spent(Exception):
    pass


class _Objective:
    """Evidence as a function of theta, with a counter, a budget, and the best point so far."""

    def __init__(self, kernel: Kernel, problem, budget: Budget, evaluate: Callable):
        self.kernel, self.problem, self.budget, self.evaluate = kernel, problem, budget, evaluate
        self.count = 0
        self.best: tuple[np.ndarray, Evidence] | None = None
        self.known: dict[bytes, Evidence] = {}

    def __call__(self, theta: np.ndarray) -> Evidence:
        key = np.asarray(theta, dtype=np.float64).tobytes()
        if key in self.known:
            return self.known[key]
        derivative = np.nan if self.best is None else float(np.max(np.abs(self.best[1].derivatives), initial=0.0))
        if self.best is not None and self.budget.spent(self.count, derivative) is not None:
            raise _Spent
        self.count += 1
        try:
            found = self.evaluate(self.kernel.with_theta(theta), self.problem)
        except NotPositiveDefinite:
            found = Evidence(-np.inf, np.zeros(len(theta)), np.zeros(len(theta)))
        if not np.isfinite(found.value):
            found = Evidence(-np.inf, np.zeros(len(theta)), np.zeros(len(theta)))
        self.known[key] = found
        if self.best is None or found.value > self.best[1].value:
            self.best = (np.array(theta), found)
        return found


def maximize(
    kernel: Kernel,
    problem,
    starts: list[np.ndarray],
    *,
    tol: float,
    budget: Budget,
    evaluate: Callable[..., Evidence] = evidence,
    thin_above: int = THIN,
    at_start: float | None = None,
) -> Found:
    """Maximize from several starts, the first being that of the kernel, until free derivatives are at most ``tol``.

    ``at_start`` is the evidence of all rows at the first start, if it is already known.
    """
    n, bounds = len(problem.targets), kernel.bounds
    objective = _Objective(kernel, problem, budget, evaluate)
    thin = n > thin_above
    rows = (
        np.sort(np.random.default_rng(0).permutation(n)[: max(thin_above // 2, n // SHARE)]) if thin else np.arange(n)
    )
    first = _Objective(kernel, problem.take(rows), budget, evaluate) if thin else objective
    reason = Reason.CONVERGED
    try:
        for start in starts:
            _l_bfgs_b(first, start, bounds)
        assert first.best is not None
        theta = first.best[0]
        curvature = _curvature(first, theta, bounds) * (n / len(rows))
        if thin and objective(theta).value < (objective(starts[0]).value if at_start is None else at_start):
            theta = starts[0]
        reason = climb(objective, theta, bounds, curvature, tol)
    except _Spent:
        reason = budget.spent(objective.count + first.count) or Reason.MAX_ITER
    best = objective.best
    total = objective.count + (first.count if thin else 0)
    if best is None:  # the time limit was reached before all rows were used
        return Found(first.best[0] if first.best else starts[0], None, total, reason)
    return Found(best[0], best[1], total, reason)


def free_directions(theta: np.ndarray, derivatives: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return which hyperparameters can increase the evidence without leaving their bounds."""
    return ~((theta <= bounds[:, 0]) & (derivatives <= 0) | (theta >= bounds[:, 1]) & (derivatives >= 0))


def climb(
    objective: Callable[[np.ndarray], Evidence], theta: np.ndarray, bounds: np.ndarray, B: np.ndarray, tol: float
) -> Reason:
    """Run projected quasi-Newton ascent from ``theta`` with curvature ``B`` until all free derivatives are at most ``tol``."""
    theta = np.clip(theta, bounds[:, 0], bounds[:, 1])
    now = objective(theta)
    while True:
        free = free_directions(theta, now.derivatives, bounds)
        steepest = float(np.max(np.abs(now.derivatives[free]), initial=0.0))
        if not np.isfinite(now.value):
            return Reason.STALLED
        if steepest <= tol:
            return Reason.CONVERGED
        step = np.zeros(len(theta))
        step[free] = np.linalg.solve(B[np.ix_(free, free)], now.derivatives[free])
        step *= min(1.0, STEP / float(np.max(np.abs(step))))
        length = 1.0
        while True:
            there = np.clip(theta + length * step, bounds[:, 0], bounds[:, 1])
            new = objective(there)
            enough = new.value >= now.value + 1e-4 * float(now.derivatives @ (there - theta))
            even = new.value >= now.value - NOISE * abs(now.value) and np.max(np.abs(new.derivatives[free])) < steepest
            if enough or even:
                break
            length *= 0.25
            if length < 1e-6:
                return Reason.STALLED
        s, d = there - theta, now.derivatives - new.derivatives
        if float(s @ d) > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(d)):
            Bs = B @ s
            B = B + np.outer(d, d) / float(s @ d) - np.outer(Bs, Bs) / float(s @ Bs)
        theta, now = there, new


def _l_bfgs_b(objective: _Objective, start: np.ndarray, bounds: np.ndarray) -> None:
    """Search from one start; the objective stores the best point."""

    def downhill(theta):
        found = objective(theta)
        return (-found.value, -found.derivatives) if np.isfinite(found.value) else (1e25, np.zeros(len(theta)))

    minimize(downhill, np.clip(start, bounds[:, 0], bounds[:, 1]), jac=True, method="L-BFGS-B", bounds=bounds)


def _curvature(objective: _Objective, theta: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the negative Hessian by finite differences of derivatives, made positive definite."""
    here = objective(theta).derivatives
    H = np.empty((len(theta), len(theta)))
    for j in range(len(theta)):
        move = np.zeros(len(theta))
        move[j] = DIFFERENCE if theta[j] + DIFFERENCE <= bounds[j, 1] else -DIFFERENCE
        H[:, j] = (here - objective(theta + move).derivatives) / move[j]
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    values = np.maximum(np.abs(values), max(1e-4 * float(np.max(np.abs(values))), 1e-3))
    return (vectors * values) @ vectors.T
