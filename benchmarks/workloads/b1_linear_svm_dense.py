"""Hinge on many dense rows."""

from benchmarks.problems import linear_score_solvers, linear_scores
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int) -> linear_scores.ScoreData:
    X, y = linear_scores.noisy_half_space(n, d, SEED)
    return linear_scores.ScoreData(X, y, 0.01, loss="hinge")


workload = Workload(
    module=__name__,
    title="linear SVM (hinge), dense 200 000 x 50",
    recipe="Gaussian X, labels of a half-space with logistic noise; C = 0.01; no intercept",
    seed=SEED,
    objective="1/2 |w|^2 + C sum (1 - t f)_+",
    floor="one pass over 80 MB, about 8 ms",
    gate=linear_scores.distance_gate(0.001),
    sizes={"full": {"n": 200_000, "d": 50}, "quick": {"n": 2_000, "d": 10}, "warm": {"n": 500, "d": 5}},
    make=make,
    measure=linear_scores.quality,
)
linear_score_solvers.register_hinge(workload)
