"""Hinge on sparse rows."""

from benchmarks.problems import linear_score_solvers, linear_scores
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int, draws: int) -> linear_scores.ScoreData:
    X, y = linear_scores.text_like(n, d, draws, SEED)
    return linear_scores.ScoreData(X, y, 1.0, loss="hinge")


workload = Workload(
    module=__name__,
    title="linear SVM (hinge), sparse 100 000 x 50 000",
    recipe="CSR with 4 840 631 entries: Zipf columns, unit rows; C = 1; no intercept",
    seed=SEED,
    objective="1/2 |w|^2 + C sum (1 - t f)_+",
    floor="one pass over 58 MB, a few ms",
    gate=linear_scores.distance_gate(0.001),
    sizes={
        "full": {"n": 100_000, "d": 50_000, "draws": 50},
        "quick": {"n": 500, "d": 300, "draws": 20},
        "warm": {"n": 200, "d": 100, "draws": 10},
    },
    make=make,
    measure=linear_scores.quality,
)
linear_score_solvers.register_hinge(workload)
