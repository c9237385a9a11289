r"""Nearest points of two convex hulls, by Wolfe's active-set method, extended from one hull to two.

With an intercept, the maximal margin is half the distance between the hulls of the two classes. Without an intercept,
it is the distance of the hull of the rows :math:`t_i x_i` from the origin. Both are

.. math:: \min_\alpha \Bigl\| \sum_i \alpha_i t_i x_i \Bigr\|, \quad \alpha \ge 0, \;\; \sum_{i \in g} \alpha_i = 1

for each group g: the two classes, or all rows. The norm of the point z of any :math:`\alpha` is an upper bound on the
margin, and the direction z gives a lower bound. The method stops when the gap between the two bounds is small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq, qr

from surefit.core.budget import Budget, Reason
from surefit.separation.active_set import shortest
from surefit.separation.signed_rows import SignedRows

BATCH = 32, 512  # smallest and largest number of rows per group added to the working set at once
POLISHED_ROWS, POLISHED_COLUMNS = 1000, 2000  # larger supports are not polished
CHUNK = 5e8  # operations between two checks of the time


class NearestPoint(NamedTuple):
    """Weights of the hulls, the corresponding point, and its lower and upper bounds on the margin (in floats)."""

    alpha: np.ndarray
    z: np.ndarray
    low: float
    up: float
    n_iter: int
    reason: Reason


def nearest_point(
    rows: SignedRows, start: np.ndarray, *, tol: float, budget: Budget, zero: float = 0.0, work: float = np.inf
) -> NearestPoint:
    """Iterate until the bracket of the margin satisfies ``up - low <= tol * up`` or ``up <= zero``.

    The method starts with the extreme rows in the direction ``start``. The problem is solved on a working set, which
    grows by the rows that most violate the optimality conditions. ``work`` is an approximate limit on the number of
    operations.
    """
    X, t = rows.X, rows.t
    groups = (t < 0).astype(np.intp) if rows.intercept else np.zeros(len(t), dtype=np.intp)
    members = [np.flatnonzero(groups == g) for g in range(int(rows.intercept) + 1)]
    center = _center(X) if rows.intercept else np.zeros(X.shape[1])  # a translation affects only rounding
    scores = t * np.asarray(X @ start).ravel()
    support = np.array([m[np.argmin(scores[m])] for m in members])
    working, batch = support, min(max(BATCH[0], X.shape[1] // 2), BATCH[1])
    weights, n_iter, block = np.ones(len(support)), 0, None
    best: NearestPoint | None = None
    reason: Reason | None = None
    while best is None or reason is None:
        z = np.asarray((t[support] * weights) @ _centered(X[support], center)).ravel()
        norm = float(np.linalg.norm(z))
        scores = t * (np.asarray(X @ z).ravel() - center @ z)
        up = norm / len(members)
        low = sum(float(np.min(scores[m])) for m in members) / len(members) / norm if norm > 0 else 0.0
        n_iter += 1
        if best is None or up - low < best.up - best.low or up <= zero:
            best = NearestPoint(_full(len(t), support, weights), z, low, up, n_iter, Reason.CONVERGED)
        if up - low <= tol * up or up <= zero:
            reason = Reason.CONVERGED
        else:
            reason = budget.spent(n_iter, (up - low) / up) or (Reason.MAX_ITER if work <= 0 else None)
        if reason is None:
            before = len(working)
            working = np.union1d(working, np.concatenate([_smallest(scores, m, batch) for m in members]))
            alpha = _full(len(t), support, weights)[working]
            if block is None or len(working) > before:
                block = _coordinates(X[working], t[working], center)
            cost = block.size + 12.0 * min(block.shape) ** 2
            work -= cost * shortest(block, groups[working], len(members), alpha, int(CHUNK / cost) + 20)
            if len(working) == before and np.array_equal(working[alpha > 0], support) and n_iter > best.n_iter:
                reason = Reason.STALLED  # no new rows and no improvement
            support, weights = working[alpha > 0], alpha[alpha > 0]
    return best._replace(n_iter=n_iter, reason=reason)


def polished(rows: SignedRows, found: NearestPoint) -> np.ndarray:
    """Return a direction along which the support rows of a class have equal scores.

    The point z has this property up to rounding, but the scores amplify the rounding by the factor ``|x| / margin``.
    Solving for equal scores on the few support rows removes this error.
    """
    support = np.flatnonzero(found.alpha)
    block, t = rows.X[support], rows.t[support]
    if len(support) > POLISHED_ROWS or block.shape[1] > POLISHED_COLUMNS:
        return found.z
    block = block.toarray() if sparse.issparse(block) else block
    signed = t[:, None] * (np.asarray(block, dtype=np.float64) - (block.mean(axis=0) if rows.intercept else 0.0))
    lifted = np.column_stack([signed, t]) if rows.intercept else signed
    length = float(found.z @ found.z)
    if not length > 0:
        return found.z
    w = found.z / length
    for _ in range(2):
        scores = signed @ w
        goal = 1.0 / (1 + int(rows.intercept))
        offset = float(np.mean(t * (goal - scores))) if rows.intercept else 0.0
        w = w + lstsq(lifted, goal - scores - t * offset, check_finite=False)[0][: len(w)]
    return w


def _coordinates(X, t: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Return the signed rows in at most as many dimensions as rows, with the same lengths and angles."""
    if sparse.issparse(X) and X.shape[1] > X.shape[0]:
        values, vectors = np.linalg.eigh((X @ X.T).toarray() * np.outer(t, t))
        return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    block = t[:, None] * _centered(X.toarray() if sparse.issparse(X) else X, center)
    if block.shape[1] > block.shape[0]:
        block = qr(block.T, mode="r", check_finite=False)[0][: block.shape[0]].T
    return np.ascontiguousarray(block)


def _centered(X, center: np.ndarray):
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64) - center


def _full(n: int, chosen: np.ndarray, weights: np.ndarray) -> np.ndarray:
    alpha = np.zeros(n)
    alpha[chosen] = weights
    return alpha


def _smallest(scores: np.ndarray, among: np.ndarray, count: int) -> np.ndarray:
    if len(among) <= count:
        return among
    return among[np.argpartition(scores[among], count)[:count]]


def _center(X) -> np.ndarray:
    if sparse.issparse(X):
        return np.zeros(X.shape[1])
    return np.asarray(X, dtype=np.float64).mean(axis=0)
