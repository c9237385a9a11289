"""Ten passes of Rosenblatt's rule over data that no hyperplane separates."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import OURS, Gate, Quality, Workload

SEED = 0
PASSES = 10


class Labeled(NamedTuple):
    """Rows, labels -1 and 1, and the exact weights (intercept last) after ten cyclic passes."""

    X: np.ndarray
    y: np.ndarray
    exact: np.ndarray


def make(n: int, d: int) -> Labeled:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d) / np.sqrt(d)
    y = np.sign(2 * X @ w + rng.logistic(size=n))
    return Labeled(X, y, rosenblatt(X, y, PASSES))


def rosenblatt(X: np.ndarray, y: np.ndarray, passes: int) -> np.ndarray:
    """Add y_i (x_i, 1) whenever y_i (w'x_i + b) <= 0, row by row, from zero: the definition, in plain NumPy."""
    rows = np.column_stack([X, np.ones(len(X))])
    weights = np.zeros(rows.shape[1])
    labels = y.tolist()
    for _ in range(passes):
        for row, label in zip(rows, labels, strict=True):
            if label * row.dot(weights) <= 0:
                weights += label * row
    return weights


def measure(data: Labeled, weights: np.ndarray) -> Quality:
    mistakes = data.y * (data.X @ weights[:-1] + weights[-1]) <= 0
    difference = np.abs(weights - data.exact).max() / np.abs(data.exact).max()
    return Quality(float(mistakes.mean()), float(difference))


workload = Workload(
    module=__name__,
    title="perceptron, 10 passes, 200 000 x 50",
    recipe="Gaussian X, labels sign(2 x'w + logistic noise); exactly 10 passes in the order of the rows, plain intercept",
    seed=SEED,
    objective="training error after the last pass",
    floor="10 passes of 80 MB, about 80 ms",
    gate=Gate("gap", 1e-9, "largest difference from the weights of the plain NumPy rule, relative"),
    sizes={"full": {"n": 200_000, "d": 50}, "quick": {"n": 2_000, "d": 20}, "warm": {"n": 500, "d": 10}},
    make=make,
    measure=measure,
)


def _weights(model) -> np.ndarray:
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))


@workload.solver(OURS)
def surefit(data: Labeled):
    from surefit import Perceptron

    return _weights(Perceptron(max_iter=PASSES, tol=None, shuffle=False).fit(data.X, data.y))


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Labeled):
    from sklearn.linear_model import Perceptron

    return _weights(Perceptron(max_iter=PASSES, tol=None, shuffle=False).fit(data.X, data.y))
