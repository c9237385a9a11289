"""Linear discriminant analysis of ten classes."""

from benchmarks.problems import discriminant
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="linear discriminant analysis, 100 000 x 100, 10 classes",
    recipe="Gaussian classes, means of deviation 0.3, scales from 0.7 to 1.3 a class and column; default parameters",
    seed=discriminant.SEED,
    objective="share of wrong predictions on 20 000 training rows",
    floor="one symmetric product X'X of 1 GF and one pass over 80 MB, about 0.02 s",
    gate=Gate("distance", 1e-3, "share of wrong predictions above the least of the run, relative"),
    sizes={"full": {"n": 100_000, "d": 100}, "quick": {"n": 5_000, "d": 20}, "warm": {"n": 1_000, "d": 5}},
    make=discriminant.make,
    measure=discriminant.measure,
)


@workload.solver(OURS)
def surefit(data: discriminant.LabeledRows):
    from surefit import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis().fit(data.X, data.y)


@workload.solver(
    "scikit-learn", package="sklearn", variants=[{"solver": "lsqr"}, {"solver": "eigen"}, {"solver": "svd"}]
)
def scikit_learn(data: discriminant.LabeledRows, solver: str):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(solver=solver).fit(data.X, data.y)
