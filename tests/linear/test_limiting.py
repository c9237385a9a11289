"""Logistic regression without a finite maximum: the limiting fit, its probabilities, and what the warning says."""

import warnings

import mpmath
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as SkLogistic

from surefit import DataWarning, LogisticRegression
from surefit.linear.logistic.limiting import difference_rows, maximum_likelihood


def fit(X, y, match, **options):
    with pytest.warns(DataWarning, match=match):
        return LogisticRegression(C=np.inf, **options).fit(X, y)


def test_quasi_complete_separation_keeps_the_estimate_of_the_other_rows():
    # a rare dummy column whose rows are all of one class: its coefficient diverges, the others do not notice
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 3))
    t = (Z @ [1, -1, 0.5] + rng.logistic(size=300) > 0).astype(int)
    dummy = np.zeros(300)
    dummy[:4], t[:4] = 1.0, 1
    X = np.column_stack([Z, dummy])
    model = fit(X, t, "quasi-completely")
    others = LogisticRegression(C=np.inf).fit(Z[4:], t[4:])
    assert model.coef_[0, :3] == pytest.approx(others.coef_[0], rel=1e-7) and model.coef_[0, 3] == 0
    assert model.intercept_ == pytest.approx(others.intercept_, rel=1e-7)
    assert np.array_equal(model.predict_proba(X)[:4], np.tile([0.0, 1.0], (4, 1)))
    assert model.predict_proba(X)[4:] == pytest.approx(others.predict_proba(Z[4:]), abs=1e-8)
    assert model.score(X, t) == pytest.approx(SkLogistic(C=1e9, max_iter=10_000).fit(X, t).score(X, t), abs=0.01)
    assert model.verify(X, t) and model.certificate_.holds is not True


def test_complete_separation_has_probabilities_zero_and_one():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    model = fit(X, y, " completely separated")
    assert np.array_equal(model.predict_proba([[0.0], [1.4], [1.6], [9.0]]), [[1, 0], [1, 0], [0, 1], [0, 1]])
    assert model.score(X, y) == 1.0 and not np.any(model.coef_) and model.diverging_coef_.shape == (1, 1, 1)


def test_iris_separates_one_class_and_fits_the_other_two():
    X, y = load_iris(return_X_y=True)
    model = fit(X, y, "quasi-completely")
    rest = y > 0
    pair = LogisticRegression(C=np.inf).fit(X[rest], y[rest])
    assert model.predict_proba(X[rest])[:, 1:] == pytest.approx(pair.predict_proba(X[rest]), abs=1e-7)
    assert np.array_equal(model.predict_proba(X[~rest]), np.tile([1.0, 0.0, 0.0], (50, 1)))
    assert model.score(X, y) == pytest.approx(0.98667, abs=1e-5)
    pinned = fit(X, y, "quasi-completely", reference=0)
    assert not np.any(pinned.coef_[0]) and pinned.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-12)


def test_separation_in_several_steps():
    # x separates the ends; at x = 0 the second column separates; at the origin a coin decides
    X = np.array([[-1.0, 0], [1, 0], [0, -1], [0, 1], [0, 0], [0, 0], [0, 0]])
    y = np.array([0, 1, 0, 1, 1, 1, 0])
    model = fit(X, y, "quasi-completely", fit_intercept=True)
    assert model.predict_proba([[0.0, 0.0]])[0] == pytest.approx([1 / 3, 2 / 3], abs=1e-9)
    assert np.array_equal(model.predict(X), [0, 1, 0, 1, 1, 1, 1])


def test_newton_on_all_comparisons_is_maximum_likelihood():
    rng = np.random.default_rng(1)
    A = np.column_stack([rng.normal(size=(200, 2)), np.ones(200)])
    codes = rng.integers(0, 3, size=200)
    theta = maximum_likelihood(A, codes, np.ones(200), np.ones((200, 3), dtype=bool))
    scores = A @ theta.T
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert np.abs(((np.arange(3) == codes[:, None]) - P).T @ A).max() < 1e-9
    assert difference_rows(A[:1], np.array([0]), np.array([[True, False, True]])).shape == (1, 6)


def test_without_separation_the_digits_are_those_of_the_exact_maximum():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=60), 1e3 * rng.normal(size=60)])
    y = (X[:, 0] + rng.logistic(size=60) > 0.3).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=np.inf).fit(X, y)
    found = [mpmath.mpf(float(v)) for v in (*model.coef_[0], model.intercept_[0])]
    with mpmath.workdps(40):
        rows = [[*map(mpmath.mpf, map(float, row)), mpmath.mpf(1)] for row in X]
        theta = list(found)
        for _ in range(4):  # Newton in forty digits
            p = [1 / (1 + mpmath.exp(-mpmath.fdot(theta, row))) for row in rows]
            gradient = mpmath.matrix(
                [mpmath.fsum((int(t) - q) * row[j] for row, q, t in zip(rows, p, y, strict=True)) for j in range(3)]
            )
            H = mpmath.matrix(3, 3)
            for i in range(3):
                for j in range(3):
                    H[i, j] = mpmath.fsum(q * (1 - q) * row[i] * row[j] for row, q in zip(rows, p, strict=True))
            step = mpmath.lu_solve(H, gradient)
            theta = [a + b for a, b in zip(theta, step, strict=True)]
    for value, exact in zip(found, theta, strict=True):
        assert abs(value / exact - 1) < 1e-8


def test_the_warning_points_at_this_file():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        LogisticRegression(C=np.inf).fit([[0.0], [1.0]], [0, 1])
    assert said[-1].filename == __file__
