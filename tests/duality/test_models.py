"""Optimality of fitted models: small violations where they are solved, large ones where they are changed, and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import (
    SVC,
    SVR,
    DecisionTreeClassifier,
    ElasticNet,
    InvalidData,
    InvalidParameter,
    KernelLogisticRegression,
    KernelRidge,
    Lasso,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    Ridge,
    kernel_ridge_dual,
    kkt_report,
    proximal_lasso,
    svm_leave_one_out,
)
from surefit.duality import ConvexQuadraticProgram, lasso_program

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 3))
LABELS = np.where(X[:, 0] + 0.8 * rng.standard_normal(30) > 0, 1, -1)
TARGETS = X @ [1.0, -2.0, 0.0] + 0.3 * rng.standard_normal(30)

CLASSIFIERS = [
    SVC(kernel="rbf", gamma=0.5, tol=1e-9),
    SVC(kernel="linear", C=0.5, tol=1e-9, fit_intercept=False),
    LinearSVC(tol=1e-8),
    LogisticRegression(tol=1e-12),
    LogisticRegression(C=0.5, l1_ratio=1.0, tol=1e-12),
    KernelLogisticRegression(kernel="rbf", gamma=0.5, tol=1e-12),
]
REGRESSORS = [
    LinearRegression(),
    Ridge(2.0),
    Lasso(0.1, tol=1e-12),
    ElasticNet(0.1, tol=1e-12),
    SVR(kernel="rbf", gamma=0.5, tol=1e-9),
    LinearSVR(epsilon=0.2, tol=1e-9),
    KernelRidge(0.5, kernel="rbf"),
]


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda m: type(m).__name__)
def test_solved_models_meet_their_conditions(model):
    y = LABELS if model in CLASSIFIERS else TARGETS
    report = kkt_report(model.fit(X, y), X, y)
    assert report.optimal(2e-2), report
    assert report.stationarity <= 2e-2 and "largest violation" in repr(report)


@pytest.mark.parametrize(
    "model", [Lasso(0.1, tol=1e-12), Ridge(2.0), LogisticRegression(tol=1e-12)], ids=lambda m: type(m).__name__
)
def test_changed_models_do_not(model):
    y = LABELS if isinstance(model, LogisticRegression) else TARGETS
    model.fit(X, y)
    model.coef_ = model.coef_ + 0.2
    assert not kkt_report(model, X, y).optimal(1e-2)


def test_refusals():
    with pytest.raises(InvalidParameter, match="one of SVC"):
        kkt_report(DecisionTreeClassifier().fit(X, LABELS), X, LABELS)
    three = np.arange(30) % 3
    with pytest.raises(InvalidData, match="two classes"):
        kkt_report(SVC().fit(X, three), X, three)
    with pytest.raises(InvalidData, match="radius"):
        kkt_report(Lasso(radius=0.5).fit(X, TARGETS), X, TARGETS)
    with pytest.raises(InvalidData, match="hinge"):
        kkt_report(LinearSVC(loss="squared_hinge").fit(X, LABELS), X, LABELS)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_lasso_three_ways(seed):
    random = np.random.default_rng(seed)
    Z, y = random.standard_normal((10, 3)), random.standard_normal(10)
    lam = 0.3 * 2 * np.abs((Z - Z.mean(axis=0)).T @ (y - y.mean())).max()
    descent, proximal = Lasso(lam / 20, tol=1e-12).fit(Z, y), proximal_lasso(Z, y, lam / 20)
    program = lasso_program(Z, y, lam)
    x = program.solve().x
    value = lam * np.abs(descent.coef_).sum() + np.sum((y - descent.predict(Z)) ** 2)
    assert program.objective(x) + y @ y == pytest.approx(value, rel=1e-6)
    assert 20 * proximal.objective == pytest.approx(value, rel=1e-6)
    assert np.array_equal(proximal.coef == 0, np.abs(descent.coef_) < 1e-9) or proximal.gap < 1e-8


def test_singular_programs():
    program = ConvexQuadraticProgram([[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0]], [1.0])
    optimum = program.solve()
    assert optimum.x.sum() == pytest.approx(1) and kkt_report(program, *optimum).gap == pytest.approx(0, abs=1e-7)
    assert program.lower_bound(None, np.array([5.0]), None) <= 0.5
    with pytest.raises(InvalidData, match="semidefinite"):
        ConvexQuadraticProgram([[1.0, 0.0], [0.0, -1.0]], [[1.0, 0.0]], [0.0])
    with pytest.raises(InvalidData, match="lower bound"):
        ConvexQuadraticProgram([[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0]], [0.0], [0.0, 1.0]).solve()
    for wrong in (lambda: lasso_program(X, TARGETS, 0.0), lambda: proximal_lasso(X, TARGETS, 0.0)):
        with pytest.raises(InvalidData, match="> 0"):
            wrong()


def test_dual_of_kernel_ridge_bounds_every_function_in_the_ball():
    K, y = X @ X.T, TARGETS
    inside = KernelRidge(1.0).fit(X, y)
    radius = inside.rkhs_norm_
    half = 0.5 * np.sum((y - inside.predict(X)) ** 2)
    for lam in (0.3, 1.0, 5.0):
        assert kernel_ridge_dual(K, y, lam, radius=radius).value <= half + 1e-9
    assert kernel_ridge_dual(K, y, 1.0, radius=radius).value == pytest.approx(half)
    assert kernel_ridge_dual(np.zeros((2, 2)), [1.0, 0.0], 0.0, [1.0, 0.0]) == 0.5
    with pytest.raises(InvalidData):
        kernel_ridge_dual(K, y, 0.0)


def test_leave_one_out_is_that_of_separate_fits():
    model = SVC(kernel="rbf", gamma=0.5, C=1.0, tol=1e-8).fit(X, LABELS)
    found = svm_leave_one_out(model, X, LABELS)
    separate = []
    for i in range(30):
        kept = np.arange(30) != i
        separate.append(SVC(kernel="rbf", gamma=0.5, C=1.0, tol=1e-8).fit(X[kept], LABELS[kept]).predict(X[[i]])[0])
    assert np.array_equal(found.predictions, separate) and found.error <= model.loo_error_bound_
    assert found.n_refits == len(model.support_)
    with pytest.raises(InvalidData, match="two rows"):
        svm_leave_one_out(model, X[:1], LABELS[:1])
