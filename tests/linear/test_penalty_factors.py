"""Penalty factors of ridge and logistic regression: rescaled problems first, an independent solver second."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from surefit import InvalidParameter, LogisticRegression, Ridge

FACTORS = ([1, 2, 0.5, 3], [0, 1, 2, np.inf], [0, 0, 0, 0], [1, 4, np.inf, 1])


def sample(seed=0, n=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + 1
    return X, X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=n)


def test_positive_factors_are_a_change_of_units():
    X, y = sample()
    f = np.array([1.0, 2.0, 0.5, 3.0])
    np.testing.assert_allclose(
        Ridge(2.0, penalty_factors=f).fit(X, y).coef_ * np.sqrt(f), Ridge(2.0).fit(X / np.sqrt(f), y).coef_, rtol=1e-10
    )
    labels = np.digitize(y, [0.0, 2.0])
    for target in (labels > 0, labels):
        model = LogisticRegression(penalty_factors=f, tol=1e-12).fit(X, target)
        other = LogisticRegression(tol=1e-12).fit(X / np.sqrt(f), target)
        np.testing.assert_allclose(model.coef_ * np.sqrt(f), other.coef_, atol=1e-6)
        lasso = LogisticRegression(l1_ratio=1.0, penalty_factors=f, tol=1e-12).fit(X, target)
        other = LogisticRegression(l1_ratio=1.0, tol=1e-12).fit(X / f, target)
        np.testing.assert_allclose(lasso.coef_ * f, other.coef_, atol=1e-6)
        lasso.verify(X, target)
    ones = Ridge(2.0, penalty_factors=np.ones(4)).fit(X, y)
    np.testing.assert_allclose(ones.coef_, Ridge(2.0).fit(X, y).coef_, rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("f", FACTORS, ids=str)
def test_ridge_agrees_with_a_cone_program(f, positive, container):
    X, y = sample(1)
    Y = np.column_stack([y, X[:, 1] - y])
    model = Ridge(2.0, penalty_factors=f, positive=positive).fit(container(X), Y)
    excluded = np.isinf(f)
    W, b = cp.Variable((2, 4)), cp.Variable((1, 2))
    limits = [W[:, np.flatnonzero(excluded)] == 0] * bool(excluded.any()) + [W >= 0] * positive
    finite = np.tile(np.where(excluded, 0.0, f), (2, 1))
    goal = cp.sum_squares(Y - X @ W.T - b) + 2 * cp.sum(cp.multiply(finite, cp.square(W)))
    best = cp.Problem(cp.Minimize(goal), limits).solve(solver="CLARABEL")
    mine = np.sum((Y - model.predict(X)) ** 2) + 2 * np.sum(finite * model.coef_**2)
    assert mine - best <= 1e-6 * (1 + best) and model.certificate_["linear.gap"].holds
    assert mine - best <= model.dual_gap_ + 1e-6 * (1 + best)
    assert not model.coef_[:, excluded].any()
    model.verify(container(X), Y)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("f", FACTORS, ids=str)
def test_logistic_regression_agrees_with_a_cone_program(f, ratio):
    X, y = sample(2)
    t = np.where(y > 1, 1.0, -1.0)
    t[:6] = -t[:6]
    model = LogisticRegression(C=0.5, l1_ratio=ratio, penalty_factors=f, tol=1e-9).fit(X, t)
    excluded = np.isinf(f)
    finite = np.where(excluded, 0.0, f)
    w, b = cp.Variable(4), cp.Variable()
    penalty = ratio * finite @ cp.abs(w) + (1 - ratio) / 2 * (finite @ cp.square(w))
    goal = 0.5 * cp.sum(cp.logistic(-cp.multiply(t, X @ w + b))) + penalty
    best = cp.Problem(cp.Minimize(goal), [w[np.flatnonzero(excluded)] == 0] * bool(excluded.any())).solve(
        solver="CLARABEL"
    )
    z, v = model.decision_function(X), model.coef_[0]
    mine = 0.5 * np.sum(np.logaddexp(0, -t * z)) + finite @ (ratio * np.abs(v) + (1 - ratio) / 2 * v**2)
    assert abs(mine - best) <= 1e-6 * (1 + best) and model.certificate_["linear.gap"].holds
    assert not v[excluded].any()
    model.verify(X, t)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(penalty_factors=[1, 2]),
        Ridge(penalty_factors=[1, 2, 3, -1]),
        Ridge(penalty_factors=np.ones(4), radius=1.0),
        Ridge(penalty_factors=np.ones(4), penalize_intercept=True),
        LogisticRegression(C=np.inf, penalty_factors=np.ones(4)),
        LogisticRegression(penalty_factors=[1, 2]),
        LogisticRegression(penalty_factors=[0, 1, 1, 1]),
        LogisticRegression(l1_ratio=0.5, penalty_factors=[2, 1, 1, 1]),
    ],
    ids=str,
)
def test_what_is_refused(model):
    X, y = sample(3)
    with pytest.raises(InvalidParameter, match="penalty_factors must be"):
        model.fit(X, np.digitize(y, [0.0, 2.0]))
