"""Per-feature penalty factors, reduced to equal penalties by rescaling the columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.budget import Budget
from surefit.core.threads import one_blas_thread
from surefit.losses import Squared
from surefit.solvers.barrier import PenaltyTerms, minimize
from surefit.solvers.least_squares import Solution

STEPS = 100  # maximum number of Newton steps; for the squared error a few are enough
TOL = 1e-14


class Rescaled(NamedTuple):
    """Columns with finite factors, each divided by the square root of its factor (l1 penalty: by its factor)."""

    X: Any
    kept: np.ndarray
    scale: np.ndarray
    n_features: int

    def outward(self, W: np.ndarray) -> np.ndarray:
        """Return the coefficients of all original columns, one row per score; those of excluded columns are zero."""
        full = np.zeros((len(W), self.n_features))
        full[:, self.kept] = W / self.scale
        return full

    def inward(self, W: np.ndarray) -> np.ndarray:
        """Invert :meth:`outward`."""
        return W[:, self.kept] * self.scale


def rescaled(X: Any, factors: np.ndarray, power: float) -> Rescaled:
    """Divide the columns by ``factors ** power`` and drop those with infinite factors; no factor may be zero."""
    kept = np.flatnonzero(np.isfinite(factors))
    scale = factors[kept] ** power
    part = X[:, kept]
    if sparse.issparse(part):
        part = (part @ sparse.diags_array(1.0 / scale)).asformat(X.format)
    else:
        part = np.asarray(part, dtype=np.float64) / scale
    return Rescaled(part, kept, scale, X.shape[1])


def solve_with_factors(data: Any, alphas: np.ndarray, factors: np.ndarray, centered: bool, positive: bool, solve_each):
    """Solve ridge regression with penalty factors; with unpenalized columns, by Newton's method for each target."""
    if not np.any(factors[np.isfinite(factors)] > 0):  # nothing is penalized
        factors, alphas = np.where(np.isinf(factors), np.inf, 1.0), np.zeros(len(alphas))
    if np.all(factors > 0):
        columns = rescaled(data.X, factors, 0.5)
        found: Solution = solve_each(data._replace(X=columns.X), alphas, centered, positive)
        mean = np.zeros(data.X.shape[1])
        mean[columns.kept] = found.x_mean * columns.scale
        return found._replace(coef=columns.outward(found.coef.T).T, x_mean=mean)
    n, d = data.X.shape
    weights = np.ones(n) if data.weights is None else data.weights
    l1, finite = np.where(np.isinf(factors), np.inf, 0.0), np.where(np.isinf(factors), 0.0, factors)
    W, b, steps = np.zeros((d, len(alphas))), np.zeros(len(alphas)), 1
    for k, (alpha, y) in enumerate(zip(alphas, data.Y.T, strict=True)):
        terms = PenaltyTerms(l1, 2 * alpha * finite, positive, None)
        with Budget(STEPS, None, None) as budget, one_blas_thread():
            part = minimize(
                data.X, y, 2 * weights, Squared(), terms, intercept=centered, tol=TOL, budget=budget
            )  # fmt: skip
        W[:, k], b[k], steps = part.coef, part.intercept, max(steps, part.n_iter)
    squares = weights @ (data.Y - np.asarray(data.X @ W) - b) ** 2
    nothing = np.empty(0)
    return Solution(W, b, squares, d, nothing, None, np.zeros(d), float(weights.sum()), "Newton's method", steps)
