"""Distances of features: closed forms, many digits where elements are near, features where there are some, and refusals."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from surefit import InvalidData, InvalidParameter, kernel_distances
from surefit.kernels import (
    RBF,
    CommonWords,
    Constant,
    Diffusion,
    DotProduct,
    Exponential,
    Function,
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
    Power,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    StringSubsequence,
    Warped,
)


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def square(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def sine(t):
    """Its series, in the precision of the context."""
    total, term, k = Decimal(0), t, 1
    while total + term != total:
        total, term, k = total + term, -term * t * t / ((k + 1) * (k + 2)), k + 2
    return total


HALF_PI = 2 * sum(  # Machin's formula
    sign * factor * sum((-1) ** k * Decimal(1) / ((2 * k + 1) * Decimal(base) ** (2 * k + 1)) for k in range(20))
    for sign, factor, base in ((1, 4, 5), (-1, 1, 239))
)


def matern(nu):
    def value(x, y):
        t = (2 * Decimal(nu) * square(x, y)).sqrt() / Decimal("0.7")
        return (-t).exp() * {0.5: 1, 1.5: 1 + t, 2.5: 1 + t + t**2 / 3}[nu]

    return value


def first(rows):
    return 1.0 + rows[:, 0] ** 2


#: Kernels with their formula in arithmetic of any precision.
EXACT = {
    "linear": (Linear(), dot),
    "dot product": (DotProduct(1.5), lambda x, y: Decimal("2.25") + dot(x, y)),
    "polynomial": (Polynomial(3, 0.5, 1.0), lambda x, y: (dot(x, y) / 2 + 1) ** 3),
    "homogeneous": (Polynomial(2, 1.0, 0.0), lambda x, y: dot(x, y) ** 2),
    "gaussian": (RBF(gamma=0.75), lambda x, y: (-square(x, y) * 3 / 4).exp()),
    "gaussian length": (RBF(length_scale=2.0), lambda x, y: (-square(x, y) / 8).exp()),
    "laplacian": (Laplacian(0.5), lambda x, y: (-sum(abs(a - b) for a, b in zip(x, y, strict=True)) / 2).exp()),
    "matern 1/2": (Matern(0.7, nu=0.5), matern(0.5)),
    "matern 3/2": (Matern(0.7, nu=1.5), matern(1.5)),
    "matern 5/2": (Matern(0.7, nu=2.5), matern(2.5)),
    "rational": (RationalQuadratic(2.0, 1.5), lambda x, y: (-(1 + square(x, y) / 12).ln() * 3 / 2).exp()),
    "periodic": (
        Periodic(1.0, 2.0),
        lambda x, y: (-2 * sum(sine(HALF_PI * (a - b)) ** 2 for a, b in zip(x, y, strict=True))).exp(),
    ),
    "constant": (Constant(3.0), lambda x, y: Decimal(3)),
    "sum": (Linear() + 2.0 * RBF(gamma=1.0), lambda x, y: dot(x, y) + 2 * (-square(x, y)).exp()),
    "product": (Linear() * RBF(gamma=1.0), lambda x, y: dot(x, y) * (-square(x, y)).exp()),
    "power": (Power(RBF(gamma=1.0) + 1.0, 3), lambda x, y: ((-square(x, y)).exp() + 1) ** 3),
    "polynomial of": (PolynomialOf(Linear(), [1.0, 0.0, 2.0]), lambda x, y: 1 + 2 * dot(x, y) ** 2),
    "exponential": (Exponential(Linear()), lambda x, y: dot(x, y).exp()),
    "normalized": (Normalized(Linear()), lambda x, y: dot(x, y) / (dot(x, x) * dot(y, y)).sqrt()),
    "warped": (Warped(Linear(), first), lambda x, y: (1 + x[0] ** 2) * (1 + y[0] ** 2) * dot(x, y)),
}


def exactly(formula, x, y) -> float:
    with localcontext() as context:
        context.prec = 80
        x, y = ([Decimal(float(v)) for v in row] for row in (x, y))
        return float((formula(x, x) + formula(y, y) - 2 * formula(x, y)).sqrt())


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("step, digits", [(1.0, 1e-12), (1e-3, 1e-9), (1e-8, 1e-6)])
def test_digits_of_near_and_far_elements(name, step, digits):
    kernel, formula = EXACT[name]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 3))
    Y = X + step * rng.standard_normal((4, 3))
    found = kernel_distances(kernel, X, Y)
    for i in range(4):
        assert found[i, i] == pytest.approx(exactly(formula, X[i], Y[i]), rel=digits)
    assert found[0, 1] == pytest.approx(exactly(formula, X[0], Y[1]), rel=1e-11)


@pytest.mark.parametrize(
    "kernel", [Min(), Min(origin=-1.0), IntegratedBrownian(), IntegratedBrownian(origin=-0.5)], ids=repr
)
@pytest.mark.parametrize("step", [0.5, 1e-9])
def test_kernels_of_a_line(kernel, step):
    s, a = 0.25, kernel.origin

    def formula(x, y):
        low, high = min(x[0], y[0]) - Decimal(a), max(x[0], y[0]) - Decimal(a)
        return low if isinstance(kernel, Min) else low**2 * high / 2 - low**3 / 6

    assert kernel_distances(kernel, [[s]], [[s + step]])[0, 0] == pytest.approx(
        exactly(formula, [s], [s + step]), rel=1e-12
    )
    assert kernel_distances(kernel, [[s + step]], [[s]])[0, 0] == pytest.approx(
        exactly(formula, [s], [s + step]), rel=1e-12
    )


@pytest.mark.parametrize("name", EXACT)
def test_copies_are_at_distance_zero_and_nothing_is_nan(name):
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((5, 3)) * [1.0, 1e-3, 1e3], 2, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        kernel = Exponential(RBF()) if name == "exponential" else EXACT[name][0]
        D = kernel_distances(kernel, X)
    assert np.all(D >= 0) and np.all(np.isfinite(D)) and pytest.approx(D) == D.T
    assert np.all(D[np.arange(0, 10, 2), np.arange(1, 10, 2)] == 0.0) and np.all(np.diagonal(D) == 0.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(EXACT)))
def test_triangles(seed, name):
    X = np.random.default_rng(seed).standard_normal((5, 3))
    D = kernel_distances(EXACT[name][0], X)
    assert np.all(D[:, :, None] <= D[:, None, :] + D[None, :, :].transpose(0, 2, 1) + 1e-9 * (1 + D.max()))


def test_distances_of_explicit_features():
    X = np.random.default_rng(2).standard_normal((8, 3))
    for kernel in (Polynomial(3), Linear() * Polynomial(2), Linear() + Polynomial(2, coef0=0.0)):
        features = kernel.feature_map(X)
        assert kernel_distances(kernel, X) == pytest.approx(cdist(features, features), abs=1e-9)


def test_many_columns_and_sparse_rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 300)) + 50.0
    X[10:] = X[:10] + 1e-7 * rng.standard_normal((10, 300))
    for kernel in (Linear(), RBF(gamma=1e-3), RBF(length_scale=np.full(300, 20.0)), Polynomial(2, 1e-3)):
        few = np.array([kernel_distances(kernel, X[i : i + 1, :], X) for i in range(20)])[:, 0]
        exact = cdist(X, X) if isinstance(kernel, Linear) else few
        assert kernel_distances(kernel, X) == pytest.approx(exact, rel=1e-8, abs=1e-12)
    assert kernel_distances(Linear(), X)[0, 10] == pytest.approx(np.linalg.norm(X[0] - X[10]), rel=1e-12)
    Z = sparse.random_array((15, 40), density=0.2, rng=rng, format="csr")
    for kernel in (Linear(), RBF(gamma=0.4), Laplacian(0.3), Polynomial(2), RBF(length_scale=3.0)):
        assert kernel_distances(kernel, Z) == pytest.approx(kernel_distances(kernel, Z.toarray()), abs=1e-7)


def test_strings_graphs_values_functions_and_noise():
    words = ["cat", "cart", "dog"]
    K = StringSubsequence(2, 0.5)(words)
    assert kernel_distances(StringSubsequence(2, 0.5), words)[0, 1] == pytest.approx(np.sqrt(2 - 2 * K[0, 1]))
    assert kernel_distances(CommonWords(), ["a b", "b c d"], ["b"])[:, 0] == pytest.approx([1.0, np.sqrt(2)])
    graph = Diffusion([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    G = graph(np.arange(3))
    assert kernel_distances(graph, np.arange(3))[0, 2] == pytest.approx(np.sqrt(G[0, 0] + G[2, 2] - 2 * G[0, 2]))
    assert kernel_distances("precomputed", [[2.0, 1.0], [1.0, 3.0]])[0, 1] == pytest.approx(np.sqrt(3.0))
    X = np.random.default_rng(4).standard_normal((6, 2))
    assert kernel_distances(lambda A, B: A @ B.T, X) == pytest.approx(cdist(X, X), abs=1e-7)
    assert kernel_distances(Linear() + Noise(2.0), X, X + 1.0)[0, 0] == pytest.approx(np.sqrt(2.0 + 4.0))
    assert kernel_distances("rbf", X) == pytest.approx(kernel_distances(RBF(gamma=1 / (2 * X.var())), X))


def test_what_it_refuses():
    X = np.arange(6.0).reshape(3, 2)
    with pytest.raises(InvalidParameter, match="feature space"):
        kernel_distances(Sigmoid(), X)
    with pytest.raises(InvalidData, match="not a kernel"):
        kernel_distances(Function(lambda A, B: -(A @ B.T)), X)
    with pytest.raises(InvalidParameter, match="precomputed"):
        kernel_distances(Precomputed(), np.eye(2), np.eye(2))
    with pytest.raises(InvalidData, match="same columns"):
        kernel_distances(Linear(), X, X[:, :1])
    with pytest.raises(InvalidParameter, match="kernel"):
        kernel_distances(3.0, X)
