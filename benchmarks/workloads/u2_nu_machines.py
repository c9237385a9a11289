"""Support vector machines with nu."""

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.problems.namesakes import SEED, Answer, Namesake, Rows, add_solvers, make, squares, total, wrong
from benchmarks.workload import Gate, Workload

TASKS = (
    Namesake("svm", "NuSVC", {"nu": 0.3}, "labels"),
    Namesake("svm", "NuSVR", {"nu": 0.5}, "numbers"),
    Namesake("svm", "OneClassSVM", {"nu": 0.1}),
)


def measure(data: Rows, answers: dict[str, Answer]):
    """The sum of the errors, and the squared norm of the one-class machine with coefficients of sum one."""
    model = answers["OneClassSVM"].model
    a, rows = np.ravel(model.dual_coef_) / np.sum(model.dual_coef_), model.support_vectors_
    K = np.exp(-cdist(rows, rows, "sqeuclidean") / (data.X.shape[1] * data.X.var()))
    return total(wrong(data, answers["NuSVC"].said), squares(data.numbers, answers["NuSVR"].said), float(a @ K @ a))


workload = Workload(
    module=__name__,
    title="NuSVC, NuSVR, OneClassSVM, RBF, 3 000 x 10",
    recipe="two overlapping Gaussian classes, a linear score with noise; nu 0.3, 0.5 and 0.1, default kernel",
    seed=SEED,
    objective="share of wrong labels, mean squared error, and squared norm of the one-class machine",
    floor="one kernel matrix of 72 MB for each, about 0.1 s",
    gate=Gate("distance", 0.05, "objective above the least of the run, relative"),
    sizes={"full": {"n": 3_000, "d": 10}, "quick": {"n": 500, "d": 10}, "warm": {"n": 200, "d": 5}},
    make=make,
    measure=measure,
)
add_solvers(workload, TASKS)
