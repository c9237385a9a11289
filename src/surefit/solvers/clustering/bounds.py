r"""Lower bounds on the inertia over *all* partitions into k clusters.

Let :math:`B` have the rows :math:`\sqrt{w_i}(x_i - \bar x)`, :math:`G = BB^\top`, :math:`q_i = \sqrt{w_i / \sum w}` and
:math:`P = I - qq^\top`. A partition corresponds to a projection :math:`Z \ge 0` of trace k with :math:`Zq = q` and
:math:`J = \operatorname{tr} G - \langle G, Z\rangle`. Since :math:`\langle N, Z\rangle \ge 0` for every matrix
:math:`N \ge 0`,

.. math:: J \ge \operatorname{tr} G - q^\top N q - \sum_{j < k} \lambda_j(P(G + N)P),

where the sum is over the k - 1 largest eigenvalues (Ky Fan). :math:`N = 0` gives the spectral bound (Ding and He 2004); the best
:math:`N` gives the semidefinite bound (Peng and Wei 2007). Every :math:`N` proves a bound, however it was found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from surefit.core.budget import Budget
from surefit.core.threads import sum_blocks
from surefit.solvers.clustering.points import Summary, block_size

EVALUATE_EVERY = 25
MOST_STEPS = 1000


class PartitionBound(NamedTuple):
    """Lower bound on the inertia, with its proof."""

    value: float
    method: str  # "spectral", "sdp", "line" or "none"
    multipliers: np.ndarray | None = None  # upper triangle of N, row by row, float32


def spectral_bound(X: Any, weights: np.ndarray, summary: Summary, k: int, n_jobs: int | None = None) -> PartitionBound:
    """Return the spectral bound; it is zero for fewer than k dimensions."""
    n, d = X.shape
    if k - 1 >= min(n, d):
        return PartitionBound(0.0, "spectral")
    if d <= n:
        matrix = _scatter_matrix(X, weights, summary.mean, n_jobs)
    else:
        rows = _centered(X, weights, summary.mean)
        matrix = rows @ rows.T
    trace = float(np.trace(matrix))
    top = linalg.eigvalsh(matrix)[::-1][: k - 1]
    rounding = 16 * len(matrix) * np.finfo(float).eps * trace
    return PartitionBound(max(trace - float(np.sum(top)) - rounding, 0.0), "spectral")


def semidefinite_bound(X: Any, weights: np.ndarray, summary: Summary, k: int, budget: Budget) -> PartitionBound:
    """Improve the spectral bound by ADMM until it stops increasing or the budget is spent."""
    used = np.flatnonzero(weights > 0)
    rows = _centered(X[used], weights[used], summary.mean)
    G = rows @ rows.T
    n, trace = len(G), float(np.trace(G))
    q = np.sqrt(weights[used] / weights[used].sum())
    best = spectral_bound(X, weights, summary, k)
    if k == 1 or k >= n or trace == 0.0:
        return best._replace(method="sdp", multipliers=np.zeros(n * (n - 1) // 2, dtype=np.float32))
    value, multipliers = best.value, np.zeros((n, n), dtype=np.float32)
    penalty = 100.0 * trace / n  # scale at which both residuals decrease at the same rate; adapted below
    Y, U, history = np.zeros((n, n)), np.zeros((n, n)), [value]
    for step in range(1, MOST_STEPS + 1):
        Z = _nearest_relaxed_partition(Y - U + G / penalty, q, k)
        U += Z
        previous, Y = Y, np.maximum(U, 0.0)
        U = np.minimum(U, 0.0)  # exact remainder of the sum: the multipliers need the correct sign
        out_of_time = budget.spent() is not None
        if step % EVALUATE_EVERY and not out_of_time:
            continue
        candidate = np.triu(-penalty * U, 1).astype(np.float32)
        candidate += candidate.T
        bound = evaluate_bound(G, candidate, q, k)
        if bound > value:
            value, multipliers = bound, candidate
        history.append(value)
        grown = history[-1] - history[-min(4, len(history))]
        if out_of_time or (len(history) > 4 and grown <= 1e-5 * trace):
            break
        primal, dual = linalg.norm(Z - Y), linalg.norm(Y - previous)
        factor = 1.5 if primal > 3 * dual else 1 / 1.5 if dual > 3 * primal else 1.0
        penalty, U = penalty * factor, U / factor
    return PartitionBound(value, "sdp", multipliers[np.triu_indices(n, 1)])


def evaluate_bound(G: np.ndarray, N: np.ndarray, q: np.ndarray, k: int) -> float:
    """Return the bound proved by ``N >= 0``, minus a margin for the rounding of eigenvalues."""
    N = N.astype(np.float64)
    values = linalg.eigvalsh(_projected(G + N, q))
    margin = 16 * len(G) * np.finfo(float).eps * max(abs(values[0]), abs(values[-1]))
    # The projection adds an eigenvalue zero with eigenvector q; including it can only decrease the bound.
    return float(np.trace(G) - q @ (N @ q) - np.sum(np.sort(values)[::-1][: k - 1]) - k * margin)


def _projected(M: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return P M P with P = I - q q'."""
    Mq = M @ q
    return M - np.outer(q, Mq) - np.outer(Mq, q) + (q @ Mq) * np.outer(q, q)


def _nearest_relaxed_partition(M: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """Project onto ``Z = q q' + Z'`` with ``Z' q = 0``, eigenvalues of Z' from 0 to 1, trace of Z' = k - 1."""
    M = _projected(M, q)
    size = float(np.abs(M).sum(axis=0).max()) + 1.0
    values, vectors = linalg.eigh(M - 2 * size * np.outer(q, q), check_finite=False)  # q has the smallest eigenvalue
    values, vectors = values[1:], vectors[:, 1:]
    capped = _capped_simplex(values, k - 1)
    used = capped > 0
    return np.outer(q, q) + (vectors[:, used] * capped[used]) @ vectors[:, used].T


def _capped_simplex(values: np.ndarray, total: int) -> np.ndarray:
    """Project onto vectors with entries from 0 to 1 and the given sum: subtract a constant and clip."""
    low, high = float(values.min()) - 1.0, float(values.max())
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.clip(values - middle, 0.0, 1.0).sum() > total else (low, middle)
    return np.clip(values - 0.5 * (low + high), 0.0, 1.0)


def _centered(X: Any, weights: np.ndarray, mean: np.ndarray) -> np.ndarray:
    dense = X.toarray() if sparse.issparse(X) else X
    return np.sqrt(weights)[:, None] * (np.asarray(dense, dtype=np.float64) - mean)


def _scatter_matrix(X: Any, weights: np.ndarray, mean: np.ndarray, n_jobs: int | None) -> np.ndarray:
    n, d = X.shape
    if sparse.issparse(X):
        product = X.T @ sparse.diags(weights).tocsr() @ X
        return np.asarray(product.todense()) - weights.sum() * np.outer(mean, mean)

    def work(start: int, stop: int) -> np.ndarray:
        rows = _centered(X[start:stop], weights[start:stop], mean)
        return rows.T @ rows

    return sum_blocks(work, n, block_size(n, d * d), n_jobs)
