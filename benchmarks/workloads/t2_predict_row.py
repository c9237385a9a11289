"""Predictions of a support vector machine, one row per call."""

from benchmarks.problems.prediction import SEED, Queries, by_row, fitted, measure, queries
from benchmarks.workload import OURS, Gate, Workload

ROWS = 2_000

workload = Workload(
    module=__name__,
    title="predictions of an SVC with a Gaussian kernel, 1 000 single rows",
    recipe="SVC, C = 1, gamma='scale', fitted to 2 000 x 20 rows of l1 before the clock starts; 1 000 calls with one row",
    seed=SEED,
    objective="error rate on the rows",
    floor="one pass over the support vectors per row, 20 us: about 0.02 s",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 1_000}, "quick": {"n": 100}, "warm": {"n": 10}},
    make=queries,
    measure=measure,
)


def _ours():
    from surefit import SVC

    return SVC()


def _scikit_learn():
    from sklearn.svm import SVC

    return SVC()


@workload.solver(OURS)
def surefit(data: Queries):
    return by_row(fitted(_ours, ROWS), data)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Queries):
    return by_row(fitted(_scikit_learn, ROWS), data)
