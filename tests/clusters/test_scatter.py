"""T = W + B for any dissimilarity, and the two routes (pairs, means) to the same numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise_distances

from surefit import InvalidData, scatter


def by_definition(D, labels):
    n = len(labels)
    pairs = [(i, j) for i in range(n) for j in range(n)]
    total = 0.5 * sum(D[i, j] for i, j in pairs)
    within = 0.5 * sum(D[i, j] for i, j in pairs if labels[i] == labels[j])
    between = 0.5 * sum(D[i, j] for i, j in pairs if labels[i] != labels[j])
    return total, within, between


@pytest.mark.parametrize("metric", ["sqeuclidean", "cityblock", "cosine"])
def test_pairwise_definition(metric):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((17, 3)), rng.integers(0, 4, 17)
    found = scatter(X, labels, metric=metric)
    assert found[:3] == pytest.approx(by_definition(pairwise_distances(X, metric=metric), labels), rel=1e-12)
    assert found.total == pytest.approx(found.within + found.between, rel=1e-12)


def test_precomputed_dissimilarities_need_not_come_from_points():
    D = np.array([[0, 1, 5], [1, 0, 2], [5, 2, 0]], dtype=float)
    assert scatter(D, [0, 0, 1], metric="precomputed")[:3] == (8.0, 1.0, 7.0)


def test_counter_example_of_the_notes():
    X = np.array([[0.0], [7.0], [8.0], [9.0], [14.0]])
    before, after = scatter(X, [0, 0, 1, 1, 1]), scatter(X, [0, 1, 1, 1, 1])
    assert (before.within, after.within) == pytest.approx((111, 116))
    assert (before.inertia, after.inertia) == pytest.approx((24.5 + 62 / 3, 29))
    assert before.total == pytest.approx(after.total) == pytest.approx(5 * before.total_about_mean)


def test_the_two_criteria_prefer_different_partitions():
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    halves, triple = scatter(X, [0, 0, 1, 1]), scatter(X, [0, 0, 0, 1])
    assert (halves.within, halves.inertia) == pytest.approx((5, 2.5))
    assert (triple.within, triple.inertia) == pytest.approx((6, 2))


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), k=st.integers(1, 4))
def test_huygens_and_weights(seed, n, k):
    rng = np.random.default_rng(seed)
    X, labels, weights = rng.standard_normal((n, 2)), rng.integers(0, k, n), rng.integers(0, 4, n)
    weights[0] = 1
    found = scatter(X, labels, sample_weight=weights)
    repeated = scatter(X.repeat(weights, axis=0), labels.repeat(weights))
    assert found == pytest.approx(repeated, rel=1e-9, abs=1e-9)
    assert found.inertia + found.between_means == pytest.approx(found.total_about_mean, rel=1e-9, abs=1e-9)


def test_sparse_is_dense():
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((20, 6)) * (rng.random((20, 6)) < 0.3), rng.integers(0, 3, 20)
    assert scatter(sparse.csr_array(X), labels) == pytest.approx(scatter(X, labels), rel=1e-12)


def test_says_what_it_wants():
    with pytest.raises(InvalidData, match=r"expected one label per row, 3 in all; got shape \(2,\)"):
        scatter(np.zeros((3, 1)), [0, 1])
    with pytest.raises(InvalidData, match="square matrix"):
        scatter(np.zeros((3, 2)), [0, 1, 1], metric="precomputed")
