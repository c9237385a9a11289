"""Neighbors within a radius, nearest neighbors and kernel densities: fit and queries."""

import numpy as np

from benchmarks.problems.namesakes import SEED, Answer, Namesake, Rows, add_solvers, make, squares, total, wrong
from benchmarks.workload import Gate, Workload

TASKS = (
    Namesake("neighbors", "NearestNeighbors", {"n_neighbors": 10}, asked="kneighbors"),
    Namesake("neighbors", "RadiusNeighborsClassifier", {"radius": 1.5}, "labels"),
    Namesake("neighbors", "RadiusNeighborsRegressor", {"radius": 1.5}, "numbers"),
    Namesake("neighbors", "KernelDensity", {"bandwidth": 0.5}, asked="score_samples"),
)


def measure(data: Rows, answers: dict[str, Answer]):
    """The sum of the errors, of the mean distance of neighbors, and of the mean of minus the logarithms of the densities."""
    return total(
        float(np.mean(answers["NearestNeighbors"].said[0])),
        wrong(data, answers["RadiusNeighborsClassifier"].said),
        squares(data.numbers, answers["RadiusNeighborsRegressor"].said),
        -float(np.mean(answers["KernelDensity"].said)),
    )


workload = Workload(
    module=__name__,
    title="NearestNeighbors, RadiusNeighbors, KernelDensity, 10 000 x 5",
    recipe="two overlapping Gaussian classes; 10 neighbors, radius 1.5, bandwidth 0.5; a fifth of the rows as queries",
    seed=SEED,
    objective="mean distance, share of wrong labels, mean squared error and minus the mean log-density",
    floor="20 million distances four times, about 0.1 s",
    gate=Gate("distance", 1e-6, "objective above the least of the run, relative"),
    sizes={"full": {"n": 10_000, "d": 5}, "quick": {"n": 1_000, "d": 5}, "warm": {"n": 300, "d": 3}},
    make=make,
    measure=measure,
)
add_solvers(workload, TASKS)
