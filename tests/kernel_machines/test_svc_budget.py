"""Soft margins with a budget of slack: worked numbers, the price found, and budgets that nobody can keep."""

import cvxpy as cp
import numpy as np
import pytest

from surefit import SVC, InvalidData, InvalidParameter

LINE = np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([-1, -1, 1, 1])


def problem(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1, -1)


def test_smallest_budget_by_hand():
    # overlapping points: B_min = 8/3, attained at w = 2/3; all prices up to 1/3 give w = 2C and slacks 4 - 4C
    with pytest.raises(InvalidParameter, match=r"at least 2\.66667"):
        SVC(kernel="linear", budget=2.6).fit(*LINE)
    model = SVC(kernel="linear", budget=3.0, tol=1e-8).fit(*LINE)
    assert model.budget_min_ == pytest.approx(8 / 3) and model.C_ == pytest.approx(0.25, rel=1e-4)
    assert model.coef_[0, 0] == pytest.approx(0.5, rel=1e-4)
    assert model.slack_.sum() <= 3.0 + 1e-9


@pytest.mark.parametrize("seed, B", [(0, 20.0), (1, 25.0)])
def test_against_an_interior_point_solver(seed, B):
    X, y = problem(seed)
    model = SVC(kernel="linear", budget=B, tol=1e-7).fit(X, y)
    w, b, xi = cp.Variable(2), cp.Variable(), cp.Variable(40, nonneg=True)
    margin = [cp.multiply(y, X @ w + b) >= 1 - xi, cp.sum(xi) <= B]
    best = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), margin).solve(solver=cp.CLARABEL)
    assert model.rkhs_norm_[0] ** 2 / 2 == pytest.approx(best, rel=1e-5)
    found = model.verify(X, y)["svc.budget"]
    assert found.ok and found.level == "enclosed" and found.proved <= 1e-6 * best


def test_same_model_as_with_the_price_it_found():
    X, y = problem(2)
    model = SVC(gamma=0.5, budget=15.0, tol=1e-8).fit(X, y)
    priced = SVC(gamma=0.5, C=model.C_, tol=1e-10).fit(X, y)
    assert model.decision_function(X) == pytest.approx(priced.decision_function(X), abs=1e-4)
    assert np.sum(model.predict(X) != y) <= 15


def test_nothing_to_spend_is_the_hard_margin():
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    model = SVC(kernel="linear", budget=0.0, tol=1e-10).fit(X, y)
    assert np.isinf(model.C_) and model.coef_[0, 0] == pytest.approx(1.0)


def test_budgets_that_make_no_sense():
    X, y = problem(3)
    with pytest.raises(InvalidParameter, match="the sum of slacks of the zero function"):
        SVC(budget=1e3).fit(X, y)
    with pytest.raises(InvalidParameter, match="more than two classes"):
        SVC(budget=1.0).fit(X, np.arange(40) % 3)
    with pytest.raises(InvalidData, match="exceeded even at C="):
        SVC(kernel="poly", degree=1, gamma=1.0, budget=2.0).fit(*LINE)
