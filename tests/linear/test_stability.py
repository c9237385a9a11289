"""Prediction stability: the bound holds against the exact optimum, on training rows and on new ones."""

import warnings

import numpy as np
import pytest

from surefit import SVC, ElasticNet, Lasso, Ridge, prediction_stability
from surefit.core.errors import ConvergenceWarning, InvalidParameter
from surefit.core.stability import PredictionStability


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 40))
    return X, X[:, :4].sum(axis=1) + rng.standard_normal(100), rng.standard_normal((50, 40))


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("max_iter", [1, 2, 4, 50])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_prediction_is_farther_from_the_optimum_than_claimed(data, l1_ratio, max_iter, weighted):
    X, y, X_new = data
    weights = np.linspace(0.1, 2, 100) if weighted else None
    exact = ElasticNet(alpha=0.05, l1_ratio=l1_ratio, tol=1e-14, max_iter=10**5).fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        early = ElasticNet(alpha=0.05, l1_ratio=l1_ratio, tol=1e-12, max_iter=max_iter).fit(X, y, sample_weight=weights)
    claim = early.certificate_["linear.stability"]
    moved = np.abs(early.predict(X) - exact.predict(X))
    assert moved.max() <= claim.value + 1e-6
    own = prediction_stability(early, X, y, sample_weight=weights)
    assert np.all(moved <= own.bounds + 1e-6) and own.largest <= claim.value * (1 + 1e-6) + 1e-5
    new = prediction_stability(early, X, y, X_new, sample_weight=weights)
    assert np.all(np.abs(early.predict(X_new) - exact.predict(X_new)) <= new.bounds + 1e-6)


def test_the_bound_shrinks_with_the_gap_and_counts_labels_in_doubt(data):
    X, y, X_new = data
    threshold = float(np.median(y))
    counts = []
    for tol in (1e-1, 1e-4, 1e-10):
        stability = prediction_stability(Lasso(alpha=0.05, tol=tol).fit(X, y), X, y, X_new)
        counts.append(stability.count_at_risk(threshold))
        assert np.isfinite(stability.bounds).all()
    assert counts[0] >= counts[1] >= counts[2] == 0


def test_a_score_on_the_edge_is_at_risk():
    stability = PredictionStability(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.5, 0.0]))
    assert stability.labels_at_risk(1.5).tolist() == [True, True, False]
    assert stability.count_at_risk(3.0) == 1 and stability.largest == 0.5


def test_without_strong_convexity_new_rows_have_no_bound():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 30))
    X = np.hstack([X, X])
    y = X[:, 0] + rng.standard_normal(10)
    model = Lasso(alpha=1e-3, tol=1e-3).fit(X, y)
    assert np.isinf(prediction_stability(model, X, y, X[:3] + 1).bounds).all()
    assert np.isfinite(prediction_stability(model, X, y).bounds).all()


def test_kernel_machines_answer_for_themselves(data):
    X, y, X_new = data
    model = SVC(C=1.0, tol=1e-2).fit(X, y > 0)
    ours, own = prediction_stability(model, X, y > 0, X_new), model.prediction_stability(X, y > 0, X_new)
    np.testing.assert_array_equal(ours.bounds, own.bounds)
    exact = SVC(C=1.0, tol=1e-12).fit(X, y > 0).decision_function(X_new)
    assert np.all(np.abs(ours.scores - exact) <= ours.bounds)


def test_a_model_without_a_rule_is_refused_in_a_sentence(data):
    X, y, _ = data
    for model in (Ridge().fit(X, y), np.mean):
        with pytest.raises(InvalidParameter, match="prediction_stability: model must be a fitted lasso"):
            prediction_stability(model, X, y)
