"""Landmarks and features of rows in partitions; the landmarks are those of a fit in memory, and each partition computes its features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import read_target
from surefit.kernels import Kernel
from surefit.operators.aligned import rows_at
from surefit.problems.labels import class_codes
from surefit.solvers.kernel_subset.landmarks import drawn, pivots
from surefit.solvers.kernel_subset.squares import PIECE, Span, span_of


class Chosen(NamedTuple):
    """Landmarks: their row indices and their span."""

    indices: np.ndarray
    span: Span


def choose_partitioned(
    who: str,
    kernel: Kernel,
    rows: PartitionedRows,
    problem: dict[str, Any],
    count: int,
    how: str,
    draws: np.random.RandomState,
) -> Chosen:
    """Draw the same landmarks as a fit in memory; pivots are selected on the client, among at most 20 000 rows."""
    counted = rows.map_reduce(_counted, kernel, problem, combine=_joined)
    if not np.all(counted[:, 2]):
        raise InvalidData(f"{who}: some kernel values are not finite; scale the columns, or change the kernel.")
    ranks = drawn(int(counted[:, 1].sum()), count, how, draws)
    marks = rows.map_reduce(_at_ranks, problem, ranks, counted, combine=_joined)
    found = rows_at(rows, marks)
    if len(marks) > count:
        own = pivots(kernel.rows(found), count, draws)
        marks, found = marks[own], found[own]
    A = kernel.read(found)
    return Chosen(marks, span_of(kernel, A, np.arange(len(A))))


def features(part: Part, chosen: Chosen) -> Part:
    """Return a partition whose columns are the coordinates of its rows in the span of the landmarks."""
    span, indices = chosen.span, chosen.indices
    X = span.kernel.read(part.X)
    F, step = np.empty((len(X), span.whiten.shape[1])), max(1, PIECE // max(len(indices), 1))
    for start in range(0, len(X), step):
        values = span.kernel(X[start : start + step], span.A)
        own = np.arange(part.start + start, part.start + start + len(values))
        i, j = np.nonzero(own[:, None] == indices)
        values[i, j] = span.inner[j, j]
        F[start : start + step] = values @ span.whiten
    return part._replace(X=F)


def _weights(part: Part, problem: dict[str, Any]) -> np.ndarray:
    weights = np.ones(len(part.X)) if part.weights is None else part.weights
    if "classes" not in problem:
        return weights
    assert part.y is not None
    return weights * np.asarray(problem["class_weights"])[class_codes(read_target(part.y), problem["classes"])]


def _counted(part: Part, kernel: Kernel, problem: dict[str, Any]) -> np.ndarray:
    """Return the index of the first row, the number of rows of positive weight, and whether all kernel values are finite."""
    with np.errstate(over="ignore"):
        finite = np.all(np.isfinite(kernel.diag(part.X)))  # |k(x, z)|^2 <= k(x, x) k(z, z)
    return np.array([[part.start, np.count_nonzero(_weights(part, problem) > 0), finite]])


def _at_ranks(part: Part, problem: dict[str, Any], ranks: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return the indices of the rows with these ranks among all rows of positive weight."""
    own = np.flatnonzero(_weights(part, problem) > 0)
    before = int(counted[counted[:, 0] < part.start, 1].sum())
    inside = ranks[(ranks >= before) & (ranks < before + len(own))] - before
    return own[inside] + part.start


def _joined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b])
