"""The first fit of common estimators after installation, each in a new interpreter: nothing compiled yet."""

import tempfile

from benchmarks.problems import fresh_interpreter
from benchmarks.workload import OURS, Gate, Quality, Workload
from benchmarks.workloads.q2_first_fit import cache_folder

#: Where scikit-learn has an estimator, and its target.
ESTIMATORS = {
    "LassoCV": ("linear_model", "numbers"),
    "Ridge": ("linear_model", "numbers"),
    "LogisticRegression": ("linear_model", "labels"),
    "LinearDiscriminantAnalysis": ("discriminant_analysis", "labels"),
    "LinearSVC": ("svm", "labels"),
    "SVC": ("svm", "labels"),
    "KernelRidge": ("kernel_ridge", "numbers"),
    "KNeighborsClassifier": ("neighbors", "labels"),
    "DecisionTreeClassifier": ("tree", "labels"),
    "RandomForestClassifier": ("ensemble", "labels"),
    "HistGradientBoostingClassifier": ("ensemble", "labels"),
    "AdaBoostClassifier": ("ensemble", "labels"),
    "GaussianProcessRegressor": ("gaussian_process", "numbers"),
    "MLPClassifier": ("neural_network", "labels"),
    "KMeans": ("cluster", "numbers"),
    "GaussianMixture": ("mixture", "numbers"),
}
TASKS = [{"estimator": name} for name in ESTIMATORS]

workload = Workload(
    module=__name__,
    title="import and first fit of sixteen estimators, new interpreters",
    recipe="wall time of `python -c`: import, fit to 100 x 10, default parameters, every run with an empty NUMBA_CACHE_DIR; in the "
    "reference, the cache was filled by the warm-up",
    seed=fresh_interpreter.SEED,
    objective="minus the score on the rows, task by task",
    floor="import of the package (q1)",
    gate=Gate("distance", 0.2, "score below the best of the run, relative"),
    sizes={"full": {}, "quick": {}, "warm": {}},
    make=lambda: None,
    measure=lambda data, score: Quality(-score),
    in_process=False,
    tasks=True,
)


def _score(module: str, estimator: str, cache: str) -> float:
    target = ESTIMATORS[estimator][1]
    code = f"""
import numpy as np
rng = np.random.default_rng({fresh_interpreter.SEED})
X = rng.standard_normal((100, 10))
numbers = X @ np.linspace(1.0, -1.0, 10) + rng.standard_normal(100)
labels = (numbers > 0).astype(np.int64)
from {module} import {estimator}
model = {estimator}().fit(X, {target})
print(model.score(X, {target}))
"""
    return float(fresh_interpreter.run(code, module, {"NUMBA_CACHE_DIR": cache}).splitlines()[-1])


@workload.solver(OURS, variants=TASKS)
def surefit(data: None, estimator: str):
    with tempfile.TemporaryDirectory(prefix="numba-cache-") as cache:
        return _score("surefit", estimator, cache)


@workload.solver("scikit-learn", package="sklearn", variants=TASKS)
def scikit_learn(data: None, estimator: str):
    return _score(f"sklearn.{ESTIMATORS[estimator][0]}", estimator, cache_folder())


@workload.solver("surefit (compiled)", package="surefit", variants=TASKS, ranked=False)
def compiled(data: None, estimator: str):
    return _score("surefit", estimator, cache_folder())
