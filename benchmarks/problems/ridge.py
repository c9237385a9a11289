"""Ridge problems: data, and how good an answer is."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import Quality

SEED = 0
ALPHA = 10.0


class RidgeData(NamedTuple):
    """Rows and a target; the intercept is free."""

    X: np.ndarray
    y: np.ndarray


def make(n: int, d: int) -> RidgeData:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    return RidgeData(X, X @ (rng.standard_normal(d) / np.sqrt(d)) + rng.standard_normal(n) + 5)


def measure(data: RidgeData, answer) -> Quality:
    """Objective and ``|g|^2 / alpha``, a bound of its excess, over the null objective; the intercept is re-optimized."""
    w = np.asarray(answer[0]).ravel()
    r = data.y - data.X @ w
    r -= r.mean()
    slope = data.X.T @ r - ALPHA * w
    null = float(((data.y - data.y.mean()) ** 2).sum())
    return Quality(float(r @ r + ALPHA * w @ w), float(slope @ slope) / ALPHA / null)


def loo_errors(data: RidgeData, alphas: np.ndarray) -> np.ndarray:
    """Mean squared leave-one-out errors from the singular values of the centered rows: a route of its own."""
    Z, target = data.X - data.X.mean(axis=0), data.y - data.y.mean()
    U, values, _ = np.linalg.svd(Z, full_matrices=False)
    along, result = U.T @ target, []
    for alpha in alphas:
        share = values**2 / (values**2 + alpha)
        left = 1 - 1 / len(target) - (U**2) @ share
        result.append(np.mean(((target - U @ (share * along)) / left) ** 2))
    return np.array(result)
