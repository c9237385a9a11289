"""Predictions of a random forest for many rows."""

from benchmarks.problems.prediction import SEED, Queries, fitted, in_onnxruntime, measure, queries
from benchmarks.workload import OURS, Gate, Workload

TREES = 100

workload = Workload(
    module=__name__,
    title="predictions of a forest of 100 trees, 100 000 x 20",
    recipe="forest as in l2, fitted to 10 000 x 20 rows of l1 before the clock starts; labels of 100 000 new rows",
    seed=SEED,
    objective="error rate on the rows",
    floor="about 15 levels per tree and row, 2 ns each from the cache: about 0.3 s",
    gate=Gate("distance", 0.1, "error above the least of the run, relative"),
    sizes={"full": {"n": 100_000}, "quick": {"n": 2_000}, "warm": {"n": 500}},
    make=queries,
    measure=measure,
)


def _ours():
    from surefit import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=0, n_jobs=-1)


def _scikit_learn():
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=0, n_jobs=-1)


def _lightgbm():
    from lightgbm import LGBMClassifier

    options = {"subsample": 0.632, "subsample_freq": 1, "feature_fraction_bynode": 0.25, "verbose": -1}
    return LGBMClassifier(boosting_type="rf", n_estimators=TREES, num_leaves=1024, min_child_samples=1, **options)


def _xgboost():
    from xgboost import XGBRFClassifier

    return XGBRFClassifier(TREES, max_depth=0, max_leaves=1024, colsample_bynode=0.25, random_state=0)


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
