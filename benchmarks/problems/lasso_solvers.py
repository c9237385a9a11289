"""How each package fits one lasso without an intercept, and the tolerances it may choose from.

Every package measures convergence in its own unit, so each one climbs the same ladder until the independent gap says
that it has arrived. Iteration limits are raised so that the tolerance alone decides, and copies of the data are
switched off where a package lets its user do so.
"""

from benchmarks.problems.lasso import LassoData
from benchmarks.workload import OURS, Workload

#: Half decades, one step more beside the gate so that nobody pays for a decade too much, and down to where the packages
#: that measure subgradients rather than gaps arrive as well.
LADDER = (
    *(1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 5e-7, 3e-7),
    *(1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 3e-10, 1e-10, 1e-11, 1e-12),
)
TOLERANCES = [{"tol": tol} for tol in LADDER]

#: surefit's tolerance is in the unit of the gate; it climbs too if its dual point is better than the gate's.
OUR_TOLERANCES = [{"tol": tol} for tol in LADDER if 1e-8 <= tol <= 1e-6]


def register(workload: Workload) -> None:
    """Add every lasso solver for data of class :class:`LassoData` to a workload."""
    workload.solver(OURS, variants=OUR_TOLERANCES)(surefit)
    workload.solver("scikit-learn", package="sklearn", variants=TOLERANCES)(scikit_learn)
    workload.solver("celer", variants=TOLERANCES)(celer)
    workload.solver("skglm", variants=TOLERANCES)(skglm)


def surefit(data: LassoData, tol: float):
    from surefit import Lasso

    return Lasso(alpha=data.alpha, fit_intercept=False, tol=tol).fit(data.X, data.y).coef_


def scikit_learn(data: LassoData, tol: float):
    from sklearn.linear_model import Lasso

    model = Lasso(alpha=data.alpha, fit_intercept=False, tol=tol, max_iter=100_000, copy_X=False)
    return model.fit(data.X, data.y).coef_


def celer(data: LassoData, tol: float):
    from celer import Lasso

    return Lasso(alpha=data.alpha, fit_intercept=False, tol=tol, max_iter=1_000).fit(data.X, data.y).coef_


def skglm(data: LassoData, tol: float):
    from skglm import Lasso

    return Lasso(alpha=data.alpha, fit_intercept=False, tol=tol, max_iter=1_000).fit(data.X, data.y).coef_
