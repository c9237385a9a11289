"""One lasso on a wide dense design."""

from benchmarks.problems import lasso, lasso_solvers
from benchmarks.workload import Workload

SEED = 0


def make(n: int, d: int) -> lasso.LassoData:
    X = lasso.correlated_gaussian(n, d, SEED)
    y = lasso.sparse_truth(X, SEED + 1)
    return lasso.LassoData(X, y, lasso.largest_alpha(X, y) / 20)


workload = Workload(
    module=__name__,
    title="lasso, dense 1 000 x 20 000",
    recipe="Gaussian X, neighboring columns correlated, Fortran order; 100-sparse truth; alpha = alpha_max / 20; no intercept",
    seed=SEED,
    objective="|y - Xw|^2 / (2n) + alpha |w|_1",
    floor="one pass X'r reads 160 MB, about 10 ms; screening and a small working set need 10 to 20 passes",
    gate=lasso.GATE,
    sizes={"full": {"n": 1_000, "d": 20_000}, "quick": {"n": 100, "d": 400}, "warm": {"n": 50, "d": 200}},
    make=make,
    measure=lasso.quality,
)
lasso_solvers.register(workload)


@workload.solver("glum", variants=[{"gradient_tol": tol} for tol in (1e-4, 1e-6, 1e-8)])
def glum(data: lasso.LassoData, gradient_tol: float):
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family="normal", alpha=data.alpha, l1_ratio=1, fit_intercept=False, gradient_tol=gradient_tol, max_iter=1_000
    )
    return model.fit(data.X, data.y).coef_


@workload.solver("scikit-learn-intelex", package="daal4py", variants=lasso_solvers.TOLERANCES)
def scikit_learn_intelex(data: lasso.LassoData, tol: float):
    from daal4py.sklearn.linear_model import Lasso

    return Lasso(alpha=data.alpha, fit_intercept=False, tol=tol, max_iter=100_000).fit(data.X, data.y).coef_
