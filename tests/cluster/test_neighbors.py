"""Nearest neighbors of queries in partitions: each partition searches the training rows, which are in memory."""

import dask
import dask.array as da
import numpy as np
import pytest

from surefit import KNeighborsClassifier, KNeighborsRegressor
from surefit.core.errors import InvalidData

RNG = np.random.default_rng(2)
X, Q = RNG.normal(size=(300, 4)).round(1), RNG.normal(size=(100, 4)).round(1)  # rounded: some distances are tied
Y = RNG.integers(3, size=300)


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_predictions_are_those_of_rows_in_memory(parts, scheduler):
    queries = da.from_array(Q, chunks=(-(-len(Q) // parts), 4))
    classifier = KNeighborsClassifier(5, weights="distance").fit(X, Y)
    regressor = KNeighborsRegressor(7).fit(X, X[:, 0] * Y)
    with dask.config.set(scheduler=scheduler):
        assert np.array_equal(classifier.predict(queries).compute(), classifier.predict(Q))
        assert np.array_equal(classifier.predict_proba(queries).compute(), classifier.predict_proba(Q))
        found = regressor.predict(queries)
        assert found.chunks[0] == queries.chunks[0]
        assert np.array_equal(found.compute(), regressor.predict(Q))


def test_training_rows_must_be_in_memory():
    with pytest.raises(InvalidData, match="KNeighborsClassifier: this estimator needs its rows in memory"):
        KNeighborsClassifier().fit(da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=100))
