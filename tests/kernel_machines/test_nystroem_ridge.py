"""Kernel ridge regression on landmarks: both gaps against the exact fit, and the certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from surefit import CertificateError, InvalidParameter, KernelRidge, NystroemRidge
from surefit.kernels import RBF, Sigmoid


def problem(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(n)


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("dual", ["exact", "bounded"])
def test_every_row_a_landmark_is_the_exact_fit(offset, dual):
    X, y = problem(n=60)
    s = np.random.default_rng(0).uniform(0.5, 2, 60)
    model = NystroemRidge(0.5, gamma=0.5, n_landmarks=60, fit_intercept=offset, dual=dual).fit(X, y, s)
    exact = KernelRidge(0.5, kernel="rbf", gamma=0.5, fit_intercept=offset).fit(X, y, s)
    assert model.predict(X) == pytest.approx(exact.predict(X), abs=1e-5)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-9)
    assert model.dual_gap_ <= 1e-4 * exact.objective_
    assert model.verify(X, y, s)["nystroem.exact_gap"].level == "enclosed"


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 60), st.booleans(), st.sampled_from([80, 20, 1]))
def test_the_gap_covers_the_distance_to_the_exact_optimum(seed, m, offset, group):
    X, y = problem(seed, n=80)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surefit.checks.kernels.landmarks.SMALL_GROUP", group)
        model = NystroemRidge(0.3, gamma=0.5, n_landmarks=m, fit_intercept=offset, dual="bounded", random_state=seed)
        model.fit(X, y)
        found = model.verify(X, y)
    best = KernelRidge(0.3, kernel="rbf", gamma=0.5, fit_intercept=offset).fit(X, y).objective_
    assert -1e-9 * best <= model.objective_ - best <= model.dual_gap_ + 1e-9 * best
    assert model.dual_gap_ <= model.objective_ * (1 + 1e-9)
    assert found["nystroem.gap"].ok
    assert model.objective_ - best <= found["nystroem.exact_gap"].proved <= model.dual_gap_ + 1e-6 * best


def test_more_landmarks_are_better_and_all_values_bound_more_tightly(monkeypatch):
    X, y = problem(1, n=300)
    fits = [NystroemRidge(0.3, gamma=0.5, n_landmarks=m, random_state=0).fit(X, y) for m in (10, 40, 160)]
    assert fits[0].objective_ > fits[1].objective_ > fits[2].objective_
    assert fits[0].dual_gap_ > fits[1].dual_gap_ > fits[2].dual_gap_
    gaps = []
    for group in (300, 30, 1):
        monkeypatch.setattr("surefit.checks.kernels.landmarks.SMALL_GROUP", group)
        cheap = NystroemRidge(0.3, gamma=0.5, n_landmarks=40, random_state=0, dual="bounded").fit(X, y)
        assert cheap.objective_ == fits[1].objective_
        gaps.append(cheap.dual_gap_)
    assert gaps[0] == fits[1].dual_gap_ < gaps[1] < gaps[2]


def test_it_is_the_least_objective_in_the_span():
    X, y = problem(2)
    model = NystroemRidge(0.3, gamma=0.5, n_landmarks=15, fit_intercept=False, random_state=0).fit(X, y)
    K = RBF(gamma=0.5)(X)
    Z, inner = K[:, model.landmarks_], K[np.ix_(model.landmarks_, model.landmarks_)]
    a = np.linalg.solve(Z.T @ Z + 0.3 * inner, Z.T @ y)
    assert model.predict(X) == pytest.approx(Z @ a, abs=1e-6)
    assert model.subset_gap_ <= 1e-12 * model.objective_


def test_precomputed_values_and_sparse_rows():
    X, y = problem(3)
    K = RBF(gamma=0.5)(X)
    plain = NystroemRidge(0.3, gamma=0.5, n_landmarks=20, random_state=0).fit(X, y)
    given_values = NystroemRidge(0.3, kernel="precomputed", n_landmarks=20, random_state=0).fit(K, y)
    assert given_values.predict(K[:5]) == pytest.approx(plain.predict(X[:5]), abs=1e-7)
    cheap = NystroemRidge(0.3, kernel="precomputed", n_landmarks=20, random_state=0, dual="bounded").fit(K, y)
    assert cheap.verify(K, y)["nystroem.exact_gap"].ok
    rows = sparse.csr_array(X)
    assert NystroemRidge(0.3, gamma=0.5, n_landmarks=20, random_state=0).fit(rows, y).predict(rows) == pytest.approx(
        plain.predict(X), abs=1e-7
    )


@pytest.mark.parametrize("how", ["uniform", "pivoted"])
def test_landmarks_that_depend_on_each_other_up_to_rounding(how):
    X, y = problem(6, n=900)
    model = NystroemRidge(0.01, gamma=0.05, n_landmarks=200, landmarks=how, random_state=0).fit(X, y)
    found = model.verify(X, y)["nystroem.exact_gap"]
    assert found.proved == pytest.approx(model.dual_gap_, rel=0.05, abs=1e-5 * model.objective_)


def test_a_worse_model_is_refused():
    X, y = problem(4)
    model = NystroemRidge(0.3, gamma=0.5, n_landmarks=20, random_state=0).fit(X, y)
    old = model.certificate_
    model.dual_coef_ = model.dual_coef_ * 0.5
    names = ("landmarks_", "dual_coef_", "intercept_")
    model._issue("A", list(old.claims), problem=old.problem, model=names, data=old.data)
    with pytest.raises(CertificateError, match="nystroem"):
        model.verify(X, y)


def test_what_it_refuses():
    X, y = problem(5)
    with pytest.raises(InvalidParameter, match="positive semidefinite"):
        NystroemRidge(kernel=Sigmoid(gamma=1.0)).fit(X, y)
    with pytest.raises(InvalidParameter, match="n_landmarks"):
        NystroemRidge(n_landmarks=0).fit(X, y)


def test_weights_that_absorb_the_penalty_are_fitted_with_proof():
    X = np.random.default_rng(0).normal(size=(5, 2)) * 1e-9 - 2e10  # rows that the kernel cannot tell apart
    y, weights = np.array([0.0, 1.0, 1.0, 0.0, 4.0]), np.array([1e19, 1e8, 3e13, 8e7, 2e-10])
    model = NystroemRidge(random_state=0).fit(X, y, sample_weight=weights)
    assert np.all(np.isfinite(model.predict(X)))
    model.verify(X, y, sample_weight=weights)
