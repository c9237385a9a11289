"""Principal components of Dask collections: the scatter matrix by passes; the checker adds up over partitions."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest

from surefit import PCA
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter

RNG = np.random.default_rng(3)
X = RNG.normal(size=(500, 6)) @ RNG.normal(size=(6, 6)) + 1000.0


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("wanted", [2, 0.9, "mle", None])
def test_components_are_those_of_rows_in_memory(wanted, parts):
    model, memory = PCA(wanted).fit(chunked(X, parts)), PCA(wanted).fit(X)
    for name in ("mean_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(model, name), getattr(memory, name), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.transform(chunked(X, parts)).compute(), memory.transform(X), atol=1e-8)
    assert model.verify(chunked(X, 4))["eigen.gap"].level == "enclosed"
    model.verify(X)
    memory.verify(chunked(X, parts))
    for claim in memory.certificate_.claims:
        assert model.certificate_[claim.name].value == pytest.approx(claim.value, rel=1e-6, abs=1e-8)


def test_bits_do_not_depend_on_the_scheduler():
    model = PCA(3).fit(chunked(X, 7))
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            again = PCA(3).fit(chunked(X, 7))
        assert again.components_.tobytes() == model.components_.tobytes()
        assert [c.value for c in again.certificate_.claims] == [c.value for c in model.certificate_.claims]


def test_float32_rows():
    model = PCA(2).fit(chunked(X.astype(np.float32), 3))
    assert model.components_.dtype == np.float32
    model.verify(chunked(X.astype(np.float32), 5))


@pytest.mark.parametrize("name", ["components_", "explained_variance_", "mean_"])
def test_verify_refuses_a_changed_model(name):
    model = PCA(2).fit(chunked(X, 3))
    getattr(model, name).flat[0] *= 1 + 1e-12
    with pytest.raises(CertificateError):
        model.verify(chunked(X, 3))


def test_verify_refuses_other_rows_and_stronger_claims():
    model = PCA(2).fit(chunked(X, 3))
    rows = X.copy()
    rows[250, 5] += 1e-9
    with pytest.raises(CertificateError, match="X differ"):
        model.verify(chunked(rows, 3))
    certificate = model.certificate_
    claims = tuple(replace(c, value=2 * c.value) if c.name == "eigen.complete" else c for c in certificate.claims)
    with pytest.raises(CertificateError, match=r"eigen\.complete"):
        replace(certificate, claims=claims, seal="").verify(chunked(X, 3))
    worse = PCA(2).fit(chunked(X, 3))
    worse.components_ = PCA(6).fit(X).components_[-2:]  # directions of the least variance
    worse._certificate = replace(
        worse.certificate_, model={**worse.certificate_.model, "components_": worse.components_}, seal=""
    )
    with pytest.raises(CertificateError):
        worse.verify(chunked(X, 3))


def test_what_needs_rows_in_memory():
    with pytest.raises(InvalidParameter, match="svd_solver must be 'auto' or 'covariance_eigh' for rows in partitions"):
        PCA(2, svd_solver="randomized").fit(chunked(X, 3))
    with pytest.raises(InvalidData, match="at least as many as the columns; X is 4 x 6"):
        PCA(2).fit(chunked(X[:4], 2))
