r"""The nearest points of two convex hulls, by an active-set method (Wolfe's, for one hull and for two).

With an intercept the widest margin is half the distance of the hulls of the two classes; without, it is the distance of the
hull of the rows :math:`t_i x_i` from the origin. Both are

.. math:: \min_\alpha \Bigl\| \sum_i \alpha_i t_i x_i \Bigr\|, \quad \alpha \ge 0, \;\; \sum_{i \in g} \alpha_i = 1

for each group g: the two classes, or all rows. Any :math:`\alpha` gives a point z, an upper bound on the margin; z as a
direction gives a lower bound. The gap between them is the stopping rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq, qr

from surefit.core.budget import Budget, Reason
from surefit.separation.active_set import shortest
from surefit.separation.signed_rows import SignedRows

BATCH = 32, 512  # rows a group that join the working set at once: at least and at most
POLISHED_ROWS, POLISHED_COLUMNS = 1000, 2000  # larger supports are left as they were found
CHUNK = 5e8  # operations between two looks at the clock


class NearestPoint(NamedTuple):
    """Weights of the hulls, the point they give, and the margins it proves (by floats)."""

    alpha: np.ndarray
    z: np.ndarray
    low: float
    up: float
    n_iter: int
    reason: Reason


def nearest_point(
    rows: SignedRows, start: np.ndarray, *, tol: float, budget: Budget, zero: float = 0.0, work: float = np.inf
) -> NearestPoint:
    """Close the margin bracket to ``up - low <= tol * up``, or until ``up <= zero``.

    It begins with the extreme rows in the direction ``start``. Few rows matter: the problem is solved on a working set
    that grows by the rows its solution gets most wrong. ``work`` bounds the number of operations, roughly.
    """
    X, t = rows.X, rows.t
    groups = (t < 0).astype(np.intp) if rows.intercept else np.zeros(len(t), dtype=np.intp)
    members = [np.flatnonzero(groups == g) for g in range(int(rows.intercept) + 1)]
    center = _center(X) if rows.intercept else np.zeros(X.shape[1])  # hulls move together: nothing changes but rounding
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
                reason = Reason.STALLED  # nothing new to see, nothing gained
            support, weights = working[alpha > 0], alpha[alpha > 0]
    return best._replace(n_iter=n_iter, reason=reason)


def polished(rows: SignedRows, found: NearestPoint) -> np.ndarray:
    """Direction along which the support rows of a class have equal scores.

    The point z has it up to rounding, but scores feel that rounding by the factor ``|x| / margin``; solving for equal
    scores on the few support rows takes it out again.
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
    """Signed rows in coordinates of their own: the same lengths and angles, in at most as many dimensions as rows."""
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
