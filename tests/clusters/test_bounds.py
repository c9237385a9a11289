"""Lower bounds of the inertia: exact on a line, spectral, semidefinite; each against the best of all partitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from surefit import ExhaustiveClustering, KMeans
from surefit.checks.clusters import bounds as checker
from surefit.core.budget import Budget
from surefit.solvers.clustering.bounds import evaluate_bound, semidefinite_bound, spectral_bound
from surefit.solvers.clustering.line import best_on_line
from surefit.solvers.clustering.points import read_points


def plain_dynamic_program(x, weights, k):
    """The textbook recursion over sorted numbers, every cut tried."""
    order = np.argsort(x)
    x, w = x[order], weights[order]
    n = len(x)

    def cost(i, j):
        mean = np.average(x[i:j], weights=w[i:j])
        return float(w[i:j] @ (x[i:j] - mean) ** 2)

    best = [0.0] + [cost(0, j) for j in range(1, n + 1)]
    for _ in range(k - 1):
        best = [0.0] + [min(best[i] + cost(i, j) for i in range(j)) for j in range(1, n + 1)]
    return best[n]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 25), k=st.integers(1, 8))
def test_line_is_exact_by_two_routes(seed, n, k):
    rng = np.random.default_rng(seed)
    x = rng.integers(-5, 6, n).astype(float) if seed % 2 else rng.standard_normal(n)
    weights = rng.integers(1, 4, n).astype(float)
    exact = plain_dynamic_program(x, weights, k)
    found = best_on_line(x, weights, k)
    noise = 1e-12 * exact + 1e-28  # the plain route rounds as well
    assert abs(found.value - exact) <= found.rounding + noise
    value, radius = checker.best_on_line(x, weights, k)
    assert abs(value - exact) <= radius + noise
    assert np.all(np.diff(found.means) > 0)


def test_line_examples_of_the_notes():
    assert best_on_line(np.array([0.0, 7.0, 8.0, 9.0, 14.0]), np.ones(5), 2).means.tolist() == [0.0, 9.5]
    assert best_on_line(np.array([0.0, 1.0, 2.0, 4.0]), np.ones(4), 2).value == 2.0


def test_exact_algorithm_on_a_line_beats_a_bad_start():
    x = np.array([0.0, 0.0, 0.1, 0.1, 10.0, 10.1, 20.0, 20.1]).reshape(-1, 1)
    stuck = KMeans(3, init=np.array([[0.0], [0.1], [15.0]]), tol=0).fit(x)
    exact = KMeans(3, algorithm="exact").fit(x)
    assert exact.inertia_ == pytest.approx(0.02) and stuck.inertia_ > 50
    for model in (stuck, exact):
        assert model.certificate_.grade == "A"
        assert model.lower_bound_ == pytest.approx(exact.inertia_, rel=1e-8)
        model.verify(x)
    stored = KMeans(3, algorithm="exact").fit(sparse.csr_array(x))
    assert stored.inertia_ == pytest.approx(exact.inertia_, rel=1e-10)
    stored.verify(sparse.csr_array(x))


@pytest.mark.parametrize("shape", [(12, 2), (12, 5), (9, 20)])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_bounds_are_below_every_partition(shape, k):
    rng = np.random.default_rng(k)
    X, weights = rng.standard_normal(shape), rng.integers(1, 4, shape[0]).astype(float)
    best = ExhaustiveClustering(k).fit(X, sample_weight=weights).objective_
    summary = read_points(X, weights)[1]
    spectral = spectral_bound(X, weights, summary, k)
    better = semidefinite_bound(X, weights, summary, k, Budget())
    assert np.all(better.multipliers >= 0)
    assert 0 <= spectral.value <= better.value * (1 + 1e-9) + 1e-9
    assert better.value <= best * (1 + 1e-12)
    assert better.value >= 0.9 * best  # what makes it worth its time


def test_one_cluster_has_no_gap():
    X = load_iris().data
    model = KMeans(1).fit(X)
    assert model.lower_bound_ == pytest.approx(model.inertia_, rel=1e-10)


@pytest.mark.parametrize("shape", [(7, 30), (30, 7)])
def test_spectral_bound_is_the_tail_of_the_spectrum(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    centered = X - X.mean(axis=0)
    tail = np.linalg.eigvalsh(centered.T @ centered)[::-1][2:].sum()
    weights = np.ones(len(X))
    for data in (X, sparse.csr_array(X)):
        bound = spectral_bound(data, weights, read_points(data, weights)[1], 3)
        assert bound.value == pytest.approx(tail, rel=1e-9)


def test_any_multipliers_prove_a_bound():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 2))
    best = ExhaustiveClustering(3).fit(X).objective_
    centered = X - X.mean(axis=0)
    G, q = centered @ centered.T, np.full(10, 10**-0.5)
    for scale in (0.0, 0.1, 1.0, 10.0):
        N = rng.random((10, 10)) * scale
        assert evaluate_bound(G, N + N.T, q, 3) <= best


def test_semidefinite_bound_of_iris():
    X = load_iris().data
    model = KMeans(3, n_init=10, random_state=0, lower_bound="sdp").fit(X)
    relative = model.certificate_["k_means.gap"].numbers["relative"]
    assert 0.03 < relative < 0.045  # 0.042; the spectral bound leaves 0.81
    assert KMeans(3, n_init=10, random_state=0).fit(X).certificate_["k_means.gap"].numbers["relative"] > 0.8
    assert model.verify(X)["k_means.gap"].proved == pytest.approx(model.inertia_ - model.lower_bound_, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_semidefinite_certificates_verify(seed):
    X = np.random.default_rng(seed).standard_normal((60, 5)) * [1, 2, 3, 4, 5]
    model = KMeans(4, random_state=0, lower_bound="sdp").fit(X)
    assert model.lower_bound_ > 0
    model.verify(X)
