"""Polynomials of all degrees from one factorisation equal separate fits."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import DegreeDisplay, LinearRegression, PolynomialBasis, degree_path
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter


def sample(n=60, d=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, (n, d))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize(("d", "degree"), [(1, 9), (2, 5), (3, 3)])
def test_every_degree_equals_its_own_fit(d, degree):
    X, y = sample(150, d)
    new, _ = sample(20, d, seed=1)
    path = degree_path(X, y, degree)
    assert path.degrees.tolist() == list(range(degree + 1)) and path.best_degree is None
    for k in range(1, degree + 1):
        basis = PolynomialBasis(k, scale=True).fit(X)
        model = LinearRegression().fit(basis.transform(X), y)
        assert path.predict(new, k) == pytest.approx(model.predict(basis.transform(new)), rel=1e-8, abs=1e-8)
        assert path.coefs[k][1:] == pytest.approx(model.coef_, rel=1e-6, abs=1e-7)
        assert path.training_errors[k] == pytest.approx(np.mean((model.predict(basis.transform(X)) - y) ** 2))
    assert path.training_errors[0] == pytest.approx(np.var(y))
    assert np.all(np.diff(path.training_errors) <= 1e-12)
    assert np.all(path.gaps <= 1e-20 * np.sum(y**2))


def test_a_polynomial_is_found_at_its_degree_and_the_least_dev_error_is_chosen():
    x = np.arange(-5.0, 6.0)[:, None]
    y = 2 + x[:, 0] - 0.5 * x[:, 0] ** 3
    path = degree_path(x, y, 6)
    assert path.training_errors[2] > 1 and path.training_errors[3] < 1e-20
    assert path.predict([[7.0]], 3)[0] == pytest.approx(2 + 7 - 0.5 * 343)
    X, y = sample(40, seed=2)
    dev, target = sample(200, seed=3)
    path = degree_path(X, y, 15, X_dev=dev, y_dev=target)
    errors = [np.mean((path.predict(dev, k) - target) ** 2) for k in path.degrees]
    assert path.dev_errors == pytest.approx(errors) and path.best_degree == int(np.argmin(errors))
    assert np.array_equal(path.predict(dev), path.predict(dev, path.best_degree))
    assert f"{path.best_degree} *" in repr(path)


def test_degree_ten_through_eleven_points_moves_by_a_lagrange_polynomial():
    # changing one datum by -5 changes the interpolant by -5 times the Lagrange polynomial of its node: at most 30.7 on [-5, 5]
    x = np.arange(-5.0, 6.0)[:, None]
    y = 2 * x[:, 0] + 10
    changed = y.copy()
    changed[0] -= 5
    grid = np.linspace(-5, 5, 2001)[:, None]
    before, after = degree_path(x, y, 10), degree_path(x, changed, 10)
    assert after.training_errors[10] < 1e-20
    middle = y.copy()
    middle[5] -= 5
    moved = degree_path(x, middle, 10).predict(grid, 10) - before.predict(grid, 10)
    assert np.max(np.abs(moved)) == pytest.approx(30.73, abs=0.01)
    line = degree_path(x, middle, 10).predict(grid, 1) - before.predict(grid, 1)
    assert np.max(np.abs(line)) == pytest.approx(5 / 11)


@given(st.lists(st.integers(0, 3), min_size=25, max_size=25))
@settings(max_examples=10)
def test_weights_are_repetitions(weights):
    X, y = sample(25)
    weights = np.maximum(weights, (np.arange(25) < 10).astype(int))
    path = degree_path(X, y, 4, sample_weight=weights)
    repeated = degree_path(np.repeat(X, weights, axis=0), np.repeat(y, weights), 4)
    assert path.training_errors == pytest.approx(repeated.training_errors, rel=1e-9)
    assert path.predict(X, 4) == pytest.approx(repeated.predict(X, 4), rel=1e-7, abs=1e-8)


def test_the_path_ends_where_rows_do_not_determine_more():
    with pytest.warns(DataWarning, match="up to degree 3"):
        path = degree_path([[0.0], [1.0], [2.0], [3.0], [3.0]], [0.0, 1.0, 0.0, 1.0, 2.0], 6)
    assert path.degrees.tolist() == [0, 1, 2, 3]


def test_refusals_and_picture():
    X, y = sample()
    with pytest.raises(InvalidParameter, match="max_degree"):
        degree_path(X, y, 0)
    with pytest.raises(InvalidData, match="X has 60 rows"):
        degree_path(X, y[:5], 2)
    with pytest.raises(InvalidData, match="X_dev has 60 rows"):
        degree_path(X, y, 2, X_dev=X)
    path = degree_path(X, y, 3)
    with pytest.raises(InvalidParameter, match="no default"):
        path.predict(X)
    display = DegreeDisplay.from_path(path).plot()
    assert display.dev_line_ is None and display.training_line_.get_xdata().tolist() == [0, 1, 2, 3]
    with pytest.raises(InvalidData, match="one error per degree"):
        DegreeDisplay([0, 1], [1.0])
