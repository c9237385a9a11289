r"""Working-set method: kernel rows by blocks through BLAS, pairs inside the block, float64 refinement.

Rounds run on float32 kernel rows with gradients in float64, on the active rows. Between rounds, the gradient is recomputed in float64 for
every row from the support. This gives the exact gap, reactivates shrunk rows, and removes the errors of float32: a round only needs the
*correction*, as in iterative refinement.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.solvers.smo.evaluation import UNIT, Point, combine, evaluate, in_noise, quick_gap
from surefit.solvers.smo.inner import derivatives, solve_pairs, solve_singles
from surefit.solvers.smo.newton import polish
from surefit.solvers.smo.problem import BoxProblem, balanced, row_gaps
from surefit.solvers.smo.rows import RowCache, stored
from surefit.solvers.smo.strategies import NO_LIMIT, exhausted, other_strategies

LONG = 8000  # rows of this length are expensive: few of them per block
BLOCKS = (256, 192)  # rows per block, for short and long rows
INNER = 0.3  # the subproblem is solved to this fraction of its initial violation
INNER_STEPS = 40  # largest number of steps per row of the working set
SHRINK_EVERY = 20  # blocks between two shrinking steps
SHRINK_SHARE = 0.8  # shrinking is worthwhile if at most this fraction remains
FLOAT32 = 6e-8
BLOCK_WORK = 300  # steps that take as long as selecting and fetching a block
IDLE = 200  # blocks without a smaller violation before a round ends
NOT_SEPARABLE = 1e-15  # squared fraction of the radius below which a margin is lost in rounding
SMALL, TIGHT = 500, 1e-13  # up to 500 rows, problems are solved to rounding error on the whole float64 kernel matrix
WHOLE_STEPS = 20  # number of steps per row before the point is evaluated
FEW, FEW_STEPS = 150, 8  # up to 150 rows, 8 steps per row take less time than one refinement
SHARPER = 1e-3  # fraction of the violation at which refinement starts
PATIENCE = 4  # rounds without progress
WHOLE_MATRIX = "second-order pairs of all rows"
WORKING_SETS = "working sets with second-order pairs, float32 rows, float64 refinement"


class DualFit(NamedTuple):
    """Result of the solver, and the strategies that were used."""

    point: Point
    reason: Reason
    n_iter: int
    history: list[tuple[float, int, float]]
    routes: tuple[str, ...] = (WORKING_SETS,)


def minimize(
    gram,
    rows32,
    problem: BoxProblem,
    *,
    tol: float,
    budget: Budget,
    megabytes: float,
    beta=None,
    shrinking=True,
    n_jobs: int | None = None,
) -> DualFit:
    """Solve to a gap of ``tol`` times the primal; ``gram`` gives rows in float64, ``rows32`` the same in float32.

    Kernel rows are computed by ``n_jobs`` threads; the result is identical for any number of threads.
    """
    n, given = gram.n, gram
    cache = partial(RowCache, rows32, megabytes, 2 * BLOCKS[n > LONG], n_jobs)
    run, usual, tight = partial(_round, cache, shrinking), WORKING_SETS, tol
    if n <= SMALL:
        gram = stored(gram)
        run, usual, tight = partial(_whole_round, gram.K), WHOLE_MATRIX, min(tol, TIGHT)
    history: list[tuple[float, int, float]] = []
    steps, work, failures, lost, reason = 0, 0, 0, False, None
    best = here = start = _start(gram, problem, beta, n_jobs)
    highest = start.dual
    largest = float(np.max(gram.diagonal))
    others = other_strategies(given, problem, megabytes)
    most = 0 if others and others[0].first else exhausted(n)
    routes: tuple[str, ...] = () if most == 0 else (usual,)
    while True:
        history.append((budget.seconds, steps, best.gap))
        if math.isfinite(best.gap) and best.gap <= tol * best.primal:
            if best.gap <= tight * best.primal or failures or reason is not None:
                reason = Reason.CONVERGED
        elif failures >= PATIENCE or lost:
            if not others:
                reason = Reason.STALLED
            most = 0  # make no further attempt after another strategy
        reason = reason or budget.spent(steps, best.gap)
        if reason is not None:
            best = evaluate(problem, best.beta, best.scores) if best is start else best  # with its best intercept
            return DualFit(best, reason, steps, history, routes or (usual,))
        if others and work >= most:
            way = others.pop(0)
            after, did, lost = way.find(given, problem, tol, budget)
            routes, most, tight = (*routes, way.name), work + exhausted(n), tol
            others = [] if lost else others  # rounding limits all strategies
        else:
            routes = routes if usual in routes else (*routes, usual)
            beta, did, work_done, reason = run(problem, here, tight, budget, steps, most - work if others else NO_LIMIT)
            after = _at(gram, problem, beta, n_jobs)
            again = n <= FEW and len(history) == 1 and did < FEW_STEPS * n  # a second run is faster than a refinement
            if reason is None and after.gap > tight * after.primal and not again and (tight < tol or len(history) >= 2):
                after = polish(gram, problem, after, budget)
            work += work_done
            lost = _lost(problem, after, largest, tol)
        steps += did
        # compared with the highest dual so far, since points can alternate within rounding
        better = after.gap < 0.9 * best.gap or after.dual > highest + 0.01 * max(min(best.gap, here.gap), 0.0)
        failures, highest = 0 if better else failures + 1, max(highest, after.dual)
        here = after if after.dual >= here.dual or after.gap < here.gap else here
        best = after if after.gap < best.gap else best


def _lost(problem: BoxProblem, point: Point, largest: float, tol: float) -> bool:
    """Return whether rounding prevents a smaller gap; for a hard margin, whether no margin above rounding is possible."""
    if point.gap <= tol * point.primal < math.inf:
        return False
    if not problem.hard:
        return in_noise(problem, point, largest)
    total = float(np.abs(point.beta).sum())
    size = total * total  # overflow gives infinity, not an error
    return total > 0.0 and float(point.beta @ point.scores) <= NOT_SEPARABLE * size * largest


def _at(gram, problem: BoxProblem, beta: np.ndarray, n_jobs: int | None) -> Point:
    beta = balanced(problem, beta)
    return evaluate(problem, beta, combine(gram, beta, n_jobs))


def _start(gram, problem: BoxProblem, beta: np.ndarray | None, n_jobs: int | None) -> Point:
    """Return the point of a dual vector; without one, the zero function, whose gap is its objective."""
    if beta is not None:
        return _at(gram, problem, np.clip(beta, problem.low, problem.high), n_jobs)
    zero = np.zeros(gram.n)
    if problem.hard:
        return evaluate(problem, zero, zero)
    objective = float(row_gaps(problem.y, zero, problem.low, problem.high, problem.epsilon, 0.0).sum())
    return Point(zero, zero, 0.0, (0.0, 0.0), objective, objective, 0.0)


def _whole_round(K: np.ndarray, problem: BoxProblem, start: Point, tol: float, budget: Budget, steps: int, most: int):
    """Optimize over all rows in float64 until refinement is faster, the gap is about ``tol`` times the primal, or rounding dominates."""
    n, beta, g = len(start.beta), start.beta.copy(), problem.y - start.scores
    if n <= FEW and start.primal < math.inf:
        goal, limit = tol * start.primal / float((problem.high - problem.low).sum()), FEW_STEPS * n
    else:
        best, least = derivatives(g, beta, problem.low, problem.high, problem.epsilon, np.empty(n), np.empty(n))
        goal, limit = SHARPER * (best - least if problem.offset else max(best, -least)), WHOLE_STEPS * n
    limit = max(1, min(limit, most, NO_LIMIT if budget.max_iter is None else budget.max_iter - steps))
    scale = float(np.abs(K.diagonal()).max()) or 1.0
    tolerance = max(goal, UNIT * (float(np.abs(problem.y).max()) + scale * float(np.abs(beta).sum())))
    solve = solve_pairs if problem.offset else solve_singles
    did = solve(K, g, beta, problem.low, problem.high, problem.epsilon, tolerance, limit, scale)
    return beta, did, did, None


def _round(
    new_cache, shrinking: bool, problem: BoxProblem, start: Point, tol: float, budget: Budget, steps: int, most: int
):
    """Optimize with float32 rows, starting from an exact gradient, to half the gap of the active rows or the float32 precision."""
    cache = new_cache()
    rows32 = cache.gram
    whole = start.beta.copy()
    active, offset, eps = np.arange(len(whole)), problem.offset, problem.epsilon
    beta, g, low, high = whole.copy(), problem.y - start.scores, problem.low, problem.high
    up, down = np.empty(len(beta)), np.empty(len(beta))
    solve = solve_pairs if offset else solve_singles
    size = BLOCKS[len(beta) > LONG]
    scale = float(np.max(np.abs(rows32.diagonal))) or 1.0
    spread = FLOAT32 * scale
    did, noise, reason, dual = 0, 0.0, None, start.dual
    largest_y = float(np.max(np.abs(problem.y)))
    smallest, since = math.inf, 0
    for block in range(1, 1 << 62):
        m = len(active)
        best, least = derivatives(g, beta, low, high, eps, up[:m], down[:m])
        violation = best - least if offset else max(best, -least)
        gap = quick_gap(problem, beta, g, low, high, best, least)
        if gap <= 0.5 * tol * dual < math.inf or violation <= 4 * math.sqrt(noise):
            break
        # float64 has limited precision too, and float32 may move pairs back and forth forever
        smallest, since = (violation, block) if violation < 0.99 * smallest else (smallest, since)
        if violation <= UNIT * (largest_y + scale * float(np.abs(beta).sum())) or block - since > IDLE + m // 8:
            break
        reason = budget.spent(steps + did, gap)
        if reason is not None or did + BLOCK_WORK * block >= most:
            break
        if shrinking and block % SHRINK_EVERY == 0:
            top, bottom = (least, best) if offset else (0.0, 0.0)
            out = (np.isinf(up[:m]) & (down[:m] > bottom)) | (np.isinf(down[:m]) & (up[:m] < top))
            kept = np.flatnonzero(~out)
            if len(kept) < SHRINK_SHARE * m:
                whole[active] = beta
                active, beta, g, low, high = active[kept], beta[kept], g[kept], low[kept], high[kept]
                cache.keep(rows32.take(active), kept)
                m = len(active)
                up[:m], down[:m] = up[kept], down[kept]
        chosen = _choose(up[:m], down[:m], best if offset else 0.0, least if offset else 0.0, size)
        part, derivative = beta[chosen], g[chosen]
        small = INNER_STEPS * size
        if budget.max_iter is not None:
            small = max(1, min(small, budget.max_iter - steps - did))
        K = cache.among(chosen)
        did += solve(K, derivative, part, low[chosen], high[chosen], eps, INNER * violation, small, scale)
        g_before, change = g[chosen], part - beta[chosen]
        moved = np.flatnonzero(change)
        if len(moved) == 0:
            break
        cache.subtract(chosen[moved], change[moved], g)
        noise += spread**2 * float(change @ change)
        dual += 0.5 * float(change @ (derivative + g_before)) - eps * float(
            np.abs(part).sum() - np.abs(beta[chosen]).sum()
        )
        beta[chosen] = part
    whole[active] = beta
    return whole, did, did + BLOCK_WORK * block, reason


def _choose(up: np.ndarray, down: np.ndarray, best: float, least: float, size: int) -> np.ndarray:
    """Return the rows with the largest gains when raised and the smallest costs when lowered, among those that violate optimality."""
    half = max(1, size // 2)
    rise, fall = np.flatnonzero(up > least), np.flatnonzero(down < best)
    if len(rise) > half:
        rise = rise[np.argpartition(up[rise], len(rise) - half)[len(rise) - half :]]
    if len(fall) > half:
        fall = fall[np.argpartition(down[fall], half - 1)[:half]]
    chosen = np.zeros(len(up), dtype=bool)
    chosen[rise] = chosen[fall] = True
    return np.flatnonzero(chosen)
