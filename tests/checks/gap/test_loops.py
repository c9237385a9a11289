"""Compiled products: they differ from the exact ones by at most the rounding that the gap theorem assumes."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from surefit.checks.enclosure import gamma
from surefit.checks.gap import loops
from surefit.checks.gap.operators import operator_of

SHAPES = [(1, 1), (15, 3), (17, 10), (513, 64), (300, 65), (40, 1100)]


def exact(A, t):
    """Return ``A t`` and ``|A| |t|`` with 64 bits of precision."""
    A, t = A.astype(np.longdouble), t.astype(np.longdouble)
    return A @ t, np.abs(A) @ np.abs(t)


@pytest.mark.parametrize("shape", SHAPES)
def test_products_with_rows_and_columns(shape):
    rng = np.random.default_rng(0)
    A = rng.normal(size=shape) * 10.0 ** rng.uniform(-8, 8, shape[1])
    w, v = rng.normal(size=shape[1]), rng.normal(size=shape[0])
    for found, (mid, size) in ((loops.products(A, w), exact(A, w)), (loops.dots(A, w), exact(A, w))):
        bound = gamma(shape[1] + 4) * size
        assert np.all(np.abs(found[0] - mid) <= bound) and np.all(np.abs(found[1] - size) <= bound)
    (mid, size), found = exact(A.T, v), loops.sums(A, v)
    bound = gamma(loops.PART + shape[0] // loops.PART + 4) * size
    assert np.all(np.abs(found[0] - mid) <= bound) and np.all(np.abs(found[1] - size) <= bound)
    np.testing.assert_allclose(found[2], np.sum(A.astype(np.longdouble) ** 2, axis=0).astype(np.float64), rtol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_pairs_of_vectors(shape):
    rng = np.random.default_rng(2)
    A = np.where(rng.random(shape) < 0.5, rng.normal(size=shape) * 10.0 ** rng.uniform(-8, 8, shape[1]), 0.0)
    t, u, found = rng.normal(size=shape[0]), rng.normal(size=shape[0]), np.zeros((4, shape[1]))
    loops.pair_sums(A, t, u, found)
    rows = csr_array(A)
    other = np.zeros((shape[1], 4))
    loops.sparse_pair_sums(rows.data, rows.indices, rows.indptr, t, u, other)
    other = other.T
    for k, v in enumerate((t, u)):
        mid, size = exact(A.T, v)
        assert np.all(np.abs(found[k] - mid) <= gamma(loops.PART + shape[0] // loops.PART + 4) * size)
        assert np.all(np.abs(other[k] - mid) <= gamma(int(other[3].max()) + 4) * size)
    squares = np.sum(A.astype(np.longdouble) ** 2, axis=0).astype(np.float64)
    for sums in (found, other):
        np.testing.assert_allclose(sums[2], squares, rtol=1e-13)
    np.testing.assert_array_equal(found[3], np.abs(A).max(axis=0))
    np.testing.assert_array_equal(other[3], np.count_nonzero(A, axis=0))


def test_sparse_sums_have_the_same_bits_for_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(3)
    A, t, found = rng.normal(size=(9001, 5)) * (rng.random((9001, 5)) < 0.5), rng.normal(size=9001), []
    rows = csr_array(A)
    monkeypatch.setattr("surefit.core.threads.THREADED", 1)
    for threads in (1, 2, 4):
        monkeypatch.setattr("surefit.core.threads.blas_threads", lambda threads=threads: threads)
        found.append(loops.sparse_sums(rows.data, rows.indices, rows.indptr, t, 5))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    mid, size = exact(A.T, t)
    bound = gamma(int(found[0][3].max()) + 4) * size
    assert np.all(np.abs(found[0][0] - mid) <= bound) and np.all(np.abs(found[0][1] - size) <= bound)
    np.testing.assert_array_equal(found[0][3], np.count_nonzero(A, axis=0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_operator_encloses_cancelling_products(shape, order):
    rng = np.random.default_rng(1)
    A, w = rng.normal(size=shape), rng.normal(size=shape[1])
    if shape[1] > 1:
        A[:, 0] = -(A[:, 1:] @ w[1:]) / w[0]  # every product is nearly zero
    product = operator_of(np.asarray(A, order=order)).times(w)
    mid, size = exact(A, w)
    assert np.all(np.abs(product.mid - mid) <= product.rad)
    assert np.all(product.rad <= 2 * gamma(shape[1] + 8) * size.astype(np.float64) + 1e-300)
