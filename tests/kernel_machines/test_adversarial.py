"""Inputs that break solvers: copies with all labels, no spread, no overlap, sizes beyond rounding. Every fit ends, and no gap is a lie."""

import numpy as np
import pytest

from surefit import KernelFisherDiscriminant, KernelLogisticRegression, KernelRidge, KernelRidgeCV
from surefit.kernels import RBF, Linear, Polynomial

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2))
TWO = (X[:, 0] + 0.8 * RNG.standard_normal(40) > 0).astype(int)
THREE = np.arange(40) % 3

CASES = {
    "copies with other labels": (np.vstack([X, X]), RBF(gamma=1.0)),
    "all rows equal": (np.zeros_like(X), RBF(gamma=1.0)),
    "identity": (X, RBF(gamma=1e6)),
    "nearly constant": (X, RBF(gamma=1e-8)),
    "huge": (X * 1e8, Linear()),
    "tiny": (X * 1e-8, Linear()),
    "sixteen orders of size": (X * 3, Polynomial(9)),
}
BEYOND_ROUNDING = {"huge", "sixteen orders of size"}
each_case = pytest.mark.parametrize("case", CASES)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data_of(case, y):
    Z, kernel = CASES[case]
    return Z, y if len(Z) == len(y) else np.concatenate([y, y.max() - y]), kernel


def never_below(model, Z, y, name):
    """The checker agrees with the fit, and what it proves is not below what the fit claims but for rounding."""
    proved = model.verify(Z, y)[name].proved
    assert model.dual_gap_ >= 0 and not np.isnan(proved)
    return proved


@quiet
@each_case
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two classes", "three classes"])
def test_logistic_regression(case, C, labels):
    Z, y, kernel = data_of(case, labels)
    model = KernelLogisticRegression(C, kernel=kernel, max_time=20.0).fit(Z, y)
    name = "kernel_logistic.gap" if labels is TWO else "kernel_softmax.gap"
    proved = never_below(model, Z, y, name)
    assert model.certificate_.run["reason"] != "max_time"
    if case not in BEYOND_ROUNDING:
        assert proved <= 1e-6 * model.objective_
        assert model.certificate_.holds or (C == 1e6 and labels is THREE and proved <= 1e-7 * model.objective_)
    assert np.all(np.isfinite(model.predict_proba(Z)))


@quiet
@each_case
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [False, True])
def test_ridge(case, alpha, offset):
    Z, y, kernel = data_of(case, TWO)
    model = KernelRidge(alpha, kernel=kernel, fit_intercept=offset).fit(Z, y)
    never_below(model, Z, y, "kernel_ridge.gap")
    if case not in BEYOND_ROUNDING:
        assert model.certificate_.holds


@quiet
@each_case
def test_ridge_that_chooses(case):
    Z, y, kernel = data_of(case, TWO)
    model = KernelRidgeCV(kernel=kernel, fit_intercept=True).fit(Z, y)
    never_below(model, Z, y, "kernel_ridge.gap")
    assert model.certificate_.holds and np.isfinite(model.best_score_)


@quiet
@each_case
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_fisher(case, ridge):
    Z, y, kernel = data_of(case, TWO)
    model = KernelFisherDiscriminant(kernel, ridge=ridge).fit(Z, y)
    found = model.verify(Z, y).findings[0]
    assert found.ok and not np.isnan(found.proved) and np.all(np.isfinite(model.decision_function(Z)))


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150])
@pytest.mark.parametrize("free", [None, "linear"])
def test_sizes_of_weights(scale, free):
    y, weights = X[:, 1] + np.sin(3 * X[:, 0]), np.full(40, scale)
    plain = KernelRidge(0.1, kernel="rbf", null_space=free).fit(X, y)
    scaled = KernelRidge(0.1 * scale, kernel="rbf", null_space=free).fit(X, y, weights)
    assert scaled.predict(X) == pytest.approx(plain.predict(X), abs=1e-9)
    assert scaled.verify(X, y, weights)["kernel_ridge.gap"].ok and scaled.certificate_.holds
    chosen = KernelRidgeCV(kernel="rbf", null_space=free).fit(X, y, weights)
    assert chosen.verify(X, y, weights)["kernel_ridge.gap"].ok
    for labels in (TWO, THREE):
        model = KernelLogisticRegression(min(1 / scale, 1e300)).fit(X, labels, weights)
        same = KernelLogisticRegression(min(1 / scale, 1e300) * scale).fit(X, labels)
        assert model.predict_proba(X) == pytest.approx(same.predict_proba(X), abs=1e-4)
        assert model.certificate_.holds and model.verify(X, labels, weights)


@quiet
def test_uneven_weights_and_a_price_beyond_floats():
    weights = np.exp(np.random.default_rng(1).uniform(-20, 20, 40))
    for labels in (TWO, THREE):
        model = KernelLogisticRegression().fit(X, labels, weights)
        assert model.certificate_.holds and model.verify(X, labels, weights)
        beyond = KernelLogisticRegression(1e150).fit(X, labels)
        assert beyond.certificate_.holds is False and beyond.verify(X, labels)
    ridge = KernelRidge(1.0, kernel="rbf", null_space="linear").fit(X, X[:, 0], weights)
    assert ridge.certificate_.holds and ridge.verify(X, X[:, 0], weights)


def test_targets_far_from_zero():
    y = 1e9 + X[:, 1]
    for model in (
        KernelRidge(1e-3, kernel="rbf", null_space="linear"),
        KernelRidgeCV(kernel="rbf", fit_intercept=True),
    ):
        model.fit(X, y)
        assert model.certificate_.holds and model.verify(X, y) and np.max(np.abs(model.predict(X) - y)) < 1.0
