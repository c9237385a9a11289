r"""Least squares with a norm constraint: :math:`\min_w \mathrm{loss}(w)` subject to :math:`\Omega(w) \le R`.

For every multiplier :math:`\alpha \ge 0` and every dual point :math:`\theta` of the penalized problem with :math:`\alpha\Omega`, the
constrained minimum is at least :math:`D_\alpha(\theta) - \alpha R`. The suboptimality of a feasible :math:`w` is therefore at most
:math:`\mathrm{gap}_\alpha(w) + \alpha (R - \Omega(w))`, for any multiplier :math:`\alpha`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.penalties import elastic_terms
from surefit.solvers.base import Solution
from surefit.solvers.coordinate_descent.descent import Descent
from surefit.solvers.coordinate_descent.evaluation import ROUNDING, Evaluator
from surefit.solvers.coordinate_descent.problem import Prepared, unit_terms

SHARE = 0.25  # fraction of the tolerance for each penalized problem, and for the unused radius
LARGEST_DROP = 0.3  # smallest factor for the multiplier while no bracket is known
SMALLEST_SHARE = 1e-9  # relative to the largest multiplier: below, rounding dominates the dual point
SAFETY = 1e-14  # relative distance from the radius, so that the constraint holds for any order of summation


def alpha_max(prepared: Prepared, penalty) -> float:
    """Return the smallest factor by which ``penalty`` must be multiplied for all penalized coefficients to be zero.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.operators import as_design
    >>> from surefit.penalties import L1
    >>> from surefit.solvers.coordinate_descent import alpha_max, prepare
    >>> prepared = prepare(as_design(np.array([[-1.0], [0.0], [1.0]])), np.array([-2.0, 0.0, 2.0]), None, True)
    >>> round(alpha_max(prepared, L1(1.0)), 6)
    1.333333
    """
    evaluator = Evaluator(prepared)
    evaluator.set_terms(unit_terms(prepared, penalty))
    return evaluator.largest_ratio()


def solve_radius(
    prepared: Prepared,
    make_penalty: Callable[[float], Any],
    radius: float,
    *,
    tol: float,
    budget: Budget,
    start: np.ndarray | None = None,
) -> Solution:
    """Minimize the loss subject to ``make_penalty(1.0)`` being at most ``radius``, to a gap as for :func:`solve`.

    A safeguarded secant method finds the multiplier from the penalty as a function of it, with warm starts. The
    returned coefficients satisfy the constraint exactly; ``multiplier`` is the weight for which the gap was proved.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.budget import Budget
    >>> from surefit.operators import as_design
    >>> from surefit.penalties import L1
    >>> from surefit.solvers.coordinate_descent import prepare, solve_radius
    >>> prepared = prepare(as_design(np.array([[-1.0], [0.0], [1.0]])), np.array([-2.0, 0.0, 2.0]), None, True)
    >>> solution = solve_radius(prepared, L1, 1.5, tol=1e-9, budget=Budget())
    >>> solution.coef.round(6), round(solution.multiplier, 6)
    (array([1.5]), 0.333333)
    """
    return _Search(prepared, make_penalty, float(radius), tol, budget, start).run()


class _Search:
    """Search for the multiplier: a bracket, and the best feasible point so far."""

    def __init__(self, prepared, make_penalty, radius, tol, budget, start):
        self._prepared, self._make_penalty, self._radius, self._budget = prepared, make_penalty, radius, budget
        self._tol, self._tolerance = tol, tol * prepared.null_objective
        self._descent = Descent(prepared, start)
        terms = elastic_terms(make_penalty(1.0), len(prepared.norms))
        self._slopes, self._curvatures = np.where(np.isinf(terms.slopes), 0.0, terms.slopes), terms.curvatures
        self._history: list[tuple[float, int, float]] = []
        self._n_iter, self._began = 0, time.perf_counter()
        self._best: Solution | None = None

    def run(self) -> Solution:
        """Return the best feasible point found."""
        if self._prepared.null_objective == 0.0:
            self._try(0.0)
            return self._finish(Reason.CONVERGED)
        bracket = _Bracket(self._largest(), self._smallest(), self._radius)
        alpha: float | None = bracket.first()
        reason = Reason.STALLED
        while alpha is not None and reason in (Reason.CONVERGED, Reason.STALLED):
            solution, excess = self._try(alpha)
            if solution.gap <= self._tolerance:
                return self._finish(Reason.CONVERGED)
            alpha, reason = bracket.following(alpha, excess), solution.reason
        return self._finish(Reason.STALLED if alpha is None else reason)

    def _largest(self) -> float:
        """Return a multiplier at which the penalized solution is within the radius."""
        p, penalty = self._prepared, self._make_penalty(1.0)
        terms = unit_terms(p, penalty)
        every = alpha_max(p, penalty) if np.all((terms.slopes > 0) | (terms.curvatures == 0)) else math.inf
        if self._radius > 0.0:  # alpha * penalty(w) is at most the null objective
            return min(p.null_objective / self._radius, every)
        if every < math.inf:
            return every
        with_curvature = terms.curvatures > 0  # no multiplier gives exactly zero; this one is close enough
        loss = 0.5 * np.sum(p.products[with_curvature] ** 2 / terms.curvatures[with_curvature])
        return float(loss) / max(SHARE * self._tolerance, ROUNDING * p.null_objective)

    def _smallest(self) -> float:
        """Return a multiplier so small that an unused radius adds a negligible amount to the gap; zero if rounding forbids it."""
        slack = max(SHARE * self._tolerance, ROUNDING * self._prepared.null_objective)
        return slack / self._radius if self._radius > 0.0 else 0.0

    def _try(self, alpha: float) -> tuple[Solution, float]:
        """Solve the penalized problem and shrink the solution to satisfy the constraint; return it and the excess before shrinking."""
        penalized = self._descent.solve(self._make_penalty(alpha), SHARE * self._tol, self._budget, self._n_iter, False)
        coef, size = penalized.coef, self._size(penalized.coef)
        excess = size - self._radius
        allowed = self._radius * (1 - SAFETY)
        if size > allowed:
            coef = np.where((self._slopes > 0) | (self._curvatures > 0), self._shrinkage(coef, allowed), 1.0) * coef
            size = self._size(coef)
        self._n_iter = penalized.n_iter
        solution = self._descent.within(coef, size, self._radius, alpha, penalized.reason)
        self._history.append((time.perf_counter() - self._began, self._n_iter, solution.gap))
        if self._best is None or solution.gap < self._best.gap:
            self._best = solution
        return solution, excess

    def _size(self, coef: np.ndarray) -> float:
        return math.fsum(self._slopes * np.abs(coef) + 0.5 * self._curvatures * coef**2)

    def _shrinkage(self, coef: np.ndarray, allowed: float) -> float:
        """Return the factor t with ``t * linear + t**2 * quadratic = allowed``."""
        if allowed == 0.0:
            return 0.0
        linear = math.fsum(self._slopes * np.abs(coef))
        quadratic = math.fsum(0.5 * self._curvatures * coef**2)
        return 2 * allowed / (linear + math.sqrt(linear**2 + 4 * quadratic * allowed)) * (1 - SAFETY)

    def _finish(self, reason: Reason) -> Solution:
        best = self._best
        assert best is not None
        return best._replace(reason=reason, n_iter=self._n_iter, history=self._history)


class _Bracket:
    """Bracket of the multiplier, from the excess of solutions over the radius (negative if the constraint holds)."""

    def __init__(self, high: float, smallest: float, radius: float):
        self._high, self._excess_high = high, -radius
        self._low, self._excess_low = math.nan, math.nan  # unknown until a solution is outside
        self._smallest = max(smallest, SMALLEST_SHARE * high)
        self._drop, self._last_was_outside = LARGEST_DROP, False

    def first(self) -> float:
        """Return the first multiplier: moderately below the largest, because paths are cheap while solutions are sparse."""
        within = self._excess_high == 0.0 or self._high <= self._smallest
        return self._high if within else max(LARGEST_DROP * self._high, self._smallest)

    def following(self, alpha: float, excess: float) -> float | None:
        """Return the multiplier to try after ``alpha``, or None if the search is complete."""
        if math.isnan(self._low) and excess <= 0.0:
            return self._further_down(alpha, excess)
        outside = excess > 0.0
        # regula falsi; the weight of an end that stays is halved (Illinois), so that both ends converge
        half = 0.5 if outside == self._last_was_outside and not math.isnan(self._low) else 1.0
        if outside:
            self._low, self._excess_low, self._excess_high = alpha, excess, half * self._excess_high
        else:
            self._high, self._excess_high, self._excess_low = alpha, excess, half * self._excess_low
        self._last_was_outside = outside
        slope = (self._excess_high - self._excess_low) / (self._high - self._low)
        wanted = self._high - self._excess_high / slope
        return wanted if self._low < wanted < self._high else None

    def _further_down(self, alpha: float, excess: float) -> float | None:
        """Follow the secant, limited by the largest drop, which grows while solutions stay within the radius."""
        slope = (excess - self._excess_high) / (alpha - self._high) if alpha < self._high else 0.0
        self._high, self._excess_high = alpha, excess
        if alpha <= self._smallest:
            return 0.0 if alpha > 0.0 else None  # last resort: unpenalized least squares
        wanted = alpha - excess / slope if slope < 0.0 else 0.0
        lowest = max(self._drop * alpha, self._smallest)
        self._drop = self._drop**2 if wanted <= 0.0 else LARGEST_DROP
        return max(min(wanted, 0.95 * alpha), lowest)
