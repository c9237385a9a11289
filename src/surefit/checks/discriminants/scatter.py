r"""Means and scatter matrices of classes, with radii that contain the rounding errors.

Columns are divided by powers of two near their standard deviations, which is exact. The radius of a product of scaled
columns is then small for every column, in any units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.discriminants.class_sums import joined, members_of, sums_of_classes
from surefit.checks.eigen import dense, rows_at_once, weights_of
from surefit.checks.enclosure import UNIT, gamma, row_lengths
from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import Data, read_target
from surefit.problems.labels import class_codes

#: Rows above which a sum of scatter matrices is computed as one product; for fewer, the products of the classes have smaller errors.
MANY = 8192


class ClassScatter(NamedTuple):
    """Counts, means and scatter matrices of the classes, the latter in scaled columns."""

    counts: np.ndarray  # (k,) rows of positive weight
    totals: np.ndarray  # (k,) weights
    means: np.ndarray  # (k, d), unscaled columns
    mean_radii: np.ndarray  # (k, d)
    scale: np.ndarray  # (d,) powers of two
    products: np.ndarray  # (k, d, d); (1, d, d) their sum; (0, d, d) if not requested
    radii: np.ndarray  # Frobenius, one per matrix
    lengths: np.ndarray  # lengths of the columns about the pilots, one row per matrix
    share: float  # the error of the entry (i, j) of a product is at most this multiple of lengths i and j


def over_classes(
    data: Data, classes: list[Any], function: Callable[..., Any], *small: Any, combine: Callable[..., Any] | None = None
) -> Any:
    """Return the sum of ``function(part, codes, *small)`` over the partitions; rows in memory are one partition."""
    if isinstance(data.X, PartitionedRows):
        return data.X.map_reduce(_with_codes, function, classes, *small, combine=combine)
    X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X
    return function(Part(X, data.y, data.weights, 0, "the rows"), class_codes(data.target, classes), *small)


def _with_codes(part: Part, function: Callable[..., Any], classes: list[Any], *small: Any) -> Any:
    return function(part, class_codes(read_target(part.y), classes), *small)


@shared
def class_scatter(certificate: Certificate, data: Data, products: bool) -> ClassScatter:
    """Return the means and, with ``products``, the scatter matrices of the classes in the certificate."""
    classes, d = certificate.problem["classes"], data.X.shape[1]
    K, pilots = len(classes), _pilots(certificate, data)
    matrices = 0 if not products else 1 if data.X.shape[0] > MANY and _pooled(certificate.problem) else K
    found = over_classes(data, classes, sums_of_classes, pilots, matrices, combine=joined)
    totals, rounding = found.totals, gamma(found.depth + 8)
    moves, spreads = found.sums / totals[:, None], found.sizes() / totals[:, None]
    means = pilots + moves
    radii = (gamma(4) * np.abs(means) + rounding * spreads) * (1 + 8 * UNIT)
    scale = near_powers(np.sqrt(found.squares.sum(axis=0) / totals.sum()))
    inside, errors, lengths = found.products, np.zeros(matrices), np.zeros((matrices, d))
    if matrices:
        inside /= scale * scale[:, None]
        move, squares = moves / scale, inside.diagonal(axis1=1, axis2=2)
        traces, lengths = squares.sum(axis=1), np.sqrt(squares)
        away, rads = row_lengths(move) * (1 + gamma(d + 4)), row_lengths(radii / scale) * (1 + gamma(d + 4))
        moved = totals * ((2 * away + rads) * rads + gamma(K + 8) * (away * away))  # the means are rounded
        heavy = totals[:, None] * move  # shifts the products from the pilots to the means
        inside -= heavy[:, :, None] * move[:, None] if matrices == K else heavy.T @ move
        errors = (rounding * traces + (moved if matrices == K else moved.sum())) * (1 + gamma(K + 4))
    # Moves are at most the lengths over the root of the weight: they add at most twice the error of the products, to first order.
    share = 4 * gamma(found.depth + K + 16)
    return ClassScatter(found.counts, totals, means, radii, scale, inside, errors, lengths, share)


def near_powers(sizes: np.ndarray) -> np.ndarray:
    """Return the powers of two nearest to the sizes, by their ratios; one for a zero."""
    mantissas, exponents = np.frexp(sizes)
    return np.ldexp(1.0, exponents - ((mantissas < math.sqrt(0.5)) & (mantissas > 0.0)))


def _pooled(problem: dict[str, Any]) -> bool:
    """Return whether only the sum of the scatter matrices is needed, and not that of each class."""
    return problem["covariance"] in ("pooled", "unbiased") and problem["shrinkage"] != "auto"


def _pilots(certificate: Certificate, data: Data) -> np.ndarray:
    """Return a point near each class: the model's means, or some row; any point is valid."""
    given, shape = (
        np.asarray(certificate.model.get("means_", ())),
        (len(certificate.problem["classes"]), data.X.shape[1]),
    )
    if given.shape == shape and given.dtype.kind == "f" and np.all(np.isfinite(given)):
        return given.astype(np.float64, copy=False)
    row = data.X.sample[0, : shape[1]] if isinstance(data.X, PartitionedRows) else dense(data.X[:1])[0]
    return np.tile(row, (shape[0], 1))


def blocks(X: Any, rows: np.ndarray) -> Iterator[Any]:
    """Yield dense float64 blocks of rows, each with its row indices."""
    size = rows_at_once(X.shape[1])
    for start in range(0, len(rows), size):
        piece = rows[start : start + size]
        yield dense(X[piece]), piece


def ledoit_wolf(C: np.ndarray, mean: np.ndarray, total: float, data: Data, classes: list[Any], own: Any) -> np.ndarray:
    """Return the Ledoit-Wolf shrunk covariance of the classes in ``own``, for standardized columns."""
    d = len(C)
    deviation = np.sqrt(np.maximum(np.diag(C), 0.0))
    deviation = np.where(deviation > 10 * np.finfo(float).eps * np.abs(mean), deviation, 1.0)
    R = C / np.outer(deviation, deviation)
    fourth = over_classes(data, classes, _fourth_powers, mean, deviation, tuple(own))
    middle = float(np.trace(R)) / d
    beta = (fourth / total - float(np.sum(R * R))) / (d * total)
    delta = float(np.sum((R - middle * np.eye(d)) ** 2)) / d
    share = 0.0 if d == 1 or min(beta, delta) <= 0 else min(beta, delta) / delta
    return ((1 - share) * R + share * middle * np.eye(d)) * np.outer(deviation, deviation)


def _fourth_powers(
    part: Part, codes: np.ndarray, mean: np.ndarray, deviation: np.ndarray, own: tuple[int, ...]
) -> float:
    members, s = members_of(part, codes, max(own) + 1), weights_of(part)
    rows = np.concatenate([members[k] for k in own])
    return math.fsum(
        float(s[piece] @ np.sum(((block - mean) / deviation) ** 2, axis=1) ** 2)
        for block, piece in blocks(part.X, rows)
    )
