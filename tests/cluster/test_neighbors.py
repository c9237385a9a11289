"""Nearest neighbors with queries or training rows in partitions, or both: the neighbors of rows in memory."""

from copy import deepcopy
from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from tests.cluster.test_boosted_trees import chunked

from surefit import Certified, KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter

RNG = np.random.default_rng(2)
X, Q = RNG.normal(size=(300, 4)).round(1), RNG.normal(size=(100, 4)).round(1)  # rounded: some distances are tied
Y = RNG.integers(3, size=300)
LABELS = np.array(["a", "b", "c"])[Y]
S = np.where(np.arange(300) % 7 == 2, 0.0, RNG.choice([0.5, 1.0, 2.5], size=300))


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


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


CASES = {
    "votes": (KNeighborsClassifier(5), LABELS),
    "distances": (KNeighborsClassifier(7, weights="distance", p=1, ties="nearest"), LABELS),
    "means": (KNeighborsRegressor(6), X[:, 0] * Y),
    "farthest": (KNeighborsRegressor(3, weights="distance", metric="chebyshev"), X[:, 0] * Y),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_training_rows_in_partitions_give_the_predictions_of_rows_in_memory(case, weighted):
    model, y = CASES[case]
    weights = S if weighted else None
    memory = clone(model).fit(X, y, sample_weight=weights)
    expected = memory.predict(Q)
    for parts in (1, 3, 7):
        ours = clone(model).fit(chunked(X, parts), chunked(y, parts), sample_weight=chunked(weights, parts))
        found = ours.predict(Q)
        assert np.array_equal(found, expected) if y is LABELS else np.allclose(found, expected, rtol=1e-13, atol=0)
        lazy = ours.predict(chunked(Q, 4))
        assert lazy.chunks[0] == chunked(Q, 4).chunks[0] and lazy.dtype == found.dtype
        assert np.array_equal(lazy.compute(), found)
    for mine, theirs in zip(ours.kneighbors(Q, 4), memory.kneighbors(Q, 4), strict=True):
        assert np.array_equal(mine, theirs)  # ties go to the lower index in any partition
    assert ours.n_samples_fit_ == memory.n_samples_fit_ and not hasattr(ours, "sample_indices_")
    ours.verify(X, y, weights)
    found = ours.verify(chunked(X, 5), chunked(y, 5), chunked(weights, 5))
    assert found["knn.neighbors"].ok and found["knn.neighbors"].proved < 1e-12
    assert ours.certificate_["knn.neighbors"].numbers == memory.certificate_["knn.neighbors"].numbers


def test_squares_of_large_and_small_numbers_and_many_neighbors():
    for factor, k in ((1e140, 5), (1e-130, 5), (1.0, 150)):
        table, queries = X * factor, Q[:20] * factor
        ours = KNeighborsRegressor(k).fit(chunked(table, 3), chunked(X[:, 0], 3))
        memory = KNeighborsRegressor(k).fit(table, X[:, 0])
        for mine, theirs in zip(ours.kneighbors(queries), memory.kneighbors(queries), strict=True):
            assert np.array_equal(mine, theirs)


def test_the_bits_do_not_depend_on_the_number_of_threads():
    first = KNeighborsRegressor(6).fit(chunked(X, 7), chunked(X[:, 1], 7))
    expected = first.predict(Q).tobytes()
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            again = KNeighborsRegressor(6).fit(chunked(X, 7), chunked(X[:, 1], 7))
            assert again.predict(Q).tobytes() == expected
            assert again.predict(chunked(Q, 3)).compute().tobytes() == expected
            assert repr(again.certificate_.claims) == repr(first.certificate_.claims)


def test_nearest_neighbors_of_partitions_and_what_needs_rows_in_memory(tmp_path):
    import pandas as pd

    for i in range(2):
        pd.DataFrame(X[150 * i : 150 * i + 150], columns=list("abcd")).to_parquet(tmp_path / f"{i}.parquet")
    model, memory = NearestNeighbors(n_neighbors=3).fit(str(tmp_path)), NearestNeighbors(n_neighbors=3).fit(X)
    queries = pd.DataFrame(Q, columns=list("abcd"))
    assert np.array_equal(model.kneighbors(queries)[1], memory.kneighbors(Q)[1])
    assert (model.kneighbors_graph(queries) != memory.kneighbors_graph(Q)).nnz == 0
    model.verify(str(tmp_path))
    for call in (
        lambda: model.radius_neighbors(queries),
        model.kneighbors,
        lambda: deepcopy(model).kneighbors(queries),
    ):
        with pytest.raises(InvalidData, match="NearestNeighbors: the training rows are in partitions"):
            call()
    with pytest.raises(InvalidData, match="n_neighbors = 301, n_samples_fit = 300"):
        model.kneighbors(queries, 301)
    for options in ({"metric": "cosine"}, {"metric": "precomputed"}, {"kernel": "rbf"}):
        with pytest.raises(InvalidParameter, match="one of minkowski, .* for rows in partitions"):
            KNeighborsClassifier(**options).fit(chunked(X, 3), chunked(Y, 3))
    with pytest.raises(InvalidData, match="Certified: estimator must .*got KNeighborsClassifier of surefit"):
        Certified(KNeighborsClassifier()).fit(chunked(X, 3), chunked(Y, 3))  # tests would need the rows in every pass
    refitted = KNeighborsClassifier(3).fit(chunked(X, 3), chunked(Y, 3)).fit(X, Y)
    assert np.array_equal(refitted.predict(Q), KNeighborsClassifier(3).fit(X, Y).predict(Q))


@pytest.mark.parametrize("change", ["farther", "twice", "absent", "data"])
def test_verify_refuses_what_was_changed(change):
    model = KNeighborsRegressor(4).fit(chunked(X, 3), chunked(X[:, 0], 3), sample_weight=chunked(S, 3))
    certificate, rows = model.certificate_, X.copy()
    neighbors = certificate["knn.neighbors"].witness["neighbors"].copy()
    if change == "farther":
        far = np.argsort(np.linalg.norm(X - X[neighbors[2, 0]], axis=1))[-20:]
        neighbors[2, -1] = next(i for i in far if S[i] > 0)
    elif change == "twice":
        neighbors[0, 1] = neighbors[0, 0]
    elif change == "absent":
        neighbors[1, 1] = np.flatnonzero(S == 0)[0]
    else:
        rows[17, 1] += 0.1
    claims = tuple(
        replace(c, witness={"neighbors": neighbors}) if c.name == "knn.neighbors" else c for c in certificate.claims
    )
    forged = replace(certificate, claims=claims, seal="", subject=None)
    with pytest.raises(CertificateError):
        forged.verify(chunked(rows, 4), chunked(X[:, 0], 4), chunked(S, 4))
