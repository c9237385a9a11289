"""Starting point from a subsample, for problems with many rows."""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.solvers.newton.minimize import Fit, minimize
from surefit.solvers.newton.rows import Rows

ROWS_A_COLUMN = 400  # rows per column in the subsample
SHARE = 8  # the subsample is at most this fraction (1 / 8) of the rows
LOOSE = 1e-3  # tolerance on the subsample, relative to the loss at zero


def subsample_start(rows: Rows, scores, l1: float, l2: float, intercept: bool, budget: Budget) -> Fit | None:
    """Return the fit to every k-th row, or None if there are too few rows for this to be faster."""
    n, d = rows.shape
    if rows.sparse or d * scores.n_scores > 500:
        return None
    step = n // max(ROWS_A_COLUMN * d, 2000)
    if step < SHARE:
        return None
    part = scores.part(step)
    if isinstance(getattr(part, "y", None), np.ndarray) and len(np.unique(part.y)) < 2:
        return None
    part_rows = rows.part(step)
    tolerance = LOOSE * part.value(np.zeros((part_rows.shape[0], part.n_scores)))
    quiet = Budget(50, None if budget.max_time is None else max(budget.max_time - budget.seconds, 1e-3))
    return minimize(part_rows, part, l1, l2, intercept=intercept, tolerance=tolerance, budget=quiet, keep_model=True)
