"""Fits to a hundred rows, as in cross-validation on small data: what a fit costs before the data matter."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import OURS, Gate, Quality, Workload

SEED = 0
FITS = 50
#: Where scikit-learn has an estimator, its parameters, and its target: a field of the data.
ESTIMATORS: dict[str, tuple[str, dict[str, Any], str]] = {
    "LinearRegression": ("linear_model", {}, "numbers"),
    "Ridge": ("linear_model", {}, "numbers"),
    "Lasso": ("linear_model", {"alpha": 0.1}, "numbers"),
    "LogisticRegression": ("linear_model", {}, "labels"),
    "LinearSVC": ("svm", {}, "labels"),
    "LinearSVR": ("svm", {}, "numbers"),
    "SVC": ("svm", {}, "labels"),
    "SVR": ("svm", {}, "numbers"),
    "LinearDiscriminantAnalysis": ("discriminant_analysis", {}, "labels"),
    "QuadraticDiscriminantAnalysis": ("discriminant_analysis", {}, "labels"),
    "GaussianNB": ("naive_bayes", {}, "labels"),
    "DecisionTreeClassifier": ("tree", {"random_state": 0}, "labels"),
    "DecisionTreeRegressor": ("tree", {"random_state": 0}, "numbers"),
    "KNeighborsClassifier": ("neighbors", {}, "labels"),
    "KernelRidge": ("kernel_ridge", {"kernel": "rbf"}, "numbers"),
    "KMeans": ("cluster", {"n_clusters": 4, "n_init": 1, "random_state": 0}, "labels"),
    "PCA": ("decomposition", {}, "labels"),
}
TASKS = [{"estimator": name} for name in ESTIMATORS]


class Small(NamedTuple):
    """A few rows with a number and a class each."""

    X: np.ndarray
    numbers: np.ndarray
    labels: np.ndarray


def make(n: int, d: int) -> Small:
    """Draw Gaussian rows, a linear target with noise, and its sign."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    numbers = X @ np.linspace(1.0, -1.0, d) + rng.standard_normal(n)
    return Small(X, numbers, (numbers > 0).astype(np.int64))


def measure(data: Small, model: Any) -> Quality:
    """The mean squared error or error rate on the rows; scatter around centers, or variances of components relative to the whole."""
    if hasattr(model, "inertia_"):
        return Quality(model.inertia_ / len(data.X))
    if not hasattr(model, "predict"):
        return Quality(float(model.explained_variance_.sum() / np.var(data.X, axis=0, ddof=1).sum()))
    target = getattr(data, ESTIMATORS[type(model).__name__][2])
    return Quality(float(np.mean((model.predict(data.X) - target) ** 2)))


workload = Workload(
    module=__name__,
    title=f"{FITS} fits of each estimator to 100 x 10",
    recipe="Gaussian X, y = x'w + noise, classes by the sign of y; default parameters; the proof is part of the fit except in the "
    "reference, where it waits for its first reader, as in every usual fit of this size",
    seed=SEED,
    objective="error on the rows, task by task",
    floor="validation of the input and one small solve, about 0.1 ms a fit",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 100, "d": 10}, "quick": {"n": 50, "d": 3}, "warm": {"n": 100, "d": 10}},
    make=make,
    measure=measure,
    tasks=True,
)


def _fits(kind: type, estimator: str, data: Small):
    _, parameters, target = ESTIMATORS[estimator]
    for _ in range(FITS):
        model = kind(**parameters).fit(data.X, getattr(data, target))
    return model


@workload.solver(OURS, variants=TASKS)
def surefit(data: Small, estimator: str):
    import surefit

    return _fits(getattr(surefit, estimator), estimator, data)


@workload.solver("scikit-learn", package="sklearn", variants=TASKS)
def scikit_learn(data: Small, estimator: str):
    module = import_module(f"sklearn.{ESTIMATORS[estimator][0]}")
    return _fits(getattr(module, estimator), estimator, data)


# The harness makes the proof part of the fits of the solver named surefit only.
workload.solver("surefit (proof when read)", package="surefit", variants=TASKS, ranked=False)(surefit)
