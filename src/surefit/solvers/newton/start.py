"""A start from fewer rows: where rows abound, a few per cent of them say where the optimum nearly is."""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.solvers.newton.minimise import Fit, minimise
from surefit.solvers.newton.rows import Rows

ROWS_A_COLUMN = 400  # of the subsample
SHARE = 8  # the subsample is at most this part of the rows
LOOSE = 1e-3  # tolerance on the subsample, relative to the loss at zero: its optimum is not the one we want


def subsample_start(rows: Rows, scores, l1: float, l2: float, intercept: bool, budget: Budget) -> Fit | None:
    """Return the fit to every k-th row, or None if rows are too few for that to pay."""
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
    return minimise(part_rows, part, l1, l2, intercept=intercept, tolerance=tolerance, budget=quiet, keep_model=True)
