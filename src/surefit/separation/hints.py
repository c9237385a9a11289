r"""Which rows decide? A float answer to the first question, by the shortest point of a convex hull.

The shortest point z of the hull of the signed unit rows :math:`a_i` answers either way: if :math:`z \ne 0`, then
:math:`a_i^\top z \ge \|z\|^2 > 0` for all i, a separating direction; if :math:`z = 0`, its weights are a positive combination
that vanishes, on at most :math:`p + 1` rows. Nothing is ever infeasible or unbounded, so no answer rests on the status code
of a solver. The result is a hint; ``decide.py`` turns it into a proof.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import lsqr

from surefit.core.budget import Budget, Reason
from surefit.separation.hull import nearest_point
from surefit.separation.signed_rows import SignedRows

ZERO = 1e-13  # a point of the hull of unit rows shorter than this counts as zero
WIDE = 1000  # with more columns least squares is tried first: with more columns than rows it usually separates
WORK = 1e11  # operations before the search is given up
SURE = 1e-6  # a direction is taken as soon as its smallest score is this share of the bound


class Hint(NamedTuple):
    """The answer that floating-point arithmetic suggests."""

    v: np.ndarray
    separates: bool  # all scores a_i'v are positive
    support: np.ndarray  # rows of the shortest point
    close: np.ndarray  # some rows with the smallest scores


def search(A, budget: Budget) -> Hint | None:
    """Look for a direction with ``A v > 0`` or for rows whose positive combination vanishes; None if the budget is spent."""
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
