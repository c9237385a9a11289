"""The algebra of kernels: features compose, semidefiniteness is kept, differences lose it."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.kernels import (
    RBF,
    Constant,
    Exponential,
    IntegratedBrownian,
    Laplacian,
    Linear,
    Matern,
    Min,
    Noise,
    Normalized,
    Periodic,
    Polynomial,
    PolynomialOf,
    RationalQuadratic,
    Sigmoid,
    Warped,
)


def plainly(kernel):
    """The name of a case: without addresses, so that every process has the same."""
    return re.sub(r" at 0x\w+", "", repr(kernel))


RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(9, 2)), RNG.normal(size=(5, 2))


def bend(A):
    return np.sin(3 * A[:, 0]) - 0.2


FINITE = [
    Linear() + Polynomial(2),
    Linear() * Polynomial(2),
    3.0 * Linear(),
    (Linear() + 2.0) ** 3,
    Warped(Polynomial(2), bend),
    PolynomialOf(Linear(), [1.0, 0.0, 2.0, 0.5]),
    Normalized(Linear() + 1.0),
    Normalized(Warped(Linear() * Constant(2.0), bend)) + 0.5 * Linear() ** 2,
]


@pytest.mark.parametrize("kernel", FINITE, ids=plainly)
def test_inner_products_of_features_are_kernel_values(kernel):
    assert kernel.feature_map(X) @ kernel.feature_map(Y).T == pytest.approx(kernel(X, Y), rel=1e-11, abs=1e-11)
    F = kernel.feature_map(X)
    assert F @ F.T == pytest.approx(kernel(X), rel=1e-11, abs=1e-11)


def test_gram_of_the_composite_is_the_composite_of_grams():
    a, b = RBF(gamma=0.7), Polynomial(2)
    assert np.array_equal((a + b)(X, Y), a(X, Y) + b(X, Y)) and np.array_equal((a * b)(X, Y), a(X, Y) * b(X, Y))
    assert (2.5 * a)(X, Y) == pytest.approx(2.5 * a(X, Y), rel=1e-15)
    assert Exponential(b)(X, Y) == pytest.approx(np.exp(b(X, Y)))
    assert PolynomialOf(b, [0.0, 1.0])(X, Y) == pytest.approx(b(X, Y))
    assert Normalized(a)(X) == pytest.approx(a(X)) and np.all(np.diagonal(Normalized(b)(X)) == 1.0)


def test_gaussian_kernel_by_algebra():
    kernel = Warped(Exponential(Linear()), lambda A: np.exp(-np.sum(A * A, axis=1) / 2))
    assert kernel(X, Y) == pytest.approx(RBF()(X, Y), rel=1e-13)
    a, b = X[:, :1], Y[:, :1]
    factorials = np.cumprod([1.0, *range(1, 30)])
    features = [np.exp(-x * x / 2) * x ** np.arange(30) / np.sqrt(factorials) for x in (a, b)]
    assert features[0] @ features[1].T == pytest.approx(RBF()(a, b), rel=1e-12)
    assert PolynomialOf(Linear(), 1 / factorials)(a, b) == pytest.approx(Exponential(Linear())(a, b), rel=1e-12)


leaves = st.sampled_from(
    [Linear(), Polynomial(2), RBF(0.7), Laplacian(0.5), Matern(nu=2.5), RationalQuadratic(), Periodic(), Noise(0.3)]
)
trees = st.recursive(
    leaves,
    lambda inside: st.one_of(
        st.tuples(inside, inside).map(lambda ab: ab[0] + ab[1]),
        st.tuples(inside, inside).map(lambda ab: ab[0] * ab[1]),
        inside.map(lambda a: 0.3 * a),
        inside.map(lambda a: Normalized(a)),
        inside.map(lambda a: Warped(a, bend)),
        inside.map(lambda a: PolynomialOf(a, [0.2, 1.0, 0.5])),
    ),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(0, 10**6), st.integers(1, 8))
def test_what_is_composed_stays_semidefinite(kernel, seed, n):
    sample = np.random.default_rng(seed).normal(size=(n, 2))
    sample = np.vstack([sample, sample[:1]])  # a repeated point makes it singular
    K = kernel(sample)
    assert kernel.positive_semidefinite
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * max(1.0, np.trace(K))
    assert np.diagonal(K) == pytest.approx(kernel.diag(sample), rel=1e-15)
    if len(kernel.theta):
        same, slopes = kernel.gram_and_gradient(sample)
        assert np.array_equal(same, K)
        step = 1e-6 * np.ones(len(kernel.theta))
        change = (
            kernel.with_theta(kernel.theta + step)(sample) - kernel.with_theta(kernel.theta - step)(sample)
        ) / 2e-6
        assert sum(slopes) == pytest.approx(change, rel=1e-4, abs=1e-6 * (1 + np.max(np.abs(K))))


def test_differences_are_no_kernels_and_have_no_sign():
    with pytest.raises(TypeError):
        Linear() - Linear()
    with pytest.raises(InvalidParameter, match="factor must be a finite number > 0"):
        (-1.0 * Linear())(X)
    with pytest.raises(InvalidParameter, match="coefficients must be"):
        PolynomialOf(Linear(), [1.0, -2.0])(X)
    with pytest.raises(InvalidParameter, match="exponent must be an integer >= 1"):
        (Linear() ** 0.5)(X)
    with pytest.raises(InvalidData, match="9 numbers, one per element"):
        Warped(Linear(), lambda A: A)(X)
    with pytest.raises(TypeError):
        Linear() + "rbf"


def test_what_is_known_of_composites():
    assert (Linear() + RBF()).positive_semidefinite and (2.0 * RBF() * Matern()).stationary
    assert (Linear() + Sigmoid()).positive_semidefinite is None
    assert not (Linear() + RBF()).stationary and not Warped(RBF(), bend).stationary


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 10**4), min_size=1, max_size=8, unique=True), st.integers(-5, 5))
def test_brownian_motion(points, origin):
    x = origin + np.sort(points)[:, None] / 1000
    kernel = Min(origin)
    K, steps = kernel(x), np.diff(x[:, 0], prepend=origin)
    assert np.linalg.det(K) == pytest.approx(np.prod(steps), rel=1e-6)
    L = np.tril(np.sqrt(steps)[None, :] * np.ones((len(x), 1)))
    assert L @ L.T == pytest.approx(K, rel=1e-9)
    assert kernel.inverse(x) @ K == pytest.approx(np.eye(len(x)), abs=1e-6)
    values = np.random.default_rng(len(points)).normal(size=len(x))
    jumps = np.diff(values, prepend=0.0)
    assert values @ (kernel.inverse(x) @ values) == pytest.approx(np.sum(jumps**2 / steps), rel=1e-9)


def test_inverse_of_an_even_design():
    x = np.arange(1, 5)[:, None] / 4
    expected = 4 * np.array([[2, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 1]])
    assert Min().inverse(x).toarray() == pytest.approx(expected)
    for wrong in ([[0.0], [1.0]], [[1.0], [1.0]]):
        with pytest.raises(InvalidData, match="strictly increasing"):
            Min().inverse(wrong)
    with pytest.raises(InvalidData, match="row 1 has -1.0"):
        Min()([[0.0], [-1.0]])
    with pytest.raises(InvalidData, match="one column"):
        Min()(X)


def test_integrated_brownian_motion():
    kernel = IntegratedBrownian()
    assert kernel([[0.3]], [[0.7]])[0, 0] == pytest.approx(0.027, rel=1e-14)
    assert kernel.diag([[0.6]]) == pytest.approx([0.6**3 / 3])
    w = (np.arange(20000) + 0.5) / 20000
    by_integral = np.mean(np.maximum(0.3 - w, 0) * np.maximum(0.7 - w, 0))
    assert by_integral == pytest.approx(0.027, abs=1e-8)
    assert IntegratedBrownian(2.0)([[2.3]], [[2.7]])[0, 0] == pytest.approx(0.027, rel=1e-12)
    sample = np.sort(RNG.random(6))[:, None] + 0.1
    assert np.linalg.eigvalsh(kernel(sample))[0] > -1e-15
