"""The matrix of inputs: numbers, kinds of numbers, layouts, sparse formats and weights that an estimator may be given.

An input that holds the same numbers as another one names it (``same_as``): the answers have to agree.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

N, D = 24, 3
COUNTS = "counts"  # small integers: exact in every dtype


class Input(NamedTuple):
    """One data set with both kinds of targets; weights are None where rows count once."""

    name: str
    X: Any
    y: Any
    labels: Any
    weights: Any = None
    same_as: str | None = None


class Base(NamedTuple):
    """The numbers that the inputs are made of."""

    X: np.ndarray
    counts: np.ndarray
    y: np.ndarray
    labels: np.ndarray


def base(seed: int = 0) -> Base:
    """Return measurements, counts, a real target and labels of two classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    counts = rng.integers(0, 8, size=(N, D)).astype(float)
    counts[: D + 1] = np.eye(D + 1, D) * 5  # every column varies
    y = X @ np.arange(1.0, D + 1) + counts @ np.ones(D) / 4 + 0.5 * rng.normal(size=N)
    labels = (y + rng.normal(size=N) > np.median(y)).astype(int)
    labels[:4] = 0, 1, 0, 1
    return Base(X, counts, y, labels)


def inputs(seed: int = 0) -> list[Input]:
    """Return all inputs, the same for a seed."""
    b = base(seed)
    groups = (_numbers, _shapes, _targets, _dtypes, _tables, _layouts, _sparse_formats, _weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # of numpy.matrix
        return [found for group in groups for found in group(b)]


def _numbers(b: Base) -> Iterator[Input]:
    yield Input("plain", b.X, b.y, b.labels)
    for power in (-150, -100, -30, 30, 100, 150):
        yield Input(f"X times 1e{power}", b.X * 10.0**power, b.y, b.labels)
        yield Input(f"y times 1e{power}", b.X, b.y * 10.0**power, b.labels)
        yield Input(f"X and y times 1e{power}", b.X * 10.0**power, b.y * 10.0**power, b.labels)
    yield Input("subnormal X", b.X * 1e-310, b.y, b.labels)
    yield Input("subnormal y", b.X, b.y * 1e-310, b.labels)
    yield Input("columns of 1e-150 and 1e150", b.X * np.array([1e-150, 1.0, 1e150]), b.y, b.labels)
    yield Input("largest floats", np.sign(b.X) * np.finfo(float).max, b.y, b.labels)
    yield Input("X plus 1e15", b.X + 1e15, b.y, b.labels)
    yield Input("zeros", np.zeros((N, D)), b.y, b.labels)
    yield Input("infinity", np.where(np.arange(N)[:, None] == 5, np.inf, b.X), b.y, b.labels)
    yield Input("NaN", np.where(np.arange(N)[:, None] == 5, np.nan, b.X), b.y, b.labels)


def _shapes(b: Base) -> Iterator[Input]:
    yield Input("duplicated column", b.X[:, [0, 1, 2, 0]], b.y, b.labels)
    yield Input("collinear columns", np.column_stack([b.X, b.X.sum(axis=1)]), b.y, b.labels)
    yield Input("all rows equal", np.repeat(b.X[:1], N, axis=0), b.y, b.labels)
    yield Input("one column", b.X[:, :1], b.y, b.labels)
    wide = np.random.default_rng(1).normal(size=(6, 15))
    yield Input("more columns than rows", wide, b.y[:6], np.array([0, 1, 0, 1, 0, 1]))
    yield Input("one row", b.X[:1], b.y[:1], b.labels[:1])
    yield Input("two rows", b.X[:2], b.y[:2], b.labels[:2])
    yield Input("no rows", b.X[:0], b.y[:0], b.labels[:0])
    yield Input("no columns", b.X[:, :0], b.y, b.labels)
    yield Input("one dimension", b.X[:, 0], b.y, b.labels)
    yield Input("three dimensions", b.X[:, :, None], b.y, b.labels)


def _targets(b: Base) -> Iterator[Input]:
    yield Input("constant target", b.X, np.full(N, 3.0), np.ones(N, dtype=int))
    yield Input("target of zeros", b.X, np.zeros(N), np.zeros(N, dtype=int))
    yield Input("a label per row", b.X, b.y, np.arange(N))
    yield Input("three classes", b.X, b.y, np.arange(N) % 3)
    yield Input("one row of a class", b.X, b.y, (np.arange(N) == 3).astype(int))
    texts = np.array(["no", "yes"])[b.labels]
    yield Input("labels as texts", b.X, b.y.astype(np.float32), texts)
    yield Input("labels as objects", b.X, b.y.astype(object), texts.astype(object))
    yield Input("labels as bools", b.X, b.y > 0, b.labels.astype(bool))
    yield Input("labels as large integers", b.X, b.labels.astype(np.uint64), b.labels.astype(np.uint64) + 2**63)
    yield Input("labels as floats", b.X, b.y.astype(np.longdouble), b.labels.astype(float))
    yield Input("labels as fractions", b.X, b.y, b.y)
    yield Input("labels as dates", b.X, _dates(b.labels), _dates(b.labels))
    yield Input("labels as categories", b.X, pd.Series(b.y), pd.Series(texts, dtype="category"))
    yield Input(
        "labels of Arrow", b.X, pd.Series(b.y, dtype="float64[pyarrow]"), pd.Series(texts, dtype="string[pyarrow]")
    )
    yield Input("labels of polars", b.X, pl.Series(b.y), pl.Series(texts.tolist()))
    missing = pd.Series(b.labels, dtype="Int64").where(np.arange(N) != 5)
    yield Input("missing label", b.X, pd.Series(b.y, dtype="Float64").where(np.arange(N) != 5), missing)
    yield Input("too few targets", b.X, b.y[:-1], b.labels[:-1])
    yield Input(
        "NaN in the target",
        b.X,
        np.where(np.arange(N) == 5, np.nan, b.y),
        np.where(np.arange(N) == 5, np.nan, b.labels),
    )
    yield Input("infinity in the target", b.X, np.where(np.arange(N) == 5, np.inf, b.y), b.labels)


def _dates(numbers: np.ndarray) -> np.ndarray:
    return np.datetime64("2026-01-01") + np.asarray(numbers).astype("timedelta64[D]")


def _dtypes(b: Base) -> Iterator[Input]:
    yield Input(COUNTS, b.counts, b.y, b.labels)
    for kind in ("int8", "uint8", "int16", "uint64", "int64", "float16", "float32", "longdouble", "object"):
        yield Input(f"X of {kind}", b.counts.astype(kind), b.y, b.labels, same_as=COUNTS)
    yield Input("X of bool", b.counts > 3, b.y, b.labels)
    yield Input("X of complex", b.counts.astype(complex), b.y, b.labels)
    yield Input("X of dates", _dates(b.counts), b.y, b.labels)
    yield Input("X of durations", b.counts.astype("timedelta64[s]"), b.y, b.labels)
    yield Input("X of texts", np.array(["a", "b", "c"])[b.counts.astype(int) % 3], b.y, b.labels)
    yield Input("X of numbers as texts", b.counts.astype(str), b.y, b.labels)
    yield Input("X of bytes", b.counts.astype("S4"), b.y, b.labels)
    mixed = b.counts.astype(object)
    mixed[3, 1] = "?"
    yield Input("X of objects with a text", mixed, b.y, b.labels)
    missing = b.counts.astype(object)
    missing[3, 1] = None
    yield Input("X of objects with None", missing, b.y, b.labels)
    lists = b.counts.astype(object)
    lists[3, 1] = [1, 2]
    yield Input("X of objects with a list", lists, b.y, b.labels)
    yield Input("X of large integers", b.counts.astype(np.uint64) + 2**63, b.y, b.labels)


def _tables(b: Base) -> Iterator[Input]:
    frame = pd.DataFrame(b.counts, columns=["a", "b", "c"])
    yield Input("pandas", frame, b.y, b.labels, same_as=COUNTS)
    yield Input("pandas nullable", frame.astype("Int64"), b.y, b.labels, same_as=COUNTS)
    yield Input("pandas nullable floats", frame.astype("Float64"), b.y, b.labels, same_as=COUNTS)
    yield Input("pandas of Arrow", frame.astype("float64[pyarrow]"), b.y, b.labels, same_as=COUNTS)
    yield Input(
        "pandas of mixed kinds",
        frame.astype({"a": "int8", "b": "Int64", "c": "float32"}),
        b.y,
        b.labels,
        same_as=COUNTS,
    )
    yield Input("pandas with an index", frame.set_index(np.arange(N)[::-1]), b.y, b.labels, same_as=COUNTS)
    yield Input("pandas with equal names", frame.set_axis(["a", "a", "b"], axis=1), b.y, b.labels)
    yield Input("pandas with numbers as names", frame.set_axis([0, "a", 2.5], axis=1), b.y, b.labels)
    gaps = np.repeat(np.arange(N)[:, None] != 5, D, axis=1)
    yield Input("pandas NA", frame.astype("Int64").where(gaps), b.y, b.labels)
    yield Input("Arrow null", frame.astype("float64[pyarrow]").where(gaps), b.y, b.labels)
    yield Input("pandas of texts", frame.astype(int).astype(str), b.y, b.labels)
    yield Input("pandas of Arrow texts", frame.astype(int).astype("string[pyarrow]"), b.y, b.labels)
    yield Input("pandas categories", frame.astype("category"), b.y, b.labels)
    yield Input("pandas dates", frame.apply(lambda column: pd.to_datetime(column, unit="D")), b.y, b.labels)
    yield Input("pandas sparse", frame.astype(pd.SparseDtype(float, 0.0)), b.y, b.labels, same_as=COUNTS)
    table = pl.DataFrame({name: frame[name].to_numpy() for name in frame})
    yield Input("polars", table, b.y, b.labels, same_as=COUNTS)
    yield Input("polars integers", table.cast(pl.Int16), b.y, b.labels, same_as=COUNTS)
    yield Input(
        "polars null",
        table.with_columns(pl.when(pl.col("a") > 3).then(None).otherwise(pl.col("a")).alias("a")),
        b.y,
        b.labels,
    )
    yield Input("polars texts", table.cast(pl.String), b.y, b.labels)


def _layouts(b: Base) -> Iterator[Input]:
    frozen = b.counts.copy()
    frozen.setflags(write=False)
    y, labels = b.y.copy(), b.labels.copy()
    y.setflags(write=False)
    labels.setflags(write=False)
    yield Input("read-only", frozen, y, labels, same_as=COUNTS)
    yield Input("memory-mapped", _mapped(b.counts), b.y, b.labels, same_as=COUNTS)
    yield Input("Fortran order", np.asfortranarray(b.counts), b.y, b.labels, same_as=COUNTS)
    yield Input(
        "strided",
        np.repeat(b.counts, 2, axis=0)[::2],
        np.repeat(b.y, 2)[::2],
        np.repeat(b.labels, 2)[::2],
        same_as=COUNTS,
    )
    back = b.counts[::-1, ::-1].copy()
    yield Input("backward", back[::-1, ::-1], b.y[::-1].copy()[::-1], b.labels[::-1].copy()[::-1], same_as=COUNTS)
    yield Input("big-endian", b.counts.astype(">f8"), b.y.astype(">f8"), b.labels.astype(">i8"), same_as=COUNTS)
    yield Input("lists", b.counts.tolist(), b.y.tolist(), b.labels.tolist(), same_as=COUNTS)
    yield Input("column of targets", b.counts, b.y[:, None], b.labels[:, None])
    yield Input("numpy matrix", np.asmatrix(b.counts), b.y, b.labels)
    packed = np.zeros(N, dtype=[("pad", "i1"), ("x", "f8", (D,))])
    packed["x"] = b.counts
    yield Input("unaligned", packed["x"], b.y, b.labels, same_as=COUNTS)
    yield Input("records", np.zeros(N, dtype=[("a", "f8"), ("b", "f8")]), b.y, b.labels)


def _mapped(values: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:  # the mapping outlives it
        mapped = np.memmap(file, dtype=values.dtype, mode="w+", shape=values.shape)
    mapped[:] = values
    return mapped


def _sparse_formats(b: Base) -> Iterator[Input]:
    csr = sparse.csr_array(b.counts)
    for kind in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok"):
        yield Input(f"sparse {kind}", csr.asformat(kind), b.y, b.labels, same_as=COUNTS)
    yield Input("sparse matrix", sparse.csr_matrix(b.counts), b.y, b.labels, same_as=COUNTS)
    wide = sparse.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=csr.shape)
    yield Input("sparse with 64-bit indices", wide, b.y, b.labels, same_as=COUNTS)
    columns = np.indices(b.counts.shape)[1]
    full = (b.counts.ravel(), columns.ravel(), np.arange(N + 1) * D)
    yield Input("sparse with explicit zeros", sparse.csr_array(full, shape=(N, D)), b.y, b.labels, same_as=COUNTS)
    turned = (b.counts[:, ::-1].ravel(), columns[:, ::-1].ravel(), np.arange(N + 1) * D)
    yield Input("sparse unsorted", sparse.csr_array(turned, shape=(N, D)), b.y, b.labels, same_as=COUNTS)
    halves = (np.repeat(b.counts.ravel() / 2, 2), np.repeat(columns.ravel(), 2), np.arange(N + 1) * 2 * D)
    yield Input("sparse with duplicates", sparse.csr_array(halves, shape=(N, D)), b.y, b.labels, same_as=COUNTS)
    yield Input("sparse integers", csr.astype(np.int32), b.y, b.labels, same_as=COUNTS)
    frozen = csr.copy()
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.setflags(write=False)
    yield Input("sparse read-only", frozen, b.y, b.labels, same_as=COUNTS)
    yield Input("sparse zeros", sparse.csr_array((N, D)), b.y, b.labels)
    broken = csr.copy()
    broken.data[3] = np.nan
    yield Input("sparse NaN", broken, b.y, b.labels)


def _weights(b: Base) -> Iterator[Input]:
    rng = np.random.default_rng(2)
    for name, weights in {
        "weights of one": np.ones(N),
        "weights with zeros": (np.arange(N) % 3 != 1).astype(float),
        "weight on one row": (np.arange(N) == 4).astype(float),
        "weight on one class": (b.labels == 1).astype(float),
        "weights of 1e300": np.full(N, 1e300),
        "weights of 1e-300": np.full(N, 1e-300),
        "weights of 1e150": np.full(N, 1e150),
        "subnormal weights": np.full(N, 1e-310),
        "weights from 1e-300 to 1e300": 10.0 ** rng.uniform(-300, 300, size=N),
        "one huge weight": np.where(np.arange(N) == 4, 1e100, 1.0),
        "integer weights": rng.integers(1, 4, size=N),
        "weights of pandas": pd.Series(rng.integers(1, 4, size=N)),
        "weights of zero": np.zeros(N),
        "negative weight": np.where(np.arange(N) == 4, -1.0, 1.0),
        "NaN weight": np.where(np.arange(N) == 4, np.nan, 1.0),
        "too few weights": np.ones(N - 1),
        "weights as texts": np.full(N, "heavy"),
    }.items():
        yield Input(name, b.X, b.y, b.labels, weights)
