"""Lasso logistic regression on many dense rows."""

from benchmarks.problems import linear_score_solvers, linear_scores
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int) -> linear_scores.ScoreData:
    X, y = linear_scores.noisy_half_space(n, d, SEED)
    return linear_scores.ScoreData(X, y, linear_scores.l1_strength(X, y), l1=True)


workload = Workload(
    module=__name__,
    title="logistic L1, dense 200 000 x 50",
    recipe="Gaussian X, labels of a half-space with logistic noise; l1 at 0.02 of its largest useful weight; no intercept",
    seed=SEED,
    objective="|w|_1 + C sum log(1 + e^-tf)",
    floor="as d1",
    gate=linear_scores.distance_gate(1e-05),
    sizes={"full": {"n": 200_000, "d": 50}, "quick": {"n": 2_000, "d": 10}, "warm": {"n": 500, "d": 5}},
    make=make,
    measure=linear_scores.quality,
)
linear_score_solvers.register_logistic(workload, l1=True)
