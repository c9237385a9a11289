"""Probabilities of support vector machines: they agree with predictions, are calibrated, and do not change by chance."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from surefit import SVC
from surefit.kernel_machines.svc_probability import fit_slopes, probabilities


def two_gaussians(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.standard_normal((n, 1)) + 1.5 * (2 * y[:, None] - 1), y


@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}, {"break_ties": True}])
def test_the_most_probable_class_is_the_predicted_one(options):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] + np.random.default_rng(0).normal(0, 6, (300, 64)), y[:300]
    model = SVC(probability=True, C=0.1, **options).fit(X, y)
    proba = model.predict_proba(X)
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    assert proba.sum(axis=1) == pytest.approx(np.ones(300)) and proba.min() >= 0
    assert model.predict_log_proba(X) == pytest.approx(np.log(proba))


def test_two_classes_meet_at_one_half():
    X, y = two_gaussians(200)
    model = SVC(probability=True).fit(X, y)
    grid = np.linspace(-4, 4, 401)[:, None]
    second = model.predict_proba(grid)[:, 1]
    assert np.array_equal(second > 0.5, model.predict(grid) == 1)
    order = np.argsort(model.decision_function(grid))
    assert np.all(np.diff(second[order]) >= 0) and np.all(model.probability_slopes_ > 0)


def test_close_to_the_true_probabilities():
    X, y = two_gaussians(1500)
    model = SVC(probability=True, kernel="linear").fit(X, y)
    Z, t = two_gaussians(4000, seed=1)
    truth = 1 / (1 + np.exp(-3 * Z[:, 0]))  # log-odds of N(+1.5, 1) against N(-1.5, 1)
    assert np.abs(model.predict_proba(Z)[:, 1] - truth).max() < 0.1
    assert log_loss(t, model.predict_proba(Z)) < 1.02 * log_loss(t, truth)


def test_slopes_solve_the_likelihood_equation():
    rng = np.random.default_rng(0)
    f = rng.standard_normal(500)
    codes = (rng.random(500) < 1 / (1 + np.exp(-2 * f))).astype(int)
    low, high = fit_slopes(f, codes, np.ones(500), 2)
    n = np.bincount(codes)
    target = np.where(codes == 1, (n[1] + 1) / (n[1] + 2), 1 / (n[0] + 2))
    p = probabilities(f, np.array([low, high]))[:, 1]
    for side in (f < 0, f > 0):
        assert np.sum((p - target)[side] * f[side]) == pytest.approx(0.0, abs=1e-9)


def test_same_numbers_every_time_and_for_every_kind_of_sample():
    X, y = load_iris(return_X_y=True)
    model = SVC(probability=True, gamma=0.5, tol=1e-8).fit(X, y)
    assert np.array_equal(model.predict_proba(X), SVC(probability=True, gamma=0.5, tol=1e-8).fit(X, y).predict_proba(X))
    K = model.kernel_(X)
    given = SVC(probability=True, kernel="precomputed", tol=1e-8).fit(K, y)
    assert given.predict_proba(K) == pytest.approx(model.predict_proba(X), abs=1e-4)
    weighted = SVC(probability=True, gamma=0.5).fit(X, y, sample_weight=np.linspace(0.5, 2, 150))
    assert weighted.predict_proba(X[:1]).sum() == pytest.approx(1.0)


def test_without_probability_there_is_no_method():
    X, y = two_gaussians(30)
    assert not hasattr(SVC().fit(X, y), "predict_proba")
    assert SVC(probability=True).fit([[0.0], [1.0]], [0, 1]).predict_proba([[1.0]])[0].argmax() == 1
    late = SVC(probability=True).fit(X, y).set_params(probability=False).fit(X, y).set_params(probability=True)
    with pytest.raises(NotFittedError, match="fit with probability=True first"):
        late.predict_proba(X)


def test_weights_that_follow_from_dual_variables_are_read_only():
    model = SVC(kernel="linear").fit(*two_gaussians(30))
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 0.0
