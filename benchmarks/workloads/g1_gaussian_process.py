"""Gaussian-process regression with its hyper-parameters, 3 000 rows."""

from benchmarks.problems import gaussian_process
from benchmarks.problems.gaussian_process import Hyperparameters, ProcessData
from benchmarks.workload import OURS, Gate, Workload

workload = Workload(
    module=__name__,
    title="Gaussian-process regression, evidence maximized, 3 000 x 2",
    recipe="y = sin(x1) cos(x2) + 0.1 noise; kernel c RBF(l) + noise, all three from (1, 1, 1)",
    seed=gaussian_process.SEED,
    objective="minus the log evidence a row",
    floor="a dozen factorisations and inverses of a 3 000 x 3 000 matrix",
    gate=Gate("distance", 1e-4, "relative excess over the best evidence of the run"),
    sizes={"full": {"n": 3_000}, "quick": {"n": 600}, "warm": {"n": 60}},
    make=gaussian_process.make_regression,
    measure=gaussian_process.measure_regression,
)


@workload.solver(OURS)
def surefit(data: ProcessData):
    from surefit import GaussianProcessRegressor
    from surefit.kernels import RBF, Noise

    kernel = GaussianProcessRegressor(1.0 * RBF(1.0) + Noise(1.0)).fit(data.X, data.y).kernel_
    return Hyperparameters(kernel.left.factor, kernel.left.kernel.length_scale, kernel.right.variance)


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: ProcessData):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = GaussianProcessRegressor(ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(1.0)).fit(data.X, data.y).kernel_
    return Hyperparameters(kernel.k1.k1.constant_value, kernel.k1.k2.length_scale, kernel.k2.noise_level)


@workload.solver("GPy")
def gpy(data: ProcessData):
    import GPy

    model = GPy.models.GPRegression(
        data.X, data.y[:, None], GPy.kern.RBF(2, variance=1.0, lengthscale=1.0), noise_var=1.0
    )
    model.optimize()
    return Hyperparameters(
        float(model.rbf.variance[0]), float(model.rbf.lengthscale[0]), float(model.likelihood.variance[0])
    )
