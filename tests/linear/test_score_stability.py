"""Scores of an unfinished fit are as close to those of the exact optimum as the bound says."""

import numpy as np
import pytest
from scipy import sparse

from surefit import LinearSVC, LinearSVR, LogisticRegression, prediction_stability


def problem(seed, n=150, d=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.0
    return X, (X[:, 0] - 1 + 0.5 * rng.standard_normal(n) > 0).astype(int)


@pytest.mark.parametrize("cls", [LogisticRegression, LinearSVC])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"C": 0.01}], ids=str)
def test_bounds_hold_for_training_rows_and_new_ones(cls, options):
    X, y = problem(0)
    loose, exact = cls(tol=1e-3, **options).fit(X, y), cls(tol=1e-9, **options).fit(X, y)
    new = 3 * problem(1)[0]
    for rows in (None, new):
        stability = prediction_stability(loose, X, y, rows)
        at = X if rows is None else rows
        assert np.all(np.abs(loose.decision_function(at) - exact.decision_function(at)) <= stability.bounds + 1e-3)
        changed = loose.predict(at) != exact.predict(at)
        assert np.all(stability.labels_at_risk()[changed])
    sharp = prediction_stability(exact, X, y)
    assert sharp.largest < 0.1 * prediction_stability(loose, X, y).largest
    np.testing.assert_allclose(prediction_stability(exact, X, y).bounds, sharp.bounds)


def test_sparse_regression_and_several_classes():
    X, y = problem(2)
    target = X[:, 0] + 0.1 * y
    model = LinearSVR(tol=1e-4).fit(sparse.csr_array(X), target)
    exact = LinearSVR(tol=1e-9).fit(X, target)
    bounds = prediction_stability(model, sparse.csr_array(X), target).bounds
    assert np.all(np.abs(model.predict(X) - exact.predict(X)) <= bounds + 1e-6)
    three = np.digitize(X[:, 0], [0.5, 1.5])
    several = LinearSVC(tol=1e-5).fit(X, three)
    changed = several.predict(X) != LinearSVC(tol=1e-8).fit(X, three).predict(X)
    assert np.all(prediction_stability(several, X, three).labels_at_risk()[changed])


def test_no_bound_without_strong_convexity():
    X, y = problem(3)
    lasso = LogisticRegression(l1_ratio=1.0).fit(X, y)
    assert np.isinf(prediction_stability(lasso, X, y).largest)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"C": 0.05}, {"reference": 2}], ids=str)
def test_leads_of_a_multinomial_model_are_bounded_on_training_rows_and_new_ones(options):
    X, _ = problem(4, n=200)
    y = np.digitize(X[:, 0] + 0.7 * X[:, 1], [1.0, 2.5])
    loose = LogisticRegression(tol=1e-5, **options).fit(X, y)
    exact = LogisticRegression(tol=1e-12, **options).fit(X, y)
    new = problem(5)[0] * 1.5
    for rows in (None, new, sparse.csr_array(new)):
        at = X if rows is None else new
        stability = prediction_stability(loose, X, y, rows)
        mine, best = loose.decision_function(at), exact.decision_function(at)
        first, second = np.argsort(-mine, axis=1, kind="stable")[:, :2].T
        i = np.arange(len(at))
        leads = [scores[i, first] - scores[i, second] for scores in (mine, best)]
        assert stability.scores == pytest.approx(leads[0])
        assert np.all(np.abs(leads[0] - leads[1]) <= stability.bounds + 1e-6)
        assert np.isfinite(stability.bounds).all()
        assert np.all(stability.labels_at_risk()[loose.predict(at) != exact.predict(at)])
    assert prediction_stability(exact, X, y).largest < 0.1 * prediction_stability(loose, X, y).largest


def test_without_l2_a_multinomial_training_row_answers_for_itself_only():
    X, _ = problem(6, n=200)
    y = np.digitize(X[:, 0] + 0.7 * X[:, 1], [1.0, 2.5])
    model = LogisticRegression(l1_ratio=1.0, C=0.5, tol=1e-9).fit(X, y)
    bounds = prediction_stability(model, X, y).bounds
    assert np.mean(np.isfinite(bounds)) > 0.5
    assert np.all(np.isinf(prediction_stability(model, X, y, X[:5] + 1.0).bounds))
