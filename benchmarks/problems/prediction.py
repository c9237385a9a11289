"""Predictions of a fitted model: every solver fits once, outside the clock, to the same rows."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.problems.tree import SEED, Labeled, make
from benchmarks.workload import Quality, cores

__all__ = ["SEED", "Queries", "by_row", "fitted", "in_onnxruntime", "measure", "queries"]

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
    """Fit the model, or each of the models, that ``build`` returns. The warm-up calls this first, so that timed runs find it."""
    data, models = training_rows(n), build()
    return [model.fit(data.X, data.y) for model in models] if isinstance(models, list) else models.fit(data.X, data.y)


@cache
def _session(build: Callable[[], Any], n: int) -> Any:
    import onnxruntime

    from surefit.export.onnx import to_onnx  # the converter alone fails for boosted trees

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cores()
    written = to_onnx(fitted(build, n))
    return onnxruntime.InferenceSession(written.SerializeToString(), options, providers=["CPUExecutionProvider"])


def in_onnxruntime(build: Callable[[], Any], data: Queries, n: int = TRAINING_ROWS) -> tuple[np.ndarray, ...]:
    """Return labels, and probabilities if there are any, of a model of scikit-learn that onnxruntime evaluates in single precision."""
    session = _session(build, n)
    labels, *probabilities = session.run(None, {session.get_inputs()[0].name: data.X.astype(np.float32)})
    return labels, *probabilities


def by_row(model: Any, data: Queries) -> np.ndarray:
    """Return the labels of the rows, one call per row."""
    return np.concatenate([model.predict(data.X[i : i + 1]) for i in range(len(data.X))])


def queries(n: int) -> Queries:
    """New rows, repeated up to ``n``."""
    data = training_rows()
    chosen = np.random.default_rng(SEED + 1).integers(0, len(data.X_test), n)
    return Queries(data.X_test[chosen], data.y_test[chosen])


def measure(data: Queries, found: Any) -> Quality:
    """The error rate of the predicted labels (or probabilities of label 1), of one model or the mean of several."""
    return Quality(float(np.mean((np.asarray(found).reshape(-1, len(data.y)) > 0.5) != (data.y > 0.5))))
