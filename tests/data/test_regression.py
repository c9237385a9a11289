"""Generators that return the truth with the sample: lines, polynomials, ellipses, Brownian paths; and spam from a file."""

import math

import numpy as np
import pytest
from scipy import stats

from surefit import InvalidData, InvalidParameter, LinearRegression, degree_path, separability
from surefit.data import load_spam, make_brownian, make_degree10, make_ellipse, make_linear, make_polynomial
from surefit.kernels import Min, karhunen_loeve, norm_tail_bound


def test_linear_model_is_recovered():
    X, y, truth = make_linear(5000, 3, intercept=2.0, noise=0.5, random_state=0)
    model = LinearRegression().fit(X, y)
    assert model.coef_ == pytest.approx(truth["coef"], abs=0.03)
    assert model.intercept_ == pytest.approx(2.0, abs=0.03)
    residual = y - truth["regression"](X)
    assert np.std(residual) == pytest.approx(0.5, rel=0.03)
    assert stats.kstest(residual / 0.5, "norm").pvalue > 0.01
    again = make_linear(5000, 3, intercept=2.0, noise=0.5, random_state=0)
    assert np.array_equal(again.y, y)


def test_fixed_design_and_errors():
    _, y, _ = make_linear(X=[[0.0], [1.0], [2.0]], coef=[1.5], intercept=5 / 6, noise=0.0)
    assert y == pytest.approx([5 / 6, 7 / 3, 23 / 6])
    with pytest.raises(InvalidData, match="one number per column"):
        make_linear(X=[[0.0], [1.0]], coef=[1.0, 2.0])
    with pytest.raises(InvalidData, match="two dimensions"):
        make_linear(X=[0.0, 1.0])
    with pytest.raises(InvalidParameter, match="noise"):
        make_linear(noise=-1)
    with pytest.raises(InvalidParameter, match="low < high"):
        make_polynomial(low=2, high=1)


def test_polynomial_of_the_notes():
    X, y, truth = make_polynomial(noise=0.0)
    assert truth["regression"](1.8) == pytest.approx(12.36)
    path = degree_path(X, y, 9)
    predicted = [path.predict([[1.8]], degree=k)[0] for k in (1, 2, 9)]
    assert predicted == pytest.approx([5.9185, 12.36, 12.36], abs=5e-5)


def test_degree_ten_and_its_moved_point():
    X, y, truth = make_degree10()
    moved = make_degree10(moved=True)
    assert np.flatnonzero(y != moved.y).tolist() == [truth["moved_row"]]
    grid = np.linspace(-5, 5, 2001)[:, None]
    curves = [degree_path(X, target, 10).predict(grid, degree=10) for target in (y, moved.y)]
    assert np.max(np.abs(curves[1] - curves[0])) == pytest.approx(30.73, abs=0.01)


def test_ellipse_is_linear_in_the_quadratic_features():
    X, y, truth = make_ellipse(300, random_state=1)
    F = np.column_stack([X[:, 0] ** 2, math.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    assert np.all(y * (F @ truth["coef"] + truth["intercept"]) > 0)
    assert set(y) == {-1, 1}
    assert separability(F, y).separable and not separability(X, y).separable
    with pytest.raises(InvalidData, match="positive definite"):
        make_ellipse(matrix=[[1, 2], [2, 1]])


def test_brownian_paths_and_their_truncation():
    t, w, truth = make_brownian(20, n_paths=20_000, terms=8, random_state=0)
    assert w.shape == (20, 20_000)
    assert np.cov(w, bias=True) == pytest.approx(truth["covariance"], abs=0.03)
    assert np.max(np.abs(truth["covariance"] - Min()(t))) <= truth["truncation_bound"]
    exact = make_brownian(10, n_paths=20_000, random_state=1)
    assert np.cov(exact.y, bias=True) == pytest.approx(exact.truth["covariance"], abs=0.03)
    smooth = make_brownian(10, n_paths=20_000, integrated=True, random_state=2)
    assert smooth.y[-1].var() == pytest.approx(1 / 3, rel=0.03)
    for m in (20, 50, 100):
        assert stats.chi2(m).cdf(5) <= norm_tail_bound(m, 5)
    assert norm_tail_bound(3, 5) == 1.0
    with pytest.raises(InvalidParameter, match="no closed-form"):
        make_brownian(terms=3, integrated=True)
    with pytest.raises(InvalidParameter):
        karhunen_loeve(Min(), [[1.0]], 0)


@pytest.mark.parametrize("separator", [",", " "])
def test_spam_file(tmp_path, separator):
    rows = np.random.default_rng(0).random((6, 57)).round(3)
    lines = [separator.join([*map(str, row), str(i % 2)]) for i, row in enumerate(rows)]
    (tmp_path / "spam").write_text("\n".join(lines))
    (tmp_path / "test").write_text("0\n1\n0\n1\n0\n0\n")
    data = load_spam(tmp_path / "spam", tmp_path / "test")
    assert data.X == pytest.approx(rows)
    assert data.y.tolist() == [0, 1, 0, 1, 0, 1]
    assert data.test.tolist() == [False, True, False, True, False, False]
    assert load_spam(tmp_path / "spam").test is None


def test_spam_errors(tmp_path):
    with pytest.raises(InvalidData, match="downloads nothing"):
        load_spam(tmp_path / "nowhere")
    (tmp_path / "narrow").write_text("1,2,0\n")
    with pytest.raises(InvalidData, match="58 numbers per line"):
        load_spam(tmp_path / "narrow")
    (tmp_path / "words").write_text("spam,ham\n")
    with pytest.raises(InvalidData, match="not a table"):
        load_spam(tmp_path / "words")
    (tmp_path / "good").write_text(",".join(["1"] * 58))
    with pytest.raises(InvalidData, match="one per email"):
        load_spam(tmp_path / "good", tmp_path / "narrow")
