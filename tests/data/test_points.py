"""Point sets with a known truth: the truth is true."""

import math

import cvxpy as cp
import numpy as np
import pytest

from surefit.core.errors import InvalidParameter
from surefit.data import make_alternating, make_four_points, make_two_gaussians, make_two_triangles, make_xor


def widest(X, t):
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [cp.multiply(t, X @ w + b) >= 1]).solve(solver=cp.CLARABEL)
    return w.value, b.value


@pytest.mark.parametrize(
    "make", [lambda: make_four_points(), lambda: make_four_points(epsilon=0.2), lambda: make_two_triangles(0.2)]
)
def test_margins_are_those_of_the_quadratic_program(make):
    X, y, truth = make()
    w, _ = widest(X, y)
    assert 1 / np.linalg.norm(w) == pytest.approx(truth["margin"], rel=1e-6)
    own = y * (X @ truth["coef"] + truth["intercept"]) / np.linalg.norm(truth["coef"])
    assert own.min() == pytest.approx(truth["margin"], rel=1e-9)


@pytest.mark.parametrize("sample", [make_four_points("line"), make_xor()])
def test_farkas_weights_cancel(sample):
    X, y, truth = sample
    assert not truth["separable"] and np.all(truth["farkas"] > 0)
    assert np.all((truth["farkas"] * y) @ X == 0) and truth["farkas"] @ y == 0


def test_four_points_are_not_separable_through_the_origin():
    X, y, _ = make_four_points()
    assert np.all(X[0] == 0) and y[0] == 1  # the origin itself is labeled


def test_two_gaussians_have_the_stated_risk():
    X, y, truth = make_two_gaussians(200_000, random_state=0)
    assert truth["bayes_risk"] == pytest.approx(0.5 * math.erfc(2 / math.sqrt(2)), rel=1e-12)
    errors = np.mean(np.sign(X @ truth["coef"]) != y)
    assert abs(errors - truth["bayes_risk"]) < 5 * math.sqrt(truth["bayes_risk"] / 200_000)
    assert X[y == 1].mean(axis=0) == pytest.approx([1, 1], abs=0.02) and X[y == 1].var(axis=0) == pytest.approx(
        0.5, abs=0.02
    )
    assert np.sum(make_two_gaussians(7, random_state=1).y == 1) == 4
    again = make_two_gaussians(7, random_state=1)
    assert np.array_equal(again.X, make_two_gaussians(7, random_state=1).X)


def test_triangles_have_the_stated_radius():
    for epsilon, square in ((0.1, 3109 / 900), (0.2, 859 / 225)):
        X, _, truth = make_two_triangles(epsilon)
        assert np.max(np.sum(X * X, axis=1)) == pytest.approx(square) == pytest.approx(truth["radius_square"])


def test_points_of_the_square():
    X, y, truth = make_xor(500, random_state=0)
    assert X.shape == (500, 2) and np.array_equal(y, np.sign(truth["product_coef"] * X[:, 0] * X[:, 1]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: make_two_gaussians(0),
        lambda: make_two_gaussians(variance=0.0),
        lambda: make_four_points("square"),
        lambda: make_four_points(epsilon=-1.0),
        lambda: make_alternating(1),
        lambda: make_xor(0),
        lambda: make_two_triangles(0.0),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(InvalidParameter):
        call()
