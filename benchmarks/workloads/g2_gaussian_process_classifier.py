"""Gaussian-process classification with its hyper-parameters, 1 000 rows."""

from benchmarks.problems import gaussian_process
from benchmarks.problems.gaussian_process import Hyperparameters, ProcessData
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="Gaussian-process classification (Laplace), evidence maximized, 1 000 x 2",
    recipe="sign of x1 x2 + 0.3 noise; kernel c RBF(l), both from (1, 1)",
    seed=gaussian_process.SEED,
    objective="minus the log evidence of Laplace's approximation a row",
    floor="a few dozen factorisations of a 1 000 x 1 000 matrix",
    gate=Gate("distance", 1e-4, "relative excess over the best evidence of the run"),
    sizes={"full": {"n": 1_000}, "quick": {"n": 300}, "warm": {"n": 60}},
    make=gaussian_process.make_classification,
    measure=gaussian_process.measure_classification,
)


@workload.solver(OURS)
def surefit(data: ProcessData):
    from surefit import GaussianProcessClassifier
    from surefit.kernels import RBF

    kernel = GaussianProcessClassifier(1.0 * RBF(1.0)).fit(data.X, data.y).kernel_
    return Hyperparameters(kernel.factor, kernel.kernel.length_scale)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: ProcessData):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    kernel = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0)).fit(data.X, data.y).kernel_
    return Hyperparameters(kernel.k1.constant_value, kernel.k2.length_scale)
