"""Cross-validation of a penalized least-squares path: fold errors, the best alpha, and the one-standard-error rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.errors import InvalidData
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.threads import map_blocks
from surefit.linear.lasso.path import alpha_grid
from surefit.linear.lasso.training import make_penalty, prepare_compressed
from surefit.operators import times
from surefit.solvers.coordinate_descent import prepare, solve_path
from surefit.solvers.least_squares.partitioned import Compressed, from_triangle, join, triangle


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
        """Return the index of the alpha of smallest mean, or of the largest alpha within one standard error of it."""
        means = self.means
        best = int(np.argmin(means))
        if rule == "min":
            return best
        return int(np.flatnonzero(means <= means[best] + self.standard_errors[best])[0])


def require_weight(estimator, weights: np.ndarray | None, *parts: np.ndarray) -> None:
    """Raise if all rows of a fold have weight zero."""
    if weights is not None and not all(weights[rows].any() for rows in parts):
        raise InvalidData(
            f"{type(estimator).__name__}: all rows of a fold have weight zero; drop rows of weight zero, or use fewer folds."
        )


class Folds(NamedTuple):
    """Functions for the folds of a path: data prepared for the solver, and the test error of a solution."""

    whole: Any  # all rows
    train: Callable[[int], Any]
    error: Callable[[int, Any], float]  # mean squared error of a solution on the test rows of a fold
    weights: np.ndarray  # total weight of the test rows, one per fold


def folds_of_rows(design, y: np.ndarray, weights: np.ndarray | None, folds: list, fit_intercept: bool) -> Folds:
    """Return folds of rows in memory.

    The training data of a fold are the full design with weight zero on the test rows, so X is never copied.
    """
    own = np.ones(len(y)) if weights is None else weights

    def train(k: int) -> Any:
        return prepare(design, y, np.bincount(folds[k][0], minlength=len(y)) * own, fit_intercept)

    def error(k: int, solution: Any) -> float:
        test = folds[k][1]
        residual = y[test] - times(design, solution.coef)[test] - solution.intercept
        return float(np.average(residual**2, weights=own[test])) if own[test].any() else math.nan

    whole = prepare(design, y, weights, fit_intercept)
    return Folds(whole, train, error, np.array([own[test].sum() for _, test in folds]))


def folds_of_partitions(rows: PartitionedRows, count: int, fit_intercept: bool) -> Folds:
    """Return consecutive folds of partitioned rows, computed in one pass as one triangular QR factor per fold."""
    ends = np.cumsum([rows.shape[0] // count + (k < rows.shape[0] % count) for k in range(count)])
    triangles, weights = rows.map_reduce(_fold_triangles, ends, fit_intercept, combine=_join_folds)
    d = rows.shape[1]

    def few(used: list[int]) -> Compressed:
        R = triangles[used[0]]
        for k in used[1:]:
            R = join(R, triangles[k])
        return from_triangle(R, d, fit_intercept, float(weights[used].sum()))

    def train(k: int) -> Any:
        return prepare_compressed(few([j for j in range(count) if j != k]))

    def error(k: int, solution: Any) -> float:
        b = few([j for j in range(count) if j != k]).intercepts(solution.coef)[0]
        right = np.concatenate([[-b] if fit_intercept else [], -solution.coef, [1.0]])
        return float(np.sum((triangles[k] @ right) ** 2) / weights[k]) if weights[k] > 0 else math.nan

    return Folds(prepare_compressed(few(list(range(count)))), train, error, weights)


def _fold_triangles(part: Part, ends: np.ndarray, centered: bool) -> tuple[list[np.ndarray], np.ndarray]:
    index = part.start + np.arange(len(part.X))
    fold = np.searchsorted(ends, index, side="right")
    s = np.ones(len(index)) if part.weights is None else part.weights
    return [triangle(part, centered, fold == k) for k in range(len(ends))], np.bincount(fold, s, len(ends))


def _join_folds(a: Any, b: Any) -> Any:
    return [join(x, y) for x, y in zip(a[0], b[0], strict=True)], a[1] + b[1]


def path_errors(estimator, folds: Folds, *, l1_ratio: float, factors: np.ndarray | None, budget: Budget) -> PathErrors:
    """Return the test errors of the path of ``estimator`` (``LassoCV``, ``ElasticNetCV``) on every fold.

    Only alphas that were solved on every fold within the budget are kept.
    """
    positive, tol, count = estimator.positive, estimator.tol, len(folds.weights)
    grid = alpha_grid(folds.whole, l1_ratio, estimator.eps, estimator.alphas, positive, factors)
    penalties = [make_penalty(alpha, l1_ratio, positive, factors) for alpha in grid]

    def begin(k: int, _stop: int) -> Iterator:
        return solve_path(folds.train(k), penalties, tol=tol, budget=budget)

    def advance(k: int, _stop: int) -> float:
        solution = next(paths[k], None)  # None: another fold has just used up the budget
        return math.nan if solution is None else folds.error(k, solution)

    paths = map_blocks(begin, count, 1, estimator.n_jobs)
    rows = []
    for _ in grid:  # all folds advance together, so the alphas solved so far can be compared when the budget ends
        row = map_blocks(advance, count, 1, estimator.n_jobs)
        if budget.stopped is not None:
            break  # some fold was interrupted, so this alpha cannot be compared with the others
        rows.append(row)
    return PathErrors(grid[: len(rows)], np.array(rows).reshape(-1, count), folds.weights)
