r"""The lasso of the workloads: data, and the gap that judges an answer.

.. math:: P(w) = \frac{1}{2n}\|y - Xw\|^2 + \alpha\|w\|_1

Nothing here comes from surefit: the number that decides who passes must not be computed by one of the competitors.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.workload import Gate, Quality

GATE = Gate("gap", 1e-6, "duality gap at the returned coefficients / P(0)")


class LassoData(NamedTuple):
    """A design, a response and one penalty, or the decreasing penalties of a path."""

    X: Any  # Fortran-ordered array or CSC matrix: the layout that every solver here prefers
    y: np.ndarray
    alpha: Any


def correlated_gaussian(n: int, d: int, seed: int) -> np.ndarray:
    """Gaussian columns, each with half of its left neighbor added."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:, 1:] += 0.5 * X[:, :-1]
    return np.asfortranarray(X)


def text_like(n: int, d: int, draws: int, seed: int) -> sp.csc_matrix:
    """Rows like documents: ``draws`` words with Zipf popularity, log-normal weights, unit length."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(10, d + 10)
    columns = rng.choice(d, size=n * draws, p=popularity / popularity.sum())
    rows = np.repeat(np.arange(n), draws)
    X = sp.csr_matrix((rng.lognormal(size=n * draws), (rows, columns)), shape=(n, d))
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return (sp.diags(1 / lengths) @ X).tocsc()


def sparse_truth(X: Any, seed: int, active: int = 100) -> np.ndarray:
    """A centered response: a signal of unit variance on ``active`` columns, plus noise of standard deviation 0.3."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    w = np.zeros(d)
    w[rng.choice(d, active, replace=False)] = rng.standard_normal(active)
    y = X @ w
    y = y / y.std() + 0.3 * rng.standard_normal(n)
    return y - y.mean()


def largest_alpha(X: Any, y: np.ndarray) -> float:
    """The least penalty at which every coefficient is zero."""
    return float(np.abs(X.T @ y).max() / len(y))


def objective(data: LassoData, w: np.ndarray) -> float:
    """P(w)."""
    residual = data.y - data.X @ w
    return float(residual @ residual / (2 * len(data.y)) + data.alpha * np.abs(w).sum())


def dual_objective(data: LassoData, residual: np.ndarray) -> float:
    r"""The dual value of the best feasible multiple of the residual.

    :math:`D(\theta) = (\|y\|^2 - \|y - \theta\|^2) / 2n` over :math:`\|X^\top\theta\|_\infty \le n\alpha`. Along
    :math:`\theta = s r` it is a parabola in s, so its best feasible s is a clipped quotient.
    """
    X, y, alpha = data
    n, correlation, energy = len(y), np.abs(X.T @ residual).max(), residual @ residual
    if energy == 0.0:
        return 0.0
    bound = n * alpha / correlation if correlation > 0 else np.inf
    theta = np.clip(y @ residual / energy, -bound, bound) * residual
    return float((y @ y - (y - theta) @ (y - theta)) / (2 * n))


def relative_gap(data: LassoData, w: np.ndarray) -> float:
    """(P(w) - D) / P(0): no answer is further from the optimum than this, whatever solver it came from."""
    null = data.y @ data.y / (2 * len(data.y))
    return (objective(data, w) - dual_objective(data, data.y - data.X @ w)) / null


def quality(data: LassoData, w: np.ndarray) -> Quality:
    """Of one fit."""
    w = np.asarray(w, dtype=float).ravel()
    return Quality(objective(data, w), relative_gap(data, w))


def path_quality(data: LassoData, coefs: np.ndarray) -> Quality:
    """Of a path with one column a penalty: the mean objective and the *largest* gap."""
    fits = [quality(data._replace(alpha=alpha), w) for alpha, w in zip(data.alpha, np.asarray(coefs).T, strict=True)]
    return Quality(float(np.mean([fit.objective for fit in fits])), max(fit.gap for fit in fits))
