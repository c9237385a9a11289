"""Cross-validation of a penalised least-squares path: fold errors, the best weight, the one-standard-error rule."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.threads import map_blocks
from surefit.designs import times
from surefit.linear.path import alpha_grid
from surefit.linear.penalised_squares import make_penalty
from surefit.solvers.penalised_squares import prepare, solve_path


class PathErrors(NamedTuple):
    """Mean squared test errors along a path."""

    alphas: np.ndarray  # (n_alphas,), decreasing
    errors: np.ndarray  # (n_alphas, n_folds)
    fold_weights: np.ndarray  # (n_folds,)

    @property
    def means(self) -> np.ndarray:
        """Weighted mean error of each alpha."""
        return np.average(self.errors, axis=1, weights=self.fold_weights)

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard error of each mean over the folds."""
        folds = self.errors.shape[1]
        return self.errors.std(axis=1, ddof=1) / math.sqrt(folds) if folds > 1 else np.zeros(len(self.alphas))

    def choose(self, rule: str) -> int:
        """Index of the chosen alpha: smallest mean, or the largest alpha within one standard error of it."""
        means = self.means
        best = int(np.argmin(means))
        if rule == "min":
            return best
        return int(np.flatnonzero(means <= means[best] + self.standard_errors[best])[0])


def path_errors(
    design,
    y: np.ndarray,
    weights: np.ndarray | None,
    folds: list[tuple[np.ndarray, np.ndarray]],
    *,
    l1_ratio: float,
    eps: float,
    alphas,
    fit_intercept: bool,
    positive: bool,
    factors: np.ndarray | None,
    tol: float,
    budget: Budget,
    n_jobs: int | None,
) -> PathErrors:
    """Test errors of the path on every fold.

    A fold is the full design with weight zero on the rows it does not train on: nothing is copied, whatever the storage
    of X. Only weights that every fold reached within the budget are kept.
    """
    whole = prepare(design, y, weights, fit_intercept)
    grid = alpha_grid(whole, l1_ratio, eps, alphas, positive, factors)
    penalties = [make_penalty(alpha, l1_ratio, positive, factors) for alpha in grid]
    own = np.ones(len(y)) if weights is None else weights

    def begin(k: int, _stop: int) -> Iterator:
        training = np.bincount(folds[k][0], minlength=len(y)) * own
        return solve_path(prepare(design, y, training, fit_intercept), penalties, tol=tol, budget=budget)

    def advance(k: int, _stop: int) -> float:
        solution, test = next(paths[k], None), folds[k][1]
        if solution is None:  # another fold has just used up the budget
            return math.nan
        residual = y[test] - times(design, solution.coef)[test] - solution.intercept
        return float(np.average(residual**2, weights=own[test])) if own[test].any() else math.nan

    paths = map_blocks(begin, len(folds), 1, n_jobs)
    rows = []
    for (
        _
    ) in grid:  # all folds take a step together, so that whenever the budget ends the weights so far can be compared
        row = map_blocks(advance, len(folds), 1, n_jobs)
        if budget.stopped is not None:
            break  # some fold was cut off in the middle: this weight is not comparable with the others
        rows.append(row)
    errors = np.array(rows).reshape(-1, len(folds))
    return PathErrors(grid[: len(rows)], errors, np.array([own[test].sum() for _, test in folds]))
