"""Predictions of a support vector machine for many rows."""

from benchmarks.problems.prediction import SEED, Queries, fitted, in_onnxruntime, measure, queries
from benchmarks.workload import OURS, Gate, Workload

ROWS = 2_000

workload = Workload(
    module=__name__,
    title="predictions of an SVC with a Gaussian kernel, 20 000 x 20",
    recipe="SVC, C = 1, gamma='scale', fitted to 2 000 x 20 rows of l1 before the clock starts; labels of 20 000 new rows",
    seed=SEED,
    objective="error rate on the rows",
    floor="about 1 000 exponentials per row, 1 ns each: about 0.02 s",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 20_000}, "quick": {"n": 1_000}, "warm": {"n": 100}},
    make=queries,
    measure=measure,
)


def _ours():
    from surefit import SVC

    return SVC(n_jobs=-1)


def _scikit_learn():
    from sklearn.svm import SVC

    return SVC()


def _intelex():
    from sklearnex.svm import SVC

    return SVC()


@workload.solver(OURS)
def surefit(data: Queries):
    return fitted(_ours, ROWS).predict(data.X)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Queries):
    return fitted(_scikit_learn, ROWS).predict(data.X)


@workload.solver("scikit-learn-intelex", package="sklearnex")
def intelex(data: Queries):
    return fitted(_intelex, ROWS).predict(data.X)


@workload.solver("onnxruntime")
def onnxruntime(data: Queries):
    return in_onnxruntime(_scikit_learn, data, ROWS)[0]
