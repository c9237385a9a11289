"""Sparse rows: Gram matrices of picked columns, and the dual ascent of the hinge block by block."""

import numpy as np
import pytest
from scipy import sparse

from surefit.core import threads
from surefit.core.budget import Budget
from surefit.solvers.dual_start import FITS_CACHE, dual_start
from surefit.solvers.newton import Rows, ScalarScores, csr_products
from surefit.solvers.newton.picked import Picker
from surefit.solvers.newton.terms import SmoothedHinge


def sparse_problem(n, d, filled, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=filled, rng=rng, data_sampler=rng.standard_normal).tocsr()
    return X, np.where(X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("center", [False, True])
def test_gram_of_picked_columns_is_that_of_dense_ones(format, center):
    X, _ = sparse_problem(300, 40, 0.1)
    X = X.asformat(format)
    weights = np.random.default_rng(1).random(300) * (np.arange(300) % 7 > 0)  # some rows weigh nothing
    dense = X.toarray()
    means = weights @ dense / weights.sum() if center else np.zeros(40)
    picker = Picker(X)
    for columns in ([0, 3, 4, 17, 39], [4, 17], list(range(40))):
        columns = np.array(columns)
        picked = picker.pick(columns)
        part = dense[:, columns] - means[columns]
        assert picked.gram(weights, means[columns]) == pytest.approx(part.T @ (weights[:, None] * part), abs=1e-12)
        assert picked.times(np.arange(1.0, 1 + len(columns))) == pytest.approx(
            dense[:, columns] @ np.arange(1.0, 1 + len(columns)), abs=1e-12
        )
        assert picked.holds(columns[1:])


def test_picked_columns_and_their_gram_do_not_depend_on_threads(monkeypatch):
    X, _ = sparse_problem(9001, 60, 0.1)
    X = sparse.vstack([X[:4000], sparse.csr_array((1500, 60)), X[4000:]], format="csr")  # parts without entries
    columns, weights, found = np.array([0, 5, 6, 30, 59]), np.random.default_rng(1).random(X.shape[0]), []
    monkeypatch.setattr(threads, "THREADED", 1)
    monkeypatch.setattr("surefit.solvers.newton.picked.THREADED", 1)
    for count in (1, 2, 4):
        monkeypatch.setattr(threads._GRANTED, "count", count)
        picked = Picker(X).pick(columns)
        own = X[:, columns]
        for ours, theirs in zip(picked[1:], (own.data, own.indices, own.indptr), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        squares = csr_products.square_norms(X)
        np.testing.assert_allclose(squares, np.asarray(X.multiply(X).sum(axis=1)).ravel(), rtol=1e-14)
        found.append(picked.gram(weights, np.zeros(5)).tobytes() + squares.tobytes())
    assert found[0] == found[1] == found[2]


def test_picked_entries_may_be_out_of_order_and_stored_twice():
    X = sparse.csr_array((np.array([2.0, 1.0, 3.0, 5.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 12))
    dense = X.toarray()  # row 0 stores column 2 as 2 + 3
    columns = np.arange(12)
    picked = Picker(X).pick(columns)
    assert np.array_equal(picked.gram(np.ones(2), np.zeros(12)), dense.T @ dense)
    assert dense[0, 2] == 5.0 and len(X.data) == 4


def test_picked_columns_leave_long_rows_and_far_means_to_another_route():
    ones = np.ones(50)
    full = Picker(sparse.csr_array(np.random.default_rng(0).random((50, 6)))).pick(np.arange(6))
    assert full.gram(ones, np.zeros(6)) is None
    far = np.zeros((50, 6))
    far[:, 0] = 1e6 + np.arange(50)  # centring takes all digits of its squares but a few
    X = sparse.csr_array(far)
    assert Picker(X).pick(np.arange(6)).gram(ones, far.mean(axis=0)) is None
    part = far - far.mean(axis=0)
    assert Rows(X).gram(np.arange(6), ones, far.mean(axis=0)) == pytest.approx(part.T @ part, rel=1e-9)


@pytest.mark.parametrize("sorted_labels", [False, True])
def test_dual_ascent_by_blocks_reaches_the_optimum(sorted_labels):
    X, y = sparse_problem(3000, 800, 0.05)
    X = X * 0.15  # rows of about unit length
    assert X.nnz > FITS_CACHE
    if sorted_labels:  # neighbors are alike, and visited one after the other
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    limit = 1e-3 * 3000
    fit = dual_start(Rows(X), ScalarScores(SmoothedHinge(4.0), y, np.ones(3000)), False, limit, Budget())
    slack = np.maximum(1.0 - y * (X @ fit.coef[0]), 0.0)
    shares = fit.dual * y
    assert np.all(shares >= 0.0) and np.all(shares <= 1.0)
    primal = 0.5 * fit.coef[0] @ fit.coef[0] + slack.sum()
    w = X.T @ fit.dual
    assert primal - (shares.sum() - 0.5 * w @ w) == pytest.approx(fit.gap, abs=1e-8)
    assert fit.gap <= limit and fit.objective == pytest.approx(primal, rel=1e-12)
    again = dual_start(Rows(X), ScalarScores(SmoothedHinge(4.0), y, np.ones(3000)), False, limit, Budget())
    assert np.array_equal(again.coef, fit.coef)
    assert fit.n_iter == fit.history[-1][1] < 60


def test_dual_ascent_sums_entries_stored_twice_and_leaves_the_matrix_alone():
    X, y = sparse_problem(200, 60, 0.1)
    twice = sparse.csr_array((np.repeat(0.5 * X.data, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    limit = 1e-2
    fits = [
        dual_start(Rows(A), ScalarScores(SmoothedHinge(4.0), y, np.ones(200)), False, limit, Budget())
        for A in (X, twice)
    ]
    assert np.array_equal(fits[0].coef, fits[1].coef)
    assert twice.nnz == 2 * X.nnz


def test_picked_columns_know_which_they_hold():
    X, _ = sparse_problem(30, 12, 0.2)
    picked = Picker(X).pick(np.array([2, 5, 9]))
    assert picked.holds(np.array([2, 9])) and picked.holds(np.array([], dtype=np.int64))
    assert not picked.holds(np.array([3])) and not picked.holds(np.array([2, 11]))


@pytest.fixture
def csr():
    X, _ = sparse_problem(9000, 50, 0.05)  # some rows are empty
    rng = np.random.default_rng(3)
    return Rows(X), X.toarray(), rng.standard_normal(50), rng.random(9000) * (np.arange(9000) % 3 > 0)


def test_products_of_sparse_rows_are_those_of_dense_ones(csr):
    rows, dense, w, weights = csr
    assert rows.times(w[None, :])[:, 0] == pytest.approx(dense @ w, rel=1e-12, abs=1e-12)
    assert rows.transposed(weights[:, None])[0] == pytest.approx(weights @ dense, rel=1e-12, abs=1e-12)
    assert rows.square_sums(weights) == pytest.approx(weights @ dense**2, rel=1e-12)
    scores = dense @ w
    mean = weights @ scores / weights.sum()
    for center, shift in ((False, 0.0), (True, mean)):
        expected = dense.T @ (weights * (scores - shift))
        assert rows.curvature_times(weights, w, center) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_products_of_sparse_rows_have_the_same_bits_for_any_number_of_threads(csr, monkeypatch):
    rows, _, w, weights = csr
    monkeypatch.setattr("surefit.core.threads.THREADED", 1)  # share even these few rows
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr("surefit.core.threads.blas_threads", lambda count=count: count)
        products = (rows.times(w[None, :]), rows.transposed(weights[:, None]), rows.square_sums(weights))
        curved = [rows.curvature_times(weights, w, center) for center in (False, True)]
        found.append([part.tobytes() for part in (*products, *curved)])
    assert found[0] == found[1] == found[2]
