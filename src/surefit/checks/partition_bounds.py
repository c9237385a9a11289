r"""Checks that no partition into k clusters has an inertia below a stated bound.

Three proofs. *spectral*: :math:`J \ge \operatorname{tr} M - \sum_{j<k} \lambda_j(M)` for the scatter matrix M. *sdp*: the
same with multipliers :math:`N \ge 0` as witness, :math:`J \ge \operatorname{tr} G - q^\top (G + N) q - \sum_{j<k}
\lambda_j(P(G+N)P)`. *line*: all partitions of numbers into intervals, by dynamic programming. The mean enters only as a
shift, and the inertia does not depend on it, so its rounding is harmless (theory: ``k-means-bound``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.clusters import walk_of
from surefit.checks.eigen import centred_product, dense, spectrum, weighted_mean, weights_of
from surefit.checks.enclosure import UNIT, gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("k_means.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The inertia exceeds that of every other partition into k clusters by at most value."""
    walk = walk_of(certificate, data)
    if walk is None:
        return Finding(claim.name, claim.value, math.inf, False, "exact", "the labels do not name one of the centres.")
    bound, radius = lower_bound(certificate, claim, data)
    gap = walk.inertia - bound
    rounding = walk.radius + radius
    ok = gap - claim.value <= rounding and claim.numbers["lower_bound"] <= bound + radius
    proved = max(gap + rounding, 0.0)
    message = f"no partition has an inertia below {max(bound - radius, 0.0):.6g}."
    return Finding(claim.name, claim.value, proved if ok else gap, ok, "enclosed", message)


def lower_bound(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    """Return a lower bound of the inertia of all partitions into k clusters, and the radius of its rounding."""
    k, how = int(certificate.problem["n_clusters"]), certificate.problem["bound"]
    weights = weights_of(data)
    if how == "line" and data.X.shape[1] == 1:
        return best_on_line(dense(data.X).ravel(), weights, k)
    if how == "sdp" and "multipliers" in claim.witness:
        return _with_multipliers(data, weights, k, claim.witness["multipliers"])
    if how == "spectral" and k - 1 < min(data.X.shape):
        return _spectral(data, weights, k)
    return 0.0, 0.0


def _spectral(data: Data, weights: np.ndarray, k: int) -> tuple[float, float]:
    n, d = data.X.shape
    mean = weighted_mean(data.X, weights)
    M, radius = centred_product(data.X, weights, mean, by_rows=n < d)
    trace = math.fsum(np.diag(M))
    top, top_radius = spectrum(M, radius).largest_sum(k - 1)
    offset = math.fsum(weights) * float(np.sum((gamma(n + 2) * weighted_mean(abs(data.X), weights)) ** 2))
    return trace - top, radius + top_radius + offset + gamma(8) * trace


def _with_multipliers(data: Data, weights: np.ndarray, k: int, triangle: np.ndarray) -> tuple[float, float]:
    used = np.flatnonzero(weights > 0)
    n, w = len(used), weights[used]
    if triangle.shape != (n * (n - 1) // 2,) or not np.all(triangle >= 0):
        return 0.0, 0.0  # no witness, no bound
    N = np.zeros((n, n))
    N[np.triu_indices(n, 1)] = triangle
    N += N.T
    mean = weighted_mean(data.X, weights)
    G, radius = centred_product(data.X[used], w, mean, by_rows=True)
    q = np.sqrt(w / math.fsum(w))
    A = G + N
    Aq = A @ q
    projected = A - np.outer(q, Aq) - np.outer(Aq, q) + (q @ Aq) * np.outer(q, q)
    size = float(np.linalg.norm(G) + np.linalg.norm(N))
    rounding = 64 * gamma(n + 16) * size  # of q, of the projection, and of what follows
    top, top_radius = spectrum((projected + projected.T) / 2, radius + rounding).largest_sum(k - 1)
    bound = math.fsum(np.diag(G)) - float(q @ Aq) - max(top, 0.0)
    return bound, radius + top_radius + rounding


def best_on_line(x: np.ndarray, weights: np.ndarray, k: int) -> tuple[float, float]:
    """Return the least inertia of numbers in k clusters, and the radius of its rounding.

    Layer by layer, all middles of one depth of the divide and conquer at once. Rounding of a cost can mislead a search window;
    by the quadrangle inequality that loses at most twice the rounding at each depth.
    """
    used = weights > 0
    values, place = np.unique(x[used], return_inverse=True)
    mass = np.bincount(place.ravel(), weights=weights[used])
    values = values - math.fsum(mass * values) / math.fsum(mass)
    prefix = np.vstack([_accurate_cumsum(mass), _accurate_cumsum(mass * values), _accurate_cumsum(mass * values**2)])
    m = len(values)
    k = min(k, m)
    rounding = 16 * UNIT * prefix[2, -1] * k * (2 * math.log2(m + 1) + 3)
    best = np.concatenate([[np.inf], _cost(prefix, np.zeros(m, dtype=np.int64), np.arange(1, m + 1))])
    for c in range(1, k):
        best = _next_layer(prefix, best, c, m)
    return float(best[m]), rounding


def _next_layer(prefix: np.ndarray, before: np.ndarray, c: int, m: int) -> np.ndarray:
    after = np.full(m + 1, np.inf)
    low, high, left, right = (np.array([v]) for v in (c + 1, m, c, m - 1))
    while len(low):
        j = (low + high) // 2
        first, last = np.maximum(left, c), np.minimum(right, j - 1)
        counts = last - first + 1
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        i = np.arange(counts.sum()) - np.repeat(starts, counts) + np.repeat(first, counts)
        values = before[i] + _cost(prefix, i, np.repeat(j, counts))
        least = np.minimum.reduceat(values, starts)
        after[j] = least
        hit = np.flatnonzero(values == np.repeat(least, counts))
        cut = i[hit[np.searchsorted(hit, starts)]]
        low, high = np.concatenate([low, j + 1]), np.concatenate([j - 1, high])
        left, right = np.concatenate([left, cut]), np.concatenate([cut, right])
        keep = low <= high
        low, high, left, right = low[keep], high[keep], left[keep], right[keep]
    return after


def _cost(prefix: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    weight, first, second = prefix[:, j] - prefix[:, i]
    return np.maximum(second - first**2 / weight, 0.0)


def _accurate_cumsum(terms: np.ndarray) -> np.ndarray:
    """Prefix sums with the rounding errors of the running sum added back."""
    running = np.concatenate([[0.0], np.cumsum(terms)])
    before, after = running[:-1], running[1:]
    step = after - before
    errors = (before - (after - step)) + (terms - step)
    return running + np.concatenate([[0.0], np.cumsum(errors)])
