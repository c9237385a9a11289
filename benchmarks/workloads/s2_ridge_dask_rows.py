"""Ridge regression on Dask for 1, 2, 4 and 8 times the rows: variants show how time grows."""

from benchmarks.problems import ridge
from benchmarks.problems.partitions import in_partitions
from benchmarks.workload import OURS, Workload

workload = Workload(
    module=__name__,
    title="ridge on Dask, 1, 2, 4 and 8 times 100 000 x 50",
    recipe="the first rows of Gaussian X, y = x'w + noise + 5; alpha = 10, free intercept; partitions of 50 000 rows",
    seed=ridge.SEED,
    objective="sum of squares + alpha |w|^2",
    floor="time that grows with the rows",
    gate=None,
    sizes={"full": {"n": 800_000, "d": 50}, "quick": {"n": 80_000, "d": 20}, "warm": {"n": 800, "d": 5}},
    make=ridge.make,
    measure=ridge.measure,
)


@workload.solver(OURS, package="dask", variants=[{"eighths": k} for k in (1, 2, 4, 8)])
def surefit(data: ridge.RidgeData, eighths: int):
    from surefit import Ridge

    rows = len(data.X) * eighths // 8
    model = Ridge(ridge.ALPHA).fit(in_partitions(data.X[:rows]), in_partitions(data.y[:rows]))
    return model.coef_, model.intercept_


@workload.solver("surefit in memory", package="surefit", variants=[{"eighths": k} for k in (1, 2, 4, 8)], ranked=False)
def in_memory(data: ridge.RidgeData, eighths: int):
    from surefit import Ridge

    rows = len(data.X) * eighths // 8
    model = Ridge(ridge.ALPHA).fit(data.X[:rows], data.y[:rows])
    return model.coef_, model.intercept_
