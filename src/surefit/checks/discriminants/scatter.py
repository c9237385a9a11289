r"""Means and scatter matrices of classes, with radii that contain the rounding errors.

Columns are divided by powers of two near their standard deviations, which is exact. The radius of a product of scaled
columns is then small for every column, in any units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.eigen import dense, rows_at_once, weights_of
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.partitioned import BITS, Part, PartitionedRows, add, exact_sum, rounded
from surefit.core.sample import Data, read_target
from surefit.problems.labels import class_codes


class ClassScatter(NamedTuple):
    """Counts, means and scatter matrices of the classes, the latter in scaled columns."""

    counts: np.ndarray  # (k,) rows of positive weight
    totals: np.ndarray  # (k,) weights
    means: np.ndarray  # (k, d), unscaled columns
    mean_radii: np.ndarray  # (k, d)
    scale: np.ndarray  # (d,) powers of two
    products: np.ndarray  # (k, d, d), or (0, d, d) if there are too many columns
    radii: np.ndarray  # (k,) Frobenius


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


def members_of(part: Part, codes: np.ndarray, K: int) -> list[np.ndarray]:
    """Return the rows of positive weight of each class."""
    kept = np.ones(len(codes), dtype=bool) if part.weights is None else part.weights > 0
    return [np.flatnonzero((codes == k) & kept) for k in range(K)]


@shared
def class_scatter(certificate: Certificate, data: Data, products: bool) -> ClassScatter:
    """Return the means and, with ``products``, the scatter matrices of the classes in the certificate."""
    classes, d = certificate.problem["classes"], data.X.shape[1]
    K, pilots = len(classes), _pilots(certificate, data)
    counts, masses, found = over_classes(data, classes, sums_of_classes, pilots, products, combine=joined)
    totals = np.array([rounded(mass) for mass in masses])
    moves = np.stack([part.sums / total for part, total in zip(found, totals, strict=True)])
    spreads = np.stack([part.sizes / total for part, total in zip(found, totals, strict=True)])
    rounding = np.array([[gamma(part.depth + 8)] for part in found])
    means = pilots + moves
    radii = (gamma(4) * np.abs(means) + rounding * spreads) * (1 + 8 * UNIT)
    deviations = np.sqrt(sum(part.squares for part in found) / totals.sum())
    scale = np.where(deviations > 0, 2.0 ** np.round(np.log2(np.where(deviations > 0, deviations, 1.0))), 1.0)
    matrices, errors = np.zeros((K if products else 0, d, d)), np.zeros(K)
    for k in range(K if products else 0):
        move, rad = moves[k] / scale, float(np.linalg.norm(radii[k] / scale)) * (1 + gamma(d + 4))
        about = found[k].products / np.outer(scale, scale)
        matrices[k] = about - totals[k] * np.outer(move, move)  # shifted from the pilot to the mean
        length = float(np.linalg.norm(move)) * (1 + gamma(d + 4))
        moved = totals[k] * ((2 * length + rad) * rad + gamma(8) * length**2)  # the mean itself is rounded
        errors[k] = (gamma(found[k].depth + 8) * float(np.trace(about)) + moved) * (1 + 4 * UNIT)
    return ClassScatter(counts, totals, means, radii, scale, matrices, errors)


class Sums(NamedTuple):
    """Weighted sums of differences from a pilot, of their absolute values, squares and products, and their depth."""

    sums: np.ndarray
    sizes: np.ndarray
    squares: np.ndarray
    products: np.ndarray
    depth: int


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


def sums_of_classes(part: Part, codes: np.ndarray, pilots: np.ndarray, products: bool) -> Any:
    """Return the counts and exact weights of the classes, and the sums of their rows about the pilots."""
    members = members_of(part, codes, len(pilots))
    masses = tuple(len(rows) << BITS if part.weights is None else exact_sum(part.weights[rows]) for rows in members)
    found = [sums_about(pilots[k], part.X, part.weights, rows, products) for k, rows in enumerate(members)]
    return np.array([len(rows) for rows in members]), masses, found


def joined(a: Any, b: Any) -> Any:
    """Add the sums of two partitions; the summation depth increases by one."""
    parts = [
        Sums(
            x.sums + y.sums,
            x.sizes + y.sizes,
            x.squares + y.squares,
            x.products + y.products,
            1 + max(x.depth, y.depth),
        )
        for x, y in zip(a[2], b[2], strict=True)
    ]
    return a[0] + b[0], add(a[1], b[1]), parts


def sums_about(pilot: np.ndarray, X: Any, s: np.ndarray | None, rows: np.ndarray, products: bool) -> Sums:
    """Return the sums over the rows of a class about ``pilot``, in one pass."""
    d, size = X.shape[1], rows_at_once(X.shape[1])
    sums, sizes, squares, product = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros((d, d) if products else 0)
    for block, piece in blocks(X, rows):
        block = block - pilot
        w = np.ones(len(piece)) if s is None else s[piece]
        sums += w @ block
        sizes += w @ np.abs(block)
        if products:
            weighted = block if s is None else block * np.sqrt(w)[:, None]
            part = weighted.T @ weighted
            product += part
            squares += np.diag(part)
        else:
            squares += w @ (block * block)
    return Sums(sums, sizes, squares, product, min(size, len(rows)) + len(rows) // size)


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
