"""Features from landmarks: exact values, the error bound attained, projections, and the certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.kernel_approximation import Nystroem

import surefit
from surefit import CertificateError, InvalidParameter, NystroemFeatures
from surefit.checks.kernels import feature_maps
from surefit.kernels import RBF, Linear, Polynomial, Sigmoid, StringSubsequence
from surefit.solvers.kernel_subset import landmarks as kernel_subset_landmarks
from surefit.solvers.kernel_subset.landmarks import choose


def test_the_example_by_hand():
    X = np.array([[0.0], [2.0], [-3.0]])
    kernel = Polynomial(degree=1, gamma=1.0, coef0=1.0)
    features = NystroemFeatures(2, kernel=kernel).fit(X)
    features.component_indices_, features.components_ = np.array([0]), X[:1]
    features.normalization_ = np.ones((1, 1))  # k(0, 0) = 1
    assert features.transform(X).ravel().tolist() == [1.0, 1.0, 1.0]
    assert features.kernel_residual(X).tolist() == [0.0, 4.0, 9.0]
    apart = np.abs(kernel(X) - 1.0)
    assert apart == pytest.approx(np.sqrt(np.outer([0.0, 4.0, 9.0], [0.0, 4.0, 9.0])))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from(["rbf", "laplacian", "poly", "linear"]))
def test_errors_are_within_the_residuals(seed, m, kernel):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(30, 3)), 2 * rng.normal(size=(10, 3))
    features = NystroemFeatures(m, kernel=kernel, random_state=seed).fit(X)
    every = np.vstack([X, new])
    phi, r = features.transform(every), features.kernel_residual(every)
    K = features.kernel_(every)
    size = np.sqrt(np.outer(np.diag(K), np.diag(K)))
    apart = np.abs(K - phi @ phi.T)
    assert np.all(apart <= np.sqrt(np.outer(r, r)) + 1e-6 * size)
    rows = slice(0, 30)
    assert apart[rows, rows].max() <= features.max_error_ + 1e-12 * size.max()
    assert features.trace_ == pytest.approx(r[rows].sum(), abs=1e-9 * size.max())
    proved = features.verify(X)
    assert proved["feature_map.pairs"].proved >= apart[rows, rows].max() - 1e-12 * size.max()
    assert proved["feature_map.pairs"].level == proved["feature_map.trace"].level == "enclosed"


def test_all_rows_as_landmarks_give_the_kernel():
    X = np.random.default_rng(0).normal(size=(25, 4))
    features = NystroemFeatures(25, gamma=1.0).fit(X)
    phi = features.transform(X)
    assert phi @ phi.T == pytest.approx(RBF(gamma=1.0)(X), abs=1e-7)
    assert features.max_error_ < 1e-7


def test_inner_products_are_those_of_scikit_learn_for_the_same_landmarks():
    X = np.random.default_rng(1).normal(size=(60, 3))
    ours = NystroemFeatures(10, gamma=0.5, random_state=0).fit(X)
    theirs = Nystroem(gamma=0.5, n_components=10)
    theirs.fit(X[ours.component_indices_])
    phi, psi = ours.transform(X), theirs.transform(X)
    assert phi @ phi.T == pytest.approx(psi @ psi.T, abs=1e-8)


def test_a_linear_kernel_has_as_many_features_as_columns():
    X = np.random.default_rng(2).normal(size=(40, 3))
    features = NystroemFeatures(20, kernel=Linear(), random_state=0).fit(X)
    assert features.transform(X).shape == (40, 3)
    assert features.get_feature_names_out().tolist() == [f"nystroemfeatures{j}" for j in range(3)]
    assert features.max_error_ < 1e-10


def test_sparse_rows_have_the_same_features():
    X = np.random.default_rng(3).normal(size=(40, 3))
    plain = NystroemFeatures(12, gamma=0.5, random_state=0).fit(X)
    rows = sparse.csr_array(X)
    short = NystroemFeatures(12, gamma=0.5, random_state=0).fit(rows)
    a, b = plain.transform(X), short.transform(rows)
    assert a @ a.T == pytest.approx(b @ b.T, abs=1e-9)
    assert short.verify(rows)["feature_map.pairs"].ok


def test_other_features_are_refused():
    X = np.random.default_rng(4).normal(size=(40, 3))
    features = NystroemFeatures(12, gamma=0.5, random_state=0).fit(X)
    old = features.certificate_
    features.normalization_ = features.normalization_ * 0.98
    features._issue(
        "C", list(old.claims), problem=old.problem, model=("component_indices_", "normalization_"), data=old.data
    )
    with pytest.raises(CertificateError, match="feature_map"):
        features.verify(X)


def test_what_is_refused():
    X = np.random.default_rng(5).normal(size=(10, 3))
    with pytest.raises(InvalidParameter, match="positive semidefinite"):
        NystroemFeatures(kernel=Sigmoid(gamma=1.0)).fit(X)
    with pytest.raises(InvalidParameter, match="vectors"):
        NystroemFeatures(kernel=StringSubsequence()).fit(X)
    with pytest.raises(InvalidParameter, match="not zero on all rows"):
        NystroemFeatures(kernel="linear").fit(np.zeros((10, 2)))


def test_pivots_take_no_row_twice_and_stop_when_nothing_is_left():
    rng = np.random.default_rng(6)
    X = np.repeat(rng.normal(size=(7, 2)), 10, axis=0)
    rows = choose(RBF(), X, np.arange(70), 30, "pivoted", np.random.RandomState(0))
    assert len(rows) == 7 == len(np.unique(X[rows], axis=0))
    assert len(choose(RBF(), X, np.arange(70), 30, "uniform", np.random.RandomState(0))) == 30
    assert choose(RBF(), X, np.arange(5, 9), 30, "pivoted", np.random.RandomState(0)).tolist() == [5, 6, 7, 8]


def test_pivots_are_drawn_by_what_is_missed(monkeypatch):
    # three rows, two of them equal: the second pivot is the row that is not equal to the first, always
    X = np.array([[0.0], [0.0], [5.0]])
    for seed in range(20):
        rows = choose(RBF(), X, np.arange(3), 2, "pivoted", np.random.RandomState(seed))
        assert 2 in rows and len(rows) == 2
    # the first pivot is uniform where all k(x, x) are one
    first = [choose(RBF(), X, np.arange(3), 1, "pivoted", np.random.RandomState(seed))[0] for seed in range(300)]
    assert 70 <= np.bincount(first, minlength=3).min()
    monkeypatch.setattr(kernel_subset_landmarks, "POOL", 40)
    Z = np.random.default_rng(7).normal(size=(500, 2))
    assert len(choose(RBF(), Z, np.arange(500), 15, "pivoted", np.random.RandomState(0))) == 15


def test_pivots_miss_less_than_uniform_draws():
    X = np.random.default_rng(8).normal(size=(800, 2))
    traces = {
        how: np.mean([NystroemFeatures(60, landmarks=how, gamma=0.5, random_state=s).fit(X).trace_ for s in range(5)])
        for how in ("pivoted", "uniform")
    }
    assert traces["pivoted"] < 0.2 * traces["uniform"]


@pytest.mark.parametrize(("kernel", "m"), [("rbf", 30), ("laplacian", 30), ("linear", 5)])
def test_bounds_by_norms_add_at_most_a_millionth(kernel, m, monkeypatch):
    X = np.random.default_rng(0).normal(size=(900, 8))
    options = {"kernel": kernel, "n_components": m, "random_state": 0}
    certificate = surefit.Nystroem(**options).fit(X).certificate_
    monkeypatch.setattr(feature_maps, "FEW", 0.0)  # absolute values are always multiplied
    again = surefit.Nystroem(**options).fit(X).certificate_
    for name in ("feature_map.pairs", "feature_map.trace"):
        assert again[name].value <= certificate[name].value <= again[name].value * (1 + 1e-6)
        certificate.verify(X)


def test_tiny_errors_are_bounded_by_products_of_absolute_values(monkeypatch):
    X = np.linspace(0, 1, 300)[:, None]
    model = surefit.Nystroem(gamma=1.0, n_components=12, random_state=0).fit(X)
    used, own = [], feature_maps._by_products
    monkeypatch.setattr(feature_maps, "_by_products", lambda *inputs: used.append(inputs) or own(*inputs))
    assert model.certificate_["feature_map.pairs"].value < 1e-6 and len(used) == 1
