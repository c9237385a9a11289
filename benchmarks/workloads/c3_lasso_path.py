"""A path of 100 lassos on the design of c1: warm starts and sequential screening."""

import numpy as np

from benchmarks.problems import lasso
from benchmarks.problems.lasso_solvers import OUR_TOLERANCES, TOLERANCES
from benchmarks.workload import OURS, Workload

SEED = 0


def make(n: int, d: int, points: int) -> lasso.LassoData:
    X = lasso.correlated_gaussian(n, d, SEED)
    y = lasso.sparse_truth(X, SEED + 1)
    return lasso.LassoData(X, y, lasso.largest_alpha(X, y) * np.logspace(0, -2, points))


workload = Workload(
    module=__name__,
    title="lasso path, 100 alphas, dense 1 000 x 20 000",
    recipe="data of c1; 100 alphas, log-spaced from alpha_max to alpha_max / 100; no intercept",
    seed=SEED,
    objective="mean over the path of |y - Xw|^2 / (2n) + alpha |w|_1",
    floor="100 passes X'r are about 1 s; sequential screening can go below",
    gate=lasso.GATE._replace(meaning="largest duality gap along the path / P(0)"),
    sizes={
        "full": {"n": 1_000, "d": 20_000, "points": 100},
        "quick": {"n": 100, "d": 400, "points": 10},
        "warm": {"n": 50, "d": 200, "points": 5},
    },
    make=make,
    measure=lasso.path_quality,
)


@workload.solver(OURS, variants=OUR_TOLERANCES)
def surefit(data: lasso.LassoData, tol: float):
    from surefit import lasso_path

    return lasso_path(data.X, data.y, alphas=data.alpha, tol=tol)[1]


@workload.solver("scikit-learn", package="sklearn", variants=TOLERANCES)
def scikit_learn(data: lasso.LassoData, tol: float):
    from sklearn.linear_model import lasso_path

    return lasso_path(data.X, data.y, alphas=data.alpha, tol=tol, max_iter=100_000, copy_X=False)[1]


@workload.solver("scikit-learn lars", package="sklearn")
def scikit_learn_lars(data: lasso.LassoData):
    from sklearn.linear_model import lars_path

    # The path is linear between its knots, so interpolating it loses nothing.
    knots, _, coefs = lars_path(data.X, data.y, method="lasso", alpha_min=data.alpha[-1], max_iter=100_000)
    return np.array([np.interp(-data.alpha, -knots, coef) for coef in coefs])


@workload.solver("celer", variants=TOLERANCES)
def celer(data: lasso.LassoData, tol: float):
    from celer import celer_path

    return celer_path(data.X, data.y, pb="lasso", alphas=data.alpha, tol=tol, max_iter=1_000)[1]


@workload.solver("skglm", variants=TOLERANCES)
def skglm(data: lasso.LassoData, tol: float):
    from skglm import Lasso

    return Lasso(fit_intercept=False, tol=tol, max_iter=1_000).path(data.X, data.y, data.alpha)[1]
