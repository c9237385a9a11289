"""A workload of no difficulty, x = 3 minimizes (x - 3)^2 + 2, with a solver for each way to end."""

import os
import signal
import time

from benchmarks.workload import OURS, Gate, Quality, Workload

workload = Workload(
    module="tests.benchmarks.fake_workload",
    title="a parabola",
    recipe="no data",
    seed=0,
    objective="(x - 3)^2 + 2",
    floor="nothing",
    gate=Gate("gap", 1e-6, "(x - 3)^2"),
    sizes={"full": {"target": 3.0}, "quick": {"target": 3.0}, "warm": {"target": 0.0}},
    make=lambda target: target,
    measure=lambda target, x: Quality((x - target) ** 2 + 2, (x - target) ** 2),
)


@workload.solver(OURS)
def exact(target):
    time.sleep(0.002)
    return target


@workload.solver("ladder", package="json", variants=[{"tol": tol} for tol in (1e-1, 1e-2, 5e-4, 1e-4, 1e-5)])
def ladder(target, tol):
    time.sleep(0.004)
    return target + tol


@workload.solver("hopeless", package="json", variants=[{"tol": 1.0}, {"tol": 0.5}])
def hopeless(target, tol):
    return target + tol


@workload.solver("reference", package="json", ranked=False)
def reference(target):
    return target


@workload.solver("absent", package="no_such_package", variants=[{"tol": 1.0}, {"tol": 0.5}])
def absent(target, tol):
    import no_such_package

    return no_such_package.solve(target)


@workload.solver("broken install", package="json")
def broken_install(target):
    import no_such_dependency

    return no_such_dependency.solve(target)


@workload.solver("raises", package="json")
def raises(target):
    raise ValueError("this solver\nrefuses")


@workload.solver("dies", package="json")
def dies(target):
    os.kill(os.getpid(), signal.SIGKILL)


@workload.solver("not a number", package="json")
def not_a_number(target):
    return float("nan")


@workload.solver("exits", package="json")
def exits(target):
    raise SystemExit("enough")


@workload.solver("slow when tight", package="json", variants=[{"tol": tol} for tol in (1e-1, 1e-2, 1e-3, 1e-4)])
def slow_when_tight(target, tol):
    if tol < 1e-2 and target:  # not while it warms up
        time.sleep(600)
    return target + tol


@workload.solver("sleeps", package="json", variants=[{"seconds": 600}, {"seconds": 6000}])
def sleeps(target, seconds):
    time.sleep(seconds)
