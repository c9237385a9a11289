"""One decision tree, grown to depth 8 on noisy labels."""

from benchmarks.problems.tree import SEED, make, measure
from benchmarks.problems.tree_solvers import register
from benchmarks.workload import Gate, Workload

workload = Workload(
    module=__name__,
    title="decision tree, 100 000 x 30, depth 8",
    recipe="Gaussian X, labels of a smooth rule of six columns with noise; Gini impurity, grown to depth 8",
    seed=SEED,
    objective="error rate on 20 000 new rows",
    floor="presort about 0.05 s, then 8 levels of 3 million entries, about 0.05 s",
    gate=Gate("distance", 0.1, "test error above the least of the run, relative"),
    sizes={"full": {"n": 100_000, "d": 30}, "quick": {"n": 3_000, "d": 10}, "warm": {"n": 1_000, "d": 30}},
    make=make,
    measure=measure,
)

register(workload, max_depth=8)
