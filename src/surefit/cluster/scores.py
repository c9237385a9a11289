"""Scores of a model on partitioned rows, for scikit-learn's scores that are functions of sums over the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from surefit.core.errors import InvalidParameter
from surefit.core.partitioned import Part, PartitionedRows, table_of
from surefit.risk.losses import comparable


class Sums(NamedTuple):
    """Number of rows, total loss, and mean and squared deviations of the targets."""

    n: int
    loss: float
    mean: float
    scatter: float


def scorer_of(who: str, estimator: Any, scoring: Any) -> str:
    """Return the name of the score: the requested one, by default accuracy or R squared."""
    name = ("accuracy" if is_classifier(estimator) else "r2") if scoring is None else scoring
    if not isinstance(name, str) or name not in LOSSES:
        raise InvalidParameter(
            who, "scoring", f"None or one of {', '.join(sorted(LOSSES))} for rows in partitions", scoring
        )
    return name


def score(model: Any, rows: PartitionedRows, name: str) -> float:
    """Return the score of a model on all rows, by one pass."""
    found: Sums = rows.map_reduce(_sums, rows.columns, model, name, combine=_join)
    mean = found.loss / found.n
    if name == "accuracy":
        return 1.0 - mean
    if name == "r2":
        return 1.0 - found.loss / found.scatter if found.scatter else float(found.loss == 0.0)
    return -math.sqrt(mean) if name == "neg_root_mean_squared_error" else -mean


def _sums(part: Part, columns: Any, model: Any, name: str) -> Sums:
    y = np.asarray(part.y)
    losses = LOSSES[name](model, table_of(part.X, columns), y)
    if name != "r2":
        return Sums(len(y), math.fsum(losses), 0.0, 0.0)
    mean = float(np.mean(y))
    return Sums(len(y), math.fsum(losses), mean, float(np.sum((y - mean) ** 2)))


def _join(a: Sums, b: Sums) -> Sums:
    n, apart = a.n + b.n, b.mean - a.mean
    return Sums(n, a.loss + b.loss, a.mean + apart * b.n / n, a.scatter + b.scatter + apart * apart * a.n * b.n / n)


def _wrong(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    return (comparable(model.predict(X)) != comparable(y)).astype(np.float64)


def _squares(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    return (np.asarray(model.predict(X), dtype=np.float64).ravel() - y.astype(np.float64)) ** 2


def _absolute(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    return np.abs(np.asarray(model.predict(X), dtype=np.float64).ravel() - y.astype(np.float64))


def _log_loss(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    hit = comparable(y)[:, None] == comparable(model.classes_)[None, :]
    own = np.sum(np.where(hit, found, 0.0), axis=1)
    return -np.log(np.clip(own, np.finfo(np.float64).eps, 1.0))


LOSSES: dict[str, Callable[..., np.ndarray]] = {
    "accuracy": _wrong,
    "r2": _squares,
    "neg_mean_squared_error": _squares,
    "neg_root_mean_squared_error": _squares,
    "neg_mean_absolute_error": _absolute,
    "neg_log_loss": _log_loss,
}
