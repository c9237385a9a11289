"""Gradient boosting on Dask: the objective, the rounds and the leaves of XGBoost's and LightGBM's Dask interfaces."""

import numpy as np

from benchmarks.problems.partitions import client, in_partitions
from benchmarks.problems.tree import SEED, Labeled, make, measure
from benchmarks.workload import OURS, Gate, Workload

ROUNDS = 20

workload = Workload(
    module=__name__,
    title="gradient boosting on Dask, 20 trees, 200 000 x 30",
    recipe="as l1; logistic loss, 31 leaves, rate 0.1, 255 bins; partitions of 50 000 rows, two workers with a thread each, both warm",
    seed=SEED,
    objective="error rate on 20 000 new rows",
    floor="the same fit in memory",
    gate=Gate("distance", 0.1, "test error above the least of the run, relative"),
    sizes={"full": {"n": 200_000, "d": 30}, "quick": {"n": 3_000, "d": 10}, "warm": {"n": 120_000, "d": 30}},
    make=make,
    measure=measure,
)


class Votes:
    """Predictions of a booster for rows in memory."""

    def __init__(self, booster):
        self.booster = booster

    def predict(self, X):
        """Return the more probable class of each row."""
        return (self.booster.inplace_predict(X) > 0.5).astype(np.int64)


@workload.solver(OURS, package="dask")
def surefit(data: Labeled):
    from surefit import HistGradientBoostingClassifier

    client()
    model = HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False)
    return model.fit(in_partitions(data.X), in_partitions(data.y))


@workload.solver("LightGBM on Dask", package="lightgbm")
def lightgbm(data: Labeled):
    from lightgbm import DaskLGBMClassifier

    model = DaskLGBMClassifier(client=client(), n_estimators=ROUNDS, verbose=-1)
    return model.fit(in_partitions(data.X), in_partitions(data.y)).to_local()


@workload.solver("XGBoost on Dask", package="xgboost")
def xgboost(data: Labeled):
    from xgboost.dask import DaskXGBClassifier

    options = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "max_bin": 255}
    model = DaskXGBClassifier(n_estimators=ROUNDS, learning_rate=0.1, **options)
    model.client = client()
    return Votes(model.fit(in_partitions(data.X), in_partitions(data.y)).get_booster())


@workload.solver("surefit in memory", package="surefit", ranked=False)
def in_memory(data: Labeled):
    from surefit import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False, n_jobs=-1).fit(data.X, data.y)
