"""Fingerprints tell other data from this data, whatever the storage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from surefit.core import fingerprint as module
from surefit.core.fingerprint import fingerprint, largest_entry, one_pass

X = np.random.default_rng(0).standard_normal((40, 7))
X[X < -1] = 0.0


def test_storage_does_not_matter():
    same = [np.asfortranarray(X), X.copy(), np.repeat(X, 2, axis=0)[::2], sparse.csc_array(X), sparse.csr_matrix(X)]
    assert {fingerprint(other) for other in same} == {fingerprint(X)}


def test_values_shape_dtype_and_order_of_rows_matter():
    changed = X.copy()
    changed[3, 2] = np.nextafter(changed[3, 2], 9)
    negated = X * np.array([1, 1, -1, 1, 1, 1, 1])
    others = [changed, X[::-1], X[:, ::-1], negated, -X, X[:39], X.T, X.astype(np.float32), X.reshape(20, 14)]
    digests = {fingerprint(np.ascontiguousarray(other)) for other in others}
    assert len(digests) == len(others) and fingerprint(X) not in digests


@settings(max_examples=50, deadline=None)
@given(arrays(np.float64, (5, 4), elements=st.floats(allow_nan=False, width=64)), st.permutations(range(5)))
def test_a_permutation_of_rows_is_noticed(table, order):
    if not np.array_equal(table[order].view(np.uint64), table.view(np.uint64)):
        assert fingerprint(table[order]) != fingerprint(table)


@pytest.mark.parametrize("y", [np.array([1, 2, 3]), np.array(["a", "b", "c"]), np.array([True, False, False])], ids=str)
def test_labels_of_any_kind(y):
    assert fingerprint(y) == fingerprint(y.copy())
    assert fingerprint(y) != fingerprint(y[::-1])


def test_the_storage_of_texts_does_not_matter():
    texts = ["ham", "spam", "ham"]
    assert (
        fingerprint(np.array(texts))
        == fingerprint(np.array(texts, dtype=object))
        == fingerprint(np.array(texts, "U20"))
    )


@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_pass_gives_the_largest_entry_and_the_fingerprint(store, dtype, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((3000, 20)).astype(dtype)
    rows[rows < -1] = 0.0
    for sign in (1, -1):
        rows[17, 3] = sign * 9.5
        X = store(rows)
        expected = fingerprint(X)
        assert largest_entry(X) == 9.5
        with one_pass():
            assert largest_entry(X) == 9.5
            with monkeypatch.context() as patch:
                patch.setattr(module, "_measured", None)  # nothing is computed again
                assert fingerprint(X) == expected
            assert fingerprint(store(rows + 1)) != expected
            if sparse.issparse(X):  # other columns of the same stored values
                assert fingerprint(type(X)((X.data, X.indices[::-1].copy(), X.indptr), shape=X.shape)) != expected


def test_the_keys_of_small_and_large_arrays_are_the_same():
    with np.errstate(over="ignore"):  # without machine code the products of words overflow
        many = module._keys(5000, 2)
        for n in (0, 1, 40, 1024, 1025):
            np.testing.assert_array_equal(module._keys(n, 2), many[:n])
        np.testing.assert_array_equal(module._keys(60, 2, 1000), many[1000:1060])


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_do_not_change_the_fingerprint(order, monkeypatch):
    X = np.asarray(np.random.default_rng(0).normal(size=(1001, 7)), order=order)
    expected = module._measured(X)
    monkeypatch.setattr(module, "_THREADED", 1)
    for threads in (1, 2, 5):
        monkeypatch.setattr(module, "blas_threads", lambda threads=threads: threads)
        assert module._measured(X) == expected


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_parts_of_sparse_matrices_add_up(kind, monkeypatch):
    X = sparse.random_array((300, 40), density=0.1, format=kind, rng=np.random.default_rng(0))
    whole = fingerprint(X)
    monkeypatch.setattr("surefit.core.fingerprint._THREADED", 1)
    assert fingerprint(X) == whole
    assert fingerprint(X[:0]) != whole
