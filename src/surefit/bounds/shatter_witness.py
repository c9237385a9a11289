"""Exact evidence about shattering: Radon partitions, classes given as tables, and the sine class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from surefit.core.distinct import unique_rows
from surefit.core.errors import InvalidData, InvalidParameter

MOST_SUBSETS = 2_000_000  # limit for an exhaustive search


@dataclass(frozen=True)
class RadonPartition:
    """Two disjoint groups of points whose convex hulls intersect: no half-space separates them.

    ``positive`` and ``negative`` are row numbers, ``weights`` rationals (one per row, zero elsewhere) that sum to one on each
    group, and ``point`` their common combination.

    Examples
    --------
    >>> from surefit.bounds import radon_partition
    >>> radon = radon_partition([[0, 0], [2, 0], [0, 2], [2, 2]])
    >>> radon.positive, radon.negative, [str(c) for c in radon.point]
    ((0, 3), (1, 2), ['1', '1'])
    """

    positive: tuple[int, ...]
    negative: tuple[int, ...]
    weights: tuple[Fraction, ...]
    point: tuple[Fraction, ...]


def radon_partition(points: Any) -> RadonPartition:
    """Return the Radon partition of the first d + 2 of the points, in exact rational arithmetic.

    Guarantee: the returned groups cannot be separated, so the points are not shattered by half-spaces (theory:
    :ref:`vc-dimension`).

    Parameters
    ----------
    points : array of shape (n, d), n >= d + 2
        Any points; floats are interpreted as exact rationals.

    Examples
    --------
    >>> from surefit.bounds import radon_partition
    >>> found = radon_partition([[0, 0], [1, 1], [1, 0], [0, 1]])
    >>> found.positive, found.negative, found.point
    ((0, 1), (2, 3), (Fraction(1, 2), Fraction(1, 2)))
    """
    X = np.asarray(points, dtype=np.float64)
    if X.ndim != 2 or len(X) < X.shape[1] + 2 or not np.all(np.isfinite(X)):
        raise InvalidData(f"radon_partition: d + 2 finite points in d dimensions are needed; got shape {X.shape}.")
    n, d = X.shape[1] + 2, X.shape[1]
    columns = [[Fraction(float(v)) for v in X[i]] + [Fraction(1)] for i in range(n)]
    null = _null_vector([[columns[i][j] for i in range(n)] for j in range(d + 1)])
    total = sum(v for v in null if v > 0)
    weights = tuple(abs(v) / total for v in null) + (Fraction(0),) * (len(X) - n)
    positive = tuple(i for i, v in enumerate(null) if v > 0)
    negative = tuple(i for i, v in enumerate(null) if v < 0)
    point = tuple(sum((weights[i] * columns[i][j] for i in positive), Fraction(0)) for j in range(d))
    return RadonPartition(positive, negative, weights, point)


def _null_vector(rows: list[list[Fraction]]) -> list[Fraction]:
    """Return a non-zero vector orthogonal to all rows (fewer rows than columns), first non-zero entry positive."""
    rows, n = [row[:] for row in rows], len(rows[0])
    pivots: list[int] = []
    for column in range(n):
        row = next((r for r in range(len(pivots), len(rows)) if rows[r][column] != 0), None)
        if row is None:
            break  # this column depends linearly on earlier pivots
        at = len(pivots)
        rows[at], rows[row] = rows[row], rows[at]
        rows[at] = [v / rows[at][column] for v in rows[at]]
        for other in range(len(rows)):
            if other != at and rows[other][column] != 0:
                factor = rows[other][column]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[at], strict=True)]
        pivots.append(column)
    free = len(pivots)
    null = [-rows[r][free] for r in range(free)] + [Fraction(1)] + [Fraction(0)] * (n - free - 1)
    sign = next(v for v in null if v != 0)
    return [v if sign > 0 else -v for v in null]


@dataclass(frozen=True)
class Shattering:
    """Largest shattered set of a class given as a table, with one member per labeling as witness.

    ``points`` are columns of the table; ``members[i]`` is the row that realizes the binary number i on them.

    Examples
    --------
    >>> from surefit.bounds import vc_dimension_of
    >>> found = vc_dimension_of([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> found.dimension, found.points
    (2, (0, 1))
    """

    dimension: int
    points: tuple[int, ...]
    members: tuple[int, ...]


def shatter_coefficient(predictions: Any, n: int) -> int:
    """Return the largest number of labelings that a finite class realizes on n of its points, by exhaustive search.

    Parameters
    ----------
    predictions : array of shape (members, points) of bool
        The class as a table.
    n : int
        Size of the subsets.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import shatter_coefficient
    >>> rays = np.tri(5, 4, -1, dtype=bool)  # the five rays on four points
    >>> [shatter_coefficient(rays, n) for n in (1, 2, 3, 4)]
    [2, 3, 4, 5]
    """
    table = _table("shatter_coefficient", predictions)
    if not 0 <= n <= table.shape[1]:
        raise InvalidParameter("shatter_coefficient", "n", f"an integer from 0 to {table.shape[1]}", n)
    return max(len(unique_rows(table[:, list(chosen)])) for chosen in subsets_of(table.shape[1], n))


def vc_dimension_of(predictions: Any) -> Shattering:
    r"""Return the exact VC dimension of a finite class on a finite domain, with a shattered set as witness.

    Guarantee: the witness proves the lower bound; the upper bound is proved by exhaustive search (theory: :ref:`vc-dimension`).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import vc_dimension_of
    >>> vc_dimension_of(np.tri(5, 4, -1, dtype=bool))
    Shattering(dimension=1, points=(0,), members=(0, 1))
    """
    table = unique_rows(_table("vc_dimension_of", predictions), return_index=True)
    rows, originals = table
    best = Shattering(0, (), (int(originals.min()),))
    for size in range(1, int(math.log2(len(rows))) + 1):
        found = _shattered_set(rows, originals, size)
        if found is None:
            break  # subsets of a shattered set are shattered, so no larger set is
        best = found
    return best


def _shattered_set(rows: np.ndarray, originals: np.ndarray, size: int) -> Shattering | None:
    powers = 1 << np.arange(size - 1, -1, -1)
    for chosen in subsets_of(rows.shape[1], size):
        codes = rows[:, list(chosen)] @ powers
        there, first = np.unique(codes, return_index=True)
        if len(there) == 1 << size:
            return Shattering(size, chosen, tuple(int(originals[i]) for i in first))
    return None


def sine_witness(labels: Any) -> tuple[float, np.ndarray]:
    r"""Return a with :math:`\mathrm{sign} \sin(a x_i) = y_i` at :math:`x_i = 2^{-i}`, so the VC dimension is infinite.

    .. math:: a = \pi \Bigl(1 + \sum_{i : y_i = -1} 2^i\Bigr).

    Parameters
    ----------
    labels : sequence of -1 and 1
        At most 40 labels; more would exceed double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import sine_witness
    >>> a, x = sine_witness([1, -1, -1, 1])
    >>> np.sign(np.sin(a * x)).astype(int).tolist()
    [1, -1, -1, 1]
    """
    y = [int(v) for v in labels]
    if not (1 <= len(y) <= 40 and set(y) <= {-1, 1}):
        raise InvalidParameter("sine_witness", "labels", "1 to 40 numbers, each -1 or 1", labels)
    multiple = 1 + sum(2**i for i, v in enumerate(y, start=1) if v == -1)
    return math.pi * multiple, 0.5 ** np.arange(1, len(y) + 1)


def _table(who: str, predictions: Any) -> np.ndarray:
    table = np.asarray(predictions)
    if table.ndim != 2 or table.size == 0 or not np.isin(table, (0, 1)).all():
        raise InvalidData(f"{who}: predictions must be a table of True and False, one row per member of the class.")
    return table.astype(bool)


def subsets_of(n: int, size: int) -> Iterator[tuple[int, ...]]:
    """Return all subsets of a size; raise ``InvalidParameter`` if there are too many."""
    if math.comb(n, size) > MOST_SUBSETS:
        raise InvalidParameter("shattering", "points", f"few enough for {MOST_SUBSETS} subsets", f"{size} of {n}")
    return itertools.combinations(range(n), size)
