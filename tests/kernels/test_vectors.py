"""Kernels of vectors: exact values, explicit features, and scikit-learn's pairwise kernels."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.kernels import (
    RBF,
    Constant,
    Exponential,
    Function,
    Laplacian,
    Linear,
    Matern,
    Noise,
    Normalized,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    Warped,
    gamma_of,
    resolve,
)


def plainly(kernel):
    """The name of a case: without addresses, so that every process has the same."""
    return re.sub(r" at 0x\w+", "", repr(kernel))


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)), RNG.normal(size=(20, 4))

PAIRS = {
    "linear": (Linear(), lambda A, B: pairwise.linear_kernel(A, B)),
    "poly": (Polynomial(3, 0.5, 1.5), lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=1.5)),
    "rbf": (RBF(gamma=0.3), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.3)),
    "laplacian": (Laplacian(0.3), lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.3)),
}


@pytest.mark.parametrize("kernel, other", PAIRS.values(), ids=PAIRS)
def test_agrees_with_pairwise_kernels(kernel, other):
    assert kernel(X, Y) == pytest.approx(other(X, Y), rel=1e-12, abs=1e-13)
    assert kernel(X) == pytest.approx(other(X, X), rel=1e-12, abs=1e-13)
    assert kernel(sparse.csr_array(X), Y) == pytest.approx(kernel(X, Y), rel=1e-12)
    assert kernel(X, sparse.csr_array(Y)) == pytest.approx(kernel(X, Y), rel=1e-12)
    assert kernel(sparse.csr_array(X)) == pytest.approx(kernel(X), rel=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(), RBF(), RBF([1.0, 2.0, 0.5, 3.0]), Laplacian(), Matern(), RationalQuadratic(), Periodic()],
    ids=lambda k: type(k).__name__,
)
def test_a_gram_matrix_is_symmetric_bit_by_bit_and_has_its_diagonal(kernel):
    K = kernel(X)
    assert np.array_equal(K, K.T) and K.flags.c_contiguous and K.dtype == np.float64
    assert np.array_equal(np.diagonal(K), kernel.diag(X))
    assert kernel(X, X) == pytest.approx(K, rel=1e-7, abs=1e-12)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.trace(K)
    assert kernel(X.astype(np.float32)).dtype == np.float64
    small = kernel(X, Y, dtype=np.float32)
    assert small.dtype == np.float32 and small == pytest.approx(kernel(X, Y), rel=1e-3, abs=1e-3)


def test_stationary_kernels_do_not_mind_a_far_origin():
    for kernel in (RBF(gamma=0.5), RationalQuadratic()):
        assert kernel.stationary
        shift = 2.0**20  # shifts and differences are exact for these rows
        rows = np.round(X * 2**10) / 2**10
        assert kernel(rows + shift) == pytest.approx(kernel(rows), rel=1e-12)


def test_limits_of_the_gaussian_kernel():
    points = np.array([[0.0], [1.0]])
    assert RBF(gamma=1 / 0.1**2)(points)[0, 1] == pytest.approx(np.exp(-100), rel=1e-12)
    assert RBF(gamma=1 / 10.0**2)(points)[0, 1] == pytest.approx(0.990050, abs=5e-7)
    assert np.array_equal(RBF(gamma=1e6)(points), np.eye(2))
    assert RBF(gamma=1e-300)(points) == pytest.approx(np.ones((2, 2)))


def test_conventions_of_the_gaussian_kernel():
    assert RBF()([[0.0]], [[1.0]])[0, 0] == pytest.approx(np.exp(-0.5))
    assert RBF(gamma=1.7 / 2)([[0.3]], [[-0.9]])[0, 0] == pytest.approx(0.2940516, abs=5e-8)
    assert RBF(2.0)(X, Y) == pytest.approx(RBF(gamma=1 / 8)(X, Y), rel=1e-14)
    assert RBF([2.0, 1.0, 0.5, 4.0])(X, Y) == pytest.approx(RBF()(X / [2, 1, 0.5, 4], Y / [2, 1, 0.5, 4]), rel=1e-13)
    with pytest.raises(InvalidParameter, match="length_scale is given"):
        RBF(length_scale=1.0, gamma=1.0)(X)
    with pytest.raises(InvalidData, match="2 entries, but the sample has 4 columns"):
        RBF([1.0, 2.0])(X)


def test_gaussian_kernel_by_random_cosines():
    Z = np.random.default_rng(1).normal(size=(10**5, 4)) * np.sqrt(2 * 0.3)
    estimate = np.mean(np.cos(Z @ (X[0] - Y[0])))
    assert abs(estimate - RBF(gamma=0.3)(X[:1], Y[:1])[0, 0]) < 4 / np.sqrt(10**5)


def test_polynomials_and_their_features():
    assert Polynomial(3)([[2.0]], [[3.0]])[0, 0] == 343.0
    assert Polynomial(3).feature_map([[2.0]]) == pytest.approx(np.array([[1, 3**0.5 * 2, 3**0.5 * 4, 8]]))
    assert Polynomial(2, coef0=0.0)([[1.0, 2.0]], [[3.0, 4.0]])[0, 0] == 121.0
    assert Polynomial(2, coef0=0.0).feature_map([[1.0, 2.0]]) == pytest.approx(np.array([[1, 2 * 2**0.5, 4]]))
    x = np.array([[2.0, 3.0]])
    root = 2**0.5
    assert Polynomial(2).feature_map(x) == pytest.approx(np.array([[1, root * 2, root * 3, 4, root * 6, 9]]))
    sizes = {(2, 2): 6, (2, 3): 10, (2, 4): 15, (2, 5): 21, (3, 2): 10, (3, 3): 20, (3, 4): 35, (3, 5): 56}
    for (d, p), size in sizes.items():
        assert Polynomial(p).feature_map(np.ones((1, d))).shape == (1, size)
    for kernel in (Linear(), Polynomial(4, 1.0, 0.7), Polynomial(3, 0.25, 0.0), Constant(3.0), Linear() + 2.0):
        assert kernel.feature_map(X) @ kernel.feature_map(Y).T == pytest.approx(kernel(X, Y), rel=1e-10, abs=1e-10)
    assert not Polynomial(2, coef0=-1.0).positive_semidefinite
    with pytest.raises(InvalidParameter, match="at most 1000000 features"):
        Polynomial(20).feature_map(np.ones((1, 50)))
    with pytest.raises(InvalidParameter, match="finitely many features"):
        RBF().feature_map(X)


def test_sigmoid_warns_and_is_refuted_by_two_points():
    with pytest.warns(DataWarning, match="not positive semidefinite"):
        K = Sigmoid()([[1.0], [2.0]])
    assert np.linalg.eigvalsh(K) == pytest.approx([-0.0909, 1.8518], abs=5e-5)
    assert np.linalg.det(K) == pytest.approx(-0.1683, abs=5e-5)
    with pytest.warns(DataWarning):
        assert Sigmoid(0.2, 0.1)(X, Y) == pytest.approx(pairwise.sigmoid_kernel(X, Y, gamma=0.2, coef0=0.1))


def test_noise_belongs_to_rows_and_not_to_places():
    kernel = RBF() + Noise(0.5)
    rows = np.vstack([X[:2], X[:1]])
    assert np.array_equal(kernel(rows), RBF()(rows) + 0.5 * np.eye(3))
    assert np.array_equal(kernel(rows, rows), RBF()(rows, rows))
    assert np.array_equal(kernel.diag(rows), [1.5, 1.5, 1.5])
    assert kernel.rows(rows).block([2, 0]) == pytest.approx(kernel(rows)[[2, 0]], rel=1e-14)


def test_precomputed_values():
    K = RBF()(X)
    kernel = Precomputed()
    assert np.array_equal(kernel(K), K)
    assert np.array_equal(kernel(K[:5], X), K[:5])
    assert np.array_equal(kernel.against(K[:5], np.array([3, 1]), None), K[:5][:, [3, 1]])
    with pytest.raises(InvalidData, match="square"):
        kernel(K[:5])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kernel",
    [
        *(Linear(), Polynomial(), RBF(gamma=0.2), Laplacian(), Precomputed(), Matern(), 2.0 * RBF() + Linear()),
        *(
            Normalized(Polynomial(2)),
            Warped(RBF(), lambda A: A[:, 0]),
            Exponential(RBF()) * (Matern() + Noise(0.5)) ** 2,
        ),
        0.5 * Precomputed() + Noise(0.1) + Constant(2.0),
    ],
    ids=plainly,
)
def test_blocks_of_rows(kernel, dtype):
    sample = RBF()(X) if kernel.takes == "values" else X
    K = kernel(sample)
    rows = kernel.rows(sample, dtype=dtype)
    close = {"rel": 1e-12, "abs": 1e-13} if dtype is np.float64 else {"rel": 1e-4, "abs": 1e-4}
    block = rows.block([4, 0, 17])
    assert block.dtype == dtype and block.shape == (3, 30) and block.flags.c_contiguous
    assert block == pytest.approx(K[[4, 0, 17]], **close)
    assert np.array_equal(rows.diagonal, kernel.diag(sample)) and rows.n == 30
    block[:] = 0.0  # the caller's to change
    assert rows.block([4]) == pytest.approx(K[[4]], **close)
    some = rows.take([5, 2, 9])
    assert some.n == 3 and some.block([1, 2]) == pytest.approx(K[np.ix_([2, 9], [5, 2, 9])], **close)
    new = sample[:7]
    assert rows.cross(new) == pytest.approx(kernel(new, sample), **close)
    assert some.cross(new) == pytest.approx(kernel(new, sample)[:, [5, 2, 9]], **close)
    twice = some.take([2, 0])
    assert twice.cross(new) == pytest.approx(kernel(new, sample)[:, [9, 5]], **close)
    support = np.array([9, 5])
    assert kernel.against(new, support, sample[support]) == pytest.approx(kernel(new, sample)[:, support], rel=1e-12)


def test_rows_of_sparse_samples():
    S = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    for kernel in (RBF(gamma=0.2), RBF([1.0, 2.0, 0.5, 3.0]), Linear(), Polynomial(2)):
        rows = kernel.rows(S)
        assert rows.block([3, 8]) == pytest.approx(kernel(S.toarray())[[3, 8]], rel=1e-12)
        assert rows.take([8, 3]).cross(Y) == pytest.approx(kernel(Y, S.toarray()[[8, 3]]), rel=1e-12)


def test_names_and_widths():
    assert resolve("linear") == Linear() and resolve("precomputed") == Precomputed()
    assert resolve("rbf", gamma="auto", X=X).gamma == 0.25
    assert resolve("rbf", gamma="scale", X=X).gamma == pytest.approx(1 / (4 * X.var()))
    assert gamma_of("scale", sparse.csr_array(X)) == pytest.approx(1 / (4 * X.var()))
    assert gamma_of("scale", np.ones((3, 2))) == 1.0
    assert resolve("poly", gamma=2.0, degree=4, coef0=1.0) == Polynomial(4, 2.0, 1.0)
    assert resolve("laplacian", gamma=2.0) == Laplacian(2.0) and resolve("Matern") == Matern()
    kernel = RBF(gamma=3.0)
    assert resolve(kernel) is kernel
    assert resolve(lambda A, B: A @ B.T)(X, Y) == pytest.approx(X @ Y.T)
    for wrong in ("cosine!", 3.0, None, RBF):
        with pytest.raises(InvalidParameter, match="SVC: kernel must be"):
            resolve(wrong, who="SVC")
    with pytest.raises(InvalidParameter, match="gamma must be"):
        resolve("rbf", gamma="big", X=X)


def test_bad_samples_and_parameters():
    with pytest.raises(InvalidData, match="RBF: a sample is a table of finite numbers"):
        RBF()([[np.nan]])
    with pytest.raises(InvalidData, match="same columns; got 4 and 2"):
        RBF()(X, X[:, :2])
    with pytest.raises(InvalidParameter, match="gamma must be"):
        RBF(gamma=-1.0)(X)
    with pytest.raises(InvalidParameter, match="gamma must be"):
        (RBF(gamma=-1.0) + Linear())(X)
    with pytest.raises(InvalidParameter, match="length_scale_bounds must be"):
        RBF(length_scale_bounds=(2.0, 1.0))(X)
    with pytest.raises(InvalidData, match=r"shape \(30, 20\)"):
        Function(lambda A, B: np.zeros(3))(X, Y)
    with pytest.raises(InvalidParameter, match="a kernel that can be evaluated"):
        Normalized(Precomputed())(np.eye(2))
    with pytest.raises(InvalidParameter, match="a kernel on vectors"):
        (Linear() + Precomputed())(X)


def test_equal_distances_of_integers_give_equal_values():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), axis=-1).reshape(-1, 2) + 1000
    distances = np.sum((grid[:, None] - grid) ** 2, axis=2)
    for kernel in (RBF(gamma=0.3), RBF(1.7), RationalQuadratic()):
        K, rows = kernel(grid), kernel.rows(grid).block(np.arange(20))
        for d in np.unique(distances):
            assert len(np.unique(K[distances == d])) == 1 and len(np.unique(rows[distances == d])) == 1
    constant = np.column_stack([np.full(4, 1e300), np.arange(4.0)])
    assert RBF()(constant) == pytest.approx(RBF()(constant[:, 1:]))


def test_gaussian_kernel_is_an_integral_of_bells():
    # the features of x are the function z -> c N(z; x, 1 / (2 beta)), with c^2 = (2 pi / beta)^(d / 2)
    beta, x, y = 1.7, 0.3, -0.9
    z = np.linspace(-12, 12, 200001)
    bells = [np.sqrt(beta / np.pi) * np.exp(-beta * (z - p) ** 2) for p in (x, y)]
    product = np.sqrt(2 * np.pi / beta) * np.sum(bells[0] * bells[1]) * (z[1] - z[0])
    assert product == pytest.approx(RBF(gamma=beta / 2)([[x]], [[y]])[0, 0], rel=1e-10)


@pytest.mark.parametrize("terms", [3, 8, 20])
def test_gaussian_kernel_from_a_truncated_series(terms):
    x = np.array([-1.5, -0.4, 0.7, 1.2])
    orders = np.arange(terms + 1)
    roots = np.sqrt(np.cumprod(np.maximum(orders, 1.0)))  # square roots of factorials
    features = np.exp(-(x[:, None] ** 2) / 2) * x[:, None] ** orders / roots
    rest = np.abs(np.multiply.outer(x, x))
    bound = np.exp(rest) - np.sum(rest[..., None] ** orders / roots**2, axis=-1)
    assert np.all(np.abs(features @ features.T - RBF()(x[:, None])) <= bound + 1e-15)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), RBF(length_scale=[0.5, 2.0, 1.0]), RationalQuadratic()])
def test_one_row_has_the_values_that_it_has_among_others(kernel):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 3)) + 100, rng.normal(size=(8, 3)) + 100
    alone = np.concatenate([kernel(A[i : i + 1], B) for i in range(5)])
    assert alone == pytest.approx(kernel(A, B), rel=1e-12)
    assert np.array_equal(kernel(A[:1], B[:1]), kernel(B[:1], A[:1]))
    assert kernel(A[:1], A)[0, 0] == 1.0
