"""Batch perceptron: every step adds all misclassified rows, so the order of the rows does not matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.solvers.perceptron.run import PLATEAU, SEPARATED
from surefit.solvers.perceptron.variants import batch_sweep

UNIT = 2.0**-53


class BatchRun(NamedTuple):
    """Result of a run of the batch perceptron."""

    w: np.ndarray
    b: float
    steps: np.ndarray  # eta of each step
    sizes: np.ndarray  # summed weight of the misclassified rows of each step
    mistakes: np.ndarray  # number of misclassified rows of each step
    losses: np.ndarray  # weighted perceptron loss before each step
    counts: np.ndarray  # sum of eta over the steps at which each row was misclassified
    ending: str
    n_iter: int


def batch_walk(
    rows,
    sample: tuple,
    w: np.ndarray,
    b: float,
    bias_step: float,
    schedule: Callable,
    budget: Budget,
    *,
    tol,
    patience: int,
) -> BatchRun:
    """Run until no row is misclassified; ``sample`` contains labels, weights and squared lengths. ``w`` is modified in place."""
    t, weights, squares = sample
    total, mistaken, counts = np.zeros(len(w)), np.zeros(len(t), dtype=np.bool_), np.zeros(len(t))
    longest = np.sqrt(float(np.max(squares)) + bias_step)
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
        if norm > 0:  # the zero vector has zero loss but is not a valid classifier
            stale = stale + 1 if tol is not None and loss > best - tol * weight else 0
            best = min(best, loss)
        reason = budget.spent(n_iter, size / weight)
        eta = float(schedule(np.array([float(n_iter)]))[0])
        w += eta * total
        b += eta * signed * bias_step
        counts += eta * mistaken
        steps.append(eta)
        sizes.append(size)
        numbers.append(int(mistaken.sum()))
        if reason is not None:
            ending = reason.value
        elif stale >= patience:
            ending = PLATEAU
    columns = (np.array(steps), np.array(sizes), np.array(numbers), np.array(losses))
    return BatchRun(w, b, *columns, counts, ending, n_iter)
