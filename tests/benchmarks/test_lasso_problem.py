"""The judge of the lasso workloads: numbers by hand, then an independent solver."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from benchmarks.problems import lasso
from benchmarks.problems.lasso import LassoData, dual_objective, objective, path_quality, quality, relative_gap
from benchmarks.workloads import c1_lasso_dense, c2_lasso_sparse, c3_lasso_path

HAND = LassoData(np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0]), 1 / 3)


def test_the_optimum_by_hand():
    # w = (x'y/n - alpha) / (x'x/n) = (4/3 - 1/3) / (2/3); r = (-1/2, 0, 1/2); P = (1/2)/6 + (1/3)(3/2)
    w = np.array([1.5])
    assert objective(HAND, w) == pytest.approx(3.5 / 6, abs=1e-15)
    assert dual_objective(HAND, HAND.y - HAND.X @ w) == pytest.approx(3.5 / 6, abs=1e-15)
    assert relative_gap(HAND, w) == pytest.approx(0.0, abs=1e-15)


def test_the_null_model_by_hand():
    # r = y, x'r = 4, so theta = y/4, which is the dual optimum; P(0) = 8/6
    assert objective(HAND, np.zeros(1)) == pytest.approx(8 / 6)
    assert dual_objective(HAND, HAND.y) == pytest.approx(3.5 / 6)
    assert relative_gap(HAND, np.zeros(1)) == pytest.approx(4.5 / 8)


def test_an_interpolating_answer_by_hand():
    # w = 2 leaves no residual: P = 2/3, the only multiple of r is 0, D = 0
    assert relative_gap(HAND, np.array([2.0])) == pytest.approx((2 / 3) / (8 / 6))


def test_a_residual_orthogonal_to_the_columns_is_scaled_by_the_parabola_alone():
    data = LassoData(np.array([[1.0], [0.0]]), np.array([0.0, 2.0]), 0.5)
    assert dual_objective(data, data.y) == pytest.approx(1.0)  # theta = y, D = |y|^2 / 2n
    assert relative_gap(data, np.zeros(1)) == 0.0


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0.01, 0.9), noise=st.floats(0.0, 2.0))
def test_the_gap_bounds_the_distance_to_the_optimum(seed, share, noise):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((15, 8)), rng.standard_normal(15)
    data = LassoData(X, y, share * lasso.largest_alpha(X, y))
    best = Lasso(alpha=data.alpha, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, y).coef_
    assert relative_gap(data, best) == pytest.approx(0.0, abs=1e-10)
    w = best + noise * rng.standard_normal(8)
    assert objective(data, w) - objective(data, best) <= relative_gap(data, w) * (y @ y / 30) + 1e-12
    assert quality(data._replace(X=sp.csc_matrix(X)), w) == pytest.approx(quality(data, w), rel=1e-9, abs=1e-12)


def test_a_path_is_judged_by_its_worst_point():
    path = HAND._replace(alpha=np.array([4 / 3, 1 / 3]))
    good, bad = np.array([[0.0, 1.5]]), np.array([[0.0, 0.0]])
    assert path_quality(path, good).gap == pytest.approx(0.0, abs=1e-15)
    assert path_quality(path, good).objective == pytest.approx((8 / 6 + 3.5 / 6) / 2)
    assert path_quality(path, bad).gap == pytest.approx(4.5 / 8)
    with pytest.raises(ValueError, match="zip"):
        path_quality(path, good[:, :1])


def test_the_least_penalty_of_the_null_model():
    X, y, _ = c1_lasso_dense.make(60, 300)
    alpha = lasso.largest_alpha(X, y)
    assert relative_gap(LassoData(X, y, alpha), np.zeros(300)) == pytest.approx(0.0, abs=1e-14)
    assert relative_gap(LassoData(X, y, 0.99 * alpha), np.zeros(300)) > 1e-5


def test_data_are_laid_out_as_stated():
    dense = c1_lasso_dense.make(60, 300)
    assert dense.X.flags.f_contiguous and dense.X.shape == (60, 300)
    assert dense.alpha == lasso.largest_alpha(dense.X, dense.y) / 20
    correlation = np.corrcoef(lasso.correlated_gaussian(4_000, 3, seed=0).T)
    assert correlation[1, 2] == pytest.approx(0.5 / 1.25, abs=0.05) and abs(correlation[0, 2]) < 0.05
    sparse = c2_lasso_sparse.make(80, 300, 10)
    assert sparse.X.format == "csc" and sparse.X.has_sorted_indices
    np.testing.assert_allclose(sp.linalg.norm(sparse.X, axis=1), 1.0)
    assert abs(sparse.y.mean()) < 1e-12
    path = c3_lasso_path.make(60, 300, 5)
    np.testing.assert_allclose(path.alpha / lasso.largest_alpha(path.X, path.y), 10.0 ** np.linspace(0, -2, 5))


def test_the_sparse_workload_has_the_entries_its_recipe_states():
    X = lasso.text_like(**c2_lasso_sparse.workload.sizes["full"], seed=c2_lasso_sparse.SEED)
    assert f"{X.nnz:,}".replace(",", " ") + " entries" in c2_lasso_sparse.workload.recipe
