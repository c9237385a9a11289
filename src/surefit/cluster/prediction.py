"""Predictions for partitioned rows, as lazy Dask arrays."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import dask
import dask.array
import numpy as np

from surefit.cluster.graphs import applied, shared, tree_of
from surefit.cluster.sources import sources_of
from surefit.core.partitioned import table_of
from surefit.neighbors.partitioned import Ballot, InPartitions, Known, merged, nearest_in


def lazily(model: Any, method: Callable[..., Any], X: Any) -> Any:
    """Return ``method(model, rows)`` for all rows as a Dask array with the partitions of ``X``."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(X, "columns"):
        X = X[[name for name in X.columns if name in set(names)]]  # the table may also contain the target
    sources = sources_of(type(model).__name__, X, only=names)
    width = len(sources.columns) if sources.columns is not None else int(X.shape[1])
    search = model.__dict__.get("_search")
    far = search if isinstance(search, InPartitions) else None  # the training rows are also in partitions
    first = table_of(np.zeros((1, width)), sources.columns)
    example = (
        np.asarray(method(model, first)) if far is None else _answer(model, method.__name__, first, _example(model))
    )
    sent = dask.delayed(model, traverse=False)
    lengths = sources.lengths or (np.nan,) * len(sources.X)
    found = [None] * len(sources.X) if far is None else [_neighbors(model, far, part) for part in sources.X]
    blocks = [
        dask.array.from_delayed(
            dask.delayed(_block)(sent, method.__name__, part, sources.columns, example[:0], near),
            (length, *example.shape[1:]),
            dtype=example.dtype,
        )
        for part, length, near in zip(sources.X, lengths, found, strict=True)
    ]
    return dask.array.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def _block(model: Any, method: str, part: Any, columns: Any, nothing: np.ndarray, near: Any) -> np.ndarray:
    values = np.asarray(part)
    if not len(values):
        return nothing
    table = table_of(values, columns)
    return np.asarray(getattr(model, method)(table)) if near is None else _answer(model, method, table, near)


def _answer(model: Any, method: str, table: Any, near: Ballot) -> np.ndarray:
    """Return the prediction for rows whose neighbors are known."""
    answering = copy(model)
    answering._search = Known(near)
    return np.asarray(getattr(answering, method)(table))


def _neighbors(model: Any, search: InPartitions, part: Any) -> Any:
    """Return the neighbors of the queries of a partition among all training rows, as a delayed value."""
    k, rows = model.n_neighbors, search.rows
    queries = dask.delayed(_numbers, pure=False)(part)
    call = shared(nearest_in, (k, search.how, model._total_weight is not None), len(rows.lengths))
    return tree_of([applied(call, rows.part(i), queries) for i in rows.used], partial(merged, k=k))  # type: ignore[attr-defined]


def _numbers(part: Any) -> np.ndarray:
    values = np.asarray(part)
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _example(model: Any) -> Ballot:
    ones = np.ones((1, model.n_neighbors))
    labels = ones.astype(np.int64) - 1 if hasattr(model, "classes_") else ones
    return Ballot(ones, labels, ones, labels, ones)
