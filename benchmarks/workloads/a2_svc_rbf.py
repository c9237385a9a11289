"""Gaussian support vector classifier, n = 20 000."""

from benchmarks.problems import kernel_machine
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int) -> kernel_machine.KernelData:
    X, y = kernel_machine.curved_classes(n, d, SEED)
    return kernel_machine.KernelData(X, y, 1 / d)


workload = Workload(
    module=__name__,
    title="SVC, Gaussian kernel, 20 000 x 50",
    recipe="Gaussian X, two classes with a curved boundary and noise; C = 1, gamma = 1/d",
    seed=SEED,
    objective="minus the dual value",
    floor="kernel rows of the support, once in float32 and once in float64",
    gate=kernel_machine.gate(1e-4),
    sizes={"full": {"n": 20_000, "d": 50}, "quick": {"n": 600, "d": 10}, "warm": {"n": 300, "d": 8}},
    make=make,
    measure=kernel_machine.measure,
)
kernel_machine.register(workload)
