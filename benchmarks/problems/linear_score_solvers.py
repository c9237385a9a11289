"""How each package fits a linear classifier without an intercept, and the tolerances it may choose from."""

import numpy as np
import scipy.sparse as sp

from benchmarks.problems.linear_scores import ScoreData
from benchmarks.workload import OURS, Workload, cores

LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # every step is run: which one suffices shows when the best objective is known
TOLERANCES = [{"tol": tol} for tol in LADDER]


def register_hinge(workload: Workload) -> None:
    """Add the solvers of the hinge."""
    workload.solver(OURS, variants=[{"tol": t} for t in (1e-2, 3e-3, 1e-3, 5e-4, 1e-4)])(surefit_svc)
    workload.solver("scikit-learn", package="sklearn", variants=TOLERANCES)(scikit_learn_svc)
    workload.solver("liblinear", package="liblinear", variants=TOLERANCES)(liblinear)
    workload.solver("snapml", variants=TOLERANCES)(snapml_svc)


def register_logistic(workload: Workload, l1: bool, dense: bool = True) -> None:
    """Add the solvers of the logistic loss."""
    workload.solver(OURS, variants=[{"tol": t} for t in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)])(surefit_logistic)
    solver = "liblinear" if l1 else "lbfgs"
    run = scikit_learn_liblinear if l1 else scikit_learn_lbfgs
    workload.solver(f"scikit-learn ({solver})", package="sklearn", variants=TOLERANCES)(run)
    workload.solver("liblinear", package="liblinear", variants=TOLERANCES)(liblinear)
    workload.solver("snapml", variants=TOLERANCES)(snapml_logistic)
    if not l1:
        workload.solver("scikit-learn-intelex", package="sklearnex", variants=TOLERANCES)(intelex_lbfgs)
    if dense and not l1:  # a Hessian of every pair of columns
        newton = "scikit-learn (newton-cholesky)"
        workload.solver(newton, package="sklearn", variants=TOLERANCES)(scikit_learn_newton_cholesky)
    if l1:
        workload.solver("celer", variants=TOLERANCES)(celer)
        workload.solver("skglm", variants=[{"tol": tol / 100} for tol in LADDER])(skglm)


def surefit_svc(data: ScoreData, tol: float):
    from surefit import LinearSVC

    return LinearSVC(C=data.C, fit_intercept=False, tol=tol).fit(data.X, data.y).coef_


def surefit_logistic(data: ScoreData, tol: float):
    from surefit import LogisticRegression

    model = LogisticRegression(C=data.C, l1_ratio=1.0 if data.l1 else 0.0, fit_intercept=False, tol=tol)
    return model.fit(data.X, data.y).coef_


def scikit_learn_svc(data: ScoreData, tol: float):
    from sklearn.svm import LinearSVC

    model = LinearSVC(loss="hinge", dual=True, C=data.C, fit_intercept=False, tol=tol, max_iter=20_000, random_state=0)
    return model.fit(data.X, data.y).coef_


def _scikit_learn(data: ScoreData, tol: float, solver: str):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=data.C,
        l1_ratio=1.0 if data.l1 else 0.0,
        fit_intercept=False,
        solver=solver,
        tol=tol,
        max_iter=1_000,
        random_state=0,
    )
    return model.fit(data.X, data.y).coef_


def scikit_learn_lbfgs(data: ScoreData, tol: float):
    return _scikit_learn(data, tol, "lbfgs")


def scikit_learn_newton_cholesky(data: ScoreData, tol: float):
    return _scikit_learn(data, tol, "newton-cholesky")


def intelex_lbfgs(data: ScoreData, tol: float):
    from sklearnex.linear_model import LogisticRegression

    model = LogisticRegression(C=data.C, fit_intercept=False, solver="lbfgs", tol=tol, max_iter=1_000)
    return model.fit(data.X, data.y).coef_


def scikit_learn_liblinear(data: ScoreData, tol: float):
    return _scikit_learn(data, tol, "liblinear")


def liblinear(data: ScoreData, tol: float):
    from liblinear.liblinearutil import train

    kind = 3 if data.loss == "hinge" else 6 if data.l1 else 0
    model = train(data.y, data.X, f"-s {kind} -c {data.C} -e {tol} -B -1 -q")
    w = np.array(model.w[: data.X.shape[1]])
    return w if model.label[0] == 1 else -w


def snapml_svc(data: ScoreData, tol: float):
    import snapml

    model = snapml.SupportVectorMachine(
        loss="hinge", regularizer=1 / data.C, tol=tol / 10, max_iter=20_000, n_jobs=cores()
    )
    return model.fit(data.X, data.y).coef_


def snapml_logistic(data: ScoreData, tol: float):
    import snapml

    penalty = "l1" if data.l1 else "l2"
    model = snapml.LogisticRegression(
        penalty=penalty, dual=not data.l1, regularizer=1 / data.C, tol=tol / 10, max_iter=5_000, n_jobs=cores()
    )
    return model.fit(_columns(data) if data.l1 else data.X, data.y).coef_


def celer(data: ScoreData, tol: float):
    from celer import LogisticRegression

    return LogisticRegression(C=data.C, fit_intercept=False, tol=tol).fit(_columns(data), data.y).coef_


def skglm(data: ScoreData, tol: float):
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(alpha=1 / (data.C * len(data.y)), fit_intercept=False, tol=tol)
    return model.fit(_columns(data), data.y).coef_


def _columns(data: ScoreData):
    return sp.csc_matrix(data.X) if sp.issparse(data.X) else data.X
