r"""Refinement in float64: Newton's method on the rows strictly between their bounds.

On a face of the box, the dual is quadratic: with the free rows F, the best step solves

.. math:: \begin{pmatrix} K_{FF} + \delta I & 1 \\ 1^\top & 0 \end{pmatrix} \binom{\Delta}{b} = \binom{y_F - (K\beta)_F \mp \varepsilon}{0}.

The ridge :math:`\delta` keeps singular systems solvable; since the step is repeated, the ridge costs additional steps
but no accuracy. A step that leaves the box stops at its boundary, where the row that reached it is fixed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from surefit.core.budget import Budget
from surefit.solvers import cholesky
from surefit.solvers.smo.evaluation import Point, combine, evaluate
from surefit.solvers.smo.problem import BoxProblem

LARGEST_FACE = 4000  # free rows: one factorization of this size takes about a second
RIDGE = 1e-13
WORK = 4e10  # limit of operations for the refinement
WHOLE_STEPS = 3


def polish(gram, problem: BoxProblem, point: Point, budget: Budget) -> Point:
    """Return a point whose dual is at least as large, by Newton steps on the free rows."""
    beta = point.beta.copy()
    free = np.flatnonzero((beta > problem.low) & (beta < problem.high) & ((beta != 0.0) | (problem.epsilon == 0.0)))
    if not 0 < len(free) <= LARGEST_FACE:
        return point
    K = gram.take(free).block(np.arange(len(free)))
    derivative = (problem.y - point.scores)[free] - problem.epsilon * np.sign(beta[free])
    ridge = RIDGE * len(free) * float(np.max(np.diagonal(K)))
    place, spent, whole_steps, solve = np.arange(len(free)), 0.0, 0, None
    while len(place) > int(problem.offset) and spent < WORK and whole_steps < WHOLE_STEPS and not budget.stopped:
        if solve is None:
            solve = _newton_steps(K[np.ix_(place, place)], ridge, problem.offset)
            spent += len(place) ** 3 / 3
        step = None if solve is None else solve(derivative[place])
        spent += 4 * len(place) ** 2
        if step is None or float(step @ derivative[place]) <= 0.0:
            break
        rows = free[place]
        share, blocked = _longest(beta[rows], step, problem, rows)
        beta[rows] += share * step
        derivative -= share * (K[:, place] @ step)
        if blocked is None:
            whole_steps += 1  # with the ridge a single step is not exact, but a few are
            continue
        edge = rows[blocked]
        beta[edge] = _nearest_edge(beta[edge], problem, edge)
        place, solve = np.delete(place, blocked), None
    after = evaluate(problem, beta, combine(gram, beta))
    return after if after.dual >= point.dual or after.gap < point.gap else point


def _newton_steps(K: np.ndarray, ridge: float, offset: bool) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return a function that maps derivatives to Newton steps, or None if K is not positive definite; K is overwritten."""
    K[np.diag_indices_from(K)] += ridge
    try:
        factor = cholesky.factorize(K, overwrite=True)
    except linalg.LinAlgError:
        return None
    ones = cholesky.solve(factor, np.ones(len(K))) if offset else None

    def solve(derivative: np.ndarray) -> np.ndarray:
        step = cholesky.solve(factor, derivative)
        if ones is not None:
            step = step - ones * (step.sum() / ones.sum())
            step -= step.mean()  # makes the sum zero up to rounding
        return step

    return solve


def _longest(beta, step, problem: BoxProblem, rows) -> tuple[float, int | None]:
    """Return the largest fraction of the step, at most one, that stays on the face, and the entry that limits it."""
    low, high = problem.low[rows], problem.high[rows]
    if problem.epsilon > 0.0:  # zero is a boundary of the face
        low, high = np.where(beta > 0, 0.0, low), np.where(beta < 0, 0.0, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(step > 0, (high - beta) / step, np.where(step < 0, (low - beta) / step, np.inf))
    first = int(np.argmin(shares))
    return (1.0, None) if shares[first] >= 1.0 else (max(float(shares[first]), 0.0), first)


def _nearest_edge(value: float, problem: BoxProblem, row: int) -> float:
    edges = [problem.low[row], problem.high[row], *([0.0] if problem.epsilon > 0.0 else [])]
    return float(min(edges, key=lambda edge: abs(edge - value)))
