"""Predictions of a fitted model: every solver fits once, outside the clock, to the same rows."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.problems.tree import SEED, Labeled, make
from benchmarks.workload import Quality

__all__ = ["SEED", "Queries", "fitted", "measure", "queries"]

TRAINING_ROWS = 10_000
COLUMNS = 20


class Queries(NamedTuple):
    """Rows to predict, and their labels 0 and 1."""

    X: np.ndarray
    y: np.ndarray


@cache
def training_rows(n: int = TRAINING_ROWS) -> Labeled:
    """The rows that every model is fitted to."""
    return make(n, COLUMNS)


@cache
def fitted(build: Callable[[], Any], n: int = TRAINING_ROWS) -> Any:
    """Fit what ``build`` returns. The warm-up calls this first, so that timed runs find the model."""
    data = training_rows(n)
    return build().fit(data.X, data.y)


def queries(n: int) -> Queries:
    """New rows, repeated up to ``n``."""
    data = training_rows()
    chosen = np.random.default_rng(SEED + 1).integers(0, len(data.X_test), n)
    return Queries(data.X_test[chosen], data.y_test[chosen])


def measure(data: Queries, found: Any) -> Quality:
    """The error rate of the predicted labels (or probabilities of label 1)."""
    return Quality(float(np.mean((np.asarray(found).ravel() > 0.5) != (data.y > 0.5))))
