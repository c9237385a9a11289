r"""Floating-point candidates for strict separation, from the minimum-norm point of a convex hull.

Let z be the minimum-norm point of the hull of the signed unit rows :math:`a_i`. If :math:`z \ne 0`, then
:math:`a_i^\top z \ge \|z\|^2 > 0` for all i, so z is a separating direction. If :math:`z = 0`, its weights are a
positive combination that vanishes, on at most :math:`p + 1` rows. This problem is never infeasible or unbounded, so no
answer depends on the status code of a solver. The result is a candidate, which ``decide.py`` proves or rejects.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import lsqr

from surefit.core.budget import Budget, Reason
from surefit.separation.hull import nearest_point
from surefit.separation.signed_rows import SignedRows

ZERO = 1e-13  # a point of the hull of unit rows shorter than this counts as zero
WIDE = 1000  # above this, least squares is tried first; with more columns than rows it usually separates
WORK = 1e11  # limit on the operations of the search
SURE = 1e-6  # a direction is accepted once its smallest score is this fraction of the bound


class Hint(NamedTuple):
    """Candidate from floating-point arithmetic: a direction, or rows with a vanishing combination."""

    v: np.ndarray
    separates: bool  # all scores a_i'v are positive
    support: np.ndarray  # rows of the minimum-norm point
    close: np.ndarray  # some rows with the smallest scores


def search(A, budget: Budget) -> Hint | None:
    """Search for a direction with ``A v > 0`` or a vanishing positive combination; None if the budget is exhausted."""
    n, p = A.shape
    if p > WIDE:
        v = lsqr(A, np.ones(n), damp=1e-6, iter_lim=50)[0]
        scores = np.asarray(A @ v).ravel()
        if scores.min() > 0:
            return Hint(v, True, np.empty(0, dtype=np.int64), _lowest(scores, p + 1))
    else:
        v = np.asarray(A.sum(axis=0)).ravel() / n
    rows = SignedRows(A, np.ones(n), False)
    found = nearest_point(rows, v, tol=1 - SURE, budget=budget, zero=ZERO, work=WORK)
    if found.reason not in (Reason.CONVERGED, Reason.STALLED):
        return None
    scores = np.asarray(A @ found.z).ravel()
    return Hint(found.z, bool(scores.min() > 0), np.flatnonzero(found.alpha), _lowest(scores, p + 1))


def _lowest(scores: np.ndarray, count: int) -> np.ndarray:
    return np.argsort(scores, kind="stable")[:count]
