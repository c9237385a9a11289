"""Predictions of a decision tree for many rows."""

from benchmarks.problems.prediction import SEED, Queries, fitted, in_onnxruntime, measure, queries
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="predictions of a decision tree, 100 000 x 20",
    recipe="fully grown tree fitted to 10 000 x 20 rows of l1 before the clock starts; labels of 100 000 new rows",
    seed=SEED,
    objective="error rate on the rows",
    floor="one pass over the rows, 16 MB, and about 15 levels per row from the cache: about 4 ms",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 100_000}, "quick": {"n": 2_000}, "warm": {"n": 500}},
    make=queries,
    measure=measure,
)


def _ours():
    from surefit import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def _scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


@workload.solver(OURS)
def surefit(data: Queries):
    return fitted(_ours).predict(data.X)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Queries):
    return fitted(_scikit_learn).predict(data.X)


@workload.solver("onnxruntime")
def onnxruntime(data: Queries):
    return in_onnxruntime(_scikit_learn, data)[0]
