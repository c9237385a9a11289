"""Predictions of gradient boosting for many rows."""

from benchmarks.problems.prediction import SEED, Queries, fitted, in_onnxruntime, measure, queries
from benchmarks.workload import OURS, Gate, Workload

ROUNDS, LEAVES = 100, 31

workload = Workload(
    module=__name__,
    title="predictions of gradient boosting with 100 trees, 100 000 x 20",
    recipe="100 rounds of trees with 31 leaves, fitted to 10 000 x 20 rows of l1 before the clock starts; labels of 100 000 new rows",
    seed=SEED,
    objective="error rate on the rows",
    floor="binning of the rows, 15 ms, and 20 sets of leaves for each of 100 trees: about 40 ms",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 100_000}, "quick": {"n": 2_000}, "warm": {"n": 500}},
    make=queries,
    measure=measure,
)


def _ours():
    from surefit import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=ROUNDS, max_leaf_nodes=LEAVES, early_stopping=False, n_jobs=-1)


def _scikit_learn():
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=ROUNDS, max_leaf_nodes=LEAVES, early_stopping=False)


def _lightgbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=ROUNDS, num_leaves=LEAVES, verbose=-1)


def _xgboost():
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=ROUNDS, learning_rate=0.1, max_leaves=LEAVES, max_depth=0, grow_policy="lossguide"
    )


@workload.solver(OURS)
def surefit(data: Queries):
    return fitted(_ours).predict(data.X)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Queries):
    return fitted(_scikit_learn).predict(data.X)


@workload.solver("LightGBM", package="lightgbm")
def lightgbm(data: Queries):
    return fitted(_lightgbm).predict(data.X)


@workload.solver("XGBoost", package="xgboost")
def xgboost(data: Queries):
    return fitted(_xgboost).predict(data.X)


@workload.solver("onnxruntime")
def onnxruntime(data: Queries):
    return in_onnxruntime(_scikit_learn, data)[0]
