"""Naive Bayes on partitions."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from surefit import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from surefit.core.errors import CertificateError, DataWarning, InvalidData

RNG = np.random.default_rng(0)
Y = np.sort(RNG.choice(["a", "b", "c"], size=200))  # sorted: a partition has one label or two
X = RNG.normal(size=(200, 3)) + (Y == "a")[:, None] + 1e4
S = RNG.uniform(0.5, 2.0, size=200)
COUNTS = RNG.poisson(1.0 + 2.0 * (Y == "b")[:, None], size=(200, 3)).astype(float)
DISCRETE = [
    MultinomialNB(),
    MultinomialNB(alpha=0.0, fit_prior=False),
    ComplementNB(),
    ComplementNB(norm=True),
    BernoulliNB(),
    BernoulliNB(binarize=1.5, alpha=[0.1, 0.2, 0.3], class_prior=[0.2, 0.3, 0.5]),
]


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_agrees_with_the_fit_in_memory_and_verifies_both_ways(parts, weights):
    spread = None if weights is None else chunked(weights, parts)
    model = GaussianNB().fit(chunked(X, parts), chunked(Y, parts), sample_weight=spread)
    memory = GaussianNB().fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.theta_, memory.theta_, rtol=1e-12)
    np.testing.assert_allclose(model.var_, memory.var_, rtol=1e-9)
    for fitted in (model, memory):
        assert fitted.verify(X, Y, weights)["naive_bayes.likelihood"].ok
        assert fitted.verify(chunked(X, 2), chunked(Y, 2), weights)["naive_bayes.likelihood"].ok
    assert np.array_equal(model.predict(chunked(X, 4)).compute(), model.predict(X))
    assert model.predict_proba(chunked(X, 4)).shape == (200, 3)


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
@pytest.mark.parametrize("estimator", DISCRETE, ids=lambda estimator: str(estimator)[:40])
@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_counts_are_those_of_the_rows_in_memory(estimator, weights, parts):
    spread = None if weights is None else chunked(weights, parts)
    model = clone(estimator).fit(chunked(COUNTS, parts), chunked(Y, parts), sample_weight=spread)
    memory = clone(estimator).fit(COUNTS, Y, sample_weight=weights)
    exact = weights is None  # sums of whole numbers have no rounding
    for name in ("class_count_", "feature_count_", "class_log_prior_", "feature_log_prob_"):
        np.testing.assert_allclose(getattr(model, name), getattr(memory, name), rtol=0 if exact else 1e-13)
    assert model.cluster_["passes"] == 2 and model.cluster_["certificate_passes"] == 1
    for fitted in (model, memory):
        assert fitted.verify(COUNTS, Y, weights)["naive_bayes.parameters"].ok
        assert fitted.verify(chunked(COUNTS, 2), chunked(Y, 2), weights)["naive_bayes.parameters"].ok
    assert np.array_equal(model.predict(chunked(COUNTS, 4)).compute(), memory.predict(COUNTS))


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize("estimator", [GaussianNB(), MultinomialNB()], ids=["gaussian", "multinomial"])
def test_bits_do_not_depend_on_the_workers(estimator):
    found = set()
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            model = clone(estimator).fit(chunked(COUNTS / 3, 7), chunked(Y, 7), sample_weight=chunked(S, 7))
        own = [np.asarray(values) for name, values in sorted(vars(model).items()) if name in model.certificate_.model]
        found.add((b"".join(values.tobytes() for values in own), repr(model.certificate_.claims)))
    assert len(found) == 1


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_verify_refuses_changed_counts():
    certificate = MultinomialNB().fit(chunked(COUNTS, 3), chunked(Y, 3)).certificate_
    wrong = {**certificate.model, "feature_log_prob_": certificate.model["feature_log_prob_"] * (1 + 1e-9)}
    with pytest.raises(CertificateError, match="naive_bayes"):
        replace(certificate, model=wrong, seal="", subject=None).verify(chunked(COUNTS, 3), chunked(Y, 3))


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_partitions_with_impossible_counts_are_named():
    bad = COUNTS.copy()
    bad[150, 1] = -1.0
    with pytest.raises(InvalidData, match=r"MultinomialNB: Negative values in data .* see partition 2\."):
        MultinomialNB().fit(chunked(bad, 3), chunked(Y, 3))
    with pytest.raises(
        InvalidData, match=r"BernoulliNB: binarize=None needs entries that are 0 or 1; .* see partition 0"
    ):
        BernoulliNB(binarize=None).fit(chunked(COUNTS, 3), chunked(Y, 3))


def test_partitions_with_one_label_are_named():
    with pytest.warns(DataWarning, match="all rows of partition 0 and . more have one label"):
        GaussianNB().fit(chunked(X, 7), chunked(Y, 7))
