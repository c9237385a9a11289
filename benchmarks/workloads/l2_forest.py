"""A random forest of 100 trees, grown to purity."""

from benchmarks.problems.tree import SEED, Labeled, make, measure
from benchmarks.workload import OURS, Gate, Workload

TREES = 100

workload = Workload(
    module=__name__,
    title="random forest, 100 trees, 100 000 x 30",
    recipe="as l1; bootstrap draws, the square root of the columns a split, grown to purity",
    seed=SEED,
    objective="error rate on 20 000 new rows",
    floor="histograms of 5 columns a node: about 2 to 4 s",
    gate=Gate("distance", 0.1, "test error above the least of the run, relative"),
    sizes={"full": {"n": 100_000, "d": 30}, "quick": {"n": 2_000, "d": 10}, "warm": {"n": 500, "d": 30}},
    make=make,
    measure=measure,
)


@workload.solver(OURS)
def surefit(data: Labeled):
    from surefit import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=0, n_jobs=-1).fit(data.X, data.y)


@workload.solver("scikit-learn-intelex", package="sklearnex")
def scikit_learn_intelex(data: Labeled):
    from sklearnex.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=0, n_jobs=-1).fit(data.X, data.y)


@workload.solver("LightGBM", package="lightgbm")
def lightgbm(data: Labeled):
    from lightgbm import LGBMClassifier

    options = {"subsample": 0.632, "subsample_freq": 1, "feature_fraction_bynode": 5 / data.X.shape[1], "verbose": -1}
    return LGBMClassifier(boosting_type="rf", n_estimators=TREES, num_leaves=512, **options).fit(data.X, data.y)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Labeled):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=0, n_jobs=-1).fit(data.X, data.y)
