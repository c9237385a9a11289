"""Gradient boosting with 100 trees of 31 leaves."""

from benchmarks.problems.tree import SEED, Labeled, make, measure
from benchmarks.workload import OURS, Gate, Workload

ROUNDS = 100

workload = Workload(
    module=__name__,
    title="gradient boosting, 100 trees, 200 000 x 30",
    recipe="as l1; logistic loss, 31 leaves, rate 0.1, 255 bins",
    seed=SEED,
    objective="error rate on 20 000 new rows",
    floor="about two passes of 6 million codes a tree: 1 s",
    gate=Gate("distance", 0.1, "test error above the least of the run, relative"),
    sizes={"full": {"n": 200_000, "d": 30}, "quick": {"n": 3_000, "d": 10}, "warm": {"n": 1_000, "d": 30}},
    make=make,
    measure=measure,
)


@workload.solver(OURS)
def surefit(data: Labeled):
    from surefit import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False, n_jobs=-1).fit(data.X, data.y)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Labeled):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False).fit(data.X, data.y)


@workload.solver("LightGBM", package="lightgbm")
def lightgbm(data: Labeled):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=ROUNDS, verbose=-1).fit(data.X, data.y)


@workload.solver("XGBoost", package="xgboost")
def xgboost(data: Labeled):
    from xgboost import XGBClassifier

    options = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "max_bin": 255}
    return XGBClassifier(n_estimators=ROUNDS, learning_rate=0.1, **options).fit(data.X, data.y)
