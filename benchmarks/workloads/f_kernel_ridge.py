"""Kernel ridge regression, Gaussian kernel, n = 5 000."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import OURS, Gate, Quality, Workload

SEED, ALPHA, BLOCK = 0, 1.0, 500


class KernelRidgeData(NamedTuple):
    """Rows, targets, and width of the kernel."""

    X: np.ndarray
    y: np.ndarray
    gamma: float


def make(n: int, d: int) -> KernelRidgeData:
    """Gaussian rows, a smooth function of them, and noise."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    return KernelRidgeData(X, y, 1 / d)


def measure(data: KernelRidgeData, c: np.ndarray) -> Quality:
    """Objective, and the gap |y - K c - alpha c|^2 relative to it, with distances from differences."""
    squares, fitted = (data.X**2).sum(1), np.empty(len(data.y))
    for start in range(0, len(fitted), BLOCK):
        part = slice(start, start + BLOCK)
        distances = squares[part, None] + squares - 2 * data.X[part] @ data.X.T
        fitted[part] = np.exp(-data.gamma * np.maximum(distances, 0)) @ c
    residual = data.y - fitted
    objective = float(residual @ residual + ALPHA * c @ fitted)
    return Quality(objective, float(np.sum((residual - ALPHA * c) ** 2)) / objective)


workload = Workload(
    module=__name__,
    title="kernel ridge, Gaussian kernel, 5 000 x 20",
    recipe="Gaussian X, smooth function + noise; alpha = 1, gamma = 1/d",
    seed=SEED,
    objective="sum of squares + alpha |f|^2",
    floor="the Gram matrix and one Cholesky factor",
    gate=Gate("gap", 1e-12, "proved relative excess over the minimum"),
    sizes={"full": {"n": 5_000, "d": 20}, "quick": {"n": 1_000, "d": 10}, "warm": {"n": 300, "d": 5}},
    make=make,
    measure=measure,
)


@workload.solver(OURS)
def surefit(data: KernelRidgeData) -> np.ndarray:
    from surefit import KernelRidge

    return KernelRidge(ALPHA, kernel="rbf", gamma=data.gamma).fit(data.X, data.y).dual_coef_


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: KernelRidgeData) -> np.ndarray:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(alpha=ALPHA, kernel="rbf", gamma=data.gamma).fit(data.X, data.y).dual_coef_
