"""Discriminants on partitions: moments of the classes by passes, and claims that the checker adds up over partitions."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import LedoitWolf

from surefit import FisherDiscriminant, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter

RNG = np.random.default_rng(4)
Y = np.sort(RNG.choice(["a", "b", "c"], size=210))  # sorted: a partition has one label or two
X = RNG.normal(size=(210, 4)) @ RNG.normal(size=(4, 4)) + 2.0 * (Y == "a")[:, None] * [1, 0, -1, 0] + 1e3
S = RNG.uniform(0.5, 2.0, size=210)
FLAT = np.column_stack([X, X[:, 0] - X[:, 1]])  # within classes, rows vary in four of five directions
LINEAR = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5], store_covariance=True, n_components=1),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
]
QUADRATIC = [
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.1, store_covariance=True),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
]
pytestmark = pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


def attributes(model):
    names = ("means_", "priors_", "coef_", "intercept_", "covariance_", "explained_variance_ratio_", "scalings_")
    return {name: np.asarray(getattr(model, name)) for name in names if hasattr(model, name)}


def agree(model, memory, rtol=1e-7):
    ours, theirs = attributes(model), attributes(memory)
    assert ours.keys() == theirs.keys()
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[name], values, rtol=rtol, atol=rtol * np.abs(values).max(), err_msg=name)


def verify_both_ways(model, memory, X, Y, weights):
    for fitted in (model, memory):
        assert all(finding.ok for finding in fitted.verify(X, Y, weights).findings)
        assert all(finding.ok for finding in fitted.verify(chunked(X, 2), chunked(Y, 2), weights).findings)
    assert [claim.name for claim in model.certificate_.claims] == [claim.name for claim in memory.certificate_.claims]


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
@pytest.mark.parametrize("estimator", LINEAR + QUADRATIC, ids=lambda estimator: str(estimator)[:60])
def test_agrees_with_the_fit_in_memory_and_verifies_both_ways(estimator, weights, parts):
    spread = None if weights is None else chunked(weights, parts)
    model = clone(estimator).fit(chunked(X, parts), chunked(Y, parts), sample_weight=spread)
    memory = clone(estimator).fit(X, Y, sample_weight=weights)
    agree(model, memory)
    verify_both_ways(model, memory, X, Y, weights)
    assert model.cluster_["passes"] <= 7  # one for the summary, one for the moments, others for shrinkage
    assert np.array_equal(model.predict(chunked(X, 4)).compute(), memory.predict(X))
    np.testing.assert_allclose(model.predict_proba(chunked(X, 4)).compute(), memory.predict_proba(X), atol=1e-8)


def test_priors_of_weighted_classes_do_not_depend_on_the_partitions():
    priors = {
        LinearDiscriminantAnalysis().fit(chunked(X, p), chunked(Y, p), chunked(S, p)).certificate_.problem["priors"][0]
        for p in (1, 3, 7)
    }
    assert priors == {LinearDiscriminantAnalysis().fit(X, Y, S).certificate_.problem["priors"][0]}


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_directions_without_scatter_are_found_by_triangles(parts):
    """Products of rows square their condition, so a direction without scatter is dropped by singular values of a triangle."""
    model = LinearDiscriminantAnalysis().fit(chunked(FLAT, parts), chunked(Y, parts))
    memory = LinearDiscriminantAnalysis().fit(FLAT, Y)
    agree(model, memory, rtol=1e-6)
    verify_both_ways(model, memory, FLAT, Y, None)
    assert model.certificate_["discriminant.restricted_gap"].holds
    steep = X * [1.0, 1e-5, 1.0, 1.0]  # variances 1e-10 apart: axes of products would have no digits
    model = QuadraticDiscriminantAnalysis(tol=0.0).fit(chunked(steep, parts), chunked(Y, parts))
    memory = QuadraticDiscriminantAnalysis(tol=0.0).fit(steep, Y)
    np.testing.assert_allclose(model.scalings_, memory.scalings_, rtol=1e-6)
    verify_both_ways(model, memory, steep, Y, None)


@pytest.mark.parametrize("estimator", [LINEAR[0], QUADRATIC[0]], ids=["linear", "quadratic"])
def test_bits_do_not_depend_on_the_workers(estimator):
    found = set()
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            model = clone(estimator).fit(chunked(X, 7), chunked(Y, 7))
            bits = b"".join(values.tobytes() for values in attributes(model).values())
            found.add((bits, repr(model.certificate_.claims)))
    assert len(found) == 1


def test_fisher_discriminant_of_two_classes():
    two = Y != "c"
    model = FisherDiscriminant().fit(chunked(X[two], 3), chunked(Y[two], 3))
    memory = FisherDiscriminant().fit(X[two], Y[two])
    np.testing.assert_allclose(model.coef_, memory.coef_, rtol=1e-7)
    verify_both_ways(model, memory, X[two], Y[two], None)


@pytest.mark.parametrize("estimator", [LINEAR[0], QUADRATIC[0]], ids=["linear", "quadratic"])
def test_verify_refuses_a_changed_model_and_stronger_claims(estimator):
    model = clone(estimator).fit(chunked(X, 3), chunked(Y, 3))
    certificate = model.certificate_
    first, *others = certificate.claims
    forged = replace(certificate, claims=(replace(first, value=0.0), *others), seal="", subject=None)
    with pytest.raises(CertificateError, match=first.name):
        forged.verify(chunked(X, 3), chunked(Y, 3))
    worse = {**certificate.model, "means_": certificate.model["means_"] + 1e-3}
    with pytest.raises(CertificateError):
        replace(certificate, model=worse, seal="", subject=None).verify(chunked(X, 3), chunked(Y, 3))
    model.means_[0, 0] += 1e-9
    with pytest.raises(CertificateError, match="means_ was changed"):
        model.verify(chunked(X, 3), chunked(Y, 3))


def test_what_needs_rows_in_memory():
    with pytest.raises(InvalidParameter, match="covariance_estimator must be None for rows in partitions"):
        LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=LedoitWolf()).fit(chunked(X, 3), chunked(Y, 3))
    with pytest.raises(InvalidData, match="class 'b' has no row of positive weight"):
        QuadraticDiscriminantAnalysis().fit(chunked(X, 3), chunked(Y, 3), chunked((Y != "b").astype(float), 3))
