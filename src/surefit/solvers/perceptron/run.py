"""Runs of an online perceptron: passes until a pass has no mistakes, progress stops, or the budget is spent."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from surefit.core.budget import Budget
from surefit.core.threads import blocks, map_blocks
from surefit.solvers.perceptron.order import Orders
from surefit.solvers.perceptron.passes import Log, Rule, new_log, new_sums, online_pass
from surefit.solvers.perceptron.rows import aligned_copy
from surefit.solvers.perceptron.variants import joint_pass

#: Reasons why a run stops, in addition to those of a budget.
SEPARATED = "separated"  # a pass over all rows without a mistake
CYCLE = "cycle"  # the weights after a pass repeat: the run would cycle forever
PLATEAU = "plateau"  # the loss of a pass did not improve by tol for several passes

ENTRIES = 2**24  # numbers read between two checks of the time limit
UNIT = 2.0**-53


class Walk:
    """Run on one two-class problem: weights, counts and log so far.

    Parameters
    ----------
    rows : WholeRows or StoredRows
        The data.
    t : ndarray of int8
        Labels, -1 and 1, stored compactly so that they stay in the cache.
    rule : Rule
        Thresholds, steps and the constant feature.
    squares : ndarray
        Squared norms of the rows.
    w, b : ndarray, float
        Starting point.
    max_log : int
        Number of mistakes whose details are logged; the counts include all mistakes.
    schedule : callable(k) -> array, optional
        Factors of the updates ``k`` (an array of numbers from 1).
    average : bool
        Whether to compute the average of the weights over all steps.
    """

    def __init__(self, rows, t, rule: Rule, squares, w, b, *, max_log: int, schedule=None, average: bool = False):
        self.rows, self.t, self.rule, self.squares = rows, t, rule, squares
        self.w, self.schedule, self.max_log = aligned_copy(w), schedule, max_log
        self.lazy = np.zeros(len(w) if average else 0)
        self.counts = np.zeros(len(t), dtype=np.int32)
        square = float(w @ w) + (b * b / rule.bias_step if rule.bias_step else 0.0)
        self._begin(square, b)

    def _begin(self, square: float, b: float) -> None:
        self.sums = new_sums(b, square)
        self.log, self.start_square = new_log(), square
        self.visits, self.in_order = 0, True
        self.first_mistakes = self.counts > 0  # rows that were misclassified in the first pass
        self.after_pass: list[int] = []  # number of updates at the end of each pass
        self.losses: list[float] = []
        self.ending: str | None = None
        self.cycle: tuple[int, int] | None = None  # passes after which the weights were equal
        self._seen = {self._state(): 0}
        self._best_loss, self._stale = np.inf, 0

    lengthened = 1.0  # squared norm of an update relative to that of the row

    def advance(self, order: np.ndarray | None, begin: int, end: int) -> None:
        """Process one part of a pass."""
        self._make_room(end - begin)
        self.in_order = order is None
        steps = np.empty(0)
        if self.schedule is not None:
            k = self.updates
            steps = np.asarray(self.schedule(np.arange(k + 1, k + 1 + end - begin, dtype=np.float64)), dtype=np.float64)
        slack = self._slack(end - begin, float(np.max(steps, initial=1.0 if self.schedule is None else 0.0)))
        online_pass(
            self.rows, self.t, order, begin, end, self.visits, self.rule, slack, steps,
            self.w, self.sums, self.counts, self.log, self.lazy,
        )  # fmt: skip
        self.visits += end - begin

    def growth(self, factor: float = 1.0) -> float:
        """Return the bound on the increase of the squared norm by one update with the largest step, times ``factor``."""
        rule = self.rule
        step = factor * max(rule.step_minus, rule.step_plus)
        return self.lengthened * step * step * rule.radius_square + 2 * step * max(
            rule.threshold_minus, rule.threshold_plus, 0.0
        )

    def _slack(self, visits: int, factor: float) -> float:
        """Bound the difference between two orders of summing a score, for all weights that are possible after ``visits`` more rows."""
        w, b = self.weights
        now = float(np.sum(w * w)) + (float(b @ b) / self.rule.bias_step if self.rule.bias_step else 0.0)
        square = now * (1 + 1e-6) + visits * self.growth(factor)
        return float(4 * (self.w.shape[-1] + 4) * UNIT * np.sqrt(square * self.rule.radius_square))

    def _make_room(self, visits: int) -> None:
        wanted, room = min(self.max_log, self.updates + visits), len(self.log.row)
        if wanted > room:  # memory that is never written is not committed, so allocate generously
            length = min(self.max_log, 4 * max(wanted, room))
            self.log = Log(*(_longer(column, self.logged, length) for column in self.log))

    @property
    def updates(self) -> int:
        """Number of updates so far."""
        return int(self.sums.updates[0])

    @property
    def logged(self) -> int:
        """Number of updates in the log."""
        return min(self.updates, self.max_log)

    def places(self) -> np.ndarray:
        """Return the position of each logged update in the order of its pass; without an order this is the row."""
        return self.log.row[: self.logged] if self.in_order else self.log.place[: self.logged]

    @property
    def same_steps(self) -> bool:
        """Whether all updates have the same step."""
        return self.schedule is None and self.rule.step_minus == self.rule.step_plus

    def steps_taken(self) -> np.ndarray:
        """Step of each logged update."""
        steps = np.where(self.t[self.log.row[: self.logged]] > 0, self.rule.step_plus, self.rule.step_minus)
        return steps if self.schedule is None else steps * self.schedule(np.arange(1.0, self.logged + 1))

    def squared_norms(self) -> np.ndarray:
        """Squared norm of the weights, constant feature included, after each logged update."""
        a, k = self.steps_taken(), self.logged
        lengths = self.squares[self.log.row[:k]] + self.rule.bias_step
        return self.start_square + np.cumsum(a * (2.0 * self.log.margin[:k] + self.lengthened * a * lengths))

    @property
    def offset(self) -> float:
        """The intercept ``b``."""
        return float(self.sums.offset[0])

    def finish_pass(self, complete: bool, repeatable: bool, n_visits: int, tol: float | None, patience: int) -> None:
        """Finish a pass and check whether it was the last one.

        ``complete``: every row was processed; ``repeatable``: all passes have the same order.
        """
        if not self.after_pass:
            self.first_mistakes = self.counts > 0
        previous = self.after_pass[-1] if self.after_pass else 0
        self.after_pass.append(self.updates)
        loss, self.sums.loss[0] = float(self.sums.loss[0]), 0.0
        self.losses.append(loss)
        if self.updates == previous:
            self.ending = SEPARATED if complete else None
            return
        if complete and repeatable and self.schedule is None:
            self._look_for_cycle()
        if tol is not None:
            self._stale = self._stale + 1 if loss > self._best_loss - tol * n_visits else 0
            self._best_loss = min(self._best_loss, loss)
            if self._stale >= patience and self.ending is None:
                self.ending = PLATEAU

    def _look_for_cycle(self) -> None:
        now, state = len(self.after_pass), self._state()
        if state in self._seen:
            self.cycle, self.ending = (self._seen[state], now), CYCLE
        self._seen[state] = now

    def _state(self) -> bytes:
        digest = blake2b(digest_size=16)
        for part in self.weights:
            digest.update((part + 0.0).tobytes())  # + 0.0 turns -0.0 into 0.0
        return digest.digest()

    @property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and intercepts."""
        return self.w, self.sums.offset


def _longer(column: np.ndarray, used: int, length: int) -> np.ndarray:
    longer = np.empty(length, dtype=column.dtype)
    longer[:used] = column[:used]
    return longer


class JointWalk(Walk):
    """Run of the multiclass perceptron: one weight vector per class, in the rows of ``w``."""

    def __init__(self, rows, labels, steps, rule: Rule, squares, w, b, *, max_log: int, average: bool = False):
        self.rows, self.labels, self.steps, self.rule, self.squares = rows, labels, steps, rule, squares
        self.w, self.b, self.schedule, self.max_log = w, b, None, max_log
        self.lazy = np.zeros((w.shape[0], w.shape[1] + 1)) if average else np.zeros((0, 0))
        self.counts = np.zeros(len(labels), dtype=np.int32)
        self.rivals = np.empty(0, np.int32)
        square = float(np.sum(w * w)) + (float(b @ b) / rule.bias_step if rule.bias_step else 0.0)
        self._begin(square, 0.0)

    lengthened = 2.0  # an update changes two classes

    @property
    def same_steps(self) -> bool:
        """Whether all updates have the same step."""
        return bool(np.all(self.steps == self.steps[0]))

    def steps_taken(self) -> np.ndarray:
        """Step of each logged update."""
        return self.steps[self.labels[self.log.row[: self.logged]]]

    def advance(self, order: np.ndarray | None, begin: int, end: int) -> None:
        """Process one part of a pass."""
        self._make_room(end - begin)
        self.in_order = False
        if len(self.rivals) < len(self.log.row):
            self.rivals = _longer(self.rivals, self.logged, len(self.log.row))
        slack = 2 * self._slack(end - begin, 1.0)  # for a difference of two scores
        joint_pass(
            self.rows, self.labels, order, begin, end, self.visits, self.steps, self.rule.threshold_plus, self.rule.bias_step,
            slack, self.w, self.b, self.sums, self.counts, self.log, self.rivals,
            self.lazy,
        )  # fmt: skip
        self.visits += end - begin

    @property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and intercepts, one row per class."""
        return self.w, self.b


def walk(
    walks: list[Any],
    orders: Orders,
    budget: Budget,
    *,
    tol: float | None,
    patience: int,
    n_jobs: int | None = None,
    good_enough=None,
) -> int:
    """Run all two-class problems pass by pass, in the same order of rows, until each has stopped; return the number of passes.

    ``good_enough()``, if given, is called after each pass; if it returns True, all runs stop (as a plateau).
    """
    n_iter, width, clean = 0, walks[0].w.size + 1, False
    while any(one.ending is None for one in walks):
        active = [one for one in walks if one.ending is None]
        before = [one.updates for one in active]
        order, whole = orders.following(clean), True
        for begin, end in blocks(orders.n_visits, max(1, ENTRIES // width)):
            part = partial(_advance, active, order, begin, end)
            map_blocks(part, len(active), 1, n_jobs)
            if end < orders.n_visits and out_of_time(budget):
                whole = False
                break
        n_iter += 1
        for one in active:
            one.finish_pass(whole and orders.complete, orders.kind == "cyclic", orders.n_visits, tol, patience)
        mistakes = [one.updates - k for one, k in zip(active, before, strict=True)]
        clean = min(mistakes) == 0
        reason = budget.spent(n_iter, max(mistakes) / max(orders.n_visits, 1))
        stop = PLATEAU if good_enough is not None and good_enough() else reason and reason.value
        if stop:
            for one in walks:
                one.ending = one.ending or stop
    return n_iter


def _advance(active: list[Any], order: np.ndarray | None, begin: int, end: int, number: int, _: int) -> None:
    active[number].advance(order, begin, end)


def out_of_time(budget: Budget) -> bool:
    """Return whether to stop in the middle of a pass."""
    return budget.stopped is not None or (budget.max_time is not None and budget.seconds >= budget.max_time)
