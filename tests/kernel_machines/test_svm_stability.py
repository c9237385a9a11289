"""Distance of predictions from the exact optimum: a fine fit never leaves the bounds of a rough one."""

import numpy as np
import pytest

from surefit import SVC, SVR, InvalidParameter


def problem(seed, n=600):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, X[:, 0] * X[:, 1] + 0.4 * rng.standard_normal(n)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed, tol", [(0, 0.1), (1, 1e-3), (2, 1e-5)])
def test_classifier_stays_within_its_bounds(seed, tol, intercept):
    X, z = problem(seed)
    y, new = np.where(z > 0, 1, -1), np.random.default_rng(9).standard_normal((50, 2))
    options = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0, "fit_intercept": intercept}
    rough, fine = SVC(tol=tol, **options).fit(X, y), SVC(tol=1e-11, **options).fit(X, y)
    for sample in (None, new):
        stability = rough.prediction_stability(X, y, sample)
        exact = fine.decision_function(X if sample is None else sample)
        assert np.all(np.abs(stability.scores - exact) <= stability.bounds)
        sure = ~stability.labels_at_risk()
        assert np.array_equal(np.sign(stability.scores[sure]), np.sign(exact[sure]))
    assert fine.prediction_stability(X, y).largest < 1e-2 or tol > 1e-2


def test_regression_stays_within_its_bounds():
    X, y = problem(3)
    rough, fine = SVR(tol=0.01, gamma=0.5).fit(X, y), SVR(tol=1e-10, gamma=0.5).fit(X, y)
    stability = rough.prediction_stability(X, y)
    assert np.all(np.abs(stability.scores - fine.predict(X)) <= stability.bounds)


def test_hard_margin():
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), np.array([0, 0, 1, 1])
    stability = SVC(kernel="linear", C=np.inf, tol=1e-6).fit(X, y).prediction_stability(X, y)
    assert np.all(np.abs(stability.scores - (X[:, 0] - 2)) <= stability.bounds) and stability.count_at_risk() == 0


def test_clear_errors():
    X, z = problem(4, n=30)
    with pytest.raises(InvalidParameter, match="two classes"):
        SVC().fit(X, np.arange(30) % 3).prediction_stability(X, np.arange(30) % 3)
    K = X @ X.T
    with pytest.raises(InvalidParameter, match="X_new"):
        SVR(kernel="precomputed").fit(K, z).prediction_stability(K, z, K)
