"""Rows in partitions, wherever they are: the one operator that fits and checks on a cluster use. This module needs no Dask.

A pass applies a function to every partition and adds up what it returns, in a tree that depends on the number of partitions alone. The
result therefore has the same bits for any number of workers. Numbers that belong to rows stay with the rows; what travels is small: the
arguments of a pass, and its result.
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
BLOCK = 16_384  # rows of a partition that a function with copies of them sees at a time
BITS = 1126  # an exact sum counts units of 2**-BITS, of which every number is a multiple


class Part(NamedTuple):
    """The rows of one partition."""

    X: np.ndarray
    y: np.ndarray | None
    weights: np.ndarray | None
    start: int  # index of the first row among all rows
    name: str  # what error messages call the partition


@dataclass
class Traffic:
    """Cost of passes over partitioned rows: numbers sent with each pass, numbers in the partial results, and what the client received."""

    passes: int = 0
    bytes_sent: int = 0
    bytes_reduced: int = 0
    bytes_to_client: int = 0
    within: Traffic | None = None  # of the rows that these are a view of

    def add(self, sent: int, parts: int, result: int) -> None:
        """Count one pass."""
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
    """A pass over partitioned rows did not end: the time limit was reached, or the user interrupted it; ``reason`` says which."""

    def __init__(self, reason: Any) -> None:
        super().__init__(f"the pass over the partitions was stopped: {reason}")
        self.reason = reason


class ClusterLost(SurefitError):
    """No worker is left. ``best`` has the best point so far and its gap, as the solver computed them; nothing verified them."""

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
    labels: np.ndarray | None  # distinct targets, unless they are too many to be labels
    counts: np.ndarray | None  # total weight of each of them
    target_shape: tuple[int, ...] | None  # of y, None without y
    weighted: bool
    total_weight: float
    largest_target: float
    smallest_target: float
    sample: np.ndarray  # at most 200 evenly spaced rows, the targets as last columns if they are numbers
    traffic: Traffic
    budget: Any = None  # of the fit that uses the rows: its time limit ends a pass

    @abstractmethod
    def map_reduce(
        self,
        function: Callable[..., Any],
        *small: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        sliced: Sequence[np.ndarray] = (),
    ) -> Any:
        """Return the sum of ``function(part, *small, *slices)`` over all partitions, in a fixed order.

        ``small`` is sent to every partition; of the arrays in ``sliced``, which have one entry per row, each partition gets its own rows.
        ``combine`` replaces the sum; it is called with two neighbors in the order of the rows. Functions must be importable.
        """

    @abstractmethod
    def fold(self, function: Callable[..., Any], state: Any, *small: Any, order: Sequence[int] | None = None) -> Any:
        """Return ``state`` after ``state = function(part, state, *small)`` for all partitions, one after the other."""

    @abstractmethod
    def derive(self, function: Callable[..., Any], *small: Any, size: int) -> PartValues:
        """Return ``function(part, *small)`` of every partition; the values stay with the rows.

        Values that take ``size`` bytes in all are kept if they fit into memory there; otherwise every pass computes them again.
        """

    @abstractmethod
    def fingerprints(self) -> dict[str, Any]:
        """Return what ``data_fingerprint`` returns for the same rows in memory."""

    @property
    def outline(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """A target and weights that define the same problem as all rows: one row per label, with its weight."""
        if self.target_shape is None:
            return None, None
        if self.labels is not None and len(self.target_shape) == 1:
            assert self.counts is not None
            labels = self.labels.astype(np.float64) if self.labels.dtype.kind in "biuf" else self.labels
            return labels, self.counts
        return np.zeros((1, *self.target_shape[1:])), None


class PartValues(ABC):
    """One value per partition that has rows, such as its binned columns or its scores; the values stay where the rows are."""

    @abstractmethod
    def map_reduce(
        self,
        function: Callable[..., Any],
        *small: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        beside: Sequence[PartValues] = (),
    ) -> Any:
        """Return the sum of ``function(value, *small, *others)`` over all partitions, with the values ``beside`` as others."""

    @abstractmethod
    def derive(self, function: Callable[..., Any], *small: Any, beside: Sequence[PartValues] = ()) -> PartValues:
        """Return ``function(value, *small, *others)`` of every partition, computed once and kept."""


def row_draws(start: int, count: int, seed: int, columns: int = 1) -> np.ndarray:
    """Return uniform random numbers for ``count`` rows from index ``start`` on; they depend on the seed and on the index of a row alone.

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
    """Return :meth:`PartitionedRows.map_reduce`; rows in memory are one partition."""
    if isinstance(X, PartitionedRows):
        return X.map_reduce(function, *small, combine=combine, sliced=sliced)
    return function(Part(X, None, weights, 0, "the rows"), *small, *sliced)


def count_parts(X: Any) -> int:
    """Return the number of partitions; rows in memory are one."""
    return len(X.lengths) if isinstance(X, PartitionedRows) else 1


def table_of(values: np.ndarray, columns: Any) -> Any:
    """Return rows with the names of their columns, so that a model can compare them with those of its fit."""
    if columns is None:
        return values
    import pandas

    return pandas.DataFrame(values, columns=columns)


def weights_in(part: Part) -> np.ndarray:
    """Return the sample weights of a partition, ones if there are none."""
    return np.ones(len(part.X)) if part.weights is None else part.weights


def by_blocks(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of a partition see some rows at a time and add up its results, so that its copies of rows stay small."""

    @wraps(function)
    def total(part: Part, *small: Any) -> Any:
        starts = range(0, len(part.X), BLOCK) or (0,)
        return reduce(add, (function(_rows_of(part, start), *small) for start in starts))

    return total


def _rows_of(part: Part, start: int) -> Part:
    if start == 0 and len(part.X) <= BLOCK:
        return part
    X, y, weights = (None if values is None else values[start : start + BLOCK] for values in part[:3])
    return Part(X, y, weights, part.start + start, part.name)  # type: ignore[arg-type]


def add(a: Any, b: Any) -> Any:
    """Add numbers, arrays, and tuples or dictionaries of them, entry by entry; None is no number.

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
    """Return a sum of numbers in units of ``2**-BITS``, without rounding: it is the same for all partitions of the numbers.

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
        # Two halves of 26 and 27 bits: sums of fewer than 2**36 of them do not overflow.
        found += ((int(np.sum(own >> 26)) << 26) + int(np.sum(own & (2**26 - 1)))) << (exponent - 53 + BITS)
    return found


def rounded(total: int) -> float:
    """Return the number that is closest to an exact sum."""
    return total / 2**BITS


def size_of(value: Any) -> int:
    """Return the number of bytes of numbers and arrays, nested in tuples or dictionaries."""
    if isinstance(value, (tuple, list)):
        return sum(map(size_of, value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    return int(value.nbytes) if hasattr(value, "nbytes") else 8
