"""Neighbors within a radius and the bare search: by hand, scikit-learn, every metric, and forgeries."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import neighbors as peers
from tests.forging import forgeries, refused, resealed_model

from surefit import NearestNeighbors, RadiusNeighborsClassifier, RadiusNeighborsRegressor
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.kernels import RBF
from surefit.neighbors.radius import _by_scan, _by_tree, _many_near
from surefit.neighbors.search import search_for

RNG = np.random.default_rng(4)
X, Q = RNG.normal(size=(150, 3)), RNG.normal(size=(20, 3))
LABELS, TARGETS = RNG.integers(0, 3, 150), RNG.normal(size=(150, 2))


def test_the_edge_of_the_ball_belongs_to_it_and_ties_go_to_the_lower_index():
    rows = np.array([[0.0], [1.0], [1.0], [2.0], [5.0]])
    for algorithm in ("brute", "kd_tree"):
        model = NearestNeighbors(n_neighbors=2, radius=1.0, algorithm=algorithm).fit(rows)
        distances, indices = model.radius_neighbors([[1.0], [9.0]], sort_results=True)
        assert indices[0].tolist() == [1, 2, 0, 3] and distances[0].tolist() == [0.0, 0.0, 1.0, 1.0]
        assert indices[1].tolist() == []
        assert [part.tolist() for part in model.radius_neighbors(return_distance=False)] == [
            [1, 2],
            [0, 2, 3],
            [0, 1, 3],
            [1, 2],
            [],
        ]
        assert model.kneighbors(return_distance=False).tolist() == [[1, 2], [2, 0], [1, 0], [1, 2], [3, 1]]
        model.verify(rows)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
def test_as_scikit_learn(metric, algorithm):
    algorithm = "brute" if metric == "cosine" else algorithm
    radius = 0.4 if metric == "cosine" else 1.2
    model = NearestNeighbors(radius=radius, metric=metric, algorithm=algorithm).fit(X)
    peer = peers.NearestNeighbors(radius=radius, metric=metric, algorithm="brute").fit(X)
    for rows in (Q, None):
        ours, theirs = (
            model.radius_neighbors_graph(rows, mode="distance"),
            peer.radius_neighbors_graph(rows, mode="distance"),
        )
        np.testing.assert_allclose(ours.toarray(), theirs.toarray(), atol=1e-12)
        np.testing.assert_array_equal(model.kneighbors(rows)[1], peer.kneighbors(rows)[1])
    for weights in ("uniform", "distance", lambda d: np.exp(-d)):
        options = {"radius": 2 * radius, "metric": metric, "algorithm": algorithm, "weights": weights}
        regressor = RadiusNeighborsRegressor(**options).fit(X, TARGETS)
        if isinstance(weights, str):
            peer = peers.RadiusNeighborsRegressor(**{**options, "algorithm": "brute"}).fit(X, TARGETS)
            np.testing.assert_allclose(regressor.predict(Q), peer.predict(Q), rtol=1e-9)
            peer = peers.RadiusNeighborsClassifier(**{**options, "algorithm": "brute"}).fit(X, LABELS)
            classifier = RadiusNeighborsClassifier(**options).fit(X, LABELS)
            np.testing.assert_allclose(classifier.predict_proba(Q), peer.predict_proba(Q), rtol=1e-9)
            classifier.verify(X, LABELS)
        regressor.verify(X, TARGETS)


def test_sparse_precomputed_and_kernel_distances():
    plain = RadiusNeighborsRegressor(radius=1.5).fit(X, TARGETS).predict(Q)
    np.testing.assert_allclose(RadiusNeighborsRegressor(radius=1.5).fit(sparse.csr_array(X), TARGETS).predict(Q), plain)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    model = RadiusNeighborsRegressor(radius=1.5, metric="precomputed").fit(D, TARGETS)
    np.testing.assert_allclose(model.predict(np.linalg.norm(Q[:, None] - X, axis=2)), plain)
    model.verify(D, TARGETS)
    # Distances of the features of an RBF kernel are sqrt(2 - 2 exp(-gamma d^2)): the same order.
    radius = float(np.sqrt(2 - 2 * np.exp(-0.5 * 1.5**2)))
    model = RadiusNeighborsRegressor(radius=radius, metric=RBF(gamma=0.5)).fit(X, TARGETS)
    np.testing.assert_allclose(model.predict(Q), plain)


def test_rows_without_neighbors():
    far = np.array([[90.0, 0.0, 0.0], X[0]])
    with pytest.raises(InvalidData, match="No neighbors found for test samples"):
        RadiusNeighborsClassifier().fit(X, LABELS).predict(far)
    with pytest.warns(DataWarning, match="is not among the classes"):
        assert RadiusNeighborsClassifier(outlier_label=-7).fit(X, LABELS).predict(far)[0] == -7
    common = RadiusNeighborsClassifier(outlier_label="most_frequent").fit(X, LABELS)
    assert common.predict(far)[0] == np.argmax(np.bincount(LABELS)) and common.predict_proba(far)[0].max() == 1.0
    with pytest.warns(DataWarning, match="1 row has no neighbors"):
        assert np.isnan(RadiusNeighborsRegressor().fit(X, TARGETS[:, 0]).predict(far)).tolist() == [True, False]
    with pytest.raises(InvalidParameter, match="outlier_label"):
        RadiusNeighborsClassifier(outlier_label="none").fit(X, LABELS)


def test_forged_neighbors_rows_and_targets_are_refused():
    for model, y in (
        (RadiusNeighborsClassifier(), LABELS),
        (RadiusNeighborsRegressor(), TARGETS[:, 0]),
        (NearestNeighbors(), None),
    ):
        model.fit(X, y)
        proved = [finding.proved for finding in model.verify(X, y).findings]
        for what, forged in forgeries(model.certificate_, proved):
            assert refused(forged, X, y), what
    other = resealed_model(model, "_fit_X", X[::-1].copy())
    assert refused(other._certificate, X, model=other)


@pytest.mark.parametrize("seed", range(12))
def test_scan_and_tree_find_the_same_rows_and_bits(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(300, 1500)), int(rng.integers(1, 8))
    X = (
        rng.integers(-3, 4, size=(n, d)) * 0.1
        if seed % 3 == 0
        else rng.normal(size=(n, d)) * 10.0 ** rng.integers(-5, 5)
    )
    X = X.astype(np.float32) if seed % 4 == 0 else X
    search, Q = search_for(X, algorithm="kd_tree", metric="euclidean", p=2, metric_params=None), X[:30]
    limits = np.linalg.norm(X[:1].astype(float) - Q, axis=1)  # a row at the edge of every ball
    for radius in (limits, np.full(len(Q), np.median(limits))):
        found = [[np.concatenate(part) for part in zip(*blocks, strict=True)] for blocks in (
            _by_scan(search.X, Q, radius), _by_tree(search, Q, radius))]  # fmt: skip
        assert all(map(np.array_equal, *found))


def test_many_rows_near_are_found_by_a_scan_and_few_by_the_tree():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    search = search_for(X, algorithm="kd_tree", metric="euclidean", p=2, metric_params=None)
    assert _many_near(search, X[:50], np.full(50, 2.0))
    assert not _many_near(search, X[:50], np.full(50, 0.01))
    assert not _many_near(search, X[:0], np.zeros(0))
    assert not _many_near(search._replace(p=1.0), X[:50], np.full(50, 2.0))
