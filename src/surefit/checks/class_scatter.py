r"""Means and scatter matrices of classes for the checker, with radii that surely contain the rounding.

Columns are divided by powers of two near their standard deviations, which is exact: the radius of a product of scaled columns is
small for every column, whatever its units.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data
from surefit.checks.eigen import dense, rows_at_once
from surefit.checks.enclosure import UNIT, gamma
from surefit.core.certificate import Certificate


class ClassScatter(NamedTuple):
    """Classes as the rows say; scatter matrices in scaled columns."""

    members: list[np.ndarray]  # rows of each class
    totals: np.ndarray  # (k,) weights
    means: np.ndarray  # (k, d), columns not scaled
    mean_radii: np.ndarray  # (k, d)
    scale: np.ndarray  # (d,) powers of two
    products: np.ndarray  # (k, d, d), or (0, d, d) if there are too many columns
    radii: np.ndarray  # (k,) Frobenius


def weights_of(data: Data) -> np.ndarray:
    """Return the sample weights, ones if there are none."""
    return np.ones(data.X.shape[0]) if data.weights is None else data.weights


def members_of(certificate: Certificate, data: Data) -> list[np.ndarray]:
    """Return the rows of each class that have a weight."""
    y = data.target
    names = y if y.dtype.kind == "f" else np.array([str(label) for label in y])
    counts = weights_of(data) > 0
    return [np.flatnonzero((names == label) & counts) for label in certificate.problem["classes"]]


def class_scatter(certificate: Certificate, data: Data, *, products: bool = True) -> ClassScatter:
    """Return means and scatter matrices of the classes that the certificate names; remembered for further claims."""
    key = f"class scatter {products}"
    if key not in data.memo:
        data.memo[key] = _class_scatter(certificate, data, products)
    return data.memo[key]


def _class_scatter(certificate: Certificate, data: Data, products: bool) -> ClassScatter:
    members, s, d = members_of(certificate, data), weights_of(data), data.X.shape[1]
    X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X
    K = len(members)
    totals = np.array([math.fsum(s[rows]) for rows in members])
    means, radii, squares = np.zeros((K, d)), np.zeros((K, d)), np.zeros(d)
    for k, rows in enumerate(members):
        means[k], radii[k], sums = _mean(X, s, rows, totals[k])
        squares += sums
    deviations = np.sqrt(squares / totals.sum())
    scale = np.where(deviations > 0, 2.0 ** np.round(np.log2(np.where(deviations > 0, deviations, 1.0))), 1.0)
    matrices, errors = np.zeros((K if products else 0, d, d)), np.zeros(K)
    for k in range(K if products else 0):
        depth = _add_products(matrices[k], X, s, members[k], means[k], scale)
        moved = totals[k] * float(np.sum((radii[k] / scale) ** 2))  # the mean itself is rounded
        errors[k] = (gamma(depth + 8) * float(np.trace(matrices[k])) + moved) * (1 + 4 * UNIT)
    return ClassScatter(members, totals, means, radii, scale, matrices, errors)


def blocks(X, rows: np.ndarray):
    """Yield the rows as dense float64 blocks, each with its positions."""
    size = rows_at_once(X.shape[1])
    for start in range(0, len(rows), size):
        piece = rows[start : start + size]
        yield dense(X[piece]), piece


def _mean(X, s: np.ndarray, rows: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean by a first mean and that of the differences, a radius, and the sums of squares about the first."""
    d = X.shape[1]
    first = sum(s[piece] @ block for block, piece in blocks(X, rows)) / total
    rest, spread, squares = np.zeros(d), np.zeros(d), np.zeros(d)
    for block, piece in blocks(X, rows):
        block = block - first
        rest += s[piece] @ block
        spread += s[piece] @ np.abs(block)
        squares += s[piece] @ block**2
    size = rows_at_once(d)
    mean = first + rest / total
    radius = gamma(4) * np.abs(mean) + gamma(min(size, len(rows)) + len(rows) // size + 8) * spread / total
    return mean, radius * (1 + 8 * UNIT), squares


def _add_products(product: np.ndarray, X, s: np.ndarray, rows: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> int:
    """Add the products of the scaled rows about the mean; return how deep the sums are."""
    size = rows_at_once(X.shape[1])
    for block, piece in blocks(X, rows):
        centred = np.sqrt(s[piece])[:, None] * (block - mean) / scale
        product += centred.T @ centred
    return min(size, len(rows)) + len(rows) // size


def ledoit_wolf(C: np.ndarray, mean: np.ndarray, total: float, X, s: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the covariance shrunk by the share of Ledoit and Wolf for standardised columns."""
    d = len(C)
    deviation = np.sqrt(np.maximum(np.diag(C), 0.0))
    deviation = np.where(deviation > 10 * np.finfo(float).eps * np.abs(mean), deviation, 1.0)
    R = C / np.outer(deviation, deviation)
    fourth = math.fsum(
        float(s[piece] @ np.sum(((block - mean) / deviation) ** 2, axis=1) ** 2) for block, piece in blocks(X, rows)
    )
    middle = float(np.trace(R)) / d
    beta = (fourth / total - float(np.sum(R * R))) / (d * total)
    delta = float(np.sum((R - middle * np.eye(d)) ** 2)) / d
    share = 0.0 if d == 1 or min(beta, delta) <= 0 else min(beta, delta) / delta
    return ((1 - share) * R + share * middle * np.eye(d)) * np.outer(deviation, deviation)
