"""The batch perceptron: every step adds all mistaken rows at once, so the order of the rows does not matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.solvers.perceptron_variants import batch_sweep
from surefit.solvers.perceptron_walk import PLATEAU, SEPARATED

UNIT = 2.0**-53
LARGEST_LOG = 2**26  # bytes of mistaken sets that are kept


class BatchRun(NamedTuple):
    """A finished run of the batch perceptron."""

    w: np.ndarray
    b: float
    sets: np.ndarray | None  # one line a step: which rows were mistaken, packed to bits; None if that is too much
    steps: np.ndarray  # eta of each step
    sizes: np.ndarray  # summed weight of the mistaken rows of each step
    mistakes: np.ndarray  # number of mistaken rows of each step
    losses: np.ndarray  # weighted perceptron loss before each step
    counts: np.ndarray  # sum of eta over the steps at which each row was mistaken
    ending: str
    n_iter: int


def batch_walk(
    rows, t, weights, squares, w, b: float, bias_step: float, schedule: Callable, budget: Budget, *, tol, patience: int
) -> BatchRun:
    """Step until no row is mistaken; ``w`` is changed in place."""
    total, mistaken, counts = np.zeros(len(w)), np.zeros(len(t), dtype=np.bool_), np.zeros(len(t))
    longest = np.sqrt(float(np.max(squares)) + bias_step)
    sets: list | None = []
    steps, sizes, numbers, losses = [], [], [], []
    best, stale, n_iter, ending = np.inf, 0, 0, None
    weight = float(np.sum(weights))
    while ending is None:
        norm = np.sqrt(float(w @ w) + (b * b / bias_step if bias_step else 0.0))
        slack = 8 * (len(w) + 4) * UNIT * longest * norm
        signed, size, loss = batch_sweep(rows, t, weights, 0.0, float(slack), w, b, mistaken, total)
        n_iter += 1
        losses.append(loss)
        if not mistaken.any():
            ending = SEPARATED
            break
        if norm > 0:  # the zero vector has no loss, and is no model
            stale = stale + 1 if tol is not None and loss > best - tol * weight else 0
            best = min(best, loss)
        reason = budget.spent(n_iter, size / weight)
        eta = float(schedule(np.array([float(n_iter)]))[0])
        w += eta * total
        b += eta * signed * bias_step
        counts += eta * mistaken
        if sets is not None:
            sets.append(np.packbits(mistaken))
            sets = sets if len(sets) * len(sets[0]) <= LARGEST_LOG else None
        steps.append(eta)
        sizes.append(size)
        numbers.append(int(mistaken.sum()))
        if reason is not None:
            ending = reason.value
        elif stale >= patience:
            ending = PLATEAU
    packed = None if sets is None else np.array(sets, dtype=np.uint8).reshape(len(sets), -1)
    columns = (np.array(steps), np.array(sizes), np.array(numbers), np.array(losses))
    return BatchRun(w, b, packed, *columns, counts, ending, n_iter)
