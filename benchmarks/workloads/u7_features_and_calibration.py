"""Features of a Gaussian kernel, and calibrated probabilities."""

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.problems.namesakes import SEED, Answer, Namesake, Rows, add_solvers, make, total
from benchmarks.workload import Gate, Workload

GAMMA, CHECKED = 0.05, 500
FEATURES = {"gamma": GAMMA, "n_components": 200, "random_state": 0}
TASKS = (
    Namesake("kernel_approximation", "Nystroem", FEATURES, asked="transform"),
    Namesake("kernel_approximation", "RBFSampler", FEATURES, asked="transform"),
    Namesake("calibration", "CalibratedClassifierCV", {}, "labels", asked="predict_proba"),
)


def measure(data: Rows, answers: dict[str, Answer]):
    """The mean errors of the kernel at pairs of queries, and the Brier score."""
    K = np.exp(-GAMMA * cdist(data.queries[:CHECKED], data.queries[:CHECKED], "sqeuclidean"))
    features = (answers[name].said[:CHECKED] for name in ("Nystroem", "RBFSampler"))
    errors = (float(np.mean(np.abs(K - Z @ Z.T))) for Z in features)
    chances = answers["CalibratedClassifierCV"].said[:, 1]
    return total(*errors, float(np.mean((chances - data.labels[: len(chances)]) ** 2)))


workload = Workload(
    module=__name__,
    title="Nystroem, RBFSampler, CalibratedClassifierCV, 10 000 x 10",
    recipe="two overlapping Gaussian classes; 200 features of a Gaussian kernel with gamma 0.05; sigmoid calibration in five folds",
    seed=SEED,
    objective="mean errors of the kernel at pairs of rows, and the Brier score",
    floor="2 million kernel values twice and five linear fits, about 0.1 s",
    gate=Gate("distance", 0.05, "objective above the least of the run, relative"),
    sizes={"full": {"n": 10_000, "d": 10}, "quick": {"n": 1_000, "d": 10}, "warm": {"n": 300, "d": 5}},
    make=make,
    measure=measure,
)
add_solvers(workload, TASKS)
