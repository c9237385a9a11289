"""Gaussian support vector regression."""

import numpy as np

from benchmarks.problems import kernel_machine
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int) -> kernel_machine.KernelData:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.1 * rng.standard_normal(n)
    return kernel_machine.KernelData(X, y, 1 / d, epsilon=0.1)


workload = Workload(
    module=__name__,
    title="SVR, Gaussian kernel, 5 000 x 20",
    recipe="Gaussian X, y = sin(x0) + x1 x2 / 2 + 0.1 noise; C = 1, epsilon = 0.1, gamma = 1/d",
    seed=SEED,
    objective="minus the dual value",
    floor="kernel rows of the support, once in float32 and once in float64",
    gate=kernel_machine.gate(1e-3),
    sizes={"full": {"n": 5_000, "d": 20}, "quick": {"n": 600, "d": 10}, "warm": {"n": 300, "d": 8}},
    make=make,
    measure=kernel_machine.measure,
)
kernel_machine.register(workload)
