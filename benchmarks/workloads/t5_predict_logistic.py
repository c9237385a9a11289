"""Class probabilities of logistic regression for many rows."""

from benchmarks.problems.prediction import SEED, Queries, fitted, in_onnxruntime, measure, queries
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="probabilities of logistic regression, 100 000 x 20",
    recipe="LogisticRegression, C = 1, fitted to 10 000 x 20 rows of l1 before the clock starts; probabilities of 100 000 new rows",
    seed=SEED,
    objective="error rate on the rows",
    floor="one pass over the rows, 16 MB, and 100 000 exponentials: about 1 ms",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 100_000}, "quick": {"n": 2_000}, "warm": {"n": 500}},
    make=queries,
    measure=measure,
)


def _ours():
    from surefit import LogisticRegression

    return LogisticRegression()


def _scikit_learn():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def _intelex():
    from sklearnex.linear_model import LogisticRegression

    return LogisticRegression()


@workload.solver(OURS)
def surefit(data: Queries):
    return fitted(_ours).predict_proba(data.X)[:, 1]


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Queries):
    return fitted(_scikit_learn).predict_proba(data.X)[:, 1]


@workload.solver("scikit-learn-intelex", package="sklearnex")
def intelex(data: Queries):
    return fitted(_intelex).predict_proba(data.X)[:, 1]


@workload.solver("onnxruntime")
def onnxruntime(data: Queries):
    return in_onnxruntime(_scikit_learn, data)[1][:, 1]
