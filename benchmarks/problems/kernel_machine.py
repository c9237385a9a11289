r"""The kernel machines of the workloads: data, the dual that judges an answer, and how each package is called.

An answer is the dual vector as support rows and coefficients. Its quality is minus the dual value,
:math:`\tfrac12 \beta^\top K \beta + \varepsilon \|\beta\|_1 - y^\top\beta`, computed from the data alone.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import OURS, Gate, Quality, Workload

BLOCK = 1_000


class KernelData(NamedTuple):
    """Rows, targets (labels -1 and 1 for a classifier), width of the Gaussian kernel, and half-width of the tube."""

    X: np.ndarray
    y: np.ndarray
    gamma: float
    epsilon: float | None = None


class Answer(NamedTuple):
    """Rows that carry weight, and their coefficients."""

    support: np.ndarray
    coefficients: np.ndarray


def gate(limit: float) -> Gate:
    """Gate on the distance from the best dual value."""
    return Gate("distance", limit, "dual value below the best one of the run / best")


def curved_classes(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows, labels of a curved boundary with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + 5_000, d))
    curve = np.sin(X[:, 0] * 1.5) + X[:, 1] * X[:, 2] * 0.5 + 0.5 * (X[:, 3:6] ** 2).sum(1) - 1.5
    y = np.sign(curve + 0.5 * rng.standard_normal(n + 5_000))
    return X[:n], y[:n]


def measure(data: KernelData, answer: Answer) -> Quality:
    """Minus the dual value; coefficients outside their box, or with a sum that is not zero, are no answer."""
    beta, rows = answer.coefficients, data.X[answer.support]
    if np.max(np.abs(beta), initial=0.0) > 1 + 1e-6 or abs(beta.sum()) > 1e-4 * len(data.y):
        return Quality(None)
    norms, total = (rows**2).sum(1), 0.0
    for start in range(0, len(beta), BLOCK):
        part = slice(start, start + BLOCK)
        distances = norms[part, None] + norms - 2 * rows[part] @ rows.T
        total += beta[part] @ (np.exp(-data.gamma * np.maximum(distances, 0)) @ beta)
    tube = (data.epsilon or 0.0) * np.abs(beta).sum()
    return Quality(float(total / 2 + tube - beta @ data.y[answer.support]))


def register(workload: Workload) -> None:
    """Add the solvers."""
    workload.solver(OURS, variants=[{"tol": t} for t in (1e-2, 3e-3, 1e-3, 1e-4)])(surefit)
    sizes = [{"cache_size": 200}, {"cache_size": 4_000}]
    workload.solver("scikit-learn", package="sklearn", variants=sizes)(scikit_learn)
    workload.solver("scikit-learn-intelex", package="sklearnex", variants=sizes)(intelex)


def _answer(model, data: KernelData) -> Answer:
    return Answer(np.asarray(model.support_), np.asarray(model.dual_coef_).ravel())


def surefit(data: KernelData, tol: float) -> Answer:
    from surefit import SVC, SVR

    options = {"gamma": data.gamma, "tol": tol, "n_jobs": -1}
    model = SVC(**options) if data.epsilon is None else SVR(epsilon=data.epsilon, **options)
    return _answer(model.fit(data.X, data.y), data)


def scikit_learn(data: KernelData, cache_size: int) -> Answer:
    from sklearn.svm import SVC, SVR

    return _fit(SVC, SVR, data, cache_size)


def intelex(data: KernelData, cache_size: int) -> Answer:
    from sklearnex.svm import SVC, SVR

    return _fit(SVC, SVR, data, cache_size)


def _fit(classifier, regressor, data: KernelData, cache_size: int) -> Answer:
    options = {"gamma": data.gamma, "cache_size": cache_size}
    model = classifier(**options) if data.epsilon is None else regressor(epsilon=data.epsilon, **options)
    return _answer(model.fit(data.X, data.y), data)
