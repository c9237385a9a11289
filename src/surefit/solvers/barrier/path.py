"""Path following: Newton steps for decreasing weights of the barrier, until the gap is small."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason


class Tuning(NamedTuple):
    """Parameters of the method, tuned on 40 x 8 problems with every loss and penalty."""

    shrink: float = 0.15  # factor for the weight of the barrier after its problem is solved
    centered: float = (
        0.02  # a problem is solved when half the squared Newton decrement is at most this fraction of the weight
    )
    aim: float = 0.2  # fraction of the tolerance that the solver targets, as a margin for rounding
    smallest: float = 1e-15  # weight of the barrier, relative to the objective, below which only rounding remains
    armijo: float = 1e-4
    halvings: int = 50
    polish: int = 4  # additional Newton steps after a smooth problem is solved
    failures: int = 3  # failed steps after which the solver stops
    short: float = (
        1e-3  # step length, relative to a full Newton step, up to which the kernel solver raises small curvatures
    )
    floor: float = 0.01  # initial lower bound on these curvatures, relative to the largest one


class Result(NamedTuple):
    """Result of the solver."""

    coef: np.ndarray
    intercept: Any  # a number, or the coefficients of the unpenalized functions of the kernel solver
    dual: np.ndarray  # derivatives g, one per row, inside their domains
    gap: float
    objective: float
    null_objective: float
    n_iter: int
    reason: Reason
    history: list[tuple[float, int, float]]
    solver: str = "interior-point method"


TUNING = Tuning()


def follow(problem: Any, null: float, tolerance: float, budget: Budget) -> tuple[Reason, int, list]:
    """Run path following on ``problem``; return why it stopped, the number of Newton steps and the history of gaps.

    ``problem`` provides ``newton() -> decrement``, ``search() -> moved``, ``gap()``, ``keep()``, ``restore()`` and ``current()``.
    """
    began, history, n_iter = time.perf_counter(), [], 0
    problem.mu = max(null, 1e-300) / max(problem.kinks, 1)
    reason, failures, gap, best = Reason.STALLED, 0, float("inf"), float("inf")
    while failures <= TUNING.failures:
        decrement = problem.newton()
        n_iter += 1
        centered = decrement <= TUNING.centered * problem.mu
        # if unpenalized columns separate the rows, the barrier has no minimum, but the objective goes to zero
        if centered or not problem.kinks or problem.current() <= TUNING.aim * tolerance:
            gap = problem.gap()
            history.append((time.perf_counter() - began, n_iter, gap))
            if gap <= best:
                best = gap
                problem.keep()
            if gap <= TUNING.aim * tolerance:
                reason = Reason.CONVERGED
                best = best if problem.kinks else _polished(problem, best)
                break
        spent = budget.spent(n_iter, best)
        if spent is not None:
            reason = spent
            break
        moved = problem.search()
        # a smooth problem has no barrier to shrink: without this test, steps below rounding would continue forever
        failures += not moved or (not problem.kinks and decrement <= TUNING.smallest * problem.current())
        if problem.kinks and (centered or not moved):
            problem.mu *= TUNING.shrink
            if problem.mu * problem.kinks < TUNING.smallest * max(null, 1e-300):
                break
    if best == float("inf"):
        problem.newton()
        best = problem.gap()
        problem.keep()
    problem.restore()
    return (
        Reason.CONVERGED if best <= tolerance else reason,
        n_iter,
        [*history, (time.perf_counter() - began, n_iter, best)],
    )


def _polished(problem: Any, best: float) -> float:
    """Take additional Newton steps, each of which doubles the number of correct digits; return the smallest gap."""
    for _ in range(TUNING.polish):
        if not problem.search():
            break
        problem.newton()
        gap = problem.gap()
        if not gap <= best:
            break
        best = gap
        problem.keep()
    return best
