"""AdaBoost with 200 stumps."""

from benchmarks.problems.tree import SEED, Labeled, make, measure
from benchmarks.workload import OURS, Gate, Workload

ROUNDS = 200

workload = Workload(
    module=__name__,
    title="AdaBoost, 200 stumps, 50 000 x 30",
    recipe="as l1; 200 rounds",
    seed=SEED,
    objective="error rate on 20 000 new rows",
    floor="sorted columns: 200 scans of 1.5 million entries, about 0.3 s",
    gate=Gate("distance", 0.1, "test error above the least of the run, relative"),
    sizes={"full": {"n": 50_000, "d": 30}, "quick": {"n": 2_000, "d": 10}, "warm": {"n": 500, "d": 30}},
    make=make,
    measure=measure,
)


@workload.solver(OURS)
def surefit(data: Labeled):
    from surefit import AdaBoostClassifier

    return AdaBoostClassifier(n_estimators=ROUNDS).fit(data.X, data.y)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Labeled):
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(n_estimators=ROUNDS, random_state=0).fit(data.X, data.y)


@workload.solver("LightGBM (logistic loss)", package="lightgbm")
def lightgbm(data: Labeled):
    from lightgbm import LGBMClassifier

    options = {"num_leaves": 2, "learning_rate": 0.5, "verbose": -1}
    return LGBMClassifier(n_estimators=ROUNDS, **options).fit(data.X, data.y)
