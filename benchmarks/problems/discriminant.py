"""Ten Gaussian classes with their own means and scales."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import Quality

SEED = 0
CLASSES = 10


class LabeledRows(NamedTuple):
    """Rows and their classes."""

    X: np.ndarray
    y: np.ndarray


def make(n: int, d: int) -> LabeledRows:
    rng = np.random.default_rng(SEED)
    y = rng.integers(CLASSES, size=n)
    scales = rng.uniform(0.7, 1.3, (CLASSES, d))
    means = rng.standard_normal((CLASSES, d)) * 0.3
    return LabeledRows(means[y] + rng.standard_normal((n, d)) * scales[y], y)


def measure(data: LabeledRows, model) -> Quality:
    """The share of wrong predictions among the first 20 000 rows."""
    return Quality(float(np.mean(model.predict(data.X[:20_000]) != data.y[:20_000])))
