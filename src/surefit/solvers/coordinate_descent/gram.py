r"""Working set with its Gram matrix, and the solution of the problem restricted to it.

Coordinate descent on the Gram matrix costs one row of it per changed coefficient, for any number of observations. Once
the support is stable, the problem is a linear system: with the signs :math:`s` of the support :math:`A` fixed, the
restricted solution satisfies :math:`(G_{AA} + B) u_A = q_A - a_A s`, solved by Cholesky. Coefficients that would change
sign are set to zero if that lowers the objective; otherwise the step ends when a quarter of them, or the first, reaches zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.jit import compiled
from surefit.operators import gram_rows
from surefit.penalties import ElasticTerms
from surefit.solvers.coordinate_descent.duality import duality_gap
from surefit.solvers.coordinate_descent.problem import Prepared
from surefit.solvers.coordinate_descent.support import SupportSystem

SWEEPS = 10  # over the support, after each sweep over the working set
BLAS_ADVANTAGE = 10.0  # a Cholesky flop costs a tenth of one in a sweep: sweeps continue until they have cost as much
ENOUGH = 0.1  # fraction of the target: sweeps with less progress will not reach it
FEW = 3  # rounds without progress after which only rounding remains
PROGRESS = 1e-14  # relative to the null objective: smallest decrease that counts as progress
SOONEST = 4  # a Newton step that is too long ends where a quarter of the coefficients that cross zero have reached it
MOST_FLOPS = 2e9  # limit for consecutive Newton steps: about a tenth of a second


class WorkingSet:
    """Columns of the working set, their Gram matrix, and their coefficients (for columns of length one)."""

    def __init__(self, prepared: Prepared):
        self._prepared = prepared
        self.columns = np.empty(0, dtype=np.int64)
        self.contains = np.zeros(len(prepared.norms), dtype=bool)
        self.coefs = np.empty(0)
        self._products = np.empty(0)
        self._gram = np.empty((0, 0))
        self._system = SupportSystem()

    def __len__(self) -> int:
        return len(self.columns)

    def extend(self, new: np.ndarray, between_blocks: Callable[[], None]) -> None:
        """Add columns with coefficient zero; the set is unchanged if ``between_blocks`` raises an exception."""
        if len(new) == 0:
            return
        p, old = self._prepared, len(self)
        columns = np.concatenate([self.columns, new])
        size = len(columns)
        if size > len(self._gram):
            gram = np.empty((size + size // 2, size + size // 2))
            gram[:old, :old] = self._gram[:old, :old]
            self._gram = gram
        rows = self._gram[old:size, :size]
        gram_rows(p.design, columns, old, p.weights, p.means, p.scales, between_blocks, rows)
        self._gram[:old, old:size] = rows[:, :old].T
        self.columns = columns
        self.contains[new] = True
        self.coefs = np.concatenate([self.coefs, np.zeros(len(new))])
        self._products = p.products[columns]

    def keep(self, wanted: np.ndarray) -> None:
        """Drop the columns outside the mask ``wanted``; their coefficients must be zero."""
        kept = np.flatnonzero(wanted)
        self.contains[self.columns[~wanted]] = False
        self._gram = self._gram[np.ix_(kept, kept)]
        self.columns, self.coefs, self._products = self.columns[kept], self.coefs[kept], self._products[kept]
        self._system.forget()

    def solve(self, terms: ElasticTerms, target: float, tick: Callable[[], None]) -> None:
        """Minimize over the working set until its own duality gap is at most ``target`` or rounding stops progress.

        ``tick`` is called after every round of sweeps; if it raises an exception, the current coefficients are kept.
        """
        a, b = terms.slopes[self.columns], terms.curvatures[self.columns]
        free = (a == 0.0) & (not terms.positive)  # no kink at zero: such coefficients are always in the support
        gradient = self._gradient()
        support = self._support(free)
        if self._system.is_near(support, b):  # along a path: extrapolate to the new penalty
            self._newton_step(support, a, b, free, gradient)
        loose = bool(np.any((a == 0.0) & (b == 0.0)))  # their contribution to the gap is known only after a Newton step
        lowest, smallest, work, idle = np.inf, np.inf, 0.0, 0
        while idle < FEW:
            _sweeps(self._gram, gradient, self.coefs, a, b, terms.positive, SWEEPS, ENOUGH * target)
            tick()
            objective, gap = self._status(gradient, a, b, terms.positive)
            if gap <= target and not loose:
                return
            support = self._support(free)
            work += 2 * SWEEPS * len(support) * len(self)
            if self._system.flops(support, b) <= BLAS_ADVANTAGE * work:
                self._newton(support, a, b, free, gradient)
                objective, gap = self._status(gradient, a, b, terms.positive)
                if gap <= target:
                    return
                work = 0.0
                lower = objective < lowest - PROGRESS * self._prepared.null_objective
                idle = 0 if lower or gap < 0.9 * smallest else idle + 1
            lowest, smallest = min(lowest, objective), min(smallest, gap)

    def _newton(self, support: np.ndarray, a, b, free, gradient) -> None:
        """Take Newton steps, each on the support that the previous one left.

        A coefficient that reaches zero shortens a step, and the next sweep may bring it back. Stopping after the first
        step could therefore cause an endless cycle, for example with linearly dependent columns, which leave the
        support one at a time. The work is limited so that the budget is checked regularly.
        """
        flops, again = 0.0, True
        while again and len(support) and flops < MOST_FLOPS:
            flops += self._system.flops(support, b)
            self._newton_step(support, a, b, free, gradient)
            left = self._support(free)
            again, support = len(left) < len(support), left

    def _support(self, free: np.ndarray) -> np.ndarray:
        return ((self.coefs != 0.0) | free).nonzero()[0]

    def _gradient(self) -> np.ndarray:
        gradient = self._products.copy()
        used = self.coefs.nonzero()[0]
        _subtract_rows(self._gram, used, self.coefs[used], gradient)
        return gradient

    def _status(self, gradient, a, b, positive) -> tuple[float, float]:
        """Return objective and duality gap of the restricted problem."""
        u, used = self.coefs, self.coefs.nonzero()[0]
        squares = max(2 * self._prepared.null_objective - u @ (self._products + gradient), 0.0)
        loose = (a == 0.0) & (b == 0.0) & ((u > 0.0) | (gradient > 0.0) | (not positive))
        unexplained = 0.5 * float(gradient[loose] @ gradient[loose])  # gain of one more step on unpenalized columns
        objective = 0.5 * squares + a[used] @ np.abs(u[used]) + 0.5 * (b[used] @ u[used] ** 2)
        return float(objective), duality_gap(gradient, u, a, b, positive, squares, unexplained)[0]

    def _newton_step(self, support: np.ndarray, a, b, free, gradient) -> None:
        old = self.coefs[support]
        signs = np.where(free[support], 0.0, np.sign(old))
        right = gradient[support] - a[support] * signs - b[support] * old
        step = self._system.solve(self._gram, support, b, right)
        crossing = (old + step) * signs < 0.0
        if not crossing.any():
            self._move_downhill(support, step, signs, a, b, gradient)
            return
        fractions = np.where(crossing, old, np.inf) / np.where(crossing, -step, 1.0)
        ends = np.sort(fractions[crossing])  # where each of them reaches zero
        # With a singular system any number of coefficients may cross zero: they are then removed one at a time.
        lengths = [ends[0]] if self._system.singular else [1.0, ends[len(ends) // SOONEST], ends[0]]
        for length in lengths:
            clipped = np.where(fractions <= length, -old, length * step)
            if self._move_downhill(support, clipped, signs, a, b, gradient):
                return

    def _move_downhill(self, support: np.ndarray, step: np.ndarray, signs: np.ndarray, a, b, gradient) -> bool:
        """Take a step that does not cross zero, unless it raises the objective (a singular system can give any direction)."""
        old, before = self.coefs[support], gradient.copy()
        self.coefs[support] += step
        _subtract_rows(self._gram, support, step, gradient)
        penalty = (a[support] * signs + b[support] * (old + 0.5 * step)) @ step
        if penalty - 0.5 * (step @ (before[support] + gradient[support])) <= 0.0:
            return True
        self.coefs[support], gradient[:] = old, before
        return False


@compiled(relaxed=True)
def _sweeps(gram, gradient, u, a, b, positive, n_sweeps, enough):
    """Perform one sweep over all coordinates, then ``n_sweeps`` over the non-zero ones; return the number of moves."""
    size = len(u)
    moves = 0
    for sweep in range(n_sweeps + 1):
        gain = 0.0
        for j in range(size):
            old = u[j]
            if sweep > 0 and old == 0.0:
                continue
            v = old + gradient[j]
            new = 0.0
            if v > a[j]:
                new = (v - a[j]) / (1.0 + b[j])
            elif v < -a[j] and not positive:
                new = (v + a[j]) / (1.0 + b[j])
            change = new - old
            if change != 0.0:
                u[j] = new
                row = gram[j]
                for k in range(size):
                    gradient[k] -= change * row[k]
                gain += change * change
                moves += 1
        if gain <= enough:
            break
    return moves


@compiled(relaxed=True)
def _subtract_rows(gram, rows, steps, gradient):
    for k in range(len(rows)):
        row = gram[rows[k]]
        for j in range(len(gradient)):
            gradient[j] -= steps[k] * row[j]
