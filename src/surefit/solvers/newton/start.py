"""Starting point from a subsample, for problems with many rows."""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.solvers.newton.minimize import Fit, minimize
from surefit.solvers.newton.rows import Rows

ROWS_A_COLUMN = 400  # rows per column in the subsample
FEWER = 8  # times fewer rows in the subsample from which the subsample starts
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
    quiet = Budget(50, None if budget.max_time is None else max(budget.max_time - budget.seconds, 1e-3))
    found = None
    for every in (FEWER * step, step):  # the Hessian of the last fit serves the first steps on all rows
        found = _on_part(rows, scores, every, (l1, l2, intercept), quiet, found, every == step)
    return found


def _on_part(rows: Rows, scores, step: int, terms, budget: Budget, start: Fit | None, keep_model: bool) -> Fit | None:
    """Return the fit to every ``step``-th row, or None if only one class is left."""
    l1, l2, intercept = terms
    part = scores.part(step)
    if isinstance(getattr(part, "y", None), np.ndarray) and len(np.unique(part.y)) < 2:
        return None
    part_rows = rows.part(step)
    tolerance = LOOSE * part.value(np.zeros((part_rows.shape[0], part.n_scores)))
    coef, offset = (None, None) if start is None else (start.coef, start.intercept)
    return minimize(
        part_rows, part, l1, l2, intercept=intercept, tolerance=tolerance, budget=budget, coef=coef, offset=offset,
        keep_model=keep_model,
    )  # fmt: skip
