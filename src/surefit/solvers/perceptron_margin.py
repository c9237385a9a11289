r"""The margin perceptron: walk over unit rows until each has margin :math:`(1 - \varepsilon) \gamma`, for a given or a searched gamma.

A direction of margin :math:`\gamma` gains at least :math:`\gamma` from every update, so :math:`k \gamma > \|w_k\|` proves that
there is none: no direction has a larger margin than :math:`\|w_k\| / k`. The search starts at :math:`\gamma = 1` and halves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.threads import blocks
from surefit.solvers.perceptron_orders import Orders
from surefit.solvers.perceptron_passes import Log, new_log, new_sums
from surefit.solvers.perceptron_variants import margin_pass
from surefit.solvers.perceptron_walk import ENTRIES, SEPARATED, out_of_time

REFUTED = "refuted"  # no direction has the wanted margin
NARROW = "min_gamma"  # the search went below the smallest gamma it was allowed


class MarginRun(NamedTuple):
    """The last run of a search, and what the runs before it proved."""

    w: np.ndarray
    b: float
    gamma: float  # what the last run aimed at
    updates: int
    counts: np.ndarray
    rows: np.ndarray  # log of the last run
    after_pass: list[int]
    refuted_gamma: float  # the smallest gamma proved too large; infinite if none
    refuting_counts: np.ndarray  # mistakes of the run that proved it
    ending: str
    n_iter: int


def walk_with_margin(
    rows, t, squares, d, bias_step, gamma, epsilon, min_gamma, orders: Orders, budget: Budget
) -> MarginRun:
    """Run with the given ``gamma``, or search for one if it is None; rows have ``d`` columns."""
    aim, n_iter = (1.0 if gamma is None else gamma), 0
    refuted, refuting = np.inf, np.zeros(0, dtype=np.int32)
    while True:
        run, spent = _one_run(rows, t, squares, d, bias_step, aim, epsilon, orders, budget, n_iter)
        n_iter = run.n_iter
        if run.ending == REFUTED:
            refuted, refuting = aim, run.counts
            if gamma is None and aim / 2 >= min_gamma and spent is None:
                aim /= 2
                continue
            run = run._replace(ending=spent or (REFUTED if gamma is not None else NARROW))
        return run._replace(refuted_gamma=refuted, refuting_counts=refuting)


def _one_run(rows, t, squares, d, bias_step, gamma, epsilon, orders: Orders, budget: Budget, n_iter: int):
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
