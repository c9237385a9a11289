"""One lasso on a large sparse design."""

from benchmarks.problems import lasso, lasso_solvers
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int, draws: int) -> lasso.LassoData:
    X = lasso.text_like(n, d, draws, SEED)
    y = lasso.sparse_truth(X, SEED + 1)
    return lasso.LassoData(X, y, lasso.largest_alpha(X, y) / 20)


workload = Workload(
    module=__name__,
    title="lasso, sparse 10 000 x 100 000",
    recipe=(
        "CSC with 4 195 903 entries: 500 draws a row with Zipf column popularity, log-normal values, rows of unit length; "
        "100-sparse truth; alpha = alpha_max / 20; no intercept"
    ),
    seed=SEED,
    objective="|y - Xw|^2 / (2n) + alpha |w|_1",
    floor="one pass X'r reads 50 MB and gathers from r, about 10 ms",
    gate=lasso.GATE,
    sizes={
        "full": {"n": 10_000, "d": 100_000, "draws": 500},
        "quick": {"n": 200, "d": 500, "draws": 20},
        "warm": {"n": 100, "d": 300, "draws": 10},
    },
    make=make,
    measure=lasso.quality,
)
lasso_solvers.register(workload)
