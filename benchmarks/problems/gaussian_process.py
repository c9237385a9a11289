"""Gaussian-process problems: hyper-parameters that maximize the evidence, judged by the evidence itself.

The judge computes the log evidence of the answer's hyper-parameters anew, with one dense factorisation for regression and scikit-learn's
Laplace approximation for classification, so that no package marks its own paper.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from benchmarks.workload import Quality

SEED = 0


class ProcessData(NamedTuple):
    """Rows, and targets or labels."""

    X: np.ndarray
    y: np.ndarray


class Hyperparameters(NamedTuple):
    """Of the kernel ``variance * exp(-|x - x'|^2 / (2 length^2))``, and the variance of the noise."""

    variance: float
    length: float
    noise: float = 0.0


def make_regression(n: int) -> ProcessData:
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-3, 3, (n, 2))
    return ProcessData(X, np.sin(X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.standard_normal(n))


def make_classification(n: int) -> ProcessData:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, 2))
    return ProcessData(X, (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0).astype(int))


def measure_regression(data: ProcessData, answer: Hyperparameters) -> Quality:
    """Minus the log evidence a row."""
    squares = np.sum(data.X**2, axis=1)
    K = np.exp(-np.maximum(squares[:, None] + squares - 2 * data.X @ data.X.T, 0.0) / (2 * answer.length**2))
    K = answer.variance * K + (answer.noise + 1e-10) * np.eye(len(K))
    L = linalg.cholesky(K, lower=True)
    part = linalg.solve_triangular(L, data.y, lower=True)
    value = 0.5 * part @ part + np.sum(np.log(np.diag(L))) + 0.5 * len(K) * np.log(2 * np.pi)
    return Quality(float(value / len(K)))


def measure_classification(data: ProcessData, answer: Hyperparameters) -> Quality:
    """Minus the log evidence of Laplace's approximation a row."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    kernel = ConstantKernel(answer.variance) * RBF(answer.length)
    judge = GaussianProcessClassifier(kernel, optimizer=None).fit(data.X, data.y)
    return Quality(float(-judge.log_marginal_likelihood_value_ / len(data.y)))
