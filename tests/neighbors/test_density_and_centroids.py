"""Kernel densities and nearest centroids: integrals, hand numbers, scikit-learn, and certificates that can fail."""

import dataclasses

import numpy as np
import pytest
from scipy import integrate
from sklearn import neighbors as peers

from surefit import CertificateError, InvalidData, KernelDensity, NearestCentroid
from surefit.checks.neighbors.centroids import _largest

SHAPES = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")


def sample(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.arange(n) % 3


@pytest.mark.parametrize("kernel", SHAPES)
def test_a_density_on_the_line_integrates_to_one(kernel):
    model = KernelDensity(kernel=kernel, bandwidth=0.7).fit([[0.0], [0.3], [2.0]], sample_weight=[1, 3, 2])
    grid = np.linspace(-30, 30, 60_001)
    assert integrate.simpson(np.exp(model.score_samples(grid[:, None])), x=grid) == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize("kernel", SHAPES)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_densities_agree_with_scikit_learn(kernel, d):
    X, _ = sample(d=d)
    weights = 1.0 + np.arange(len(X)) % 4
    model = KernelDensity(kernel=kernel, bandwidth=1.3).fit(X, sample_weight=weights)
    peer = peers.KernelDensity(kernel=kernel, bandwidth=1.3).fit(X, sample_weight=weights)
    own, theirs = model.score_samples(X + 0.1), peer.score_samples(X + 0.1)
    if kernel == "cosine" and d % 2 == 0:  # scikit-learn's integral lacks a term in even dimensions
        own, theirs = own - own[0], theirs - theirs[0]
    np.testing.assert_allclose(own, theirs, rtol=1e-9, atol=1e-12)
    assert model.verify(X, sample_weight=weights)["kernel_density.values"].proved < 1e-9


@pytest.mark.parametrize("kernel", SHAPES)
def test_a_density_in_the_plane_integrates_to_one(kernel):
    model = KernelDensity(kernel=kernel, bandwidth=0.7).fit([[0.0, 0.0], [0.3, 1.0]])
    grid = np.linspace(-12, 12, 481)
    places = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    assert np.exp(model.score_samples(places)).sum() * (grid[1] - grid[0]) ** 2 == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize("bandwidth", ["scott", "silverman", 0.4])
def test_bandwidths_metrics_and_draws_agree_with_scikit_learn(bandwidth):
    X, _ = sample()
    for options in ({}, {"metric": "manhattan"}, {"kernel": "tophat"}):
        model = KernelDensity(bandwidth=bandwidth, **options).fit(X)
        peer = peers.KernelDensity(bandwidth=bandwidth, **options).fit(X)
        assert model.bandwidth_ == pytest.approx(peer.bandwidth_)
        np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X), rtol=1e-9)
        assert model.score(X) == pytest.approx(peer.score(X))
    np.testing.assert_allclose(model.sample(5, random_state=0), peer.sample(5, random_state=0))
    with pytest.raises(ValueError, match="draw rows"):
        KernelDensity(kernel="linear").fit(X).sample()


def test_other_densities_are_refused():
    X, _ = sample()
    model = KernelDensity().fit(X)
    certificate = model.certificate_
    claim = certificate.claims[0]
    forged = dataclasses.replace(claim, witness={"log_density": claim.witness["log_density"] + 1e-6})
    with pytest.raises(CertificateError):
        dataclasses.replace(certificate, claims=(forged, *certificate.claims[1:]), seal="").verify(X)
    assert certificate.verify(X)["knn.rows"].proved == 0


@pytest.mark.parametrize("options", [{}, {"metric": "manhattan"}, {"shrink_threshold": 0.3}, {"priors": "empirical"},
                                     {"priors": [0.2, 0.3, 0.5]}])  # fmt: skip
def test_centroids_agree_with_scikit_learn(options):
    X, y = sample()
    X[:, 0] += 2.0 * y
    model, peer = NearestCentroid(**options).fit(X, y), peers.NearestCentroid(**options).fit(X, y)
    for name in ("centroids_", "within_class_std_dev_", "class_prior_", "deviations_"):
        np.testing.assert_allclose(getattr(model, name), getattr(peer, name), rtol=1e-9, atol=1e-12)
    assert np.array_equal(model.predict(X), peer.predict(X))
    if "metric" not in options:
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), rtol=1e-8)
    assert model.verify(X, y)["nearest_centroid.centroids"].proved < 1e-12


def test_constant_rows_and_priors_that_are_no_probabilities():
    with pytest.raises(ValueError, match="zero variance"):
        NearestCentroid().fit(np.full((6, 2), -0.13725701), [0, 1] * 3)
    with pytest.warns(UserWarning, match="do not sum to 1"):
        model = NearestCentroid(priors=[2.0, 2.0]).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert model.class_prior_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", ["centroids_", "within_class_std_dev_", "class_prior_"])
def test_other_centroids_are_refused(name):
    X, y = sample()
    certificate = NearestCentroid(shrink_threshold=0.1).fit(X, y).certificate_
    changed = {**certificate.model, name: certificate.model[name] * (1 + 1e-8)}
    with pytest.raises(CertificateError):
        dataclasses.replace(certificate, model=changed, seal="").verify(X, y)


@pytest.mark.parametrize("n", [3, 64, 200])
def test_the_largest_entry_of_each_column_is_found_among_lines_and_rest(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    assert np.array_equal(_largest(X), np.abs(X).max(axis=0))


def test_equal_rows_whose_mean_is_rounded_are_refused():
    X = np.tile([-0.13725701, -0.9853293], (10, 1))
    with pytest.raises(InvalidData, match="zero variance"):
        NearestCentroid(shrink_threshold=0.1).fit(X, [1, *[0] * 9])
