r"""Candidates for weak separation, from the distance of a point to the cone of the signed rows.

Let g be a positive combination of rows that span all rows. If :math:`-g = \sum_i \beta_i a_i` with :math:`\beta \ge 0`, then a
positive combination of spanning rows vanishes: no direction separates, not even weakly. Otherwise, the minimum-norm
:math:`\rho = g + \sum_i \beta_i a_i` has :math:`a_i^\top \rho \ge 0` for all i and :math:`g^\top \rho > 0`: a direction
that separates at least weakly. The floating-point result is only a candidate, which is verified in exact arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.optimize import nnls

from surefit.core.budget import Budget

FLAT = 1e-9  # scores of unit rows below this count as zero


class ConeHint(NamedTuple):
    """The minimum-norm ``rho`` (None if it is zero), and the rows with positive weight."""

    rho: np.ndarray | None
    carriers: np.ndarray


def independent_rows(A: np.ndarray) -> np.ndarray:
    """Return rows that span all rows up to rounding, the longest first."""
    R, order = qr(A.T, mode="r", pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    return order[: int(np.sum(size > FLAT * size[0]))] if len(size) and size[0] > 0 else order[:0]


def shortest_sum(A: np.ndarray, g: np.ndarray, budget: Budget) -> ConeHint | None:
    """Minimize ``|g + A' beta|`` over ``beta >= 0``, on a working set that grows by the rows with negative scores."""
    n, p = A.shape
    scale = float(np.linalg.norm(g))
    working = np.union1d(
        np.argsort(A @ g, kind="stable")[: 2 * p], np.linspace(0, n - 1, min(n, 2 * p)).astype(np.int64)
    )
    while budget.spent() is None:
        try:
            beta, _ = nnls(A[working].T, -g, maxiter=30 * p)
        except RuntimeError:  # no convergence, so there is no candidate
            return None
        rho = g + beta @ A[working]
        carriers = working[beta > 0]
        if np.linalg.norm(rho) <= FLAT * scale:
            return ConeHint(None, carriers)
        scores = A @ (rho / np.linalg.norm(rho))
        lowest = np.argsort(scores, kind="stable")[: max(50, p)]
        new = np.setdiff1d(lowest[scores[lowest] < -FLAT], working)
        if len(new) == 0:
            return ConeHint(rho / np.linalg.norm(rho), carriers)
        working = np.union1d(working, new)
    return None
