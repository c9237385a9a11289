"""Gaussian mixtures on Dask collections: EM by sums takes the steps of one machine; the checker adds up over partitions."""

import dask
import dask.array as da
import numpy as np
import pytest

from surefit import GaussianMixture
from surefit.core.errors import CertificateError, InvalidData

RNG = np.random.default_rng(1)
CENTERS = np.array([[0.0, 0.0, 20.0], [7.0, 0.0, 20.0], [0.0, 9.0, 20.0]])
X = CENTERS[RNG.integers(3, size=500)] + RNG.normal(size=(500, 3)) @ RNG.normal(size=(3, 3))
S = RNG.uniform(0.5, 3.0, size=500)
GIVEN = {"n_components": 3, "weights_init": [0.2, 0.3, 0.5], "means_init": CENTERS}
KINDS = ("full", "tied", "diag", "spherical")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


def given(kind):
    precisions = {
        "full": np.stack([np.eye(3)] * 3),
        "tied": np.eye(3),
        "diag": np.ones((3, 3)),
        "spherical": np.ones(3),
    }
    return {**GIVEN, "covariance_type": kind, "precisions_init": precisions[kind]}


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_those_of_one_machine(kind, parts):
    model = GaussianMixture(**given(kind)).fit(chunked(X, parts), sample_weight=chunked(S, parts))
    memory = GaussianMixture(**given(kind)).fit(X, sample_weight=S)
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(model, name), getattr(memory, name), rtol=1e-9, atol=1e-12)
    assert model.n_iter_ == memory.n_iter_ and model.converged_
    np.testing.assert_allclose(model.lower_bounds_, memory.lower_bounds_, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(chunked(X, parts)).compute(), memory.predict_proba(X), atol=1e-9)
    assert model.score(chunked(X, parts)) == pytest.approx(memory.score(X), rel=1e-9)
    model.verify(chunked(X, 4), sample_weight=chunked(S, 4))
    model.verify(X, sample_weight=S)
    memory.verify(chunked(X, parts), sample_weight=chunked(S, parts))
    for claim in memory.certificate_.claims:
        assert model.certificate_[claim.name].value == pytest.approx(claim.value, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random_from_data", "random"])
def test_starts_by_passes_and_equal_bits(how):
    options = {"n_components": 3, "init_params": how, "random_state": 1, "tol": 1e-6, "max_iter": 500, "n_init": 2}
    model = GaussianMixture(**options).fit(chunked(X, 7))
    best = GaussianMixture(3, tol=1e-6, max_iter=500, means_init=CENTERS).fit(X)
    assert model.lower_bound_ == pytest.approx(best.lower_bound_, abs=1e-3)
    model.verify(chunked(X, 3))
    for workers in (1, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            again = GaussianMixture(**options).fit(chunked(X, 7))
        for name in ("weights_", "means_", "covariances_"):
            assert getattr(again, name).tobytes() == getattr(model, name).tobytes()
        assert [c.value for c in again.certificate_.claims[:4]] == [c.value for c in model.certificate_.claims[:4]]


def test_start_from_clusters_is_that_of_one_machine():
    """Well separated rows: k-means|| and k-means++ end in the same partition, so EM starts from the same moments."""
    model, memory = (GaussianMixture(3, random_state=0).fit(rows) for rows in (chunked(X, 3), X))
    ours, theirs = (m.means_[np.lexsort(m.means_.round(6).T)] for m in (model, memory))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["weights_", "means_", "covariances_", "precisions_cholesky_"])
def test_verify_refuses_a_changed_model(name):
    model = GaussianMixture(**given("full")).fit(chunked(X, 3))
    getattr(model, name).flat[0] *= 1 + 1e-12
    with pytest.raises(CertificateError):
        model.verify(chunked(X, 3))


def test_verify_refuses_other_rows_and_stronger_claims():
    from dataclasses import replace

    model = GaussianMixture(**given("diag")).fit(chunked(X, 3))
    rows = X.copy()
    rows[499, 2] += 1e-9
    with pytest.raises(CertificateError, match="X differ"):
        model.verify(chunked(rows, 3))
    certificate = model.certificate_
    for name in ("mixture.step", "mixture.score", "mixture.likelihood"):
        claims = tuple(
            replace(c, value=c.value - 0.5 * abs(c.value)) if c.name == name else c for c in certificate.claims
        )
        with pytest.raises(CertificateError, match=name):
            replace(certificate, claims=claims, seal="").verify(chunked(X, 3))


def test_impossible_fits_are_explained():
    with pytest.raises(InvalidData, match="n_samples >= n_components"):
        GaussianMixture(9).fit(chunked(X[:5], 2))
    with pytest.raises(InvalidData, match="not positive definite"):
        GaussianMixture(1, reg_covar=0.0).fit(chunked(np.ones((20, 2)), 2))
