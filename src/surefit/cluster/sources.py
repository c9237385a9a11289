"""Conversion of Dask arrays, Dask data frames and Parquet paths to partitions: named, delayed tables."""

from __future__ import annotations

import glob
import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, SurefitError
from surefit.risk.void import in_time_order

try:
    import dask
    import dask.array
except ImportError:
    raise SurefitError("Dask collections need the extra: pip install 'surefit[cluster]'.") from None

BYTES_PER_PART = 2**26  # target size of the partitions of a Parquet file, as float64; row groups are never divided


class Sources(NamedTuple):
    """Partitions before they are read: delayed X, y and weights of each, with metadata known in advance."""

    X: list[Any]
    y: list[Any]
    weights: list[Any]
    names: tuple[str, ...]
    lengths: tuple[int, ...] | None  # None if a pass must count the rows
    columns: np.ndarray | None
    single: bool  # every column is float32
    in_time_order: bool = False  # the rows are indexed by time
    width: int | None = None  # number of columns, if known


def sources_of(who: str, X: Any, y: Any = None, sample_weight: Any = None, only: Any = None) -> Sources:
    """Return the partitions of a collection or path; ``y`` and ``sample_weight`` may name columns of a table.

    For Parquet files, ``only`` names the columns to read; by default, all columns except target and weights.
    """
    if isinstance(X, (str, os.PathLike)):
        return _of_parquet(who, str(X), y, sample_weight, only)
    if hasattr(X, "partitions") and hasattr(X, "columns"):
        return _of_frame(who, X, y, sample_weight)
    if isinstance(X, dask.array.Array):
        return _of_array(who, X, y, sample_weight)
    raise InvalidData(f"{who}: X must be a Dask array, a Dask data frame or a Parquet path; got {type(X).__name__}.")


def _of_array(who: str, X: Any, y: Any, sample_weight: Any) -> Sources:
    if X.ndim != 2:
        raise InvalidData(f"{who}: X must have two dimensions, rows and columns; this array has {X.ndim}.")
    if X.dtype.kind not in "biuf":
        raise InvalidData(f"{who}: X must be numbers; its dtype is {X.dtype}.")
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    lengths = _known(X.chunks[0])
    parts = list(X.to_delayed().ravel())
    return Sources(
        parts,
        _beside(who, "y", y, parts, lengths),
        _beside(who, "sample_weight", sample_weight, parts, lengths),
        tuple(f"partition {i}" for i in range(len(parts))),
        lengths,
        None,
        X.dtype == np.float32,
        width=None if math.isnan(X.shape[1]) else int(X.shape[1]),
    )


def _of_frame(who: str, X: Any, y: Any, sample_weight: Any) -> Sources:
    named = [name for name in (y, sample_weight) if isinstance(name, str)]
    _require_columns(who, named, list(X.columns))
    y = X[y] if isinstance(y, str) else y
    sample_weight = X[sample_weight] if isinstance(sample_weight, str) else sample_weight
    table = X[[name for name in X.columns if name not in named]]
    for name, dtype in table.dtypes.items():
        if getattr(dtype, "kind", "O") not in "biuf":
            raise InvalidData(f"{who}: column {name!r} must be numbers; its dtype is {dtype}. Encode it first.")
    parts = list(table.to_delayed())
    return Sources(
        parts,
        _beside(who, "y", y, parts, None),
        _beside(who, "sample_weight", sample_weight, parts, None),
        tuple(f"partition {i}" for i in range(len(parts))),
        None,
        _column_names(list(table.columns)),
        all(dtype == np.float32 for dtype in table.dtypes),
        in_time_order(X._meta),
        len(table.columns),
    )


def _of_parquet(who: str, path: str, y: Any, sample_weight: Any, only: Any) -> Sources:
    from pyarrow import parquet

    files = sorted(glob.glob(os.path.join(path, "*.parquet")) if os.path.isdir(path) else glob.glob(path))
    if not files:
        raise InvalidData(f"{who}: there is no Parquet file at {path!r}; check the path, and that workers can read it.")
    named = [name for name in (y, sample_weight) if isinstance(name, str)]
    columns: list[str] = []
    every: list[str] = []
    parts: list[tuple[str, int, int]] = []
    lengths: list[int] = []
    single = True
    for file in files:
        info = parquet.ParquetFile(file)
        schema = info.schema_arrow
        if not columns:
            _require_columns(who, named, schema.names)
            columns = [name for name in schema.names if name not in named and (only is None or name in set(only))]
            every = schema.names
        _require_same_columns(who, file, every, schema.names)
        kinds = [_number_type(who, file, name, schema.field(name).type) for name in columns]
        single = single and all(kind == "float" for kind in kinds)
        sizes = [info.metadata.row_group(i).num_rows for i in range(info.num_row_groups)]
        for first, stop, count in _groups(sizes, BYTES_PER_PART // (8 * max(len(columns), 1))):
            parts.append((file, first, stop))
            lengths.append(count)
        if info.num_row_groups == 0:
            parts.append((file, 0, 0))
            lengths.append(0)
    names = tuple(
        file if stop - first <= 0 or first == 0 else f"{file}, row group {first}" for file, first, stop in parts
    )
    known = tuple(lengths)
    beside = [
        [dask.delayed(read_columns)(*part, [given], True) for part in parts]
        if isinstance(given, str)
        else _beside(who, label, given, parts, known)
        for label, given in (("y", y), ("sample_weight", sample_weight))
    ]
    tables = [dask.delayed(read_columns)(*part, columns) for part in parts]
    return Sources(
        tables, beside[0], beside[1], names, known, np.array(columns, dtype=object), single, width=len(columns)
    )


def read_columns(file: str, first: int, stop: int, columns: list[str], single: bool = False) -> np.ndarray:
    """Read some row groups of a Parquet file as a matrix, or one column as a vector."""
    from pyarrow import parquet

    table = parquet.ParquetFile(file).read_row_groups(list(range(first, stop)), columns=columns)
    arrays = [table.column(name).to_numpy() for name in columns]
    return arrays[0] if single else np.column_stack(arrays)


def _groups(sizes: list[int], most: int) -> list[tuple[int, int, int]]:
    """Group the row groups of a file into partitions with a limited number of rows: (first, stop, rows)."""
    found: list[tuple[int, int, int]] = []
    for i, size in enumerate(sizes):
        if found and found[-1][2] + size <= most:
            found[-1] = found[-1][0], i + 1, found[-1][2] + size
        else:
            found.append((i, i + 1, size))
    return found


def _number_type(who: str, file: str, name: str, kind: Any) -> str:
    from pyarrow import types

    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return str(kind)
    raise InvalidData(f"{who}: column {name!r} of {file} must be numbers; its type is {kind}. Encode it first.")


def _require_columns(who: str, named: list[str], columns: list[Any]) -> None:
    for name in named:
        if name not in columns:
            raise InvalidData(
                f"{who}: there is no column {name!r}; the columns are {', '.join(map(str, columns[:20]))}."
            )


def _require_same_columns(who: str, file: str, wanted: list[str], found: list[str]) -> None:
    missing, more = [c for c in wanted if c not in found], [c for c in found if c not in wanted]
    if missing or more:
        words = [
            f"{', '.join(map(repr, names))} {what}" for names, what in ((missing, "missing"), (more, "added")) if names
        ]
        raise InvalidData(f"{who}: {file} has other columns than the first file ({'; '.join(words)}).")


def _column_names(columns: list[Any]) -> np.ndarray | None:
    return np.array(columns, dtype=object) if all(isinstance(name, str) for name in columns) else None


def _known(chunks: Sequence[Any]) -> tuple[int, ...] | None:
    return None if any(math.isnan(c) for c in chunks) else tuple(int(c) for c in chunks)


def _beside(who: str, label: str, given: Any, parts: Sequence[Any], lengths: tuple[int, ...] | None) -> list[Any]:
    """Return the partitions of a target or of weights, divided like those of X."""
    if given is None:
        return [None] * len(parts)
    if isinstance(given, dask.array.Array):
        own = _known(given.chunks[0])
        if lengths is not None and own is not None:
            if sum(own) != sum(lengths):
                raise InvalidData(
                    f"{who}: X has {sum(lengths)} rows and {label} has {sum(own)}; the numbers must be equal."
                )
            given = given.rechunk({0: lengths, **({1: -1} if given.ndim == 2 else {})})
        found = list(given.to_delayed().ravel())
    elif hasattr(given, "partitions"):
        found = list(given.to_delayed())
    elif lengths is not None:
        values = np.asarray(given)
        if values.ndim == 0 or len(values) != sum(lengths):
            raise InvalidData(f"{who}: X has {sum(lengths)} rows; {label} must have as many, got {np.shape(values)}.")
        ends = np.cumsum(lengths)
        found = [values[end - size : end] for size, end in zip(lengths, ends, strict=True)]
    else:
        raise InvalidData(
            f"{who}: the partitions of X have unknown lengths, so {label} must be a Dask collection with the same partitions, or the "
            f"name of a column; got {type(given).__name__}."
        )
    if len(found) != len(parts):
        raise InvalidData(
            f"{who}: X has {len(parts)} partitions and {label} has {len(found)}; use the same partitions for both."
        )
    return found
