"""Kernel perceptron: scores of all rows are kept up to date, and kernel rows are cached."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.perceptron.passes import Rule
from surefit.solvers.perceptron.run import Walk

TOGETHER = 32  # kernel rows computed by one call
UNIT = 2.0**-53


class RowCache:
    """Cache of kernel rows of training rows with a fixed size; the least recently used rows are evicted.

    Parameters
    ----------
    compute : callable(rows) -> ndarray of shape (len(rows), n)
        Kernel values of the rows with all rows.
    n : int
        Number of rows.
    megabytes : float
        Size of the cache for kernel values.
    """

    def __init__(self, compute: Callable[[np.ndarray], np.ndarray], n: int, megabytes: float):
        slots = int(min(n, max(2 * TOGETHER, megabytes * 2**20 / (8 * n))))
        self.compute = compute
        self.values = np.empty((slots, n))
        self.slot_of = np.full(n, -1, dtype=np.int64)
        self.row_in = np.full(slots, -1, dtype=np.int64)
        self.used_at = np.full(slots, -1, dtype=np.int64)
        self.clock = 0

    def bring(self, rows: np.ndarray) -> None:
        """Ensure that the kernel rows of ``rows`` (at most ``TOGETHER``) are in the cache."""
        self.clock += 1
        present = self.slot_of[rows]
        self.used_at[present[present >= 0]] = self.clock
        missing = rows[present < 0]
        if len(missing) == 0:
            return
        slots = np.argpartition(self.used_at, len(missing) - 1)[: len(missing)]
        old = self.row_in[slots]
        self.slot_of[old[old >= 0]] = -1
        self.values[slots] = self.compute(missing)
        self.slot_of[missing], self.row_in[slots], self.used_at[slots] = slots, missing, self.clock


class KernelWalk(Walk):
    """Run on one two-class problem in feature space; ``squares`` are the values ``k(x_i, x_i)``.

    With a ``budget``, at most that many rows have non-zero weights: a new row replaces the oldest one.
    """

    def __init__(self, cache: RowCache, t, rule: Rule, squares, *, max_log: int, budget: int | None = None):
        super().__init__(None, t, rule, squares, np.zeros(len(t)), 0.0, max_log=max_log)
        self.scores = self.w  # a repeated state is a cycle, as in the linear case
        self.cache, self.budget = cache, budget
        self.carried = np.zeros(len(t), dtype=np.int64)  # updates whose rows have not been replaced
        self.dropped = 0
        self.near_zero = 0  # non-zero margins within rounding error of zero
        self.errors = np.zeros(len(t))  # bound on the rounding error of each score, in units of 2^-53
        self._queue: list[int] = []  # rows with non-zero weights, oldest first

    def advance(self, order: np.ndarray | None, begin: int, end: int) -> None:
        """Process one part of a pass; pause when a kernel row is missing or the budget is full."""
        order = np.arange(end, dtype=np.int32) if order is None else order
        self.in_order = False
        place = begin
        while place < end:
            self._make_room(end - place)
            room = len(self.t) if self.budget is None else self.budget - len(self._queue)
            logged = self.updates
            place, close = kernel_pass(
                self.t, order, place, end, self.rule, self.squares, self.scores, self.sums, self.counts, self.carried,
                self.log, self.cache.values, self.cache.slot_of, room, self.errors,
            )  # fmt: skip
            self.near_zero += close
            if self.budget is not None:
                self._remember(logged)
            if place < end:
                self._attend(order[place:end])
        self.visits += end - begin

    def _attend(self, coming: np.ndarray) -> None:
        """Compute the kernel row of the current mistake and of likely later mistakes."""
        i = int(coming[0])
        if self.budget is not None and len(self._queue) >= self.budget and self.carried[i] == 0:
            self._drop_oldest()
        later = coming[1 : 8 * TOGETHER]
        margins = self.t[later] * (self.scores[later] + self.offset)
        likely = later[(margins <= 0) & (self.cache.slot_of[later] < 0)][: TOGETHER - 1]
        self.cache.bring(np.unique(np.append(likely, i)).astype(np.int64))

    def _remember(self, logged: int) -> None:
        known = set(self._queue)
        for i in self.log.row[logged : self.logged].tolist():
            if i not in known:
                self._queue.append(i)
                known.add(i)

    def _drop_oldest(self) -> None:
        i = self._queue.pop(0)
        self.cache.bring(np.array([i]))
        step = self.rule.step_plus if self.t[i] > 0 else self.rule.step_minus
        weight = step * self.t[i] * self.carried[i]
        change = weight * self.cache.values[self.cache.slot_of[i]]
        self.scores -= change
        self.errors += np.abs(self.scores) + np.abs(change)
        self.sums.offset[0] -= weight * self.rule.bias_step
        self.carried[i] = 0
        self.dropped += 1


@compiled
def kernel_pass(t, order, begin, end, rule, squares, scores, sums, counts, carried, log, values, slot_of, room, errors):
    """Process rows until a misclassified row has no cached kernel row, or there is no ``room`` for a new row.

    Return the position of that row (or ``end``), and the number of non-zero margins within their ``errors`` of zero.
    """
    b, square = sums.offset[0], sums.square[0]
    loss, k, close = sums.loss[0], sums.updates[0], 0
    place = end
    for s in range(begin, end):
        i = np.int64(order[s])
        sign = np.float64(t[i])
        m = sign * (scores[i] + b)
        if m != 0.0 and abs(m) <= 2.0 * UNIT * (errors[i] + abs(b)):
            close += 1
        cut = rule.threshold_plus if sign > 0 else rule.threshold_minus
        if m > cut:
            continue
        slot = slot_of[i]
        if slot < 0 or (carried[i] == 0 and room == 0):
            place = s
            break
        if carried[i] == 0:
            room -= 1
        step = rule.step_plus if sign > 0 else rule.step_minus
        for j in range(len(scores)):
            change = step * sign * values[slot, j]
            scores[j] += change
            errors[j] += abs(scores[j]) + abs(change)
        b += step * sign * rule.bias_step
        square += step * (2.0 * m + step * (squares[i] + rule.bias_step))
        if k < len(log.row):
            log.row[k], log.place[k], log.margin[k] = i, s, m
        k += 1
        counts[i] += 1
        carried[i] += 1
        loss += max(-m, 0.0)
    sums.offset[0], sums.square[0] = b, square
    sums.loss[0], sums.updates[0] = loss, k
    return place, close
