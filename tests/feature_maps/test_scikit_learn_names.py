"""Nystroem and RBFSampler: scikit-learn's features to the last digits, with certificates."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn import kernel_approximation as peers

from surefit import CertificateError, Nystroem, NystroemFeatures, RBFSampler


def rows(n=80, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize(
    "options", [{}, {"gamma": 0.4}, {"kernel": "poly", "degree": 2}, {"kernel": "laplacian"}, {"kernel": "linear"}]
)
def test_landmark_features_are_those_of_scikit_learn(options):
    X = rows()
    model = Nystroem(n_components=20, random_state=3, **options).fit(X)
    peer = peers.Nystroem(n_components=20, random_state=3, **options).fit(X)
    assert np.array_equal(model.component_indices_, peer.component_indices_)
    own, theirs = model.transform(X), peer.transform(X)
    np.testing.assert_allclose(own @ own.T, theirs @ theirs.T, atol=1e-6)
    if model.kernel_.positive_semidefinite and "linear" not in options.values():
        np.testing.assert_allclose(own, theirs, rtol=1e-5, atol=1e-6)
    K = model.kernel_(X, X)
    assert np.abs(K - own @ own.T).max() <= model.max_error_ * (1 + 1e-9) + 1e-9
    model.verify(X)


def test_inner_products_are_those_of_nystroem_features():
    X = sparse.csr_array(np.where(rows() > 0.5, rows(), 0.0))
    model = Nystroem(gamma=0.3, n_components=15, random_state=0).fit(X)
    other = NystroemFeatures(15, landmarks="uniform", gamma=0.3, random_state=0).fit(X)
    assert model.transform(X).shape == (80, 15) and other.transform(X).shape[1] <= 15
    assert model.verify(X)["feature_map.pairs"].level == "enclosed"


def test_many_rows_are_measured_on_evenly_spaced_ones():
    X = rows(1300, 2)
    model = Nystroem(gamma=0.5, n_components=20, random_state=0).fit(X)
    every = NystroemFeatures(20, landmarks="uniform", gamma=0.5, random_state=0).fit(X)
    some = X[np.arange(500) * 1300 // 500]
    K, phi = model.kernel_(some, some), model.transform(some)
    assert np.abs(K - phi @ phi.T).max() <= model.max_error_ * (1 + 1e-9)
    assert model.trace_ == pytest.approx(model.kernel_residual(some).sum(), abs=1e-6)
    claims = model.certificate_
    assert claims["feature_map.pairs"].numbers["rows"] == claims["feature_map.trace"].numbers["rows"] == 500
    assert "on 500 training rows, evenly spaced" in claims["feature_map.pairs"].statement
    assert every.certificate_["feature_map.pairs"].numbers["rows"] is None
    assert "500" not in every.certificate_["feature_map.pairs"].statement
    model.verify(X)
    for name, wrong in (("rows", 1300), ("rows", None)):
        forged = [
            dataclasses.replace(c, numbers={**c.numbers, name: wrong} if c.numbers else {}) for c in claims.claims
        ]
        with pytest.raises(CertificateError):
            dataclasses.replace(claims, claims=tuple(forged), seal="").verify(X)


def test_landmarks_without_part_in_the_features_are_bounded_factor_by_factor():
    X = np.repeat(rows(40, 2), 20, axis=0)
    model = Nystroem(gamma=0.5, n_components=60, random_state=0).fit(X)
    K, phi = model.kernel_(X, X), model.transform(X)
    assert np.abs(K - phi @ phi.T).max() <= model.max_error_ <= np.abs(K - phi @ phi.T).max() + 1e-6
    model.verify(X)


@pytest.mark.parametrize("gamma", [1.0, 0.2, "scale"])
def test_random_features_are_those_of_scikit_learn(gamma):
    X = rows()
    model = RBFSampler(gamma=gamma, n_components=50, random_state=7).fit(X)
    peer = peers.RBFSampler(gamma=gamma, n_components=50, random_state=7).fit(X)
    np.testing.assert_allclose(model.transform(X), peer.transform(X), rtol=1e-9, atol=1e-12)
    K, phi = model.kernel_(X, X), model.transform(X)
    assert np.abs(K - phi @ phi.T).max() <= model.sample_error_ * (1 + 1e-9)
    model.verify(X)


def test_the_bound_holds_for_almost_all_draws():
    X, D = rows(2), 40
    k = np.exp(-np.sum((X[0] - X[1]) ** 2))
    errors = []
    for seed in range(300):
        phi = RBFSampler(n_components=D, random_state=seed).fit(X).transform(X)
        errors.append(abs(float(phi[0] @ phi[1]) - k))
    bound = RBFSampler(n_components=D, random_state=0).fit(X).error_bound_
    assert bound == pytest.approx(np.sqrt(8 * np.log(40) / D)) and np.mean(np.array(errors) > bound) <= 0.05


def test_other_draws_are_refused():
    X = rows()
    certificate = RBFSampler(random_state=0).fit(X).certificate_
    for name in ("random_weights_", "random_offset_"):
        changed = {**certificate.model, name: certificate.model[name] * (1 + 1e-9)}
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, model=changed, seal="").verify(X)
