"""Ward's merges by chains of nearest neighbors: SciPy's tree, ties, equal rows, overflow, and cuts by brute force."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from surefit import AgglomerativeClustering
from surefit.solvers.clustering.linkage import cut, ward_merges


@pytest.mark.parametrize(("n", "d"), [(2, 3), (3, 1), (50, 2), (700, 5), (1300, 1)])
def test_the_tree_is_that_of_scipy(n, d):
    X = np.random.default_rng(n).normal(size=(n, d)) + 100.0
    children, distances = ward_merges(X)
    wanted = linkage(X, "ward")
    assert np.array_equal(children, wanted[:, :2].astype(int))
    np.testing.assert_allclose(distances, wanted[:, 2], rtol=1e-9)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_ties_and_equal_rows_give_greedy_merges(levels):
    X = np.random.default_rng(levels).integers(levels, size=(150, 3)).astype(float)
    model = AgglomerativeClustering(n_clusters=4).fit(X)
    found = model.verify(X)
    assert found["agglomerative.merges"].proved < 1e-9 and found["agglomerative.labels"].proved == 0
    assert np.count_nonzero(model.distances_ == 0.0) == 150 - len(np.unique(X, axis=0))
    assert np.all(np.diff(model.distances_) >= 0.0)


def test_squares_that_overflow_end_the_fit():
    X = np.random.default_rng(0).normal(size=(40, 2)) * 1e200
    children, distances = ward_merges(X)
    assert np.array_equal(np.sort(children.ravel()), np.arange(78)) and np.isinf(distances).any()


def test_wide_rows_use_a_matrix_of_distances():
    X = np.random.default_rng(0).normal(size=(60, 100))
    narrow, wide = (AgglomerativeClustering().fit(A) for A in (X, np.hstack([X, np.zeros((60, 1))])))
    assert np.array_equal(narrow.children_, wide.children_) and np.array_equal(narrow.labels_, wide.labels_)
    np.testing.assert_allclose(narrow.distances_, wide.distances_, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 7, 30])
def test_cuts_by_brute_force(k):
    children, _ = ward_merges(np.random.default_rng(k).normal(size=(30, 2)))
    clusters = {i: {i} for i in range(30)}
    for i, (a, b) in enumerate(children[: 30 - k].tolist()):
        clusters[30 + i] = clusters.pop(a) | clusters.pop(b)
    ordered = sorted(clusters.values(), key=min)
    wanted = [next(c for c, members in enumerate(ordered) if row in members) for row in range(30)]
    assert cut(children, 30, k).tolist() == wanted
