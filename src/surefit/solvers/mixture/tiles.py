r"""One pass over the data for a Gaussian mixture: log-likelihood, responsibilities and moments, tile by tile.

A tile stores some rows column by column, so that loops over rows are vectorized. Moments are computed about the *old* means,
:math:`\sum_i r_i (x_i - \mu)` and :math:`\sum_i r_i (x_i - \mu)(x_i - \mu)^\top`, so one pass is sufficient and a small component far
from the origin loses no digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import copy_into
from surefit.core.threads import map_blocks, tree_sum
from surefit.solvers.mixture.covariances import (
    Full,
    Tied,
    add_second_moments,
    half_log_determinants,
    squared_lengths,
    whitened_means,
)

TILE = 256
NEGLIGIBLE = 1e-17  # smaller responsibilities do not change a sum of responsibilities
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to the nearest integer, stored in the lowest bits
INVERSE_LN2 = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10


def block_size(n: int) -> int:
    """Return the number of rows per block. It depends on n alone, so sums have a fixed order for any number of threads."""
    return max(8192, -(-n // 64))


class Reading(NamedTuple):
    """Result of one pass."""

    log_likelihood: float  # weighted sum over rows
    masses: np.ndarray  # (k,) sum of weighted responsibilities
    first: np.ndarray  # (k, d) sum of r (x - old mean)
    second: np.ndarray  # (k, d, d) lower triangles, (k, d, 1) squares, or (k, 0, 0)


class _Mixture(NamedTuple):
    shape: Any
    means: np.ndarray  # about the shift
    offsets: np.ndarray  # whitened means
    constants: np.ndarray  # log weight + log normalizing constant


def as_mixture(weights: np.ndarray, means: np.ndarray, shape: Any, shift: np.ndarray) -> _Mixture:
    """Prepare the parameters for rows from which ``shift`` is subtracted."""
    k, d = means.shape
    with np.errstate(divide="ignore"):
        constants = np.log(weights) + half_log_determinants(shape, k, d) - 0.5 * d * np.log(2 * np.pi)
    about = means - shift
    return _Mixture(shape, about, np.ascontiguousarray(whitened_means(shape, about)), constants)


def read(X: np.ndarray, weights: np.ndarray, shift: np.ndarray, mixture: _Mixture, n_jobs: int | None) -> Reading:
    """Process all rows once, in fixed blocks; the result is identical for any ``n_jobs``."""
    k, d = mixture.means.shape
    inner = {Full: (d, d), Tied: (0, 0)}.get(type(mixture.shape), (d, 1))

    def work(start: int, stop: int) -> tuple:
        masses, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, *inner))
        scratch = np.empty(2 * TILE)
        bits = scratch.view(np.int64)  # compiled code would take long to compile the view
        value = _read_block(X, weights, shift, mixture, start, stop, scratch, bits, masses, first, second)
        return value, masses, first, second

    n = len(X)
    parts = map_blocks(work, n, block_size(n), n_jobs)
    return Reading(*(tree_sum(column) for column in zip(*parts, strict=True)))


def log_densities(X: np.ndarray, shift: np.ndarray, mixture: _Mixture, n_jobs: int | None = None) -> np.ndarray:
    """Return log(weight times density), one row per observation and one column per component."""
    n, k = len(X), len(mixture.means)
    out = np.empty((n, k))
    map_blocks(lambda a, b: _log_density_block(X, shift, mixture, a, b, out), n, block_size(n), n_jobs)
    return out


@compiled(relaxed=True)
def _log_density_tile(X, shift, mixture, begin, count, rows, table, scratch):
    """Fill ``rows`` with the shifted tile and ``table[c, r]`` with log(weight times density)."""
    for r in range(count):
        for j in range(len(shift)):
            rows[j, r] = X[begin + r, j] - shift[j]
    for c in range(len(mixture.constants)):
        squared_lengths(mixture.shape, c, rows, count, mixture.offsets[c], scratch, table[c])
        constant = mixture.constants[c]
        for r in range(count):
            table[c, r] = constant - 0.5 * table[c, r]


@compiled(relaxed=True)
def _log_density_block(X, shift, mixture, start, stop, out):
    k, d = mixture.means.shape
    rows, table, scratch = np.empty((d, TILE)), np.empty((k, TILE)), np.empty(2 * TILE)
    for begin in range(start, stop, TILE):
        count = min(TILE, stop - begin)
        _log_density_tile(X, shift, mixture, begin, count, rows, table, scratch)
        for r in range(count):
            for c in range(k):
                out[begin + r, c] = table[c, r]


@compiled(relaxed=True)
def _read_block(X, weights, shift, mixture, start, stop, scratch, bits, masses, first, second):  # noqa: C901 - one pass over a tile
    k, d = mixture.means.shape
    rows, table, largest, total = np.empty((d, TILE)), np.empty((k, TILE)), np.empty(TILE), np.empty(TILE)
    chosen, share, about = np.empty(TILE, dtype=np.int64), np.empty(TILE), np.empty((d, TILE))
    log_likelihood = 0.0
    for begin in range(start, stop, TILE):
        count = min(TILE, stop - begin)
        _log_density_tile(X, shift, mixture, begin, count, rows, table, scratch)
        copy_into(largest, table[0, :count])
        for c in range(1, k):
            for r in range(count):
                largest[r] = table[c, r] if table[c, r] > largest[r] else largest[r]
        total[:count] = 0.0
        for c in range(k):
            for r in range(count):
                table[c, r] -= largest[r]
            _exponentials(table[c], count, scratch, bits)
            for r in range(count):
                total[r] += table[c, r]
        for r in range(count):
            weight = weights[begin + r]
            log_likelihood += weight * (largest[r] + np.log(total[r]))
            total[r] = weight / total[r]
        for c in range(k):
            kept = 0
            for r in range(count):
                share[r] = table[c, r] * total[r]
                chosen[kept] = r
                kept += share[r] > NEGLIGIBLE * weights[begin + r]
            if 2 * kept > count:  # most rows have non-negligible responsibilities: process all of them in order
                kept = count
                for j in range(d):
                    mean = mixture.means[c, j]
                    for r in range(count):
                        about[j, r] = rows[j, r] - mean
            else:
                for s in range(kept):
                    share[s] = share[chosen[s]]
                for j in range(d):
                    mean = mixture.means[c, j]
                    for s in range(kept):
                        about[j, s] = rows[j, chosen[s]] - mean
            for s in range(kept):
                masses[c] += share[s]
            for j in range(d):
                part = 0.0
                for s in range(kept):
                    part += share[s] * about[j, s]
                first[c, j] += part
            add_second_moments(mixture.shape, share, about, kept, scratch, second[c])
    return log_likelihood


@compiled
def _exponentials(values, count, scratch, bits):
    """Replace values <= 0 by their exponentials, accurate to two units in the last place, in vectorized loops.

    Compiled without relaxed arithmetic, because rounding to an integer depends on the order of operations. ``bits`` is
    ``scratch`` viewed as integers.
    """
    for r in range(count):
        value = values[r] if values[r] > -700.0 else -700.0
        scratch[r] = value * INVERSE_LN2 + ROUND
        power = scratch[r] - ROUND
        x = (value - power * LN2_HIGH) - power * LN2_LOW
        p = 1.6059043836821613e-10 * x + 2.08767569878681e-09  # 1/13!, 1/12!, ... 1/0!
        p = p * x + 2.505210838544172e-08
        p = p * x + 2.755731922398589e-07
        p = p * x + 2.7557319223985893e-06
        p = p * x + 2.48015873015873e-05
        p = p * x + 0.0001984126984126984
        p = p * x + 0.001388888888888889
        p = p * x + 0.008333333333333333
        p = p * x + 0.041666666666666664
        p = p * x + 0.16666666666666666
        p = p * x + 0.5
        p = p * x + 1.0
        values[r] = p * x + 1.0
    for r in range(count):
        bits[r] = (bits[r] << 52) + (1023 << 52)
    for r in range(count):
        values[r] *= scratch[r]
