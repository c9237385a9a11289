r"""Checks of lower bounds on the inertia of all partitions into k clusters.

There are three proofs. *spectral*: :math:`J \ge \operatorname{tr} M - \sum_{j<k} \lambda_j(M)` for the scatter matrix
M. *sdp*: the same with multipliers :math:`N \ge 0` as witness, :math:`J \ge \operatorname{tr} G - q^\top (G + N) q -
\sum_{j<k} \lambda_j(P(G+N)P)`. *line*: all partitions of numbers into intervals, by dynamic programming. The mean is
used only as a shift, on which the inertia does not depend, so its rounding is harmless (theory: ``k-means-bound``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.eigen import centered_product, dense, product_over_rows, spectrum, weighted_mean, weights_of
from surefit.checks.enclosure import UNIT, gamma, row_blocks
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.jit import compiled
from surefit.core.partitioned import Part, PartitionedRows, count_parts, over_rows
from surefit.core.sample import Data


def lower_bound(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    """Return a lower bound on the inertia of all partitions into k clusters, and the radius of its rounding."""
    k, how = int(certificate.problem["n_clusters"]), certificate.problem["bound"]
    partitioned = isinstance(data.X, PartitionedRows)
    if how == "spectral" and k - 1 < min(data.X.shape) and not (partitioned and data.X.shape[0] < data.X.shape[1]):
        return _spectral(data, k)
    if partitioned:  # the other proofs need all rows at once
        return 0.0, 0.0
    weights = weights_of(data)
    if how == "line" and data.X.shape[1] == 1:
        return best_on_line(dense(data.X).ravel(), weights, k)
    if how == "sdp" and "multipliers" in claim.witness:
        return _with_multipliers(data, weights, k, claim.witness["multipliers"])
    return 0.0, 0.0


def _spectral(data: Data, k: int) -> tuple[float, float]:
    n, d = data.X.shape
    total, first, sizes = over_rows(data.X, data.weights, _first_moments)
    by_rows = n < d and not isinstance(data.X, PartitionedRows)
    M, radius = product_over_rows(data.X, data.weights, first / total, by_rows)
    trace = math.fsum(np.diag(M))
    top, top_radius = spectrum(M, radius).largest_sum(k - 1)
    offset = total * float(np.sum((gamma(n + 2) * sizes / total) ** 2)) * (1 + gamma(count_parts(data.X) + 8))
    return trace - top, radius + top_radius + offset + gamma(8) * trace


def _first_moments(part: Part) -> tuple[float, np.ndarray, np.ndarray]:
    weights, first, sizes = weights_of(part), np.zeros(part.X.shape[1]), np.zeros(part.X.shape[1])
    for piece in [slice(None)] if sparse.issparse(part.X) else row_blocks(len(part.X)):  # bounds the memory for copies
        X = part.X[piece] if sparse.issparse(part.X) else dense(part.X[piece])
        first += np.asarray(weights[piece] @ X, dtype=np.float64).ravel()
        sizes += np.asarray(weights[piece] @ _sizes(X), dtype=np.float64).ravel()
    return len(weights) if part.weights is None else math.fsum(weights.tolist()), first, sizes


def _sizes(X: Any) -> Any:
    """Return the absolute values of the stored entries, without changing X."""
    if not sparse.issparse(X):
        return np.abs(X)
    sizes = X.copy()
    sizes.data = np.abs(X.data)
    return sizes


def _with_multipliers(data: Data, weights: np.ndarray, k: int, triangle: np.ndarray) -> tuple[float, float]:
    used = np.flatnonzero(weights > 0)
    n, w = len(used), weights[used]
    if triangle.shape != (n * (n - 1) // 2,) or not np.all(triangle >= 0):
        return 0.0, 0.0  # no witness, no bound
    N = np.zeros((n, n))
    N[np.triu_indices(n, 1)] = triangle
    N += N.T
    mean = weighted_mean(data.X, weights)
    G, radius = centered_product(data.X[used], w, mean, by_rows=True)
    q = np.sqrt(w / math.fsum(w))
    A = G + N
    Aq = A @ q
    projected = A - np.outer(q, Aq) - np.outer(Aq, q) + (q @ Aq) * np.outer(q, q)
    size = float(np.linalg.norm(G) + np.linalg.norm(N))
    rounding = 64 * gamma(n + 16) * size  # rounding of q, of the projection, and of the terms below
    top, top_radius = spectrum((projected + projected.T) / 2, radius + rounding).largest_sum(k - 1)
    bound = math.fsum(np.diag(G)) - float(q @ Aq) - max(top, 0.0)
    return bound, radius + top_radius + rounding


def best_on_line(x: np.ndarray, weights: np.ndarray, k: int) -> tuple[float, float]:
    """Return the smallest inertia of numbers in k clusters, and the radius of its rounding.

    Rounding of a cost can shift a search window. By the quadrangle inequality, this costs at most twice the rounding at
    each level of the divide-and-conquer recursion.
    """
    used = weights > 0
    values, place = np.unique(x[used], return_inverse=True)
    mass = np.bincount(place.ravel(), weights=weights[used])
    values = values - math.fsum(mass * values) / math.fsum(mass)
    prefix = np.vstack([_accurate_cumsum(mass), _accurate_cumsum(mass * values), _accurate_cumsum(mass * values**2)])
    m = len(values)
    k = min(k, m)
    rounding = 16 * UNIT * prefix[2, -1] * k * (2 * math.log2(m + 1) + 3)
    best = np.array([np.inf] + [_cost(prefix, 0, j) for j in range(1, m + 1)])
    for c in range(1, k):
        best = _next_layer(prefix, best, c)
    return float(best[m]), rounding


@compiled
def _next_layer(prefix: Any, before: Any, c: Any) -> np.ndarray:
    """Return the smallest costs with one more interval by divide and conquer; optimal cuts increase with j."""
    m = len(before) - 1
    after = np.full(m + 1, np.inf)
    stack = np.empty((128, 4), dtype=np.int64)  # the depth is at most the logarithm of m
    stack[0] = np.array([c + 1, m, c, m - 1])
    height = 1
    while height > 0:
        height -= 1
        low, high, left, right = stack[height]
        j = (low + high) // 2
        cut = left
        for i in range(max(left, c), min(right, j - 1) + 1):
            value = before[i] + _cost(prefix, i, j)
            if value < after[j]:
                after[j], cut = value, i
        if j > low:
            stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = low, j - 1, left, cut
            height += 1
        if j < high:
            stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = j + 1, high, cut, right
            height += 1
    return after


@compiled
def _cost(prefix: Any, i: Any, j: Any) -> Any:
    weight = prefix[0, j] - prefix[0, i]
    first = prefix[1, j] - prefix[1, i]
    return max(prefix[2, j] - prefix[2, i] - first * first / weight, 0.0)


def _accurate_cumsum(terms: np.ndarray) -> np.ndarray:
    """Return prefix sums, corrected by the rounding errors of the running sum."""
    running = np.concatenate([[0.0], np.cumsum(terms)])
    before, after = running[:-1], running[1:]
    step = after - before
    errors = (before - (after - step)) + (terms - step)
    return running + np.concatenate([[0.0], np.cumsum(errors)])
