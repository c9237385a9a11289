r"""Dual problems of support vector machines with ``nu``, whose coefficients have a given sum :math:`\sum_i |\beta_i| = T`.

The multiplier of this constraint is a parameter of the problem without it: the margin :math:`\rho = 1 / C` of a
classifier, or the half-width :math:`\varepsilon` of the tube of a regression. The sum is monotone in the parameter, so
the search keeps one solution with a smaller and one with a larger sum. Their convex combination with the sum T is
feasible, and it is optimal if both solutions have the same free rows. For a function :math:`f` the best intercept and
multiplier are quantiles of its values, which gives the primal point and the gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Reason
from surefit.solvers.smo.evaluation import Point
from surefit.solvers.smo.minimize import PATIENCE, SMALL, DualFit

SEARCHES = 60
TIGHT = 1e-13
GROWTH = 4.0  # factor of the parameter while only one side is known
VANISHED = 1e-6  # fraction of the first margin below which no margin exists
NEGLIGIBLE = 1e-3  # fraction of the first half-width below which zero is tried
ON_EDGE = 1e-8  # relative distance from the threshold of one class that counts as being on it
ROUNDED = 1e-12  # relative rounding error of scores, with a safety margin
EVEN = 1e-15  # relative rounding error of a sum of weights


class Judged(NamedTuple):
    """A feasible dual vector with the best primal point of its function, and the multiplier of that point."""

    point: Point
    level: float


class Solved(NamedTuple):
    """Solution for one parameter, in units in which the box does not depend on it."""

    at: float  # parameter; the sum increases with it
    beta: np.ndarray
    scores: np.ndarray

    @property
    def total(self) -> float:
        """Sum of the coefficients."""
        return float(np.abs(self.beta).sum())


def edge(values: np.ndarray, weights: np.ndarray, amount: float) -> tuple[float, float]:
    r"""Return the interval of minimizers u of :math:`\sum_i w_i (u - v_i)_+ - u \cdot amount`: the weight below u is ``amount``."""
    order = values.argsort(kind="stable")
    below = weights[order].cumsum()
    slack = EVEN * len(below) * float(below[-1])
    first = min(int(below.searchsorted(amount - slack)), len(below) - 1)
    last = min(first + 1, len(below) - 1) if below[first] <= amount + slack else first
    return float(values[order[first]]), float(values[order[last]])


def judge_classes(t: np.ndarray, s: np.ndarray, total: float, beta: np.ndarray, scores: np.ndarray) -> Judged:
    """Return the classifier of a dual vector, scaled to margin one; its gap is infinite if it has no margin."""
    up, down = t > 0, t < 0
    (u0, u1), (v0, v1) = edge(scores[up], s[up], total / 2), edge(-scores[down], s[down], total / 2)
    # If all rows of a class are inside, the margin has no upper limit: use 1, or the smallest possible margin.
    spent = [total / 2 >= float(s[side].sum()) * (1 - EVEN * len(s)) for side in (up, down)]
    if any(spent):
        more = 2.0 * max(1.0 - 0.25 * (u0 + u1 + v0 + v1), 0.0) / sum(spent)
        u0, u1, v0, v1 = u0 + more * spent[0], u1 + more * spent[0], v0 + more * spent[1], v1 + more * spent[1]
    rho, b = 0.25 * (u0 + u1 + v0 + v1), 0.25 * (v0 + v1 - u0 - u1)
    norm = float(beta @ scores)
    if rho <= 0.0 or norm <= 0.0:
        return Judged(Point(beta, scores, b, (b, b), math.inf, math.inf, -math.inf), 0.0)
    slack = float(s @ np.maximum(rho - t * (scores + b), 0.0))
    gap, primal = max(norm + slack - total * rho, 0.0) / rho**2, (0.5 * norm + slack) / rho**2
    interval = (0.5 * (v0 - u1) / rho, 0.5 * (v1 - u0) / rho)
    return Judged(Point(beta / rho, scores / rho, b / rho, interval, gap, primal, primal - gap), rho)


def judge_targets(y: np.ndarray, c: np.ndarray, total: float, beta: np.ndarray, scores: np.ndarray) -> Judged:
    """Return the regression function of a dual vector; the edges of its tube are quantiles of the residuals."""
    g = y - scores
    (l0, l1), (u0, u1) = edge(g, c, total / 2), edge(-g, c, total / 2)
    low, high = 0.5 * (l0 + l1), -0.5 * (u0 + u1)
    b, epsilon = 0.5 * (low + high), max(0.5 * (high - low), 0.0)
    norm = float(beta @ scores)
    primal = 0.5 * norm + total * epsilon + float(c @ np.maximum(np.abs(g - b) - epsilon, 0.0))
    dual = float(y @ beta) - 0.5 * norm
    interval = (0.5 * (l0 - u1), 0.5 * (l1 - u0))
    return Judged(Point(beta, scores, b, interval, max(primal - dual, 0.0), primal, dual), epsilon)


def judge_one_class(s: np.ndarray, total: float, beta: np.ndarray, scores: np.ndarray) -> Judged:
    """Return the one-class model of a dual vector, with weight ``total`` outside or on the boundary."""
    low, high = edge(scores, s, total)
    middle, norm = 0.5 * (low + high), float(beta @ scores)
    size = float(np.max(np.abs(scores)))
    on_edge = scores[np.abs(scores - middle) <= ON_EDGE * size]
    rho = float(np.min(on_edge, initial=middle)) - ROUNDED * size  # rows on the boundary stay inside despite rounding
    slack = float(s @ np.maximum(rho - scores, 0.0))
    gap, primal = max(norm + slack - total * rho, 0.0), 0.5 * norm + slack
    return Judged(Point(beta, scores, -rho, (-high, -low), gap, primal, primal - gap), rho)


def search(
    solve: Callable[[float, np.ndarray], tuple[Solved, DualFit]],
    judge: Callable[[np.ndarray, np.ndarray], Judged],
    start: Solved,
    total: float,
    tol: float,
) -> tuple[Judged, DualFit]:
    """Return the best feasible point found, and how it was found; ``start`` must be feasible, and its parameter is tried first."""
    best, below, above = judge(start.beta, start.scores), None, None
    at, beta, steps, same = start.at, start.beta, 0, 0
    history: list[tuple[float, int, float]] = []
    routes: tuple[str, ...] = ()
    reason, idle = Reason.STALLED, 0
    goal = tol if len(beta) > SMALL else min(tol, TIGHT)  # small problems are solved to rounding
    for _ in range(SEARCHES):
        solved, fit = solve(at, beta)
        steps, routes = steps + fit.n_iter, tuple(dict.fromkeys((*routes, *fit.routes)))
        if solved.total <= total:
            same, below = max(same, 0) + 1, solved
        else:
            same, above = min(same, 0) - 1, solved
        before = best.point.gap
        best = min([best, *(judge(*found) for found in _feasible(below, above, total, at))], key=_gap)
        history.append((fit.history[-1][0], steps, best.point.gap))
        idle = 0 if best.point.gap < 0.5 * before else idle + 1
        met = best.point.gap <= tol * best.point.primal < math.inf
        if met and (best.point.gap <= goal * best.point.primal or idle >= PATIENCE):
            break
        if fit.reason not in (Reason.CONVERGED, Reason.STALLED):
            reason = fit.reason
            break
        after = _next(below, above, total, start.at, abs(same) > 1)
        if after == at or (above is not None and 0.0 < above.at <= VANISHED * start.at):
            break
        at, beta = after, solved.beta
    met = best.point.gap <= tol * best.point.primal < math.inf
    return best, DualFit(best.point, Reason.CONVERGED if met else reason, steps, history, routes)


def _gap(found: Judged) -> float:
    return found.point.gap


def _feasible(
    below: Solved | None, above: Solved | None, total: float, at: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return dual vectors with the sum ``total``, or at most ``total`` for a regression with parameter zero."""
    if below is not None and above is not None:
        share = (total - below.total) / (above.total - below.total)
        mixed = (share * a + (1.0 - share) * b for a, b in zip(above[1:], below[1:], strict=True))
        beta, scores = mixed
        return [(beta, scores)]
    if above is not None:
        return [(total / above.total * above.beta, total / above.total * above.scores)]
    assert below is not None
    return [(below.beta, below.scores)] if at <= 0.0 or below.total >= total * (1 - EVEN * len(below.beta)) else []


def _next(below: Solved | None, above: Solved | None, total: float, first: float, again: bool) -> float:
    """Return the next parameter: by the secant, by bisection if one side repeats, or outside the known range."""
    if below is not None and above is not None:
        if again:
            return 0.5 * (below.at + above.at)
        if below.at > 0.0 and below.total > 0.0:  # the sum of a classifier is close to a power of the margin
            share = math.log(total / below.total) / math.log(above.total / below.total)
            return below.at * (above.at / below.at) ** min(max(share, 0.01), 0.99)
        share = (total - below.total) / (above.total - below.total)
        return below.at + min(max(share, 0.01), 0.99) * (above.at - below.at)
    if above is not None:  # a smaller sum is needed
        return above.at / GROWTH if above.at > 0 else GROWTH * above.at
    assert below is not None
    if below.at > 0:
        return below.at * GROWTH
    return below.at / GROWTH if below.at < NEGLIGIBLE * first else 0.0
