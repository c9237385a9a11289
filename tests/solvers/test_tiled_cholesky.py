"""Cholesky factors and inverses in blocks: against LAPACK, with the same bits for any number of threads."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError, lapack

from surefit import GaussianProcessRegressor, KernelRidge
from surefit.kernels import RBF, Noise
from surefit.kernels.vectors import in_parts
from surefit.solvers import tiled_cholesky


@pytest.fixture(params=[1, 2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr("surefit.core.threads.blas_threads", lambda: request.param)
    monkeypatch.setattr(tiled_cholesky, "blas_threads", lambda: request.param)


def definite(n, dtype=np.float64, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, n))
    return (X @ X.T / n + np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 31, 256, 257, 700])
@pytest.mark.usefixtures("threads")
def test_factor_and_inverse_agree_with_lapack(n, dtype):
    A, near = definite(n, dtype), 200 * n * np.finfo(dtype).eps
    U = tiled_cholesky.factorize(A.copy(), clean=True)
    assert np.array_equal(U, np.triu(U))
    assert np.abs(U.astype(np.float64).T @ U - A).max() <= near
    factor = (lapack.spotrf if dtype is np.float32 else lapack.dpotrf)(A.T, lower=1, clean=1)[0]
    assert np.abs(U - factor.T).max() <= near
    inverse = np.triu(tiled_cholesky.invert(U.copy()))
    inverse += np.triu(inverse, 1).T
    assert inverse.dtype == dtype
    assert np.abs(inverse.astype(np.float64) @ A - np.eye(n)).max() <= near


@pytest.mark.usefixtures("threads")
def test_only_the_upper_half_is_read():
    A, B = definite(600), definite(600)
    B[np.tril_indices(600, -1)] = np.nan
    U, V = tiled_cholesky.factorize(A), tiled_cholesky.factorize(B)
    assert np.array_equal(np.triu(U), np.triu(V))
    assert np.array_equal(np.triu(tiled_cholesky.invert(U)), np.triu(tiled_cholesky.invert(V)))


def test_bits_do_not_depend_on_the_number_of_threads(monkeypatch):
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(tiled_cholesky, "blas_threads", lambda count=count: count)
        U = tiled_cholesky.factorize(definite(900))
        found.append((np.triu(U), np.triu(tiled_cholesky.invert(U.copy()))))
    for others in found[1:]:
        assert all(np.array_equal(one, other) for one, other in zip(found[0], others, strict=True))


@pytest.mark.parametrize("row", [0, 255, 256, 599])
@pytest.mark.usefixtures("threads")
def test_indefinite_matrix_names_its_leading_block(row):
    A = definite(600)
    A[row, row] = -1.0
    with pytest.raises(LinAlgError, match=f"block of {row + 1} rows"):
        tiled_cholesky.factorize(A)


@pytest.mark.parametrize("d", [3, 90])  # with 3 columns, threads replace those of BLAS in the whole fit
def test_same_fits_for_any_number_of_threads(monkeypatch, d):
    X = np.random.default_rng(0).standard_normal((1_600, d))
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).standard_normal(len(X))
    ridge, process = [], []
    for count in (1, 2):
        for module in ("core.threads", "solvers.tiled_cholesky", "solvers.gaussian_process.exact"):
            monkeypatch.setattr(f"surefit.{module}.blas_threads", lambda count=count: count)
        ridge.append(KernelRidge(alpha=0.5, kernel="rbf", gamma=1 / d).fit(X, y))
        rows = slice(0, 700)
        kernel = RBF(2.0) + Noise(0.1)
        process.append(GaussianProcessRegressor(kernel).fit(X[rows], y[rows]))
    assert np.array_equal(ridge[0].dual_coef_, ridge[1].dual_coef_)
    for name in ("L_", "alpha_", "log_marginal_likelihood_value_"):
        assert np.array_equal(getattr(process[0], name), getattr(process[1], name)), name
    assert process[0].kernel_ == process[1].kernel_
    for model in ridge:
        assert model.verify(X, y)["kernel_ridge.gap"].ok


@pytest.mark.parametrize("shape", [(1_700, 1_300), (5,), (0, 3)])
@pytest.mark.usefixtures("threads")
def test_parts_of_an_elementwise_operation_cover_the_array(shape):
    values = np.random.default_rng(0).standard_normal(shape)
    assert np.array_equal(in_parts(np.divide, values, 0.3), values / 0.3)
