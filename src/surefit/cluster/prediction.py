"""Predictions for partitioned rows: lazy Dask arrays that are computed where the partitions are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array
import numpy as np

from surefit.cluster.sources import sources_of
from surefit.core.partitioned import table_of


def lazily(model: Any, method: Callable[..., Any], X: Any) -> Any:
    """Return ``method(model, rows)`` of all rows as a Dask array with the partitions of ``X``."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(X, "columns"):
        X = X[[name for name in X.columns if name in set(names)]]  # a table may have the target too
    sources = sources_of(type(model).__name__, X, only=names)
    width = len(sources.columns) if sources.columns is not None else int(X.shape[1])
    example = np.asarray(method(model, table_of(np.zeros((1, width)), sources.columns)))
    sent = dask.delayed(model, traverse=False)
    lengths = sources.lengths or (np.nan,) * len(sources.X)
    blocks = [
        dask.array.from_delayed(
            dask.delayed(_block)(sent, method.__name__, part, sources.columns, example[:0]),
            (length, *example.shape[1:]),
            dtype=example.dtype,
        )
        for part, length in zip(sources.X, lengths, strict=True)
    ]
    return dask.array.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def _block(model: Any, method: str, part: Any, columns: Any, nothing: np.ndarray) -> np.ndarray:
    values = np.asarray(part)
    return np.asarray(getattr(model, method)(table_of(values, columns))) if len(values) else nothing
