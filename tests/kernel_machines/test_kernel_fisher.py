"""Kernel Fisher discriminant: the rule on explicit features, Gram formulas, and the certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from surefit import CertificateError, FisherDiscriminant, InvalidData, InvalidParameter, KernelFisherDiscriminant
from surefit.core.errors import ConvergenceWarning
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


def test_criterion_is_the_largest_generalized_eigenvalue():
    X, y = problem(2)
    K, n = RBF(gamma=0.5)(X), len(y)
    d = np.where(y == 1, 1 / y.sum(), -1 / (n - y.sum()))
    center = np.eye(n)
    for side in (0, 1):
        own = (y == side).astype(float)
        center -= np.outer(own, own) / own.sum()
    within = K @ center @ K / (n - 2) + 0.01 * K + 1e-12 * np.eye(n)
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
        KernelFisherDiscriminant(ridge=-1.0).fit(X, y)


# --- without a ridge --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_no_ridge_is_the_rule_on_explicit_features(coef0):
    X, y = problem(6, n=60)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=coef0)
    Z = kernel.feature_map(X)
    Z = Z[:, np.ptp(Z, axis=0) > 0]  # the constant feature spreads nowhere and the means agree in it
    flat = FisherDiscriminant().fit(Z, y)
    ours = KernelFisherDiscriminant(kernel, ridge=0.0).fit(X, y)
    assert ours.rank_ == Z.shape[1] and not ours.separates_
    assert ours.decision_function(X) == pytest.approx(flat.decision_function(Z), rel=1e-9, abs=1e-9)
    assert ours.criterion_ == pytest.approx(flat.distance_**2)
    found = ours.verify(X, y)["kernel_fisher.restricted_gap"]
    assert ours.certificate_.holds and found.level == "enclosed" and found.proved < 1e-5 * ours.criterion_


def test_no_ridge_by_the_gram_form_on_any_spanning_rows():
    # M = K_0 P_0 K_0' + K_1 P_1 K_1' over rows that span the features; alpha = M^-1 (mu_1 - mu_0), here with the divisor n - 2
    X, y = problem(7, n=30)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=0.0)  # three features
    model = KernelFisherDiscriminant(kernel, ridge=0.0).fit(X, y)
    for chosen in ([0, 1, 2], [5, 11, 20]):
        K = kernel(X[chosen], X)
        sides = [K[:, y == side] for side in (0, 1)]
        mu = [part.mean(axis=1) for part in sides]
        M = sum((part - m[:, None]) @ (part - m[:, None]).T for part, m in zip(sides, mu, strict=True)) / 28
        alpha = np.linalg.solve(M, mu[1] - mu[0])
        assert alpha @ K - alpha @ (mu[0] + mu[1]) / 2 == pytest.approx(model.decision_function(X), abs=1e-8)
        assert (mu[1] - mu[0]) @ alpha == pytest.approx(model.criterion_)  # Rayleigh quotient at the optimum


def test_the_limit_of_small_ridges():
    X, y = problem(8)
    for kernel in (Polynomial(degree=2, gamma=1.0, coef0=1.0), RBF(gamma=30.0)):
        limit, small = (KernelFisherDiscriminant(kernel, ridge=r).fit(X, y) for r in (0.0, 1e-9))
        a, b = (m.decision_function(X) for m in (limit, small))
        assert a / np.linalg.norm(a) == pytest.approx(b / np.linalg.norm(b), abs=1e-5)


def test_the_identity_has_no_bound():
    # orthonormal features: the spread within classes is orthogonal to the difference of the means, whose square is 1/n_0 + 1/n_1
    y = np.array([0, 0, 0, 1, 1])
    model = KernelFisherDiscriminant("precomputed", ridge=0.0).fit(np.eye(5), y)
    assert model.separates_ and model.rank_ == 3 and model.criterion_ == np.inf and model.plug_in_error_ == 0.0
    scale = 1 / 3 + 1 / 2
    assert model.dual_coef_[0] == pytest.approx(np.where(y == 1, 1 / 2, -1 / 3) / scale)
    f = model.decision_function(np.eye(5)) - model.intercept_[0]
    assert f == pytest.approx(np.where(y == 1, 0.6, -0.4)) and f[4] - f[0] == pytest.approx(1.0)


def test_rows_of_a_class_collapse_where_the_classes_differ_without_spread():
    X, y = problem(9)
    model = KernelFisherDiscriminant("laplacian", gamma=2.0, ridge=0.0).fit(X, y)
    assert model.separates_ and model.rank_ == len(y) - 2 and model.score(X, y) == 1.0
    assert model.decision_function(X) == pytest.approx(np.where(y == 1, 0.5, -0.5), abs=1e-9)
    found = model.verify(X, y)["kernel_fisher.separation"]
    assert model.certificate_.holds and found.level == "enclosed" and found.proved < 1e-9


def test_an_ill_conditioned_spread_is_admitted():
    X, y = problem(10, n=60)
    with pytest.warns(ConvergenceWarning, match="ridge > 0"):
        model = KernelFisherDiscriminant(gamma=0.05, ridge=0.0).fit(X, y)
    assert model.verify(X, y)["kernel_fisher.restricted_gap"].ok and model.certificate_.holds is False


def test_equal_means_have_no_direction():
    X, y = np.array([[-1.0], [1.0], [-1.0], [1.0]]), np.array([0, 0, 1, 1])
    model = KernelFisherDiscriminant("linear", ridge=0.0).fit(X, y)
    assert model.criterion_ == pytest.approx(0.0, abs=1e-20) and model.rank_ == 1 and model.verify(X, y)


@pytest.mark.parametrize(
    "kernel, claim", [(Polynomial(degree=2, gamma=1.0), "restricted_gap"), (RBF(gamma=50.0), "separation")]
)
def test_a_worse_direction_is_refused_without_a_ridge(kernel, claim):
    X, y = problem(11)
    model = KernelFisherDiscriminant(kernel, ridge=0.0).fit(X, y)
    old = model.certificate_
    model.dual_coef_ = model.dual_coef_ * (1 + 0.1 * np.random.default_rng(0).standard_normal(len(y)))
    model._issue("A", list(old.claims), problem=old.problem, model=("dual_coef_", "intercept_"), data=old.data)
    with pytest.raises(CertificateError, match=f"kernel_fisher.{claim}"):
        model.verify(X, y)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_weights_are_repetitions_without_a_ridge(seed):
    X, y = problem(seed, n=30)
    times = np.random.default_rng(seed).integers(1, 3, len(y))
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    counted = KernelFisherDiscriminant(kernel, ridge=0.0).fit(X, y, times)
    repeated = KernelFisherDiscriminant(kernel, ridge=0.0).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert counted.decision_function(X) == pytest.approx(repeated.decision_function(X), rel=1e-6, abs=1e-6)
    assert counted.verify(X, y, times)["kernel_fisher.cut"].ok
