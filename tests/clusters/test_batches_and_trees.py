"""Mini-batch k-means and agglomerative clustering: known clusters, scikit-learn, repetitions, and certificates that can fail."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as peers
from sklearn.metrics import adjusted_rand_score

from surefit import AgglomerativeClustering, CertificateError, KMeans, MiniBatchKMeans


def blobs(n=200, k=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return rng.normal(size=(n, 3)) + 9.0 * rng.normal(size=(k, 3))[labels], labels


def test_batches_find_separated_clusters_and_the_bound_says_so():
    X, labels = blobs(2000)
    model = MiniBatchKMeans(n_clusters=4, batch_size=200, random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.labels_) > 0.99
    best = KMeans(n_clusters=4, random_state=0).fit(X)
    assert model.lower_bound_ <= best.inertia_ <= model.inertia_ <= 1.02 * best.inertia_
    found = model.verify(X)
    assert found["k_means.nearest"].ok and found["k_means.inertia"].proved < 1e-6 * model.inertia_
    peer = peers.MiniBatchKMeans(n_clusters=4, batch_size=200, random_state=0).fit(X)
    assert model.inertia_ <= 1.05 * peer.inertia_


def test_weights_are_repetitions_in_any_order():
    X, _ = blobs(60)
    counts = np.arange(60) % 3
    order = np.random.default_rng(0).permutation(60)
    weighted = MiniBatchKMeans(n_clusters=3, batch_size=20, random_state=1).fit(X[order], sample_weight=counts[order])
    repeated = MiniBatchKMeans(n_clusters=3, batch_size=20, random_state=1).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-9)


@pytest.mark.parametrize("packed", [False, True])
def test_a_batch_moves_the_centers_to_running_means(packed):
    X, _ = blobs(300)
    weights, start = np.arange(300) % 5 / 2.0, X[:4].copy()
    model = MiniBatchKMeans(n_clusters=4, init=start)
    model.partial_fit(sparse.csr_array(X) if packed else np.asfortranarray(X), sample_weight=weights)
    nearest = np.argmin(((X[:, None] - start) ** 2).sum(axis=2), axis=1)
    wanted = [np.average(X[nearest == c], axis=0, weights=weights[nearest == c]) for c in range(4)]
    np.testing.assert_allclose(model.cluster_centers_, wanted, rtol=1e-12)
    assert np.array_equal(start, X[:4])
    before, counts = model.cluster_centers_.copy(), np.bincount(nearest, weights)
    model.partial_fit(X[:50])
    nearest = np.argmin(((X[:50, None] - before) ** 2).sum(axis=2), axis=1)
    new = np.bincount(nearest, minlength=4)
    sums = np.array([X[:50][nearest == c].sum(axis=0) for c in range(4)])
    wanted = (counts[:, None] * before + sums) / (counts + new)[:, None]
    np.testing.assert_allclose(model.cluster_centers_, wanted, rtol=1e-12)


def test_given_starts_are_not_changed():
    X, _ = blobs(500)
    start = X[:4].copy()
    model = MiniBatchKMeans(n_clusters=4, init=start, batch_size=50, random_state=0).fit(X)
    assert np.array_equal(start, X[:4]) and not np.array_equal(model.cluster_centers_, start)


def test_equal_bits_for_any_number_of_threads():
    X, _ = blobs(40_000)
    models = [MiniBatchKMeans(n_clusters=4, random_state=0, n_jobs=jobs).fit(X) for jobs in (None, 1, 3)]
    for model in models:
        assert np.array_equal(model.cluster_centers_, models[0].cluster_centers_)
        assert model.inertia_ == models[0].inertia_ and model.n_steps_ == models[0].n_steps_
        assert model.certificate_["k_means.gap"].value == models[0].certificate_["k_means.gap"].value


def test_rows_that_arrive_in_parts():
    X, labels = blobs(600)
    model = MiniBatchKMeans(n_clusters=4, random_state=0)
    for start in range(0, 600, 100):
        model.partial_fit(X[start : start + 100])
        model.verify(X[start : start + 100])
    assert model.n_steps_ == 6 and adjusted_rand_score(labels, model.predict(X)) > 0.99
    packed = MiniBatchKMeans(n_clusters=4, random_state=0).fit(sparse.csr_array(X))
    assert adjusted_rand_score(labels, packed.labels_) > 0.99
    packed.verify(sparse.csr_array(X))


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_trees_are_those_of_scikit_learn(linkage, metric):
    if linkage == "ward" and metric != "euclidean":
        with pytest.raises(ValueError, match="euclidean"):
            AgglomerativeClustering(metric=metric).fit(blobs()[0])
        return
    X, _ = blobs(80)
    options = {"linkage": linkage, "metric": metric, "n_clusters": 5}
    model = AgglomerativeClustering(**options).fit(X)
    peer = peers.AgglomerativeClustering(compute_distances=True, **options).fit(X)
    assert np.array_equal(np.sort(model.children_, axis=1), np.sort(peer.children_, axis=1))
    np.testing.assert_allclose(model.distances_, peer.distances_, rtol=1e-9)
    assert adjusted_rand_score(model.labels_, peer.labels_) == 1.0
    found = model.verify(X)
    assert found["agglomerative.merges"].proved < 1e-10 and found["agglomerative.labels"].proved == 0


def test_thresholds_distances_and_connectivity():
    X, _ = blobs(60)
    model = AgglomerativeClustering(n_clusters=None, distance_threshold=8.0).fit(X)
    peer = peers.AgglomerativeClustering(n_clusters=None, distance_threshold=8.0).fit(X)
    assert model.n_clusters_ == peer.n_clusters_ and adjusted_rand_score(model.labels_, peer.labels_) == 1.0
    D = np.abs(X[:, :1] - X[:, :1].T)
    given = AgglomerativeClustering(metric="precomputed", linkage="average").fit(D)
    given.verify(D)
    line = sparse.diags_array([np.ones(59), np.ones(59)], offsets=[1, -1])
    linked = AgglomerativeClustering(connectivity=line).fit(X)
    assert [claim.name for claim in linked.certificate_.claims] == ["agglomerative.unchecked"]
    theirs = peers.AgglomerativeClustering(connectivity=line).fit(X)
    assert adjusted_rand_score(linked.labels_, theirs.labels_) == 1.0


def test_other_merges_and_labels_are_refused():
    X, _ = blobs(40)
    certificate = AgglomerativeClustering().fit(X).certificate_
    swapped = certificate.model["children_"].copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    other = certificate.model["labels_"].copy()
    other[0] = 1 - other[0]
    for name, value in (
        ("children_", swapped),
        ("labels_", other),
        ("distances_", 1.01 * certificate.model["distances_"]),
    ):
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, model={**certificate.model, name: value}, seal="").verify(X)
