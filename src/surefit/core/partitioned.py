"""Rows in partitions: the interface for fits and checks on a cluster. This module does not need Dask.

A pass applies a function to every partition and sums the results in a tree that depends only on the number of
partitions. The result is therefore bitwise the same for any number of workers. Arrays with one entry per row stay with
the rows; only the arguments of a pass and its result, which are small, are sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce, wraps
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import SurefitError

PARQUET = (".parquet", ".parq", ".pq")
BLOCK = 16_384  # number of rows that functions decorated with ``by_blocks`` process at a time
BITS = 1126  # exact sums are in units of 2**-BITS, of which every float is a multiple


class Part(NamedTuple):
    """The rows of one partition."""

    X: np.ndarray
    y: np.ndarray | None
    weights: np.ndarray | None
    start: int  # index of the first row among all rows
    name: str  # name of the partition in error messages


@dataclass
class Traffic:
    """Cost of passes over partitioned rows: bytes sent with the passes, bytes of partial results, and bytes received by the client."""

    passes: int = 0
    bytes_sent: int = 0
    bytes_reduced: int = 0
    bytes_to_client: int = 0
    within: Traffic | None = None  # traffic of the rows of which these are a view

    def add(self, sent: int, parts: int, result: int) -> None:
        """Add the cost of one pass."""
        self.passes += 1
        self.bytes_sent += sent * parts
        self.bytes_reduced += result * parts
        self.bytes_to_client += result
        if self.within is not None:
            self.within.add(sent, parts, result)

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return {name: value for name, value in self.__dict__.items() if name != "within"}


class PassStopped(SurefitError):
    """A pass over partitioned rows was stopped by the time limit or by the user; ``reason`` says which."""

    def __init__(self, reason: Any) -> None:
        super().__init__(f"the pass over the partitions was stopped: {reason}")
        self.reason = reason


class ClusterLost(SurefitError):
    """No worker is left. ``best`` contains the best point so far and its gap as computed by the solver, not verified."""

    def __init__(self, message: str, best: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.best = best or {}


class PartitionedRows(ABC):
    """Rows of X, y and sample weights in partitions, with the passes that solvers and checkers need."""

    ndim = 2
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    lengths: tuple[int, ...]  # rows of each partition
    names: tuple[str, ...]  # of the partitions
    columns: np.ndarray | None  # names of the features, if they have any
    labels: np.ndarray | None  # distinct targets, unless there are too many to be labels
    counts: np.ndarray | None  # total weight of each label
    target_shape: tuple[int, ...] | None  # shape of y; None without y
    weighted: bool
    total_weight: float
    largest_target: float
    smallest_target: float
    sample: np.ndarray  # at most 200 evenly spaced rows; numeric targets are the last columns
    traffic: Traffic
    budget: Any = None  # budget of the running fit, whose time limit stops a pass

    @abstractmethod
    def map_reduce(
        self,
        function: Callable[..., Any],
        *small: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        sliced: Sequence[np.ndarray] = (),
        finish: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return the sum of ``function(part, *small, *slices)`` over all partitions, in a fixed order.

        ``small`` is sent to every partition. The arrays in ``sliced`` have one entry per row, and each partition gets
        those of its rows. ``combine`` replaces the sum; it is called with two adjacent results in the order of the
        rows. ``finish`` is applied to the sum where it is computed, so that only its result is sent. Functions must be
        importable.
        """

    @abstractmethod
    def fold(self, function: Callable[..., Any], state: Any, *small: Any, order: Sequence[int] | None = None) -> Any:
        """Return ``state`` after applying ``state = function(part, state, *small)`` to all partitions, one after another."""

    @abstractmethod
    def derive(
        self,
        function: Callable[..., Any],
        *small: Any,
        size: int,
        join: Callable[..., Any] | None = None,
        most: int = 0,
    ) -> PartValues:
        """Return ``function(part, *small)`` for every partition; the values stay with the rows.

        Values with a total of ``size`` bytes are kept if they fit into the memory of the workers; otherwise every pass
        recomputes them. If ``join`` is given, adjacent partitions with at most ``most`` rows together have one value,
        ``join(*values)``, so that passes have fewer tasks.
        """

    @abstractmethod
    def aligned(self, length: int) -> PartitionedRows:
        """Return the same rows in partitions of ``length`` rows, counted from the first row; see :mod:`surefit.operators.aligned`."""

    @abstractmethod
    def fingerprints(self) -> dict[str, Any]:
        """Return the same fingerprints as ``data_fingerprint`` for these rows in memory."""

    @property
    def outline(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Target and weights that define the same problem as all rows: one row per label, with its total weight."""
        if self.target_shape is None:
            return None, None
        if self.labels is not None and len(self.target_shape) == 1:
            assert self.counts is not None
            labels = self.labels.astype(np.float64) if self.labels.dtype.kind in "biuf" else self.labels
            return labels, self.counts
        return np.zeros((1, *self.target_shape[1:])), None


class PartValues(ABC):
    """One value per non-empty partition, such as its binned columns or its scores; the values stay with the rows."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of values."""

    @abstractmethod
    def map_reduce(
        self,
        function: Callable[..., Any],
        *small: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        beside: Sequence[PartValues] = (),
    ) -> Any:
        """Return the sum of ``function(value, *small, *others)`` over all partitions; ``others`` are the values of ``beside``."""

    @abstractmethod
    def derive_and_reduce(
        self,
        function: Callable[..., Any],
        small: tuple[Any, ...],
        report: Callable[..., Any],
        asked: tuple[Any, ...],
        combine: Callable[[Any, Any], Any] | None = None,
        beside: Sequence[PartValues] = (),
    ) -> tuple[PartValues, Any]:
        """Return new values and a sum over them, by one pass.

        The new values ``function(value, *small, *others)`` are computed once and kept; the sum over all partitions is of
        ``report(value, *asked, new value)``.
        """


def row_draws(start: int, count: int, seed: int, columns: int = 1) -> np.ndarray:
    """Return uniform random numbers for ``count`` rows from index ``start``; they depend only on the seed and the row index.

    Examples
    --------
    >>> from surefit.core.partitioned import row_draws
    >>> bool((row_draws(3, 2, seed=1) == row_draws(0, 5, seed=1)[3:]).all())
    True
    """
    stream = np.random.Generator(np.random.PCG64(seed).advance(start * columns))
    return stream.random((count, columns))


def over_rows(
    X: Any,
    weights: np.ndarray | None,
    function: Callable[..., Any],
    *small: Any,
    combine: Callable[[Any, Any], Any] | None = None,
    sliced: Sequence[np.ndarray] = (),
) -> Any:
    """Call :meth:`PartitionedRows.map_reduce`; rows in memory are treated as one partition."""
    if isinstance(X, PartitionedRows):
        return X.map_reduce(function, *small, combine=combine, sliced=sliced)
    return function(Part(X, None, weights, 0, "the rows"), *small, *sliced)


def count_parts(X: Any) -> int:
    """Return the number of partitions; 1 for rows in memory."""
    return len(X.lengths) if isinstance(X, PartitionedRows) else 1


def table_of(values: np.ndarray, columns: Any) -> Any:
    """Return rows as a data frame with their column names, so that a model can compare these with the names of its fit."""
    if columns is None:
        return values
    import pandas

    return pandas.DataFrame(values, columns=columns)


def weights_in(part: Part) -> np.ndarray:
    """Return the sample weights of a partition; ones if there are none."""
    return np.ones(len(part.X)) if part.weights is None else part.weights


def by_blocks(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of a partition to process blocks of rows and sum the results, which bounds the memory for copies."""

    @wraps(function)
    def total(part: Part, *small: Any) -> Any:
        starts = range(0, len(part.X), BLOCK) or (0,)
        return reduce(add, (function(rows_of_part(part, start, start + BLOCK), *small) for start in starts))

    return total


def rows_of_part(part: Part, start: int, stop: int) -> Part:
    """Return some rows of a partition."""
    if start == 0 and len(part.X) <= stop:
        return part
    X, y, weights = (None if values is None else values[start:stop] for values in part[:3])
    return Part(X, y, weights, part.start + start, part.name)  # type: ignore[arg-type]


def add(a: Any, b: Any) -> Any:
    """Add numbers, arrays, and tuples or dictionaries of them, entry by entry; None plus None is None.

    Examples
    --------
    >>> from surefit.core.partitioned import add
    >>> add((1, {"a": 2.0}, None), (3, {"a": 4.0}, None))
    (4, {'a': 6.0}, None)
    """
    if a is None or b is None:
        return a if b is None else b
    if isinstance(a, tuple):
        items = [add(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, dict):
        return {key: add(a.get(key), b.get(key)) for key in {**a, **b}}
    return a + b


def exact_sum(values: np.ndarray) -> int:
    """Return the exact sum in units of ``2**-BITS``, which does not depend on how the numbers are divided into partitions.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.partitioned import exact_sum, rounded
    >>> rounded(exact_sum(np.array([1e16, 1.0])) + exact_sum(np.array([1.0, -1e16])))
    2.0
    """
    fractions, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    whole, found = np.ldexp(fractions, 53).astype(np.int64), 0
    for exponent in np.unique(exponents).tolist():
        own = whole[exponents == exponent]
        # Mantissas are split into 26 and 27 bits: sums of fewer than 2**36 parts do not overflow.
        found += ((int(np.sum(own >> 26)) << 26) + int(np.sum(own & (2**26 - 1)))) << (exponent - 53 + BITS)
    return found


def rounded(total: int) -> float:
    """Return the float nearest to an exact sum."""
    return total / 2**BITS


def size_of(value: Any) -> int:
    """Return the number of bytes of numbers and arrays, nested in tuples or dictionaries."""
    if isinstance(value, (tuple, list)):
        return sum(map(size_of, value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    return int(value.nbytes) if hasattr(value, "nbytes") else 8
