r"""Dual coordinate ascent for the hinge loss, over rows, with shrinking; a step costs the entries of one row.

.. math:: D(\alpha) = \sum_i \alpha_i - \tfrac12 \Bigl\|\sum_i \alpha_i t_i x_i\Bigr\|^2, \qquad 0 \le \alpha_i \le c_i,
    \qquad \sum_i \alpha_i t_i = 0 \text{ with a free intercept.}

The equality constraint is handled by multipliers: the intercept is a coefficient with a proximal term around its last
value, and this term vanishes with the sum. Without an intercept the result is final, with its gap; with an intercept it
is a starting point for Newton's method.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.solvers.newton import csr_products
from surefit.solvers.newton.minimize import Fit
from surefit.solvers.newton.rows import Rows
from surefit.solvers.newton.scalar_scores import ScalarScores
from surefit.solvers.newton.terms import SmoothedHinge

MOST_PASSES = 60
LARGEST_DENSE = 5_000_000  # entries of a dense matrix with few rows that is copied into rows
BLOCK = 64  # consecutive rows per block if the matrix exceeds the cache: single random rows cost four times as much
FITS_CACHE = 100_000  # entries
LOOK_EVERY = 10  # passes between two gaps, unless the current rows suggest a small gap
HOPEFUL = 1.2  # gap estimated during a pass divided by the gap after it; replaced by the observed ratio
START_PASSES = 12  # with an intercept
START_WIDTH = 0.05  # width of the smoothed region at which Newton's method takes over


def dual_start(rows: Rows, scores: ScalarScores, intercept: bool, limit: float, budget: Budget) -> Fit | None:
    """Return a solution or a starting point, or None if the primal method is better (many dense rows, other losses)."""
    n, d = rows.shape
    few = n <= 4 * d and n * d <= LARGEST_DENSE
    if not (rows.sparse or few) or not isinstance(scores.loss, SmoothedHinge):
        return None
    X = rows.X if rows.sparse and rows.X.format == "csr" else sparse.csr_array(rows.X)
    if not X.has_canonical_format:
        X = X.copy()  # the user's matrix must not be modified
        X.sum_duplicates()
    y, c = scores.y, scores.weights
    began = time.perf_counter()
    history: list[tuple[float, int, float]] = []
    squares = csr_products.square_norms(X)
    pull = float(np.mean(squares)) or 1.0
    alpha, w = np.zeros(len(y)), np.zeros(X.shape[1])
    bias = np.zeros(2)  # intercept, sum of alpha t
    whole = np.flatnonzero(c > 0)
    block = 1 if X.nnz <= FITS_CACHE else BLOCK
    active, limits, hopeful = whole.copy(), (np.inf, -np.inf), HOPEFUL
    for n_pass in range(1, (START_PASSES if intercept else MOST_PASSES) + 1):
        if budget.spent(0, history[-1][2] if history else np.inf) not in (None, Reason.MAX_ITER):
            break
        blocks = np.arange(-(-len(active) // block))
        shuffle(blocks, n_pass)
        problem, work = (X.data, X.indices, X.indptr, y, c, squares), (active, blocks, block)
        left, up, down, met = ascent_pass(*problem, pull if intercept else 0.0, alpha, w, bias, *work, *limits)
        active = active[:left]
        limits = (up if up > 0 else np.inf, down if down < 0 else -np.inf)
        if intercept:
            bias[0] += pull * bias[1]
        elif met <= hopeful * limit or n_pass % LOOK_EVERY == 0:
            w = csr_products.sums(X, alpha * y, len(w))
            scores_now = csr_products.dots(X, w)
            slack = np.maximum(1.0 - y * scores_now, 0.0)
            gap = float(np.sum(c * slack - alpha * (1.0 - y * scores_now)))
            history.append((time.perf_counter() - began, n_pass, gap))
            if gap <= limit:
                objective = 0.5 * float(w @ w) + float(c @ slack)
                shares = np.divide(alpha, c, out=np.zeros(len(c)), where=c > 0)
                reason = Reason.CONVERGED
                return Fit(
                    w[None, :], np.zeros(1), gap, objective, n_pass, reason, history, 0.0, False, None, shares * y
                )
            hopeful = min(met / gap, HOPEFUL)
            if left < 0.1 * len(whole) or hopeful < 0.5:
                active, limits = whole.copy(), (np.inf, -np.inf)  # reconsider the rows that were shrunk
                hopeful = HOPEFUL
    return Fit(w[None, :], bias[:1].copy(), np.inf, np.inf, 0, Reason.MAX_ITER, history, START_WIDTH, False, None, None)


@compiled
def shuffle(blocks, seed):
    """Shuffle ``blocks`` by an order that depends on ``seed`` alone."""
    state = np.uint64(88172645463325252) ^ np.uint64(seed)
    for k in range(len(blocks) - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        other = np.int64(state % np.uint64(k + 1))
        blocks[k], blocks[other] = blocks[other], blocks[k]


@compiled
def ascent_pass(data, indices, indptr, y, c, squares, pull, alpha, w, bias, active, blocks, size, highest, lowest):
    """Perform one pass over the active rows, block by block; rows that are clearly at a bound are removed.

    Return the number of remaining rows, the extreme derivatives, and the gap estimated from each row when it was processed.
    """
    up, down, met = -np.inf, np.inf, 0.0
    for block in blocks:
        for k in range(size * block, min(size * (block + 1), len(active))):
            i = active[k]
            start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])  # unsigned: no index is tested for its sign
            dot = bias[0]
            for entry in range(start, stop):
                dot += data[entry] * w[np.uint64(indices[entry])]
            derivative = y[i] * dot - 1.0
            old = alpha[i]
            met += c[i] * max(-derivative, 0.0) + old * derivative
            if (old == 0.0 and derivative > highest) or (old == c[i] and derivative < lowest):
                active[k] = -1
                continue
            free = derivative
            if old == 0.0:
                free = min(derivative, 0.0)
            elif old == c[i]:
                free = max(derivative, 0.0)
            up, down = max(up, free), min(down, free)
            curvature = squares[i] + pull
            if free != 0.0 and curvature > 0.0:
                new = min(max(old - derivative / curvature, 0.0), c[i])
                change = (new - old) * y[i]
                if change != 0.0:
                    alpha[i] = new
                    for entry in range(start, stop):
                        w[np.uint64(indices[entry])] += change * data[entry]
                    bias[0] += pull * change
                    bias[1] += change
    left = 0
    for k in range(len(active)):
        if active[k] >= 0:
            active[left] = active[k]
            left += 1
    return left, up, down, met
