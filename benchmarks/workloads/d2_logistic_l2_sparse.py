"""Ridge logistic regression on sparse rows."""

from benchmarks.problems import linear_score_solvers, linear_scores
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int, draws: int) -> linear_scores.ScoreData:
    X, y = linear_scores.text_like(n, d, draws, SEED)
    return linear_scores.ScoreData(X, y, 1.0)


workload = Workload(
    module=__name__,
    title="logistic L2, sparse 100 000 x 50 000",
    recipe="CSR with 4 840 631 entries: Zipf columns, unit rows; C = 1; no intercept",
    seed=SEED,
    objective="1/2 |w|^2 + C sum log(1 + e^-tf)",
    floor="10 passes over 58 MB plus gathers",
    gate=linear_scores.distance_gate(1e-05),
    sizes={
        "full": {"n": 100_000, "d": 50_000, "draws": 50},
        "quick": {"n": 500, "d": 300, "draws": 20},
        "warm": {"n": 200, "d": 100, "draws": 10},
    },
    make=make,
    measure=linear_scores.quality,
)
linear_score_solvers.register_logistic(workload, l1=False, dense=False)
