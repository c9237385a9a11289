"""Order of the rows in stochastic gradient descent, independent of the row order of the data; weights are repetitions.

Rows with integer weights are repeated. Other weights scale the step of the row instead (relative to their mean), with the same objective.
Passes are shuffled from an order that depends on the values of the rows and not on their positions, so that permuted or repeated tables
give the same fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.perceptron.rows import ieee_dot

MOST_COPIES = 64  # largest number of repetitions of a row per pass; larger weights scale the step


class Visits(NamedTuple):
    """Rows of one pass, and the step length of each row."""

    order: np.ndarray  # row numbers, repeated according to the weights
    lengths: np.ndarray  # one per row of the data


def plan_visits(rows: Any, y: np.ndarray, n_columns: int, weights: np.ndarray | None, shuffled: bool) -> Visits:
    """Return the rows of one pass; ``shuffled`` passes start from an order that does not depend on the positions of the rows."""
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
    """Return inner products with one fixed direction: equal rows have bitwise equal keys."""
    keys = np.empty(len(y))
    for i in range(len(y)):
        keys[i] = ieee_dot(rows, i, direction) + last * y[i]
    return keys
