r"""The four covariance types of a Gaussian component, stored as whitening factors: :math:`\Sigma^{-1} = F F^\top`.

Each type is a NamedTuple of its factors. It defines how to whiten a tile of rows (stored column by column), how to sum second moments,
and how to compute the next covariances from them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtri

from surefit.core.dispatch import generic
from surefit.core.jit import compiled


class Full(NamedTuple):
    """Every component has its own matrix; factors are upper triangular, (k, d, d)."""

    factors: np.ndarray


class Tied(NamedTuple):
    """All components share one matrix; the factor is upper triangular, (1, d, d)."""

    factors: np.ndarray


class Diagonal(NamedTuple):
    """Every component has its own diagonal; factors are inverse standard deviations, (k, d)."""

    factors: np.ndarray


class Spherical(NamedTuple):
    """Every component has one variance; factors are inverse standard deviations, (k, 1)."""

    factors: np.ndarray


SHAPES: dict[str, type] = {"full": Full, "tied": Tied, "diag": Diagonal, "spherical": Spherical}


@generic
def squared_lengths(shape, c, rows, count, offset, whitened, out):
    """Set ``out[r]`` to the squared norm of row r about the mean of component c after whitening.

    ``rows`` is (d, tile); ``offset`` is the whitened mean of the component; ``whitened`` is scratch of two tiles.
    """


@generic
def add_second_moments(shape, weights, rows, count, weighted, target):
    """Add ``sum_r weights[r] rows[:, r] rows[:, r]'``, or the entries that the covariance type needs, to ``target``."""


# --- compiled verbs -----------------------------------------------------------------------------------------------------


@compiled(relaxed=True)
def triangular_lengths(factor, rows, count, offset, whitened, out):
    """Compute squared norms for an upper triangular factor, two columns at a time, so that rows are read half as often."""
    d = rows.shape[0]
    left, right = whitened[:count], whitened[count : 2 * count]
    out[:count] = 0.0
    for j in range(0, d - 1, 2):
        for r in range(count):
            left[r] = -offset[j]
            right[r] = factor[j + 1, j + 1] * rows[j + 1, r] - offset[j + 1]
        i = 0
        while i + 3 <= j + 1:
            a0, a1, a2 = factor[i, j], factor[i + 1, j], factor[i + 2, j]
            b0, b1, b2 = factor[i, j + 1], factor[i + 1, j + 1], factor[i + 2, j + 1]
            for r in range(count):
                x0, x1, x2 = rows[i, r], rows[i + 1, r], rows[i + 2, r]
                left[r] += a0 * x0 + a1 * x1 + a2 * x2
                right[r] += b0 * x0 + b1 * x1 + b2 * x2
            i += 3
        while i <= j:
            a0, b0 = factor[i, j], factor[i, j + 1]
            for r in range(count):
                left[r] += a0 * rows[i, r]
                right[r] += b0 * rows[i, r]
            i += 1
        for r in range(count):
            out[r] += left[r] * left[r] + right[r] * right[r]
    if d % 2:
        j = d - 1
        for r in range(count):
            left[r] = -offset[j]
        for i in range(d):
            a0 = factor[i, j]
            for r in range(count):
                left[r] += a0 * rows[i, r]
        for r in range(count):
            out[r] += left[r] * left[r]


@squared_lengths.register(Full)
def _(shape, c, rows, count, offset, whitened, out):
    triangular_lengths(shape.factors[c], rows, count, offset, whitened, out)


@squared_lengths.register(Tied)
def _(shape, c, rows, count, offset, whitened, out):
    triangular_lengths(shape.factors[0], rows, count, offset, whitened, out)


@squared_lengths.register(Diagonal)
def _(shape, c, rows, count, offset, whitened, out):
    out[:count] = 0.0
    for j in range(rows.shape[0]):
        factor, center = shape.factors[c, j], offset[j]
        for r in range(count):
            difference = factor * rows[j, r] - center
            out[r] += difference * difference


@squared_lengths.register(Spherical)
def _(shape, c, rows, count, offset, whitened, out):
    out[:count] = 0.0
    factor = shape.factors[c, 0]
    for j in range(rows.shape[0]):
        center = offset[j]
        for r in range(count):
            difference = factor * rows[j, r] - center
            out[r] += difference * difference


@add_second_moments.register(Full)
def _(shape, weights, rows, count, weighted, target):
    for j in range(rows.shape[0]):
        for r in range(count):
            weighted[r] = weights[r] * rows[j, r]
        i = 0
        while i + 3 <= j + 1:  # three sums at once, so that the weighted row is read a third as often
            t0, t1, t2 = 0.0, 0.0, 0.0
            for r in range(count):
                w = weighted[r]
                t0 += w * rows[i, r]
                t1 += w * rows[i + 1, r]
                t2 += w * rows[i + 2, r]
            target[j, i] += t0
            target[j, i + 1] += t1
            target[j, i + 2] += t2
            i += 3
        while i <= j:
            t0 = 0.0
            for r in range(count):
                t0 += weighted[r] * rows[i, r]
            target[j, i] += t0
            i += 1


@add_second_moments.register(Tied)
def _(shape, weights, rows, count, weighted, target):
    pass  # the total scatter and the means determine the tied covariance


def _add_squares(shape, weights, rows, count, weighted, target):
    for j in range(rows.shape[0]):
        total = 0.0
        for r in range(count):
            total += weights[r] * rows[j, r] * rows[j, r]
        target[j, 0] += total


add_second_moments.register(Diagonal)(_add_squares)
add_second_moments.register(Spherical)(_add_squares)


# --- from covariances to factors and back -------------------------------------------------------------------------------


def from_covariances(kind: str, covariances: np.ndarray) -> Any:
    """Return the type with the factors of ``covariances`` (in scikit-learn's format); LinAlgError names a singular component."""
    if kind == "full":
        return Full(np.stack([_factor(matrix, c) for c, matrix in enumerate(covariances)]))
    if kind == "tied":
        return Tied(_factor(covariances, 0)[None])
    if not np.all(covariances > 0):
        raise np.linalg.LinAlgError(str(int(np.argwhere(~(covariances > 0))[0][0])))
    factors = 1.0 / np.sqrt(covariances)
    return Diagonal(factors) if kind == "diag" else Spherical(factors.reshape(-1, 1))


def from_precisions(kind: str, precisions: np.ndarray) -> Any:
    """Return the covariance type with the factors of given precisions."""
    if kind in ("full", "tied"):
        matrices = precisions if kind == "full" else precisions[None]
        flipped = [np.linalg.cholesky(matrix[::-1, ::-1])[::-1, ::-1] for matrix in matrices]  # upper: F F' = precision
        return SHAPES[kind](np.ascontiguousarray(np.stack(flipped)))
    return SHAPES[kind](np.sqrt(precisions).reshape(len(precisions), -1))


def _factor(matrix: np.ndarray, component: int) -> np.ndarray:
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(str(component)) from None
    inverse, _ = dtrtri(lower, lower=1)
    return np.ascontiguousarray(inverse.T)


def half_log_determinants(shape: Any, k: int, d: int) -> np.ndarray:
    """Return half the logarithm of the determinant of each precision."""
    if isinstance(shape, Spherical):
        return d * np.log(shape.factors[:, 0])
    if isinstance(shape, Diagonal):
        return np.log(shape.factors).sum(axis=1)
    return np.broadcast_to(np.log(np.einsum("kii->ki", shape.factors)).sum(axis=1), (k,))


def whitened_means(shape: Any, means: np.ndarray) -> np.ndarray:
    """Return the means after whitening, one row per component."""
    if isinstance(shape, (Diagonal, Spherical)):
        return means * shape.factors
    return np.einsum("kj,kji->ki", means, np.broadcast_to(shape.factors, (len(means), *shape.factors.shape[1:])))


def public_factors(shape: Any) -> np.ndarray:
    """Return the factors in scikit-learn's form of ``precisions_cholesky_``."""
    if isinstance(shape, Tied):
        return shape.factors[0]
    return shape.factors[:, 0] if isinstance(shape, Spherical) else shape.factors


def public_precisions(shape: Any) -> np.ndarray:
    """Return the precisions in scikit-learn's form."""
    factors = public_factors(shape)
    if isinstance(shape, Full):
        return factors @ factors.transpose(0, 2, 1)
    return factors @ factors.T if isinstance(shape, Tied) else factors**2
