"""Alternative solvers for the dual: faster from the start, or used when working sets reach their iteration limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget
from surefit.solvers.smo.coordinates import ascend_coordinates
from surefit.solvers.smo.evaluation import Point, combine, evaluate, in_noise
from surefit.solvers.smo.interior import MOST_ROWS, interior_points
from surefit.solvers.smo.linear import dual_points
from surefit.solvers.smo.newton import polish
from surefit.solvers.smo.problem import BoxProblem, balanced
from surefit.solvers.smo.rows import LinearRows

MANY_ROWS = 500  # for fewer rows, working sets take milliseconds
ROWS_A_COLUMN = 4  # rows per column: a Newton step costs the square of the columns per row
STEPS_A_CUBE = 8e-4  # working-set steps that take as long as the interior-point method, divided by the cube of the rows
SAFE_COST = 1e10  # ``C`` times kernel value up to which scores keep their digits
FEWEST_STEPS = 100_000
NO_LIMIT = 1 << 62


class Strategy(NamedTuple):
    """Name of a solver, whether it runs before working sets, and the function that runs it.

    ``find`` returns a point, its number of steps, and whether rounding prevents a better one.
    """

    name: str
    first: bool
    find: Callable[..., tuple[Point, int, bool]]


def other_strategies(gram, problem: BoxProblem, megabytes: float) -> list[Strategy]:
    """Return the solvers for this problem, in the order in which they are tried."""
    n, strategies = gram.n, []
    if problem.hard or n < 2:
        return []
    if isinstance(gram, LinearRows):
        many, narrow = n > MANY_ROWS, ROWS_A_COLUMN * gram.A.shape[1] <= n
        by_rows = sparse.issparse(gram.A) and problem.one_sided and many  # a step costs only the entries of one row
        if by_rows and not narrow and problem.offset:
            strategies.append(Strategy("coordinate ascent on the dual", True, _by_rows))
        elif by_rows or narrow:
            strategies.append(Strategy("Newton's method on a smoothed primal", many, _by_columns))
    if n <= MOST_ROWS and 16 * n * n <= megabytes * 2**20:
        strategies.append(Strategy("interior points", False, _by_interior_points))
    return strategies


def exhausted(n: int) -> int:
    """Return the number of working-set steps after which another solver is used."""
    return max(FEWEST_STEPS, int(STEPS_A_CUBE * n**3))


def _by_columns(gram, problem: BoxProblem, tol: float, budget: Budget) -> tuple[Point, int, bool]:
    points, steps = [], 0
    for beta, did in dual_points(gram, problem, tol, budget):
        steps += did
        points.append(_judged(gram, problem, beta, tol, budget, 2 * gram.A.shape[1] + 20))
        if points[-1].gap <= tol * points[-1].primal:
            return points[-1], steps, False
    best, largest = min(points, key=_gap), float(np.max(gram.diagonal))
    lost = in_noise(problem, best, largest)
    if lost:  # a smaller C gives nearly the same function more accurately, but without a proof
        share = min(1.0, SAFE_COST / (largest * float(max(np.max(problem.high), -np.min(problem.low)))))
        lower = problem._replace(low=share * problem.low, high=share * problem.high)
        beta, did = next(dual_points(gram, lower, tol, budget))
        beta = balanced(lower, np.clip(beta, lower.low, lower.high))
        best, steps = min(best, evaluate(problem, beta, combine(gram, beta)), key=_gap), steps + did
    return best, steps, lost


def _by_rows(gram, problem: BoxProblem, tol: float, budget: Budget) -> tuple[Point, int, bool]:
    best, steps = None, 0
    for beta, did in ascend_coordinates(gram, problem, budget):
        steps += did
        point = _judged(gram, problem, beta, tol, budget, 0)
        best = point if best is None or point.gap < best.gap else best
        if point.gap <= tol * point.primal:
            break
    best = best or evaluate(problem, np.zeros(gram.n), np.zeros(gram.n))
    return best, steps, in_noise(problem, best, float(np.max(gram.diagonal)))


def _by_interior_points(gram, problem: BoxProblem, tol: float, budget: Budget) -> tuple[Point, int, bool]:
    (near, onto), steps = interior_points(gram, problem, budget)
    best = _judged(gram, problem, onto, tol, budget, gram.n)
    if best.gap > tol * best.primal:
        best = min(best, _judged(gram, problem, near, tol, budget, gram.n), key=_gap)
    return best, steps, in_noise(problem, best, float(np.max(gram.diagonal)))


def _judged(gram, problem: BoxProblem, beta: np.ndarray, tol: float, budget: Budget, few: int) -> Point:
    """Evaluate a dual vector; if its gap is too large and it has few free rows, refine it by Newton's method first."""
    beta = balanced(problem, np.clip(beta, problem.low, problem.high))
    point = evaluate(problem, beta, combine(gram, beta))
    free = int(np.count_nonzero((beta > problem.low) & (beta < problem.high) & (beta != 0.0)))
    return point if point.gap <= tol * point.primal or free > few else polish(gram, problem, point, budget)


def _gap(point: Point) -> float:
    return point.gap
