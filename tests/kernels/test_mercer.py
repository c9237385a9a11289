"""Eigenpairs, features on a sample, draws, and functions of the kernel's own space."""

import numpy as np
import pytest
from scipy.stats import chi2, norm

from surefit import RKHSFunction
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.kernels import (
    RBF,
    IntegratedBrownian,
    Linear,
    Min,
    Polynomial,
    Precomputed,
    StringSubsequence,
    draw_functions,
    empirical_features,
    mercer,
)

GRID = (np.arange(400)[:, None] + 0.5) / 400


def test_eigenpairs_of_the_minimum():
    pairs = Min().eigenpairs(2000)
    j = np.arange(1, 2001)
    assert pairs.values == pytest.approx(1 / ((j - 0.5) ** 2 * np.pi**2))
    assert np.sum(pairs.values) == pytest.approx(0.5, abs=1e-4) and np.sum(pairs.values**2) == pytest.approx(1 / 6)
    few = Min().eigenpairs(5)
    phi = few.functions(GRID)
    assert phi.T @ phi / 400 == pytest.approx(np.eye(5), abs=1e-3)
    assert np.minimum(GRID, GRID.T) @ phi / 400 == pytest.approx(phi * few.values, abs=1e-4)
    x = np.linspace(0, 1, 301)[:, None]
    worst = np.max(np.abs(Min()(x) - Min().eigenpairs(20).kernel(x, x)))
    assert worst <= 2 / (np.pi**2 * 20) and worst == pytest.approx(0.010130, abs=2e-6)


def test_eigenpairs_on_another_interval():
    pairs = Min(origin=3.0).eigenpairs(400, length=2.0)
    x = np.linspace(3, 5, 50)[:, None]
    assert pairs.kernel(x, x) == pytest.approx(Min(3.0)(x), abs=2 * 2 / (np.pi**2 * 400))
    with pytest.raises(InvalidParameter, match="count must be"):
        Min().eigenpairs(0)


def test_eigenpairs_of_the_gaussian_kernel_are_hermite_functions():
    kernel, scale = RBF(0.8), 1.5
    pairs = kernel.eigenpairs(60, scale=scale)
    x = np.linspace(-12, 12, 6001)[:, None]
    weights = norm.pdf(x[:, 0], scale=scale) * (x[1, 0] - x[0, 0])
    phi = pairs.functions(x)[:, :6]
    assert (phi * weights[:, None]).T @ phi == pytest.approx(np.eye(6), abs=1e-10)
    z = np.linspace(-2, 2, 9)[:, None]
    assert (kernel(z, x) * weights) @ phi == pytest.approx(pairs.values[:6] * pairs.functions(z)[:, :6], abs=1e-10)
    assert pairs.kernel(z, z) == pytest.approx(kernel(z), abs=1e-8) and np.sum(pairs.values) == pytest.approx(1.0)
    with pytest.raises(InvalidParameter, match="closed form"):
        Polynomial().eigenpairs(3)


def test_eigenpairs_by_quadrature():
    found, known = mercer(Min(), GRID, count=3), Min().eigenpairs(3)
    assert found.values == pytest.approx(known.values, rel=1e-4)
    x = np.linspace(0.1, 0.9, 7)[:, None]
    phi, expected = found.functions(x), known.functions(x)
    assert np.abs(phi) == pytest.approx(np.abs(expected), abs=2e-3)
    finite = mercer(Polynomial(2), np.random.default_rng(0).normal(size=(30, 2)))
    assert len(finite.values) == 6
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert finite.kernel(X, X) == pytest.approx(Polynomial(2)(X), rel=1e-9, abs=1e-9)
    weights = np.random.default_rng(1).random(30) + 0.1
    weighted = mercer(RBF(), X, weights)
    phi = weighted.functions(X)[:, :5]
    assert (phi * weights[:, None]).T @ phi == pytest.approx(np.eye(5), abs=1e-8)
    with pytest.raises(InvalidData, match="30 finite numbers > 0"):
        mercer(RBF(), X, -weights)


def test_features_on_a_sample():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for kernel, sample in ((RBF(), X), (StringSubsequence(2), ["abba", "baba", "ab"])):
        F = empirical_features(kernel, sample)
        assert F @ F.T == pytest.approx(kernel(sample), abs=1e-12)


def test_draws_are_brownian_motion():
    t = np.array([[0.0], [0.25], [0.5], [1.0]])
    paths = draw_functions(Min(), t, 20000, random_state=0)
    assert np.all(paths[:, 0] == 0.0)
    assert np.cov(paths.T, bias=True) == pytest.approx(Min()(t), abs=0.03)
    steps = np.diff(paths, axis=1)
    assert np.corrcoef(steps.T) == pytest.approx(np.eye(3), abs=0.03)
    # |f|^2 of a draw on m points is chi-squared with m degrees of freedom: it does not stay bounded
    m = 50
    grid = np.arange(1, m + 1)[:, None] / m
    norms = [f @ (Min().inverse(grid) @ f) for f in draw_functions(Min(), grid, 2000, random_state=1)]
    assert np.mean(norms) == pytest.approx(m, rel=0.02)
    assert chi2(20).cdf(5) == pytest.approx(0.000277, abs=5e-7) and chi2(m).cdf(5) <= 2 * m / (m - 5) ** 2 <= 0.0494
    smooth = draw_functions(IntegratedBrownian(), t, 20000, random_state=2)
    assert np.cov(smooth.T, bias=True) == pytest.approx(IntegratedBrownian()(t), abs=0.02)


def test_reproducing_property():
    rng = np.random.default_rng(4)
    X, Z = rng.normal(size=(6, 2)), rng.normal(size=(4, 2))
    for kernel in (RBF(0.8), Polynomial(2), Linear()):
        f, g = RKHSFunction(kernel, X, rng.normal(size=6)), RKHSFunction(kernel, Z, rng.normal(size=4))
        for z in Z:
            section = RKHSFunction.section(kernel, z)
            assert f.inner(section) == pytest.approx(f(z[None])[0], rel=1e-12)
            assert section.norm() ** 2 == pytest.approx(kernel.diag(z[None])[0])
        assert f.inner(g) == pytest.approx(g.inner(f)) and abs(f.inner(g)) <= f.norm() * g.norm() * (1 + 1e-12)
        h = 2.0 * f - g
        assert h(Z) == pytest.approx(2 * f(Z) - g(Z), rel=1e-10)
        assert h.norm() ** 2 == pytest.approx(4 * f.norm() ** 2 - 4 * f.inner(g) + g.norm() ** 2, rel=1e-9)
        assert np.all(np.abs(f(Z)) <= f.bound(Z) * (1 + 1e-12))
    with pytest.raises(InvalidParameter, match="the RKHS of RBF"):
        RKHSFunction(RBF(), X, np.ones(6)) + RKHSFunction(Linear(), X, np.ones(6))
    with pytest.raises(InvalidData, match="6 numbers, one per center"):
        RKHSFunction(RBF(), X, np.ones(5))
    with pytest.raises(InvalidParameter, match="evaluated anywhere"):
        RKHSFunction(Precomputed(), np.eye(2), np.ones(2))


def test_norm_is_the_integral_of_the_squared_slope():
    x, c = np.array([[0.2], [0.5], [0.9]]), np.array([1.0, -2.0, 1.5])
    f = RKHSFunction(Min(), x, c)
    grid = np.linspace(0, 1, 100001)[:, None]
    assert f.norm() ** 2 == pytest.approx(np.sum(np.diff(f(grid)) ** 2) / (grid[1, 0]), rel=1e-9)
    values, points = np.append(0.0, f(x)), np.append(0.0, x[:, 0])
    assert f.norm() ** 2 == pytest.approx(np.sum(np.diff(values) ** 2 / np.diff(points)))
    pairs = Min().eigenpairs(20000)
    coefficients = pairs.values * (pairs.functions(x).T @ c)
    assert np.sum(coefficients**2 / pairs.values) == pytest.approx(f.norm() ** 2, abs=1e-3)


@pytest.mark.parametrize("n", [3, 6])
def test_alternating_labels_have_a_known_norm(n):
    x = (2 * np.arange(1, n + 1)[:, None] - 1) / (2 * n - 1)
    f = RKHSFunction.interpolating(Min(), x, (-1.0) ** np.arange(n))
    assert f.norm() ** 2 == pytest.approx((2 * n - 1) ** 2, rel=1e-10)
    last = Min().eigenpairs(n).functions(x)[:, -1]
    assert np.abs(last) == pytest.approx(np.full(n, np.sqrt(2)))


def test_functions_of_strings():
    kernel = StringSubsequence(2)
    f = RKHSFunction(kernel, ["cat"], [2.0]) + RKHSFunction(kernel, ["car"], [1.0])
    assert f(["cat"])[0] == pytest.approx(2 + 4 / 9) and "2 centers" in repr(f)
