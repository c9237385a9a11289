"""Kernel Fisher discriminant: the rule on explicit features, Gram formulas, and the certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from surefit import CertificateError, FisherDiscriminant, InvalidData, InvalidParameter, KernelFisherDiscriminant
from surefit.kernels import RBF, Polynomial, Sigmoid


def problem(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = (np.sum(X**2, axis=1) + 0.3 * rng.standard_normal(n) > 1.5).astype(int)
    y[:4] = [0, 1, 0, 1]
    return X, y


def test_linear_kernel_is_the_linear_rule():
    X, y = problem()
    ours = KernelFisherDiscriminant("linear", ridge=0.1).fit(X, y)
    flat = FisherDiscriminant(ridge=0.1).fit(X, y)
    assert ours.dual_coef_ @ X == pytest.approx(flat.coef_)
    assert ours.decision_function(X) == pytest.approx(flat.decision_function(X))
    assert ours.criterion_ == pytest.approx(flat.distance_**2)


def test_finite_features_with_almost_no_ridge():
    X, y = problem(1)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    Z = kernel.feature_map(X)[:, 1:] if np.ptp(kernel.feature_map(X)[:, 0]) == 0 else kernel.feature_map(X)
    flat = FisherDiscriminant(ridge=1e-6).fit(Z, y)
    ours = KernelFisherDiscriminant(kernel, ridge=1e-6).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(flat.decision_function(Z), rel=1e-5, abs=1e-5)
    assert np.array_equal(ours.predict(X), flat.predict(Z))


def test_criterion_is_the_largest_generalised_eigenvalue():
    X, y = problem(2)
    K, n = RBF(gamma=0.5)(X), len(y)
    d = np.where(y == 1, 1 / y.sum(), -1 / (n - y.sum()))
    centre = np.eye(n)
    for side in (0, 1):
        own = (y == side).astype(float)
        centre -= np.outer(own, own) / own.sum()
    within = K @ centre @ K / (n - 2) + 0.01 * K + 1e-12 * np.eye(n)
    best = linalg.eigh(np.outer(K @ d, K @ d), within, eigvals_only=True)[-1]
    model = KernelFisherDiscriminant(gamma=0.5, ridge=0.01).fit(X, y)
    assert model.criterion_ == pytest.approx(best, rel=1e-6)
    assert model.verify(X, y)["kernel_fisher.gap"].proved < 1e-10 * best
    assert model.score(X, y) > 0.85


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_weights_are_repetitions(seed):
    X, y = problem(seed, n=16)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    times[:4] = 1
    counted = KernelFisherDiscriminant(gamma=0.5).fit(X, y, times)
    repeated = KernelFisherDiscriminant(gamma=0.5).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert counted.decision_function(X) == pytest.approx(repeated.decision_function(X), rel=1e-6, abs=1e-6)
    assert counted.verify(X, y, times)["kernel_fisher.cut"].ok


def test_a_larger_sample_goes_through_single_precision():
    X, y = problem(3, n=400)
    model = KernelFisherDiscriminant(ridge=1e-4).fit(X, y)
    assert model.certificate_.holds and model.verify(X, y)["kernel_fisher.gap"].level == "enclosed"


def test_a_worse_model_is_refused():
    X, y = problem(4)
    model = KernelFisherDiscriminant().fit(X, y)
    old = model.certificate_
    for name, claim in (("dual_coef_", "gap"), ("intercept_", "cut")):
        other = KernelFisherDiscriminant().fit(X, y)
        setattr(other, name, getattr(other, name) + 1e-3)
        other._issue("A", list(old.claims), problem=old.problem, model=("dual_coef_", "intercept_"), data=old.data)
        with pytest.raises(CertificateError, match=f"kernel_fisher.{claim}"):
            other.verify(X, y)


def test_what_it_refuses():
    X, y = problem(5)
    with pytest.raises(InvalidData, match="3 classes"):
        KernelFisherDiscriminant().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(InvalidData, match="more than two rows"):
        KernelFisherDiscriminant().fit(X[:2], [0, 1])
    with pytest.raises(InvalidParameter, match="positive semidefinite"):
        KernelFisherDiscriminant(Sigmoid(gamma=1.0)).fit(X, y)
    with pytest.raises(InvalidParameter, match="ridge"):
        KernelFisherDiscriminant(ridge=0.0).fit(X, y)
