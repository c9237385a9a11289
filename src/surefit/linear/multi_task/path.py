"""Regularization paths of several targets with a common support."""

from __future__ import annotations

import numpy as np

from surefit.core.budget import Budget
from surefit.core.errors import InvalidParameter
from surefit.solvers.multi_task import Result, minimize


def solve_targets(
    X, y, grid: np.ndarray, l1_ratio: float, fit_intercept: bool, *, tol: float, budget: Budget, start=None
) -> list[Result]:
    """Solve for each alpha of ``grid``, warm-started from the previous solution; ``start`` has one row per target."""
    X, y = _centered(X, y, fit_intercept)
    W = np.zeros((X.shape[1], y.shape[1])) if start is None else np.asarray(start, dtype=np.float64).T
    results: list[Result] = []
    for alpha in grid.tolist():
        found = minimize(X, y, alpha * l1_ratio, alpha * (1.0 - l1_ratio), tol=tol, budget=budget, start=W)
        W = found.W
        results.append(found)
        if budget.stopped is not None:
            break
    return results


def largest_alpha(X, y, l1_ratio: float, fit_intercept: bool) -> float:
    """Return the smallest alpha at which all coefficients are zero."""
    if l1_ratio == 0:
        raise InvalidParameter(
            "path", "alphas", "given explicitly when l1_ratio=0 (no finite alpha gives all zeros)", l1_ratio
        )
    X, y = _centered(X, y, fit_intercept)
    return float(np.max(np.linalg.norm(X.T @ y, axis=1))) / (len(y) * l1_ratio)


def _centered(X, y, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(X, np.ndarray):
        raise InvalidParameter("path", "X", "dense for several targets", type(X).__name__)
    X = X.astype(np.float64, copy=False)
    return (X - X.mean(axis=0), y - y.mean(axis=0)) if fit_intercept else (X, y)
