"""Refined dual point: derivatives after a few Newton steps from the result of SGD, which prove a tighter bound.

Only the bound is refined; the model remains the result of the descent. The Hessian uses some of the rows; the gradient
uses all rows. Steps are not damped. If the loss has curvature at only a few rows (a narrow Huber region), they may
overshoot; the bound without them is then used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled
from surefit.losses import curvature, slope
from surefit.solvers.newton.terms import SmoothedHinge, SmoothedTube, score_terms

MOST_COLUMNS = 256  # beyond this size, a Hessian costs more than the descent
ROWS_OF_HESSIAN = 10_000
STEPS = 2


def refined_dual_point(X, y, c, w: np.ndarray, b: float, term: Any, l2: float, intercept: bool) -> np.ndarray | None:
    """Return weights and intercept (last) after the Newton steps, or None if they are too expensive or not defined."""
    n, d = X.shape
    if sparse.issparse(X) or X.dtype != np.float64 or d > MOST_COLUMNS or l2 == 0.0:
        return None
    some = slice(None, None, max(1, n // ROWS_OF_HESSIAN))
    part = np.column_stack([X[some], np.ones(len(y[some]))])
    penalty = np.append(np.full(d, l2), 0.0)
    u, derivatives, bends = np.append(w, b), np.empty(n), np.empty(len(part))
    for _ in range(STEPS):
        z = X @ u[:d] + u[d]
        if isinstance(term, (SmoothedHinge, SmoothedTube)):
            _smoothed(term, y, z, derivatives, np.empty(0))
            _smoothed(term, y[some], z[some], np.empty(0), bends)
        else:
            _plain(term, y, z, derivatives, np.empty(0))
            _plain(term, y[some], z[some], np.empty(0), bends)
        pull = c * derivatives
        gradient = np.append(X.T @ pull, np.sum(pull)) + penalty * u
        H = (part * (c[some] * bends * (np.sum(c) / np.sum(c[some])))[:, None]).T @ part + np.diag(penalty)
        H[np.diag_indices(d + 1)] += 1e-9 * np.trace(H) / (d + 1)
        if not intercept:
            gradient[-1], H[-1, :-1], H[:-1, -1] = 0.0, 0.0, 0.0
        u = u - np.linalg.solve(H, gradient)
    return u if np.all(np.isfinite(u)) else None


@compiled
def _smoothed(term, y, z, derivatives, bends):
    for i in range(len(y)):
        _, first, second = score_terms(term, y[i], z[i])
        if len(derivatives):
            derivatives[i] = first
        if len(bends):
            bends[i] = second


@compiled
def _plain(loss, y, z, derivatives, bends):
    for i in range(len(y)):
        if len(derivatives):
            derivatives[i] = slope(loss, y[i], z[i])
        if len(bends):
            bends[i] = curvature(loss, y[i], z[i])
