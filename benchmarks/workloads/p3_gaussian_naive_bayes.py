"""Gaussian naive Bayes of ten classes."""

from benchmarks.problems import discriminant
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="Gaussian naive Bayes, 100 000 x 100, 10 classes",
    recipe="Gaussian classes, means of deviation 0.3, scales from 0.7 to 1.3 a class and column; default parameters",
    seed=discriminant.SEED,
    objective="share of wrong predictions on 20 000 training rows",
    floor="one pass over 80 MB, about 0.01 s",
    gate=Gate("distance", 1e-3, "share of wrong predictions above the least of the run, relative"),
    sizes={"full": {"n": 100_000, "d": 100}, "quick": {"n": 5_000, "d": 20}, "warm": {"n": 1_000, "d": 5}},
    make=discriminant.make,
    measure=discriminant.measure,
)


@workload.solver(OURS)
def surefit(data: discriminant.LabeledRows):
    from surefit import GaussianNB

    return GaussianNB().fit(data.X, data.y)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: discriminant.LabeledRows):
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB().fit(data.X, data.y)
