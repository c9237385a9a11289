"""Exact leave-one-out errors of ridge over a path of penalties, more features than rows."""

import numpy as np

from benchmarks.problems import ridge
from benchmarks.workload import OURS, Gate, Quality, Workload

ALPHAS = np.geomspace(1e-1, 1e5, 20)


def measure(data: ridge.RidgeData, answer) -> Quality:
    """Largest relative difference of the errors from those of an independent route."""
    exact = ridge.loo_errors(data, ALPHAS)
    return Quality(float(np.min(answer)), float(np.max(np.abs(np.asarray(answer) - exact) / exact)))


workload = Workload(
    module=__name__,
    title="ridge leave-one-out over 20 penalties, 1 000 x 5 000",
    recipe="Gaussian X, y = x'w + noise + 5; free intercept; penalties from 0.1 to 100 000",
    seed=ridge.SEED,
    objective="smallest mean squared leave-one-out error",
    floor="one product X X' and its eigenvectors",
    gate=Gate("gap", 1e-6, "largest relative difference from the errors by singular values"),
    sizes={"full": {"n": 1_000, "d": 5_000}, "quick": {"n": 100, "d": 500}, "warm": {"n": 20, "d": 40}},
    make=ridge.make,
    measure=measure,
)


@workload.solver(OURS)
def surefit(data: ridge.RidgeData):
    from surefit import RidgeCV

    return -RidgeCV(ALPHAS).fit(data.X, data.y).scores_


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: ridge.RidgeData):
    from sklearn.linear_model import RidgeCV

    return RidgeCV(ALPHAS, store_cv_results=True).fit(data.X, data.y).cv_results_.mean(axis=0)
