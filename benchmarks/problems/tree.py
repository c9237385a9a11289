"""Noisy labels of a smooth rule, of which six of the columns know something."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import Quality

SEED = 0
TEST_ROWS = 20_000


class Labeled(NamedTuple):
    """Training rows with labels 0 and 1, and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def make(n: int, d: int) -> Labeled:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n + TEST_ROWS, d))
    score = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.5 * (X[:, 3:6] ** 2).sum(axis=1) - 1.5
    y = (score + 0.5 * rng.standard_normal(len(X)) > 0).astype(np.int64)
    return Labeled(X[:n], y[:n], X[n:], y[n:])


def measure(data: Labeled, model) -> Quality:
    """The error rate on the test rows, asked of the fitted model: the rule it learned, not what it says of itself."""
    found = np.asarray(model.predict(data.X_test)).ravel()
    return Quality(float(np.mean((found > 0.5) != (data.y_test > 0.5))))
