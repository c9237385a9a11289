"""Boundaries mapped back: circles by hand, ellipses, and the same scores by both routes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import (
    SVC,
    CircleBasis,
    InvalidData,
    InvalidParameter,
    KernelPolynomialFeatures,
    Perceptron,
    PolynomialBasis,
    quadric_of,
    separability,
)


def rings(center=(0.0, 0.0)):
    angle = np.arange(12) * np.pi / 6
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([ring, 3 * ring]) + np.asarray(center), np.repeat([0, 1], 12)


def test_circle_of_the_notes():
    # theta = (1, -2, 3, -4): center -(1, -2)/6, radius^2 = 5/36 + 4/3
    basis = PolynomialBasis(2).fit(np.eye(2))
    assert basis.get_feature_names_out().tolist() == ["x0", "x1", "x0^2", "x0 x1", "x1^2"]
    circle = quadric_of(basis, [1.0, -2.0, 3.0, 0.0, 3.0], -4.0)
    np.testing.assert_allclose(circle.center, [-1 / 6, 1 / 3], rtol=1e-14)
    assert circle.radius == pytest.approx(np.sqrt(5 / 36 + 4 / 3), rel=1e-14)


def test_ellipse_through_the_kernel_map():
    # x'Ax > c is the linear rule with weights (a11, sqrt 2 a12, a22) on (x1^2, sqrt 2 x1 x2, x2^2)
    A, c = np.array([[2.0, 0.5], [0.5, 1.0]]), 3.0
    basis = KernelPolynomialFeatures(2).fit(np.eye(2))
    coef = np.zeros(len(basis.powers_))
    for k, power in enumerate(basis.powers_.tolist()):
        coef[k] = {(2, 0): A[0, 0], (1, 1): np.sqrt(2) * A[0, 1], (0, 2): A[1, 1]}.get(tuple(power), 0.0)
    ellipse = quadric_of(basis, coef, -c)
    np.testing.assert_allclose(ellipse.A, A, atol=1e-14)
    values = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(ellipse.semi_axes, np.sqrt(c / values), rtol=1e-12)
    assert ellipse.radius is None


def test_rings_are_separable_on_squares_only():
    X, y = rings((1.0, 2.0))
    assert not separability(X, y).separable
    basis = PolynomialBasis(2, scale=True).fit(X)
    features = basis.transform(X)
    assert separability(features, y).separable
    rule = Perceptron(max_iter=1000).fit(features, y)
    boundary = quadric_of(basis, rule.coef_[0], rule.intercept_[0])
    assert np.all((boundary(X) > 0) == (y == 1))
    assert np.linalg.norm(boundary.center - [1.0, 2.0]) < 1.0 and np.all(boundary.semi_axes < 3.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 2), st.integers(1, 4))
def test_scores_are_the_same_by_both_routes(seed, scale, degree, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.integers(-5, 6, d)
    for basis in (PolynomialBasis(degree, scale=scale), KernelPolynomialFeatures(degree)):
        features = basis.fit_transform(X)
        coef = rng.standard_normal(features.shape[1])
        np.testing.assert_allclose(
            quadric_of(basis, coef, 0.3)(X), features @ coef + 0.3, rtol=1e-9, atol=1e-9 * np.abs(features).max()
        )


@pytest.mark.parametrize(
    ("coef", "has_center"),
    [([1.0, 1.0, 1.0, 0.0, -1.0], True), ([1.0, 1.0, 0.0, 0.0, 1.0], False), ([1.0, 1, 0, 0, 0], False)],
)
def test_hyperbola_parabola_and_line_have_no_half_lengths(coef, has_center):
    found = quadric_of(PolynomialBasis(2).fit(np.eye(2)), coef, -1.0)
    assert (found.center is not None) == has_center and found.semi_axes is None and found.radius is None


def test_errors_say_what_is_wrong():
    basis = PolynomialBasis(2).fit(np.eye(2))
    with pytest.raises(InvalidData, match="coef must have 5 weights, one per feature; got 3"):
        quadric_of(basis, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidParameter, match="degree 1 or 2"):
        quadric_of(PolynomialBasis(3).fit(np.eye(2)), np.ones(9))
    with pytest.raises(InvalidParameter, match="fitted transformer"):
        quadric_of("squares", [1.0])


def test_circles_and_features_of_the_user():
    X, y = rings()
    basis = CircleBasis().fit(X)
    rule = SVC(kernel="linear", C=np.inf, tol=1e-12).fit(basis.transform(X), y)
    boundary = quadric_of(basis, rule.coef_[0], rule.intercept_[0])
    theta, theta0 = rule.coef_[0], rule.intercept_[0]
    assert boundary.center == pytest.approx(-theta[:2] / (2 * theta[2]))
    assert boundary.radius**2 == pytest.approx(theta[:2] @ theta[:2] / (4 * theta[2] ** 2) - theta0 / theta[2])
    own = quadric_of(lambda Z: np.column_stack([Z, np.sum(Z**2, axis=1)]), theta, theta0, n_features=2)
    assert own.radius == pytest.approx(boundary.radius) and own.A == pytest.approx(boundary.A)
    assert own(X) == pytest.approx(rule.decision_function(basis.transform(X)))
    with pytest.raises(InvalidParameter, match="degree at most 2"):
        quadric_of(lambda Z: np.sin(Z), [1.0, 1.0], n_features=2)
    with pytest.raises(InvalidData, match="got 2 weights"):
        quadric_of(basis, [1.0, 2.0])
    with pytest.raises(InvalidParameter, match="n_features"):
        quadric_of(lambda Z: Z, [1.0, 1.0])
