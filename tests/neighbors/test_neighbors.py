"""Nearest rows: exact for every search, ties by index, votes, weights as repetitions, kernels, and the certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import neighbors
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from surefit import (
    Certificate,
    CertificateError,
    InvalidData,
    InvalidParameter,
    KNeighborsClassifier,
    KNeighborsRegressor,
    kernel_distances,
    kernels,
)
from surefit.solvers import nearest_neighbors


def by_sorting(X, Q, k, metric="euclidean", **options):
    distances = cdist(Q, X, metric=metric, **options)
    if metric == "euclidean":
        distances = np.array([np.sqrt([sum((a - b) ** 2 for a, b in zip(q, x, strict=True)) for x in X]) for q in Q])
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, axis=1), order


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 60), d=st.integers(1, 6), grid=st.booleans())
def test_neighbors_are_those_of_sorting(algorithm, seed, n, d, grid):
    rng = np.random.default_rng(seed)
    # Points of a small grid have many equal distances: there the index decides.
    X = rng.integers(0, 3, (n, d)).astype(float) if grid else rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4)
    Q = rng.integers(0, 3, (7, d)).astype(float) if grid else X[:3] + 1e-9
    k = int(rng.integers(1, n + 1))
    model = KNeighborsClassifier(k, algorithm=algorithm).fit(X, np.arange(n) % 2)
    distances, indices = model.kneighbors(Q)
    expected, order = by_sorting(X, Q, k)
    assert np.array_equal(indices, order)
    assert distances == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e9])
def test_rows_far_from_the_origin(shift):
    rng = np.random.default_rng(0)
    X, Q = rng.standard_normal((400, 12)) + shift, rng.standard_normal((50, 12)) + shift
    _, indices = nearest_neighbors.nearest(nearest_neighbors.prepare(X), Q, 6)
    assert np.array_equal(indices, by_sorting(X, Q, 6)[1])


@pytest.mark.parametrize("exponent", [-700, -100, 0, 100, 900])
def test_any_scale(exponent):
    rng = np.random.default_rng(1)
    X, Q = rng.standard_normal((300, 5)), rng.standard_normal((20, 5))
    expected, order = by_sorting(X, Q, 4)
    unit = 2.0**exponent
    distances, indices = nearest_neighbors.nearest(nearest_neighbors.prepare(X * unit), Q * unit, 4)
    assert np.array_equal(indices, order)
    assert distances / unit == pytest.approx(expected, rel=1e-14)


def test_queries_far_away_and_equal_rows():
    X = np.vstack([np.zeros((600, 3)), np.ones((600, 3))])
    Q = np.array([[1e20, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1e9, 1e9, 1e9]])
    indices = nearest_neighbors.nearest(nearest_neighbors.prepare(X), Q, 3)[1]
    assert np.array_equal(indices, by_sorting(X, Q, 3)[1])


def test_many_neighbors():
    rng = np.random.default_rng(2)
    X, Q = rng.integers(0, 4, (700, 3)).astype(float), rng.integers(0, 4, (9, 3)).astype(float)
    _, indices = KNeighborsRegressor(500, algorithm="brute").fit(X, X[:, 0]).kneighbors(Q)
    assert np.array_equal(indices, by_sorting(X, Q, 500)[1])


def test_same_answer_for_any_number_of_threads_and_both_searches():
    rng = np.random.default_rng(3)
    X, y, Q = rng.standard_normal((3000, 4)), rng.integers(0, 3, 3000), rng.standard_normal((900, 4))
    answers = [
        KNeighborsClassifier(7, algorithm=algorithm, n_jobs=n_jobs, weights="distance").fit(X, y).kneighbors(Q)
        for algorithm in ("auto", "brute", "kd_tree")
        for n_jobs in (None, 2)
    ]
    for distances, indices in answers[1:]:
        assert np.array_equal(indices, answers[0][1])
        assert distances == pytest.approx(answers[0][0], rel=1e-14)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1 / (1 + d)])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_agrees_with_scikit_learn(weights, p):
    X, y = load_breast_cancer(return_X_y=True)
    ours = KNeighborsClassifier(5, weights=weights, p=p).fit(X[::2], y[::2])
    theirs = neighbors.KNeighborsClassifier(5, weights=weights, p=p).fit(X[::2], y[::2])
    assert ours.predict_proba(X[1::2]) == pytest.approx(theirs.predict_proba(X[1::2]), abs=1e-9)
    assert np.array_equal(ours.predict(X[1::2]), theirs.predict(X[1::2]))
    X, y = load_diabetes(return_X_y=True)
    y = np.c_[y, -y]
    ours = KNeighborsRegressor(4, weights=weights, p=p).fit(X[::2], y[::2])
    theirs = neighbors.KNeighborsRegressor(4, weights=weights, p=p).fit(X[::2], y[::2])
    assert ours.predict(X[1::2]) == pytest.approx(theirs.predict(X[1::2]), rel=1e-9)


@pytest.mark.parametrize("metric", ["chebyshev", "cosine", "canberra", "manhattan", lambda a, b: abs(a - b).max()])
def test_other_distances(metric):
    X, y = load_iris(return_X_y=True)
    ours = KNeighborsClassifier(3, metric=metric).fit(X[::2], y[::2])
    theirs = neighbors.KNeighborsClassifier(3, metric=metric).fit(X[::2], y[::2])
    assert ours.kneighbors(X[1::2])[0] == pytest.approx(theirs.kneighbors(X[1::2])[0], abs=1e-7)
    assert ours.verify(X[::2], y[::2])


def test_sparse_rows_and_precomputed_distances():
    rng = np.random.default_rng(4)
    X = sparse.random_array((60, 30), density=0.2, rng=rng, format="csr")
    y = rng.integers(0, 2, 60)
    dense = KNeighborsClassifier(3).fit(X.toarray(), y)
    assert np.array_equal(KNeighborsClassifier(3).fit(X, y).predict(X), dense.predict(X.toarray()))
    D = cdist(X.toarray(), X.toarray())
    assert np.array_equal(
        KNeighborsClassifier(3, metric="precomputed").fit(D, y).predict(D), dense.predict(X.toarray())
    )
    with pytest.raises(InvalidData, match="square"):
        KNeighborsClassifier(3, metric="precomputed").fit(D[:50], y[:50])


def test_pairs_that_a_sparse_graph_does_not_store_are_not_neighbors():
    X = np.random.default_rng(0).normal(size=(150, 2))
    y = (X[:, 0] > 0).astype(int)
    graph = neighbors.KNeighborsTransformer(n_neighbors=9, mode="distance").fit(X[::2])
    train, test = (
        neighbors.sort_graph_by_row_values(graph.transform(part), warn_when_not_sorted=False)
        for part in (X[::2], X[1::2])
    )
    for ours, theirs in (
        (KNeighborsClassifier, neighbors.KNeighborsClassifier),
        (KNeighborsRegressor, neighbors.KNeighborsRegressor),
    ):
        model = ours(5, metric="precomputed").fit(train, y[::2])
        assert model.verify(train, y[::2])
        wanted = theirs(5, metric="precomputed").fit(train, y[::2])
        assert model.kneighbors(test)[0] == pytest.approx(wanted.kneighbors(test)[0])
        assert np.allclose(model.predict(test), wanted.predict(test))
        assert model.score(test, y[1::2]) > 0.7
        assert model.kneighbors(n_neighbors=3)[0] == pytest.approx(wanted.kneighbors(n_neighbors=3)[0])
    with pytest.raises(InvalidData, match="stores too few distances"):
        model.kneighbors(test, n_neighbors=12)
    with pytest.raises(InvalidData, match="Negative values"):
        ours(5, metric="precomputed").fit(-train, y[::2])


def test_stored_zeros_of_a_graph_are_distances_and_short_rows_are_allowed_at_fit():
    graph = sparse.csr_array(([0.0, 1.0, 0.0, 2.0], ([0, 0, 1, 2], [0, 1, 1, 0])), shape=(3, 3))
    model = KNeighborsClassifier(2, metric="precomputed").fit(graph, [0, 1, 1])
    assert model.certificate_["knn.neighbors"].numbers["k"] == 1
    assert model.verify(graph, [0, 1, 1])
    assert model.kneighbors(graph[[0]], n_neighbors=2)[1].tolist() == [[0, 1]]
    empty = sparse.csr_array((3, 3))
    assert KNeighborsClassifier(1, metric="precomputed").fit(empty, [0, 1, 1]).verify(empty, [0, 1, 1])


def test_rows_of_weight_zero_take_no_part_with_precomputed_distances():
    X, y = load_iris(return_X_y=True)
    weights = (np.arange(150) % 3 > 0).astype(float)
    D, kept = cdist(X, X), weights > 0
    model = KNeighborsClassifier(3, metric="precomputed").fit(D, y, weights)
    alone = KNeighborsClassifier(3, metric="precomputed").fit(D[np.ix_(kept, kept)], y[kept])
    assert np.array_equal(model.predict(D), alone.predict(D[:, kept]))


def test_a_training_row_is_not_its_own_neighbor():
    X = np.array([[0.0], [0.0], [0.0], [5.0]])
    indices = KNeighborsClassifier(1).fit(X, [0, 0, 1, 1]).kneighbors(return_distance=False)
    assert np.all(indices.ravel() != np.arange(4))
    graph = KNeighborsClassifier(2).fit(X, [0, 0, 1, 1]).kneighbors_graph(mode="distance")
    assert graph.shape == (4, 4)
    assert graph.sum() == 10.0


def test_facts_of_the_notes():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((41, 2)), rng.integers(0, 2, 41)
    assert KNeighborsClassifier(1).fit(X, y).score(X, y) == 1.0
    majority = int(y.mean() > 0.5)
    assert np.all(KNeighborsClassifier(41).fit(X, y).predict(X) == majority)
    # Equal votes: the first class; equal distances: the lower index.
    assert KNeighborsClassifier(2).fit([[0.0], [1.0]], [1, 0]).predict([[0.1]]) == [0]
    assert KNeighborsClassifier(1).fit([[1.0], [-1.0]], [1, 0]).predict([[0.0]]) == [1]
    assert KNeighborsClassifier(1).fit([[-1.0], [1.0]], [0, 1]).predict([[0.0]]) == [0]


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), weighting=st.sampled_from(["uniform", "distance"]))
def test_weights_are_repetitions(seed, weighting):
    rng = np.random.default_rng(seed)
    X, y, w = rng.integers(0, 4, (15, 2)).astype(float), rng.integers(0, 2, 15), rng.integers(0, 4, 15)
    w[:2], y[:2] = 2, [0, 1]
    Q = rng.random((10, 2)) * 4
    weighted = KNeighborsClassifier(4, weights=weighting).fit(X, y, sample_weight=w)
    repeated = KNeighborsClassifier(4, weights=weighting).fit(X.repeat(w, axis=0), y.repeat(w))
    assert weighted.predict_proba(Q) == pytest.approx(repeated.predict_proba(Q))
    assert weighted.verify(X, y, sample_weight=w)
    halves = KNeighborsRegressor(2).fit(X, y, sample_weight=np.full(15, 0.5))
    assert halves.predict(Q) == pytest.approx(KNeighborsRegressor(4).fit(X, y).predict(Q))


def test_kernel_distances():
    X, y = load_iris(return_X_y=True)
    plain = KNeighborsClassifier(5).fit(X[::2], y[::2])
    for kernel in ("linear", kernels.RBF(gamma=0.3)):
        model = KNeighborsClassifier(5, kernel=kernel).fit(X[::2], y[::2])
        assert np.array_equal(model.predict(X[1::2]), plain.predict(X[1::2]))
        assert model.verify(X[::2], y[::2])["knn.neighbors"].ok
    # In the feature space of a polynomial kernel other rows can be nearest.
    X = np.array([[1.0], [-1.2]])
    bent = KNeighborsClassifier(1, kernel=kernels.Polynomial(degree=2, gamma=1.0, coef0=0.0)).fit(X, [0, 1])
    assert bent.predict([[-1.05]]) == [0]
    assert KNeighborsClassifier(1).fit(X, [0, 1]).predict([[-1.05]]) == [1]


def test_a_kernel_as_metric():
    X, y = load_iris(return_X_y=True)
    kernel = kernels.Polynomial(degree=2, gamma=1.0, coef0=1.0) + kernels.RBF(gamma=0.3)
    by_metric = KNeighborsClassifier(5, metric=kernel).fit(X[::2], y[::2])
    by_kernel = KNeighborsClassifier(5, kernel=kernel).fit(X[::2], y[::2])
    for ours, same in zip(by_metric.kneighbors(X[1::2]), by_kernel.kneighbors(X[1::2]), strict=True):
        assert np.array_equal(ours, same)
    distances = kernel_distances(kernel, X[1::2], X[::2])
    order = np.argsort(distances, axis=1, kind="stable")[:, :5]
    assert np.array_equal(by_metric.kneighbors(X[1::2])[1], order)
    assert by_metric.verify(X[::2], y[::2])["knn.neighbors"].level == "recomputed"
    means = KNeighborsRegressor(5, metric=kernel).fit(X[::2], y[::2]).predict(X[1::2])
    assert means == pytest.approx(y[::2][order].mean(axis=1))


@pytest.mark.parametrize(
    "kernel", [kernels.Polynomial(degree=3), kernels.RBF(gamma=40.0), kernels.Normalized(kernels.Linear())], ids=repr
)
def test_copies_tie_by_index_in_every_feature_space(kernel):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((7, 100))
    X = np.vstack([rows, rows, rows])
    distances, indices = (
        KNeighborsClassifier(21, metric=kernel).fit(X, np.arange(21) % 2).kneighbors(rng.standard_normal((5, 100)))
    )
    for d, places in zip(distances, indices, strict=True):
        assert all(d[i] < d[i + 1] or places[i] < places[i + 1] for i in range(20))
        assert sorted(places % 7) == sorted(list(range(7)) * 3) and len(np.unique(d)) <= 7


def test_strings():
    words, kinds = ["cat", "cart", "dog", "dig", "sun", "sin"], np.array(["c", "c", "d", "d", "s", "s"])
    kernel = kernels.StringSubsequence(2, 0.5)
    model = KNeighborsClassifier(2, metric=kernel).fit(words, kinds)
    assert model.predict(["carts", "dogs", "sung"]).tolist() == ["c", "d", "s"]
    distances, indices = model.kneighbors(["cat"])
    assert distances[0, 0] == 0.0 and indices[0].tolist() == [0, 1]
    assert distances[0, 1] == kernel_distances(kernel, ["cat"], ["cart"])[0, 0]
    assert model.verify(words, kinds)["knn.neighbors"].level == "recomputed"
    lengths = KNeighborsRegressor(1, kernel=kernel).fit(words, [3.0, 4.0, 3.0, 3.0, 3.0, 3.0])
    assert lengths.predict(["carts"]).tolist() == [4.0] and lengths.kneighbors(n_neighbors=1)[1][0, 0] == 1
    with pytest.raises(InvalidData, match="one target per element"):
        model.fit(words, kinds[:2])
    with pytest.raises(InvalidData, match="element 0 is 1"):
        model.fit([1.0, 2.0], [0, 1])


def test_kernels_that_have_no_distances_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidParameter, match="metric is a kernel"):
        KNeighborsClassifier(metric=kernels.Linear(), kernel="rbf").fit(X, y)
    with pytest.raises(InvalidParameter, match="feature space"):
        KNeighborsClassifier(metric=kernels.Sigmoid()).fit(X, y)
    with pytest.raises(InvalidParameter, match="evaluated"):
        KNeighborsClassifier(metric=kernels.Precomputed()).fit(X @ X.T, y)
    own = KNeighborsClassifier(3, kernel=lambda A, B: A @ B.T).fit(X, y)
    assert own.verify(X, y)["knn.neighbors"].ok
    with pytest.raises(CertificateError, match="pass the model"):
        Certificate.from_json(own.certificate_.to_json()).verify(X, y)


def test_tampered_neighbors_are_refused():
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(3).fit(X, y)
    assert model.verify(X, y)["knn.neighbors"].proved < 1e-14
    recorded = model.certificate_.claims[0].witness["neighbors"]
    recorded[4, 2] = (recorded[4, 2] + 77) % 150
    with pytest.raises(CertificateError):
        model.verify(X, y)


def test_errors():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(InvalidData, match="n_neighbors = 5"):
        KNeighborsClassifier(5).fit(X, y).predict(X)
    with pytest.raises(InvalidParameter, match="n_neighbors"):
        KNeighborsClassifier(0).fit(X, y)
    with pytest.raises(InvalidData, match="sum"):
        KNeighborsClassifier(3).fit(X, y, sample_weight=[0.1, 0.1, 0.1, 0.1]).predict(X)
    with pytest.raises(InvalidParameter, match="mode"):
        KNeighborsClassifier(1).fit(X, y).kneighbors_graph(mode="both")
    with pytest.raises(InvalidData, match="one number per distance"):
        KNeighborsClassifier(2, weights=lambda d: d[:, :1]).fit(X, y).predict(X)


def test_rows_whose_squares_vanish_are_refused():
    X, y = np.random.default_rng(7).standard_normal((20, 3)), np.arange(20) % 2
    with pytest.raises(InvalidData, match="are zero in floating point; multiply"):
        KNeighborsClassifier().fit(X * 1e-300, y)
    assert KNeighborsClassifier(p=1).fit(X * 1e-300, y).verify(X * 1e-300, y)
    assert KNeighborsClassifier().fit(X * 1e-130, y).verify(X * 1e-130, y)
