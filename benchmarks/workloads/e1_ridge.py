"""Ridge regression with many more rows than features."""

import numpy as np

from benchmarks.problems import ridge
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="ridge, 200 000 x 200",
    recipe="Gaussian X, y = x'w + noise + 5; alpha = 10, free intercept",
    seed=ridge.SEED,
    objective="sum of squares + alpha |w|^2",
    floor="one symmetric product X'X",
    gate=Gate("gap", 1e-12, "proved relative excess over the minimum"),
    sizes={"full": {"n": 200_000, "d": 200}, "quick": {"n": 20_000, "d": 50}, "warm": {"n": 500, "d": 5}},
    make=ridge.make,
    measure=ridge.measure,
)


@workload.solver(OURS)
def surefit(data: ridge.RidgeData):
    from surefit import Ridge

    model = Ridge(ridge.ALPHA).fit(data.X, data.y)
    return model.coef_, model.intercept_


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: ridge.RidgeData):
    from sklearn.linear_model import Ridge

    model = Ridge(ridge.ALPHA).fit(data.X, data.y)
    return model.coef_, model.intercept_


@workload.solver("scikit-learn-intelex", package="sklearnex")
def intelex(data: ridge.RidgeData):
    from sklearnex.linear_model import Ridge

    model = Ridge(ridge.ALPHA).fit(data.X, data.y)
    return model.coef_, model.intercept_


@workload.solver("NumPy normal equations", package="numpy", ranked=False)
def normal_equations(data: ridge.RidgeData):
    mean = data.X.mean(axis=0)
    Z = data.X - mean
    w = np.linalg.solve(Z.T @ Z + ridge.ALPHA * np.eye(Z.shape[1]), Z.T @ (data.y - data.y.mean()))
    return w, data.y.mean() - mean @ w
