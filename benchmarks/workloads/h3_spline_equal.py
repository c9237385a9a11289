"""Cubic smoothing spline with GCV, 2 000 equally spaced points."""

from benchmarks.problems import spline
from benchmarks.problems.spline_solvers import add_solvers
from benchmarks.workload import Gate, Workload

workload = Workload(
    module=__name__,
    title="cubic smoothing spline with GCV, 2 000 equally spaced points",
    recipe="y = sin(12 x) + x cos(40 x) / 2 + 0.3 noise on (0, 1); the weight of the penalty from the data",
    seed=spline.SEED,
    objective="root mean squared error on new observations at the same points",
    floor="a few dozen sweeps over the points",
    gate=Gate("distance", 0.01, "relative excess over the best answer of the run"),
    sizes={"full": {"n": 2_000, "equal": True}, "quick": {"n": 500, "equal": True}, "warm": {"n": 100, "equal": True}},
    make=spline.make,
    measure=spline.measure,
)
add_solvers(workload)
