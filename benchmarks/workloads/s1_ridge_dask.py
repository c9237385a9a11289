"""Ridge regression on a Dask array with the threads of this machine, against the same fit in memory."""

from benchmarks.problems import ridge
from benchmarks.problems.partitions import in_partitions
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="ridge on Dask, 800 000 x 50",
    recipe="Gaussian X, y = x'w + noise + 5; alpha = 10, free intercept; partitions of 50 000 rows",
    seed=ridge.SEED,
    objective="sum of squares + alpha |w|^2",
    floor="the same fit in memory",
    gate=Gate("gap", 1e-12, "proved relative excess over the minimum"),
    sizes={"full": {"n": 800_000, "d": 50}, "quick": {"n": 100_000, "d": 20}, "warm": {"n": 500, "d": 5}},
    make=ridge.make,
    measure=ridge.measure,
)


@workload.solver(OURS, package="dask")
def surefit(data: ridge.RidgeData):
    from surefit import Ridge

    model = Ridge(ridge.ALPHA).fit(in_partitions(data.X), in_partitions(data.y))
    return model.coef_, model.intercept_


@workload.solver("dask-ml", package="dask_ml")
def dask_ml(data: ridge.RidgeData):
    from dask_ml.linear_model import LinearRegression

    model = LinearRegression(penalty="l2", C=1 / ridge.ALPHA).fit(in_partitions(data.X), in_partitions(data.y))
    return model.coef_, model.intercept_


@workload.solver("surefit in memory", package="surefit", ranked=False)
def in_memory(data: ridge.RidgeData):
    from surefit import Ridge

    model = Ridge(ridge.ALPHA).fit(data.X, data.y)
    return model.coef_, model.intercept_
