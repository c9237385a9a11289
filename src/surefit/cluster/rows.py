"""Partitioned rows on Dask: a pass is a task graph with one leaf per partition and a fixed tree of sums."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import dask
import numpy as np

from surefit.cluster.graphs import applied, shared, tree_of
from surefit.cluster.running import active_client, compute, free_memory, workers_of
from surefit.cluster.sources import Sources, sources_of
from surefit.cluster.summary import Summary, join, require_usable, summarize
from surefit.cluster.values import DaskValues
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.fingerprint import text_of
from surefit.core.partitioned import Part, PartitionedRows, Traffic, add, rounded, size_of
from surefit.core.threads import one_blas_thread

KEPT_LOCALLY = 2**28  # bytes of rows that are kept between passes with threads on this machine
KEPT_SHARE = 0.4  # fraction of the free memory of all workers that rows may use


class DaskRows(PartitionedRows):
    """Rows of a Dask collection or of Parquet files, checked and summarized by one pass."""

    def __init__(self, who: str, sources: Sources, missing: bool = False) -> None:
        self._held = 0.0  # bytes that are kept between passes
        self.traffic, self.columns, self.names = Traffic(), sources.columns, sources.names
        self.in_time_order = sources.in_time_order
        self.dtype = np.dtype(np.float32 if sources.single else np.float64)
        self.weighted = sources.weights[0] is not None
        lengths = sources.lengths
        if lengths is None:
            counts = [dask.delayed(len)(X) for X in sources.X]
            lengths = tuple(compute(dask.delayed(list)(counts)))
            self.traffic.add(0, len(lengths), 8)
        self.lengths = lengths
        rows = sum(lengths)
        if rows == 0:
            raise InvalidData(f"{who}: Found array with 0 sample(s): all {len(lengths)} partitions are empty.")
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).tolist()
        self._parts = [
            dask.delayed(_part, pure=False)(who, X, y, w, start, length, name, self.dtype.str)
            for X, y, w, start, length, name in zip(
                sources.X, sources.y, sources.weights, starts, lengths, sources.names, strict=True
            )
        ]
        width = sources.width or int(compute(dask.delayed(_width)(self._parts[0])))
        self._settle(who, sources.names, width, missing)

    def _settle(self, who: str, names: tuple[str, ...], width: int, missing: bool) -> None:
        """Persist the partitions if they fit into memory, and summarize all rows in one pass."""
        rows = sum(self.lengths)
        self.shape = rows, width
        if self._fits(rows * (width + 2) * self.dtype.itemsize):
            self._parts = list(dask.persist(*self._parts))  # otherwise each pass reads them again
        self.used = [i for i, length in enumerate(self.lengths) if length > 0]  # partitions with rows
        found: Summary = self.map_reduce(summarize, self.columns, rows, missing, combine=join)
        require_usable(who, names, self.lengths, found)
        self._take(found)

    def _fits(self, size: float) -> bool:
        """Return whether ``size`` bytes can be kept in addition to those already kept, and reserve them."""
        client = active_client()
        if client is None:
            room = float(KEPT_LOCALLY)
        else:
            room = KEPT_SHARE * sum(map(free_memory, workers_of(client)))
        fits = self._held + size <= room
        self._held += size if fits else 0.0
        return fits

    def _take(self, found: Summary) -> None:
        n, dtype = self.shape[0], found.target_dtype
        self.target_dtype, self._digests, self.single_label = dtype, found.digests, found.alone
        self.target_shape = (
            None if dtype is None else (n,) if found.target_columns is None else (n, found.target_columns)
        )
        self.labels = self.counts = None
        if found.labels is not None:
            order = sorted(found.labels)
            kind: Any = dtype if dtype.kind in "biuf" else None
            self.labels = np.array(order, dtype=kind)
            self.counts = np.array([rounded(found.labels[label]) for label in order])
        self.total_weight = rounded(found.weights)
        self.smallest_target, self.largest_target = found.targets
        self.sample = found.sample

    def map_reduce(
        self,
        function: Callable[..., Any],
        *small: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        sliced: Sequence[np.ndarray] = (),
        finish: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return the sum over all partitions; see :class:`PartitionedRows`."""
        call, level = shared(function, small, len(self.used)), []
        ends = np.cumsum(self.lengths)
        for i in self.used:
            own = tuple(array[ends[i] - self.lengths[i] : ends[i]] for array in sliced)
            level.append(applied(call, self._parts[i], more=own))
        return self.reduced(level, small, combine, finish)

    def reduced(
        self,
        level: list[Any],
        small: tuple[Any, ...],
        combine: Callable[[Any, Any], Any] | None,
        finish: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Combine the values of the partitions in a tree of adjacent values, and record the traffic."""
        whole = tree_of(level, combine or add)
        found = compute(whole if finish is None else applied(shared(finish, (), 1), whole), self.budget)
        self.traffic.add(size_of(small), len(level), size_of(found))
        return found

    def fold(self, function: Callable[..., Any], state: Any, *small: Any, order: Sequence[int] | None = None) -> Any:
        """Process the partitions one after another; see :class:`PartitionedRows`."""
        sent = dask.delayed(small, traverse=False, pure=False)
        current: Any = dask.delayed(state, traverse=False, pure=False)
        for i in self.used if order is None else order:
            current = dask.delayed(_advance, pure=False)(function, self._parts[i], current, sent)
        found = compute(current, self.budget)
        self.traffic.add(size_of(small) + size_of(found), len(self.used), size_of(found))
        return found

    def derive(
        self,
        function: Callable[..., Any],
        *small: Any,
        size: int,
        join: Callable[..., Any] | None = None,
        most: int = 0,
    ) -> DaskValues:
        """Return one value per partition, or per group of joined partitions; see :class:`PartitionedRows`."""
        call = shared(function, small, len(self.used))
        items = [applied(call, self._parts[i]) for i in self.used]
        if join is not None:
            ends = np.cumsum([len(group) for group in self._groups(most)]).tolist()
            groups = [items[start:stop] for start, stop in zip([0, *ends], ends, strict=False)]
            items = [own[0] if len(own) == 1 else applied(shared(join, (), 1), *own) for own in groups]
        if self._fits(size):
            items = list(dask.persist(*items))
            self.traffic.add(size_of(small), len(self.used), 0)
        return DaskValues(self, items)

    def _groups(self, most: int) -> list[list[int]]:
        """Return groups of adjacent partitions that together have at most ``most`` rows."""
        groups: list[list[int]] = []
        for i in self.used:
            if groups and sum(self.lengths[k] for k in groups[-1]) + self.lengths[i] <= most:
                groups[-1].append(i)
            else:
                groups.append([i])
        return groups

    def part(self, index: int) -> Any:
        """Return a partition as a delayed value."""
        return self._parts[index]

    def aligned(self, length: int) -> DaskRows:
        """Return the rows in partitions of equal length; see :class:`PartitionedRows`."""
        ends, starts = np.cumsum(self.lengths).tolist(), range(0, self.shape[0], length)
        call, parts, n = shared(_joined, (), 0), [], self.shape[0]
        for start in starts:
            stop = min(start + length, n)
            met = [i for i in self.used if ends[i] > start and ends[i] - self.lengths[i] < stop]
            parts.append(applied(call, *(self._parts[i] for i in met), more=(start, stop)))
        return self.view(parts, tuple(min(length, n - start) for start in starts), self.shape[1])

    def mapped(self, function: Callable[..., Any], *small: Any, sample: np.ndarray, width: int) -> DaskRows:
        """Return the rows with the columns of ``function(part, *small)``, stored on the workers if they fit."""
        call = shared(function, small, len(self._parts))
        parts = [applied(call, part) for part in self._parts]
        if self._fits(self.shape[0] * width * 8):
            parts = list(dask.persist(*parts))
            self.traffic.add(size_of(small), len(parts), 0)
        found = self.view(parts, self.lengths, width)
        found.sample = sample
        return found

    def view(self, parts: list[Any], lengths: tuple[int, ...], width: int) -> DaskRows:
        """Return the same rows, targets and weights with other partitions."""
        found = copy(self)
        found._parts, found.lengths, found.names = parts, lengths, ("the rows",) * len(parts)
        found.used, found.shape = list(range(len(parts))), (self.shape[0], width)
        found.traffic = Traffic(within=self.traffic)
        return found

    def fingerprints(self) -> dict[str, Any]:
        """Return the fingerprints of the rows; they do not depend on the partitions."""
        y = None
        if self.target_shape is not None:
            numeric = self.target_dtype.kind in "biuf"
            shape = self.target_shape[:1] if self.target_shape[1:] == (1,) else self.target_shape
            y = text_of(np.dtype(np.float64) if numeric else self.target_dtype, shape, self._digests[1])
        return {
            "X": text_of(self.dtype, self.shape, self._digests[0]),
            "y": y,
            "sample_weight": text_of(np.dtype(np.float64), self.shape[:1], self._digests[2]) if self.weighted else None,
            "n_rows": self.shape[0],
            "n_columns": self.shape[1],
        }

    def astype(self, dtype: Any) -> DaskRows:
        """Return the rows unchanged; their dtype is fixed when they are read."""
        return self


class ChosenRows(DaskRows):
    """View of the rows selected by masks, one mask per non-empty partition. Rows and masks stay in the partitions."""

    def __init__(self, who: str, rows: DaskRows, masks: DaskValues) -> None:
        self._held, self.traffic = rows._held, Traffic(within=rows.traffic)
        self.columns, self.dtype, self.weighted = rows.columns, rows.dtype, rows.weighted
        self.in_time_order = rows.in_time_order
        self.names = tuple(rows.names[i] for i in rows.used)
        self.lengths = masks.map_reduce(_count, combine=_after)
        if not sum(self.lengths):
            raise InvalidData(f"{who}: no rows are left for training; the data have too few distinct rows.")
        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).tolist()
        self._parts = [
            dask.delayed(_kept, pure=False)(rows.part(i), mask, start)
            for i, mask, start in zip(rows.used, masks.items, starts, strict=True)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # partitions without a row of this view
            self._settle(who, self.names, rows.shape[1], missing=True)


def rows_of(who: str, X: Any, y: Any = None, sample_weight: Any = None, missing: bool = False) -> PartitionedRows:
    """Return the partitioned rows of a collection or path; NaN in X is an error unless values may be ``missing``."""
    return X if isinstance(X, PartitionedRows) else DaskRows(who, sources_of(who, X, y, sample_weight), missing)


def _count(mask: np.ndarray) -> tuple[int, ...]:
    return (int(np.sum(mask)),)


def _after(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return a + b


def _kept(part: Part, mask: np.ndarray, start: int) -> Part:
    y, weights = (None if values is None else values[mask] for values in (part.y, part.weights))
    return Part(part.X[mask], y, weights, start, part.name)


def _part(who: str, X: Any, y: Any, weights: Any, start: int, length: int, name: str, dtype: str) -> Part:
    """Return a partition as arrays; raise ``InvalidData`` if its number of rows is not ``length``."""
    table = np.ascontiguousarray(np.asarray(X), dtype=np.dtype(dtype))
    y = None if y is None else _values(y)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    for label, values in (("X", table), ("y", y), ("sample_weight", weights)):
        if values is not None and len(values) != length:
            raise InvalidData(f"{who}: {label} of {name} has {len(values)} rows where {length} were expected.")
    return Part(table, y, weights, start, name)


def _values(y: Any) -> np.ndarray:
    values = np.asarray(y)
    return values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values


def _joined(first: Part, start: int, stop: int, *others: Part) -> Part:
    """Return the rows with indices from ``start`` to ``stop`` (exclusive) of consecutive partitions."""
    found = []
    for part in (first, *others):
        own = slice(max(start - part.start, 0), stop - part.start)
        found.append([None if values is None else values[own] for values in part[:3]])
    X, y, weights = (
        None if same[0] is None else same[0] if len(same) == 1 else np.concatenate(same)
        for same in zip(*found, strict=True)
    )
    return Part(np.ascontiguousarray(X), y, weights, start, "the rows")


def _width(part: Part) -> int:
    return part.X.shape[1]


def _advance(function: Callable[..., Any], part: Part, state: Any, small: tuple[Any, ...]) -> Any:
    with one_blas_thread():
        return function(part, state, *small)
