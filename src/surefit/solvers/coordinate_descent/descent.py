"""Penalized least squares solved to a stated duality gap with growing working sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.penalties import ElasticTerms
from surefit.solvers.base import Solution
from surefit.solvers.coordinate_descent.evaluation import Evaluation, Evaluator
from surefit.solvers.coordinate_descent.gram import WorkingSet
from surefit.solvers.coordinate_descent.problem import Prepared, unit_terms
from surefit.solvers.coordinate_descent.residual import ResidualSet

LARGEST_GRAM = 5000  # columns; larger working sets are solved on the residual
SMALL_GRAM = 1000  # columns; between the two limits, the number of rows decides:
GRAM_PER_ROW = 2  # columns per row beyond which a data column is much shorter than one of the Gram matrix
FIRST_COLUMNS = 100  # columns in the first working set, subject to
FIRST_ENTRIES = 10_000_000  # at most this many entries: the Gram matrix of long columns is expensive
FEW_PRODUCTS = 200_000  # multiplications for the Gram matrix of all columns that take less time than an evaluation
FEWEST_COLUMNS = 10  # smallest number of columns that justifies a pass over the data
INNER_SHARE = 0.3  # fraction of the tolerance for the working set
FEW_MISSING = 0.2  # fraction of the working set: fewer new columns rarely require further ones
COARSE = 0.1  # fraction of the gap while columns are missing, since the restricted problem is not yet the right one


def solve(
    prepared: Prepared,
    penalty,
    *,
    tol: float,
    budget: Budget,
    start: np.ndarray | None = None,
    inactive: bool = True,
) -> Solution:
    """Minimize until the gap is at most ``tol`` times the null objective, the budget is spent, or rounding stops progress.

    Parameters
    ----------
    prepared : Prepared
        The data, from :func:`prepare`.
    penalty : a term with ``elastic_terms``
        L1, L2, ElasticNetPenalty, or a Weighted or Positive version of these.
    tol : float >= 0
        Relative duality gap.
    budget : Budget
        Stopping criteria, checked between compiled chunks.
    start : ndarray of shape (n_features,), optional
        Coefficients to start from.
    inactive : bool, default=True
        Whether to prove which features are zero in every solution; otherwise no feature is marked.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.budget import Budget
    >>> from surefit.operators import as_design
    >>> from surefit.penalties import L1
    >>> from surefit.solvers.coordinate_descent import prepare, solve
    >>> prepared = prepare(as_design(np.array([[-1.0], [0.0], [1.0]])), np.array([-2.0, 0.0, 2.0]), None, True)
    >>> solution = solve(prepared, L1(1 / 3), tol=1e-12, budget=Budget())
    >>> solution.coef.round(6), str(solution.reason)
    (array([1.5]), 'converged')
    """
    return Descent(prepared, start).solve(penalty, tol, budget, thorough=True if inactive else None)


def solve_path(
    prepared: Prepared, penalties: Iterable, *, tol: float, budget: Budget, start: np.ndarray | None = None
) -> Iterator[Solution]:
    """Yield the solution of each penalty in turn, each starting from the previous one, as for :func:`solve`.

    Iterations are counted separately for each penalty; ``inactive`` marks the features proved to be zero without
    further passes over the data. The path ends early, with its last solution unfinished, when the budget is spent
    (time, Ctrl-C, a callback).
    """
    descent = Descent(prepared, start)
    for penalty in penalties:
        yield descent.solve(penalty, tol, budget, thorough=False)
        if budget.stopped is not None:
            return


class _Stop(Exception):
    """Raised between two compiled chunks when the budget is spent."""

    def __init__(self, reason: Reason):
        super().__init__(reason)
        self.reason = reason


class Descent:
    """State shared by the solutions for a sequence of penalties: working set, Gram matrix, known correlations."""

    def __init__(self, prepared: Prepared, start: np.ndarray | None = None):
        self._prepared = prepared
        self._evaluator = Evaluator(prepared)
        self._set: WorkingSet | ResidualSet = WorkingSet(prepared)
        if start is not None:
            start = np.asarray(start, dtype=np.float64) * prepared.norms
            self._add(np.flatnonzero(start), lambda: None)
            self._set.coefs[:] = start[self._set.columns]

    def solve(self, penalty, tol: float, budget: Budget, n_iter: int = 0, thorough: bool | None = True) -> Solution:
        """Return the solution for ``penalty``, starting from the last one; ``n_iter`` iterations are already spent.

        ``thorough`` proves as many features inactive as the gap allows, not only those known without another pass; None
        proves nothing about features.
        """
        self._terms: ElasticTerms = unit_terms(self._prepared, penalty)
        self._evaluator.set_terms(self._terms)
        self._budget, self._began = budget, time.perf_counter()
        self._n_iter, self._gap = n_iter, np.inf
        self._history: list[tuple[float, int, float]] = []
        self._best: Evaluation | None = None
        self._make_feasible()
        tolerance = tol * self._prepared.null_objective
        try:
            reason = self._run(tolerance)
        except _Stop as stop:
            reason = Reason.CONVERGED if self._evaluate().gap <= tolerance else stop.reason
        return self._solution(reason, thorough)

    def _run(self, tolerance: float) -> Reason:
        slopes, n = self._terms.slopes, len(self._prepared.y)
        # Smooth terms are usually non-zero. With few entries, one set of all columns is faster than growing sets.
        wanted = slopes < np.inf if n * len(slopes) ** 2 <= FEW_PRODUCTS else slopes == 0.0
        self._add((wanted & ~self._set.contains).nonzero()[0], self._ask_budget)
        target, stuck = INNER_SHARE * tolerance, 0
        if len(self._set):
            self._set.solve(self._terms, target, self._count_and_ask_budget)
        while True:
            before, point = self._gap, self._evaluate()
            if point.gap <= tolerance:
                return Reason.CONVERGED
            new = self._missing(point)
            if len(new) == 0:  # the working set is complete but not accurate enough, or rounding limits progress
                target *= 0.1
                stuck = 0 if point.gap < 0.5 * before else stuck + 1
                if stuck == 3:
                    return Reason.STALLED
            self._add(new, self._ask_budget)
            coarse = COARSE * point.gap if len(new) > FEW_MISSING * len(self._set) else 0.0
            self._set.solve(self._terms, max(target, coarse), self._count_and_ask_budget)

    def _evaluate(self) -> Evaluation:
        point = self._evaluator.at(self._set.columns, self._set.coefs.copy())
        self._gap = point.gap
        self._history.append((time.perf_counter() - self._began, self._n_iter, point.gap))
        if self._best is None or point.gap <= self._best.gap:
            self._best = point
        return point

    def _missing(self, point: Evaluation) -> np.ndarray:
        """Return the columns to add, about as many as are in use, so that sets grow geometrically; none if all are optimal."""
        if point.n_violating == 0:
            return np.empty(0, dtype=np.int64)
        used = int(np.count_nonzero(point.coefs))
        first = min(FIRST_COLUMNS, FIRST_ENTRIES // len(self._prepared.y))
        at_least = FEWEST_COLUMNS if len(self._set) else max(first, FEWEST_COLUMNS)
        count = max(at_least, min(point.n_violating + used // 10, used))
        return self._evaluator.candidates(count, self._set.contains)

    def _add(self, new: np.ndarray, between_blocks: Callable[[], None]) -> None:
        working = self._set
        largest = min(LARGEST_GRAM, max(SMALL_GRAM, GRAM_PER_ROW * len(self._prepared.y)))
        if isinstance(working, WorkingSet) and len(working) + len(new) > largest:
            used = working.coefs != 0.0
            if np.count_nonzero(used) + len(new) <= largest // 2:
                working.keep(used)
            else:
                self._set = ResidualSet(self._prepared, working.columns, working.coefs)
        self._set.extend(new, between_blocks)

    def _make_feasible(self) -> None:
        """Set coefficients to zero that the penalty forbids, or all coefficients if y is constant."""
        coefs = self._set.coefs
        coefs[np.isinf(self._terms.slopes[self._set.columns])] = 0.0
        if self._terms.positive:
            np.maximum(coefs, 0.0, out=coefs)
        if self._prepared.null_objective == 0.0:
            coefs[:] = 0.0

    def _count_and_ask_budget(self) -> None:
        self._n_iter += 1
        self._ask_budget()

    def _ask_budget(self) -> None:
        reason = self._budget.spent(self._n_iter, self._gap)
        if reason is not None:
            raise _Stop(reason)

    def _solution(self, reason: Reason, thorough: bool | None) -> Solution:
        best = self._best
        assert best is not None
        if thorough is None:
            return self._as_solution(best, reason, np.zeros(len(self._prepared.norms), dtype=bool))
        if self._gap != best.gap:
            best = self._evaluator.at(best.columns, best.coefs)
        return self._as_solution(best, reason, self._evaluator.inactive(best, thorough))

    def _as_solution(self, point: Evaluation, reason: Reason, inactive: np.ndarray) -> Solution:
        p = self._prepared
        coef = np.zeros(len(p.norms))
        coef[point.columns] = point.coefs * p.scales[point.columns]
        # large coefficients that nearly cancel: residuals and correlations are inaccurate in the last digits
        rounding = float(np.finfo(float).eps * np.sum(np.abs(point.coefs)) ** 2)
        return Solution(
            coef=coef,
            intercept=float(p.y_mean - p.means @ coef),
            gap=point.gap + rounding if point.gap > 0.0 else point.gap,
            objective=point.objective,
            null_objective=p.null_objective,
            dual_scale=point.scale,
            n_iter=self._n_iter,
            reason=reason,
            history=self._history,
            inactive=inactive,
            n_support=int(np.count_nonzero(coef)),
        )

    def within(self, coef: np.ndarray, size: float, radius: float, alpha: float, reason: Reason) -> Solution:
        """Evaluate feasible coefficients of the problem with a radius; the last penalty must have weight ``alpha``.

        ``size`` is the quantity that the radius bounds; the gap is that of the Lagrangian.
        """
        used = np.flatnonzero(coef)
        point = self._evaluator.at(used, coef[used] * self._prepared.norms[used])
        slack = max(radius - size, 0.0)
        point = point._replace(gap=point.gap + alpha * slack, objective=point.objective - alpha * size)
        inactive = self._evaluator.inactive_within(point, alpha * radius)
        return self._as_solution(point, reason, inactive)._replace(coef=coef.copy(), multiplier=alpha)
