"""Every design gives the same answers as plain NumPy on the same numbers, whatever the storage, type and centring."""

import numpy as np
import pytest
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.core.jit import compiled
from surefit.operators import (
    DenseColumns,
    DenseRows,
    SparseColumns,
    add_columns,
    as_design,
    column_axpy,
    column_dot,
    column_statistics,
    correlations,
    dense_gram,
    dimensions,
    gram_rows,
    sparse_columns,
    times,
)

N, P = 150, 6
STORAGES = {
    "columns": np.asfortranarray,
    "rows": np.ascontiguousarray,
    "csc": sparse.csc_array,
    "csr": sparse.csr_matrix,
}
each_storage = pytest.mark.parametrize("store", STORAGES.values(), ids=STORAGES)
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])
each_centring = pytest.mark.parametrize("center", [False, True])


def table(dtype=np.float64) -> np.ndarray:
    """Columns: full, half empty, nearly empty, constant, far from the origin, empty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    X[rng.random(N) < 0.5, 1] = 0.0
    X[rng.random(N) < 0.95, 2] = 0.0
    X[:, 3] = 0.1
    X[:, 4] += 1000.0
    X[:, 5] = 0.0
    return X.astype(dtype)


def weights() -> np.ndarray:
    w = np.random.default_rng(1).random(N)
    w[:10] = 0.0
    return w / w.sum()


def seen(X, center) -> tuple[np.ndarray, np.ndarray]:
    """The matrix as solvers see it, and the means."""
    X = X.astype(np.float64)
    means = weights() @ X if center else np.zeros(P)
    return X - means, means


def test_every_registered_class_is_tested_here():
    assert {type(as_design(store(table()))) for store in STORAGES.values()} == set(dimensions.classes)
    verbs = (column_statistics, correlations, add_columns, gram_rows, column_dot, column_axpy)
    assert all(set(verb.classes) == {DenseColumns, DenseRows, SparseColumns} for verb in verbs)


@each_storage
@each_dtype
@each_centring
def test_statistics(store, dtype, center):
    X, s = table(dtype), weights()
    centered, means = seen(X, center)
    y = np.random.default_rng(2).normal(size=N)
    y = y - s @ y if center else y
    found = column_statistics(as_design(store(X)), y, s, center)
    assert found[0] == pytest.approx(means, rel=1e-13, abs=1e-15)
    assert found[1] == pytest.approx(np.sqrt(s @ centered**2), rel=1e-11, abs=1e-15)
    assert found[2] == pytest.approx((s * y) @ centered, rel=1e-10, abs=1e-13)


@each_storage
@each_dtype
def test_a_constant_column_has_exactly_its_value_as_mean_and_no_length(store, dtype):
    X = np.full((N, 2), 0.1, dtype=dtype)
    means, norms, products = column_statistics(as_design(store(X)), np.arange(N) - 74.5, np.full(N, 1 / N), True)
    assert np.array_equal(means, X[0].astype(np.float64))
    assert np.array_equal(norms, [0.0, 0.0]) and np.array_equal(products, [0.0, 0.0])


@each_storage
@each_dtype
@each_centring
@pytest.mark.parametrize("columns", [np.arange(P), np.array([4, 1]), np.array([], dtype=np.int64)], ids=len)
def test_correlations(store, dtype, center, columns):
    X, scales = table(dtype), np.arange(1.0, P + 1)
    centered, means = seen(X, center)
    v = np.random.default_rng(3).normal(size=N)
    v = v - weights() * v.sum() if center else v
    out = np.full(P, -7.0)
    correlations(as_design(store(X)), v, means, scales, columns, out)
    expected = np.full(P, -7.0)
    expected[columns] = (v @ centered * scales)[columns]
    assert out == pytest.approx(expected, rel=1e-10, abs=1e-10)


@each_storage
@each_dtype
@each_centring
def test_add_columns_and_times(store, dtype, center):
    X = table(dtype)
    centered, means = seen(X, center)
    columns, coefs = np.array([4, 2, 1]), np.array([0.5, -2.0, 3.0])
    out = np.ones(N)
    add_columns(as_design(store(X)), columns, coefs, means, out)
    assert out == pytest.approx(1 + centered[:, columns] @ coefs, rel=1e-12, abs=1e-12)
    w = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 0.0])
    assert times(as_design(store(X)), w) == pytest.approx(X.astype(np.float64) @ w, rel=1e-13)


@each_storage
@each_dtype
@each_centring
@pytest.mark.parametrize("first", [0, 2, 4])
def test_gram_rows_over_several_blocks(store, dtype, center, first, monkeypatch):
    monkeypatch.setattr(dense_gram, "BLOCK_ENTRIES", 1)  # blocks of 64 rows
    monkeypatch.setattr(sparse_columns, "BLOCK_ENTRIES", 1)
    X, s, scales = table(dtype), weights(), np.arange(1.0, P + 1)
    centered, means = seen(X, center)
    columns = np.array([4, 0, 2, 5, 1])
    visits = []
    found = gram_rows(as_design(store(X)), columns, first, s, means, scales, lambda: visits.append(1))
    scaled = (centered * scales)[:, columns]
    expected = (scaled * s[:, None]).T @ scaled
    assert found == pytest.approx(expected[first:], rel=1e-9, abs=1e-9)
    assert len(visits) == 3


@each_storage
def test_gram_can_be_left_between_blocks(store):
    def leave():
        raise KeyboardInterrupt

    design = as_design(store(table()))
    with pytest.raises(KeyboardInterrupt):
        gram_rows(design, np.arange(P), 0, weights(), np.zeros(P), np.ones(P), leave)


@compiled
def _compiled_dot(design, j, shift, v, total):
    return column_dot(design, j, shift, v, total)


@compiled
def _compiled_axpy(design, j, c, shift, s, v):
    return column_axpy(design, j, c, shift, s, v)


@each_storage
@each_dtype
@each_centring
def test_column_verbs_compiled_and_in_python(store, dtype, center):
    X, s, design = table(dtype), weights(), as_design(store(table(dtype)))
    centered, means = seen(X, center)
    v = np.random.default_rng(4).normal(size=N)
    for j in range(P):
        for dot in (column_dot, _compiled_dot):
            assert dot(design, j, means[j], v, v.sum()) == pytest.approx(centered[:, j] @ v, rel=1e-10, abs=1e-9)
        for axpy in (column_axpy, _compiled_axpy):
            moved = v.copy()
            left_out = axpy(design, j, 2.0, means[j], s, moved)
            assert moved + left_out * s == pytest.approx(v + 2.0 * s * centered[:, j], rel=1e-11, abs=1e-11)


@each_storage
def test_centring_happens_before_multiplying(store):
    # mean 1e6, spread 1: products of centered columns keep at least 9 digits
    rng = np.random.default_rng(5)
    base, s = rng.normal(size=(N, 2)), np.full(N, 1 / N)
    X = base + 1e6
    exact = X - 1e6 - np.mean(X - 1e6, axis=0)  # the shift by 1e6 is exact in floats
    y = rng.normal(size=N)
    y -= y.mean()
    design = as_design(store(X))
    means, norms, products = column_statistics(design, y, s, True)
    assert norms == pytest.approx(np.sqrt(s @ exact**2), rel=1e-9)
    assert products == pytest.approx((s * y) @ exact, rel=1e-8)
    gram = np.full((3, 4), np.nan)
    assert gram_rows(design, np.arange(2), 0, s, means, np.ones(2), lambda: None, gram[:2, 1:3]) is not None
    assert np.isnan(gram[:, 0]).all() and np.isnan(gram[2]).all()
    gram = gram[:2, 1:3]
    assert gram == pytest.approx((exact * s[:, None]).T @ exact, rel=1e-9)


def test_nothing_is_copied():
    X = table()
    assert np.shares_memory(as_design(X).values, X)
    F = np.asfortranarray(X)
    assert np.shares_memory(as_design(F).values, F)
    S = sparse.csc_matrix(X)
    assert np.shares_memory(as_design(S).data, S.data)
    assert isinstance(as_design(X[:, :1].copy()), DenseColumns)  # one column: both orders at once


def test_odd_inputs_become_designs():
    X = table()
    strided = as_design(X[::2, ::2])
    assert np.array_equal(strided.values, X[::2, ::2]) and isinstance(strided, DenseColumns)
    assert as_design(np.arange(6).reshape(3, 2)).values.dtype == np.float64
    twice = sparse.csc_matrix((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(2, 1))
    design = as_design(twice)
    assert np.array_equal(design.data, [1.0, 2.0]) and np.array_equal(design.indices, [0, 1])
    assert np.array_equal(twice.indices, [1, 0, 1])  # the user's matrix is untouched
    wide = sparse.csc_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert as_design(wide).indices.dtype == np.int32
    with pytest.raises(InvalidData, match=r"X: expected a table .*reshape\(-1, 1\)"):
        as_design(np.ones(3))


@each_storage
def test_correlations_do_not_care_for_the_order_in_which_columns_are_asked_for(store):
    X, v = table(), np.linspace(-1.0, 1.0, N)
    expected = X.T @ v
    for columns in (np.arange(P)[::-1].copy(), np.array([3, 0]), np.random.default_rng(0).permutation(P)):
        out = np.full(P, np.nan)
        correlations(as_design(store(X)), v, np.zeros(P), np.ones(P), columns, out)
        np.testing.assert_allclose(out[columns], expected[columns], rtol=1e-10, atol=1e-10)
