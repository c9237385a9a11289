"""Predictions of six models, one row per call."""

import importlib

import numpy as np

from benchmarks.problems.prediction import SEED, Queries, by_row, fitted, measure, queries
from benchmarks.workload import OURS, Gate, Workload

ROWS = 500
#: Modules of scikit-learn and the classifiers in them; surefit's have the same names.
MODELS = {
    "linear_model": "LogisticRegression",
    "tree": "DecisionTreeClassifier",
    "ensemble": "RandomForestClassifier",
    "neighbors": "KNeighborsClassifier",
    "neural_network": "MLPClassifier",
    "gaussian_process": "GaussianProcessClassifier",
}
SEEDED = ("DecisionTreeClassifier", "RandomForestClassifier", "MLPClassifier")

workload = Workload(
    module=__name__,
    title="predictions of six classifiers, 100 single rows each",
    recipe=", ".join(MODELS.values())
    + ": fitted to 500 x 20 rows of l1 before the clock starts; 100 calls with one row each",
    seed=SEED,
    objective="mean error rate of the models on the rows",
    floor="validation of one row, 10 us per call: about 6 ms",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 100}, "quick": {"n": 30}, "warm": {"n": 5}},
    make=queries,
    measure=measure,
)


def _model(module: str, name: str):
    kind = getattr(importlib.import_module(module), name)
    return kind(random_state=0) if name in SEEDED else kind()


def _ours():
    return [_model("surefit", name) for name in MODELS.values()]


def _scikit_learn():
    return [_model(f"sklearn.{module}", name) for module, name in MODELS.items()]


@workload.solver(OURS)
def surefit(data: Queries):
    return np.stack([by_row(model, data) for model in fitted(_ours, ROWS)])


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Queries):
    return np.stack([by_row(model, data) for model in fitted(_scikit_learn, ROWS)])
