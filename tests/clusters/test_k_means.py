"""k-means: the numbers of the notes, the fixed point, agreement with scikit-learn, awkward data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans as Reference
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from surefit import DataWarning, ExhaustiveClustering, InvalidData, InvalidParameter, KMeans, scatter

RECTANGLE = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])


def test_rectangle_of_the_notes_is_certified_globally():
    model = KMeans(2, random_state=0).fit(RECTANGLE)
    assert model.inertia_ == 1.0
    assert model.lower_bound_ == pytest.approx(1.0, abs=1e-12)
    assert model.verify(RECTANGLE)["k_means.gap"].proved < 1e-12


def test_bad_start_of_the_notes_stops_at_once():
    model = KMeans(2, init=np.array([[1.5, 0.0], [1.5, 1.0]]), single_moves=False).fit(RECTANGLE)
    assert (model.inertia_, model.n_iter_) == (9.0, 1)
    assert model.lower_bound_ == pytest.approx(1.0, abs=1e-12)
    move = model.certificate_["k_means.single_move"]
    assert move.value == pytest.approx(2 * 2.25 - 2 / 3 * 3.25)  # a corner to the other pair: both means follow


def test_lloyd_lowers_the_inertia_and_may_raise_the_within_scatter():
    X = np.array([[0.0], [7.0], [8.0], [9.0], [14.0]])
    model = KMeans(2, init=np.array([[3.5], [31 / 3]]), tol=0).fit(X)
    assert model.labels_.tolist() == [0, 1, 1, 1, 1]
    assert model.inertia_ == pytest.approx(29)
    assert scatter(X, [0, 0, 1, 1, 1]).inertia == pytest.approx(45.1667, abs=1e-4)
    assert scatter(X, [0, 0, 1, 1, 1]).within == pytest.approx(111)
    assert model.scatter_ == pytest.approx(scatter(X, model.labels_))
    assert model.scatter_.within == pytest.approx(116)


def test_one_cluster_and_a_cluster_for_every_row():
    X = load_iris().data[:30]
    assert KMeans(1).fit(X).inertia_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())
    distinct = np.unique(X, axis=0)
    assert KMeans(len(distinct), random_state=0).fit(distinct).inertia_ == 0.0


def sample(name):
    rng = np.random.default_rng(5)
    X = make_blobs(1500, 7, centers=12, cluster_std=3.0, random_state=1)[0]
    return {
        "dense": X,
        "float32": X.astype(np.float32),
        "far from the origin": X + 1e7,
        "wide": rng.standard_normal((60, 400)),
        "fortran": np.asfortranarray(X),
        "sparse": sparse.csr_array(X * (rng.random(X.shape) < 0.3)),
    }[name]


@pytest.mark.parametrize("tol", [0.0, 1e-4])
@pytest.mark.parametrize("name", ["dense", "float32", "far from the origin", "wide", "fortran", "sparse"])
def test_same_steps_as_scikit_learn_from_the_same_start(name, tol):
    X = sample(name)
    start = X[:12].toarray() if sparse.issparse(X) else X[:12]
    ours = KMeans(12, init=start, tol=tol, single_moves=False).fit(X)
    reference = Reference(12, init=start, n_init=1, tol=tol).fit(X)
    digits = 2e-4 if name == "float32" else 1e-9
    assert ours.n_iter_ == reference.n_iter_ or name == "float32"
    scale = np.abs(ours.cluster_centers_).max()
    assert np.abs(ours.cluster_centers_ - reference.cluster_centers_).max() <= digits * scale
    assert ours.inertia_ == pytest.approx(reference.inertia_, rel=1e-6 if name == "float32" else 1e-10)
    assert ours.cluster_centers_.dtype == reference.cluster_centers_.dtype
    if name != "float32":
        assert np.array_equal(ours.labels_, reference.labels_)
    ours.verify(X)


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_step_is_scikit_learn_s(steps):
    X = sample("dense")
    ours = KMeans(20, init=X[:20], tol=0, max_iter=steps).fit(X)
    reference = Reference(20, init=X[:20], n_init=1, tol=0, max_iter=steps).fit(X)
    assert np.allclose(ours.cluster_centers_, reference.cluster_centers_, rtol=1e-12, atol=1e-12)
    assert np.array_equal(ours.labels_, reference.labels_)
    ours.verify(X)


def test_log_is_monotone_and_ends_at_the_inertia():
    X = sample("dense")
    model = KMeans(12, init=X[:12], tol=0).fit(X)
    log = model.objective_history_[:, 1:].ravel()
    assert np.all(np.diff(log) <= 1e-12 * log[0])
    assert log[-1] == pytest.approx(model.inertia_, rel=1e-10)
    first = ((X[:, None] - X[:12]) ** 2).sum(axis=2).min(axis=1).sum()
    assert log[0] == pytest.approx(first, rel=1e-12)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), k=st.integers(1, 6), integers=st.booleans())
def test_fixed_point(seed, n, k, integers):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, 2)).astype(float) if integers else rng.standard_normal((n, 2))
    k = min(k, len(np.unique(X, axis=0)))
    model = KMeans(k, random_state=seed, tol=0).fit(X)
    distances = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    assert np.allclose(distances[np.arange(n), model.labels_], distances.min(axis=1), rtol=1e-12, atol=1e-12)
    for c in range(k):
        assert np.allclose(X[model.labels_ == c].mean(axis=0), model.cluster_centers_[c])
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.lower_bound_ <= model.inertia_
    model.verify(X)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), init=st.sampled_from(["k-means++", "random"]), as_sparse=st.booleans())
def test_weight_is_repetition_whatever_the_order_of_the_rows(seed, init, as_sparse):
    rng = np.random.default_rng(seed)
    X, weights = rng.standard_normal((25, 3)), rng.integers(0, 4, 25)
    X[5] = X[6]
    repeated = X.repeat(weights, axis=0)[rng.permutation(weights.sum())]
    wrap = sparse.csr_array if as_sparse else np.asarray
    one = KMeans(4, init=init, random_state=seed, n_init=2).fit(wrap(X), sample_weight=weights)
    many = KMeans(4, init=init, random_state=seed, n_init=2).fit(wrap(repeated))
    assert np.allclose(one.cluster_centers_, many.cluster_centers_, atol=1e-9)
    assert one.inertia_ == pytest.approx(many.inertia_, rel=1e-9)
    assert one.lower_bound_ == pytest.approx(many.lower_bound_, rel=1e-6, abs=1e-9)
    assert one.certificate_["k_means.means"].limit == pytest.approx(many.certificate_["k_means.means"].limit)
    one.verify(wrap(X), sample_weight=weights)


@pytest.mark.parametrize("name", ["dense", "sparse", "float32"])
def test_same_bits_for_any_number_of_threads(name):
    X = sample(name)
    X = sparse.vstack([X] * 30).tocsr() if sparse.issparse(X) else np.vstack([X] * 30)  # several blocks
    models = [KMeans(9, random_state=3, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2, 4)]
    for other in models[1:]:
        assert other.cluster_centers_.tobytes() == models[0].cluster_centers_.tobytes()
        assert other.labels_.tobytes() == models[0].labels_.tobytes()
        assert (other.inertia_, other.lower_bound_) == (models[0].inertia_, models[0].lower_bound_)


def test_awkward_data():
    with pytest.warns(DataWarning, match="only 2 distinct rows; 1 of 3 clusters are empty"):
        model = KMeans(3, random_state=0).fit(np.array([[0.0], [1.0], [1.0], [1.0]]))
    assert model.inertia_ == 0.0
    with pytest.warns(DataWarning, match="1 distinct rows"):
        assert KMeans(2, random_state=0).fit(np.ones((5, 2))).inertia_ == 0.0
    X = np.column_stack([load_iris().data, np.full(150, 7.0)])  # a constant column
    plain = KMeans(3, random_state=0).fit(X[:, :4])
    assert KMeans(3, random_state=0).fit(X).inertia_ == pytest.approx(plain.inertia_)


def test_an_empty_cluster_goes_to_the_farthest_row():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    model = KMeans(2, init=np.array([[2.0], [100.0]])).fit(X)
    assert sorted(model.cluster_centers_.ravel()) == [1.0, 10.0]
    assert model.certificate_.run["reseeded"] == 1
    assert np.all(np.diff(model.objective_history_[:, 1:].ravel()) <= 1e-12)


def test_a_tie_goes_to_the_lowest_index():
    model = KMeans(2, init=np.array([[0.0], [2.0]])).fit(np.array([[0.0], [2.0]]))
    assert model.predict([[1.0]]).tolist() == [0]
    swapped = KMeans(2, init=np.array([[2.0], [0.0]])).fit(np.array([[0.0], [2.0]]))
    assert swapped.predict([[1.0]]).tolist() == [0]


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_only_ratios_of_weights_matter(scale):
    weights = np.random.default_rng(0).random(150) + 0.1
    plain = KMeans(3, init=load_iris().data[:3]).fit(load_iris().data, sample_weight=weights)
    scaled = KMeans(3, init=load_iris().data[:3]).fit(load_iris().data, sample_weight=weights * scale)
    assert np.allclose(plain.cluster_centers_, scaled.cluster_centers_)
    assert scaled.inertia_ == pytest.approx(plain.inertia_ * scale)
    scaled.verify(load_iris().data, sample_weight=weights * scale)


def test_entries_stored_in_parts_are_one_entry():
    X = load_iris().data[:40]
    halves = sparse.coo_array(
        (np.repeat(X.ravel(), 2) / 2, (np.repeat(np.arange(40), 8), np.tile(np.repeat(np.arange(4), 2), 40))),
        shape=(40, 4),
    )
    stored = sparse.csr_array((40, 4))
    stored.data, stored.indices, stored.indptr = halves.data, halves.coords[1], np.arange(0, 321, 8)
    assert not stored.has_canonical_format
    model = KMeans(3, init=X[:3]).fit(stored)
    assert model.inertia_ == pytest.approx(KMeans(3, init=X[:3]).fit(X).inertia_)
    model.verify(stored)


def test_says_what_it_wants():
    X = load_iris().data
    with pytest.raises(InvalidParameter, match=r"KMeans: n_clusters must be an integer >= 1; got 0"):
        KMeans(0).fit(X)
    with pytest.raises(InvalidData, match="n_samples=3 should be >= n_clusters=4"):
        KMeans(4).fit(X[:3])
    with pytest.raises(InvalidData, match=r"initial centers \(3, 2\) does not match"):
        KMeans(3, init=X[:3, :2]).fit(X)
    with pytest.raises(InvalidData, match="squares of X overflow"):
        KMeans(2).fit(np.array([[1e200], [-1e200], [0.0]]))
    with pytest.raises(InvalidParameter, match="algorithm must be 'lloyd' unless X has one column"):
        KMeans(2, algorithm="exact").fit(X)
    with pytest.raises(InvalidParameter, match="lower_bound must be 'spectral' for more than 1000 rows"):
        KMeans(2, lower_bound="sdp").fit(np.zeros((1001, 1)))
    with pytest.warns(DataWarning, match="running one instead of n_init=4"):
        KMeans(3, init=X[:3], n_init=4).fit(X)


def test_callable_start_transform_and_score():
    X = load_iris().data
    model = KMeans(3, init=lambda X, k, random_state: X[:k]).fit(X)
    assert np.allclose(model.transform(X).min(axis=1) ** 2 @ np.ones(150), model.inertia_)
    assert model.score(X) == pytest.approx(-model.inertia_)
    assert model.score(X, sample_weight=np.full(150, 2.0)) == pytest.approx(-2 * model.inertia_)
    assert list(model.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2"]


def test_never_below_the_best_of_all_partitions():
    X = np.random.default_rng(2).standard_normal((14, 2))
    best = ExhaustiveClustering(3).fit(X).objective_
    model = KMeans(3, n_init=10, random_state=0, lower_bound="sdp").fit(X)
    assert model.lower_bound_ <= best <= model.inertia_ * (1 + 1e-12)


def test_budget_and_callbacks():
    X = sample("dense")
    with pytest.warns(ConvergenceWarning, match=r"centers still moved by .* max_iter was reached"):
        KMeans(12, init=X[:12], tol=0, max_iter=2).fit(X)
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        model = KMeans(12, init=X[:12], tol=0, max_time=1e-9, n_init="auto").fit(X)
    assert model.n_iter_ == 1
    model.verify(X)


@pytest.mark.parametrize("seed", [0, 4])
def test_rows_far_from_the_origin_have_centers_of_few_digits(seed):
    X = np.random.default_rng(seed).standard_normal((60, 4)) + 1e12
    assert KMeans(random_state=0).fit(X).verify(X)["k_means.nearest"].ok


@pytest.mark.parametrize("seed", [7, 11, 12])
def test_centers_that_stop_on_their_way_beside_a_far_row_are_claimed_with_their_rounding(seed):
    X = np.random.default_rng(seed).standard_normal((60, 4))
    X = np.vstack([X, [1e9] * 4])
    model = KMeans(random_state=0).fit(X)
    assert model.verify(X)["k_means.means"].ok


def test_single_moves_leave_local_minima():
    bad = np.array([[1.5, 0.0], [1.5, 1.0]])
    assert KMeans(2, init=bad, single_moves=False).fit(RECTANGLE).inertia_ == 9.0
    model = KMeans(2, init=bad).fit(RECTANGLE)
    assert model.inertia_ == 1.0 and model.certificate_["k_means.single_move"].value == 0.0
    model.verify(RECTANGLE)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    plain, moved = [], []
    for _ in range(15):
        start = X[rng.choice(60, 6, replace=False)]
        plain.append(KMeans(6, init=start, single_moves=False, tol=0).fit(X).inertia_)
        moved.append(KMeans(6, init=start, tol=0).fit(X).inertia_)
        assert moved[-1] <= plain[-1] * (1 + 1e-12)
    assert np.mean(moved) < np.mean(plain)
    sparse_model = KMeans(2, init=bad).fit(sparse.csr_array(RECTANGLE))
    assert sparse_model.inertia_ == pytest.approx(1.0)
