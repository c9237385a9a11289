"""Gaussian naive Bayes on partitions."""

import dask
import dask.array as da
import numpy as np
import pytest

from surefit import GaussianNB
from surefit.core.errors import DataWarning

RNG = np.random.default_rng(0)
Y = np.sort(RNG.choice(["a", "b", "c"], size=200))  # sorted: a partition has one label or two
X = RNG.normal(size=(200, 3)) + (Y == "a")[:, None] + 1e4
S = RNG.uniform(0.5, 2.0, size=200)


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")
def test_agrees_with_the_fit_in_memory_and_verifies_both_ways(parts, weights):
    with dask.config.set(scheduler="synchronous"):
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


def test_partitions_with_one_label_are_named():
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.warns(DataWarning, match="all rows of partition 0 and . more have one label"),
    ):
        GaussianNB().fit(chunked(X, 7), chunked(Y, 7))
