"""Extremely randomized trees, and AdaBoost for regression."""

from benchmarks.problems.namesakes import SEED, Answer, Namesake, Rows, add_solvers, make, squares, total, wrong
from benchmarks.workload import Gate, Workload

TREES = {"n_estimators": 50, "random_state": 0, "min_samples_leaf": 5}
TASKS = (
    Namesake("ensemble", "ExtraTreesClassifier", TREES, "labels"),
    Namesake("ensemble", "ExtraTreesRegressor", TREES, "numbers"),
    Namesake("ensemble", "AdaBoostRegressor", {"n_estimators": 50, "random_state": 0}, "numbers"),
)


def measure(data: Rows, answers: dict[str, Answer]):
    """The sum of the errors."""
    regressors = (answers[name].said for name in ("ExtraTreesRegressor", "AdaBoostRegressor"))
    return total(wrong(data, answers["ExtraTreesClassifier"].said), *(squares(data.numbers, s) for s in regressors))


workload = Workload(
    module=__name__,
    title="ExtraTrees, AdaBoostRegressor, 20 000 x 10",
    recipe="two overlapping Gaussian classes, a linear score with noise; 50 trees with leaves of at least 5 rows; 50 rounds",
    seed=SEED,
    objective="share of wrong labels and mean squared errors on a fifth of the training rows",
    floor="150 trees of 20 000 rows, about 1 s",
    gate=Gate("distance", 0.1, "objective above the least of the run, relative"),
    sizes={"full": {"n": 20_000, "d": 10}, "quick": {"n": 1_000, "d": 10}, "warm": {"n": 300, "d": 5}},
    make=make,
    measure=measure,
)
add_solvers(workload, TASKS)
