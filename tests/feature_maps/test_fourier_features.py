"""Random Fourier features: identities that hold for every draw, laws of the frequencies, coverage, and the certificate."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from surefit import CertificateError, InvalidParameter, RandomFourierFeatures
from surefit.kernels import RBF, Matern


def test_norms_are_one_and_products_are_means_of_cosines():
    X = np.random.default_rng(0).normal(size=(20, 3))
    features = RandomFourierFeatures(50, gamma=0.5, random_state=0).fit(X)
    phi = features.transform(X)
    assert phi.shape == (20, 100)
    assert np.sum(phi**2, axis=1) == pytest.approx(np.ones(20), abs=1e-14)
    mean = np.mean(np.cos((X[:, None] - X[None]) @ features.frequencies_.T), axis=2)
    assert phi @ phi.T == pytest.approx(mean, abs=1e-13)


def test_the_numbers_of_the_bound():
    features = RandomFourierFeatures(300, confidence=0.9).fit(np.random.default_rng(0).normal(size=(11, 2)))
    assert features.error_bound_ == pytest.approx(math.sqrt(2 * math.log(20) / 300))
    assert features.pairs_bound_ == pytest.approx(math.sqrt(2 * math.log(1100) / 300))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", RBF([0.5, 2.0, 1.0])], ids=["rbf", "laplacian", "lengths"])
def test_many_waves_are_the_kernel(kernel):
    X = np.random.default_rng(1).normal(size=(60, 3))
    features = RandomFourierFeatures(40_000, kernel=kernel, gamma=0.4, random_state=0).fit(X)
    phi = features.transform(X)
    apart = np.abs(phi @ phi.T - features.kernel_(X)).max()
    assert apart == pytest.approx(features.sample_error_)
    assert apart <= features.pairs_bound_ < 0.03
    assert apart < 0.02  # a wrong law of the frequencies would be off by 0.1


def test_the_error_of_a_fixed_pair_is_covered():
    X = np.array([[0.0, 0.0], [1.0, -0.5]])
    exact = RBF(gamma=0.3)(X)[0, 1]
    misses = 0
    for seed in range(200):
        features = RandomFourierFeatures(30, gamma=0.3, confidence=0.8, random_state=seed).fit(X)
        phi = features.transform(X)
        misses += abs(float(phi[0] @ phi[1]) - exact) > features.error_bound_
    assert misses <= 0.2 * 200


def test_sparse_rows_and_names():
    X = np.random.default_rng(2).normal(size=(15, 3))
    plain = RandomFourierFeatures(5, gamma=0.5, random_state=0).fit(X)
    rows = sparse.csr_array(X)
    assert plain.transform(rows) == pytest.approx(plain.transform(X), abs=1e-13)
    assert RandomFourierFeatures(5, gamma=0.5, random_state=0).fit(rows).verify(rows)["feature_map.sample_error"].ok
    assert plain.get_feature_names_out()[-1] == "randomfourierfeatures9"


@pytest.mark.parametrize("change", ["frequencies", "value"])
def test_other_draws_and_smaller_claims_are_refused(change):
    X = np.random.default_rng(3).normal(size=(15, 3))
    features = RandomFourierFeatures(20, gamma=0.5, random_state=0).fit(X)
    assert features.verify(X)["feature_map.all_pairs"].proved <= features.pairs_bound_
    old = features.certificate_
    claims = list(old.claims)
    if change == "frequencies":
        features.frequencies_ = features.frequencies_[::-1].copy()
    else:
        claims[0] = replace(claims[0], value=0.999999 * claims[0].value)
    features._issue("C", claims, problem=old.problem, model=("frequencies_", "seed_"), data=old.data)
    with pytest.raises(CertificateError, match="feature_map"):
        features.verify(X)


def test_what_is_refused():
    X = np.zeros((3, 2))
    for kernel in ("linear", Matern()):
        with pytest.raises(InvalidParameter, match="laplacian"):
            RandomFourierFeatures(kernel=kernel).fit(X)
    with pytest.raises(InvalidParameter, match="confidence"):
        RandomFourierFeatures(confidence=1.0).fit(X)
