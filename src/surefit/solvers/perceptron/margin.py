r"""Margin perceptron: iterate over unit rows until each has margin :math:`(1 - \varepsilon) \gamma`, with gamma given or searched.

A direction of margin :math:`\gamma` gains at least :math:`\gamma` from every update, so after :math:`k` updates no
direction has a margin larger than :math:`\|w_k\| / k`. The search starts at :math:`\gamma = 1` and halves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.threads import blocks
from surefit.solvers.perceptron.order import Orders
from surefit.solvers.perceptron.passes import Log, new_log, new_sums
from surefit.solvers.perceptron.run import ENTRIES, SEPARATED, out_of_time
from surefit.solvers.perceptron.variants import margin_pass

REFUTED = "refuted"  # no direction has the requested margin
NARROW = "min_gamma"  # the search went below the smallest allowed gamma


class MarginRun(NamedTuple):
    """Last run of a search, and the bounds proved by earlier runs."""

    w: np.ndarray
    b: float
    gamma: float  # target of the last run
    updates: int
    counts: np.ndarray
    rows: np.ndarray  # log of the last run
    after_pass: list[int]
    refuted_gamma: float  # smallest gamma proved to be too large; infinite if none
    refuting_counts: np.ndarray  # mistakes of the run that proved it
    ending: str
    n_iter: int


class Sample(NamedTuple):
    """Rows with a constant feature, whose square is ``bias_step``."""

    rows: Any
    t: np.ndarray  # labels, -1 or 1
    squares: np.ndarray  # squared lengths of the rows
    d: int  # columns
    bias_step: float


def walk_with_margin(
    sample: Sample, gamma: float | None, epsilon: float, min_gamma: float, orders: Orders, budget: Budget
) -> MarginRun:
    """Run with the given ``gamma``, or search for one if it is None."""
    aim, n_iter = (1.0 if gamma is None else gamma), 0
    refuted, refuting = np.inf, np.zeros(0, dtype=np.int32)
    while True:
        run, spent = _one_run(sample, aim, epsilon, orders, budget, n_iter)
        n_iter = run.n_iter
        if run.ending == REFUTED:
            refuted, refuting = aim, run.counts
            if gamma is None and aim / 2 >= min_gamma and spent is None:
                aim /= 2
                continue
            run = run._replace(ending=spent or (REFUTED if gamma is not None else NARROW))
        return run._replace(refuted_gamma=refuted, refuting_counts=refuting)


def _one_run(sample: Sample, gamma: float, epsilon: float, orders: Orders, budget: Budget, n_iter: int):
    rows, t, squares, d, bias_step = sample
    w, counts = np.zeros(d), np.zeros(len(t), dtype=np.int32)
    sums = new_sums()
    log, after_pass = new_log(), []
    given, ending, spent = np.arange(len(t), dtype=np.int32), None, None
    share = (1 - epsilon) * gamma
    while ending is None:
        order = orders.following()
        order = given if order is None else order
        before, whole = int(sums.updates[0]), True
        for begin, end in blocks(orders.n_visits, max(1, ENTRIES // (d + 1))):
            k = int(sums.updates[0])
            log = Log(*(np.concatenate([column[:k], np.empty(end - begin, column.dtype)]) for column in log))
            margin_pass(rows, t, order, begin, end, share, bias_step, squares, w, sums, counts, log)
            if int(sums.updates[0]) * gamma > _norm(w, float(sums.offset[0]), bias_step) * (1 + 1e-9):
                ending = REFUTED
                break
            if end < orders.n_visits and out_of_time(budget):
                whole = False
                break
        n_iter, k = n_iter + 1, int(sums.updates[0])
        after_pass.append(k)
        if ending is None and k == before and whole:
            ending = SEPARATED
        reason = budget.spent(n_iter, (k - before) / orders.n_visits)
        spent = None if reason is None else reason.value
        ending = ending or spent
    b, none = float(sums.offset[0]), np.zeros(0, dtype=np.int32)
    run = MarginRun(w, b, gamma, k, counts, log.row[:k], after_pass, np.inf, none, ending, n_iter)
    return run, spent


def _norm(w: np.ndarray, b: float, bias_step: float) -> float:
    return float(np.sqrt(w @ w + (b * b / bias_step if bias_step else 0.0)))
