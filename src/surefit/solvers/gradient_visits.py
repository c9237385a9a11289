"""Which rows stochastic gradient descent visits, and in which order: a weight is a repetition, the order of the rows is none.

Rows of whole weights are visited that often. Other weights lengthen the step of the row instead (their mean is a step of
plain length): the objective is the same. Passes are shuffled from an order that depends on what the rows hold and not on where
they stand, so that shuffled or repeated tables give the same fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.perceptron_rows import ieee_dot

MOST_COPIES = 64  # of one row a pass; heavier rows take longer steps


class Visits(NamedTuple):
    """Rows of one pass, and how long the step of each row is."""

    order: np.ndarray  # row numbers, repeated as the weights say
    lengths: np.ndarray  # one a row of the data


def plan_visits(rows: Any, y: np.ndarray, n_columns: int, weights: np.ndarray | None, shuffled: bool) -> Visits:
    """Plan the visits of one pass; ``shuffled`` passes start from an order that the place of a row has no part in."""
    n = len(y)
    order = _canonical_order(rows, y, n_columns) if shuffled else np.arange(n)
    if weights is None:
        return Visits(order, np.ones(n))
    order = order[weights[order] > 0]
    if np.all(weights == np.rint(weights)) and np.max(weights) <= MOST_COPIES:
        return Visits(np.repeat(order, weights[order].astype(np.int64)), np.ones(n))
    return Visits(order, weights / np.mean(weights[order]))


def _canonical_order(rows: Any, y: np.ndarray, n_columns: int) -> np.ndarray:
    direction = np.random.RandomState(0).random_sample(n_columns + 1) + 0.5
    return np.argsort(_keys(rows, y, direction[:-1], float(direction[-1])), kind="stable")


@compiled
def _keys(rows, y, direction, last):
    """Products with one fixed direction: equal rows have equal keys, bit for bit."""
    keys = np.empty(len(y))
    for i in range(len(y)):
        keys[i] = ieee_dot(rows, i, direction) + last * y[i]
    return keys
