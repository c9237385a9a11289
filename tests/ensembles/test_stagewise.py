"""Stagewise fits: matching pursuit, series, AdaBoost, and losses that never rise."""

from dataclasses import replace

import numpy as np
import pytest

from surefit import AdaBoostClassifier, Certificate, CertificateError, ForwardStagewise, HingeBasis, InvalidData
from surefit.data import make_chi2_10
from surefit.losses import Huber


def line(n=150):
    rng = np.random.default_rng(0)
    t = rng.random((n, 1))
    return t, np.sin(6 * t[:, 0]) + 0.1 * rng.standard_normal(n)


def test_with_exponential_loss_and_stumps_it_is_adaboost():
    X, y, _ = make_chi2_10(400, random_state=0)
    stagewise = ForwardStagewise("exponential", n_terms=40).fit(X, y)
    boosted = AdaBoostClassifier(n_estimators=40).fit(X, y)
    np.testing.assert_array_equal(stagewise.columns_, boosted.stump_features_)
    np.testing.assert_array_equal(stagewise.thresholds_, boosted.stump_thresholds_)
    np.testing.assert_allclose(stagewise.scores(X), boosted.decision_function(X) / 2, atol=1e-10)
    np.testing.assert_allclose(stagewise.losses_[1:], boosted.bounds_, rtol=1e-10)
    np.testing.assert_array_equal(stagewise.predict(X), boosted.predict(X))
    errors = boosted.estimator_errors_
    np.testing.assert_allclose(np.abs(stagewise.factors_), 0.5 * np.log((1 - errors) / errors), rtol=1e-9)


def test_squared_loss_is_matching_pursuit():
    rng = np.random.default_rng(1)
    B, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    model = ForwardStagewise(basis="columns", n_terms=5).fit(B, y)
    r = y.copy()
    for j, factor, before, after in zip(
        model.columns_, model.factors_, model.losses_[:-1], model.losses_[1:], strict=True
    ):
        drops = (B.T @ r) ** 2 / (B**2).sum(axis=0)
        assert j == np.argmax(drops)
        assert factor == pytest.approx(B[:, j] @ r / (B[:, j] @ B[:, j]), rel=1e-9)
        assert before - after == pytest.approx(drops[j] / 2 / 30, rel=1e-9)
        r -= factor * B[:, j]


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "exponential"])
def test_losses_of_margins_fall_and_are_verified(loss):
    X, y, _ = make_chi2_10(200, random_state=1)
    model = ForwardStagewise(loss, n_terms=15).fit(X, y)
    assert np.all(np.diff(model.losses_) < 0)
    model.verify(X, y)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", Huber(0.1)])
@pytest.mark.parametrize("basis", ["stumps", HingeBasis(10)])
def test_any_loss_with_any_basis(loss, basis):
    t, y = line()
    model = ForwardStagewise(loss, basis=basis, n_terms=20, learning_rate=0.5).fit(t, y)
    assert model.losses_[-1] < 0.7 * model.losses_[0]
    assert np.all(np.diff(model.losses_) < 0)
    model.verify(t, y)
    Certificate.from_json(model.certificate_.to_json()).verify(t, y)


def test_it_ends_where_no_function_helps():
    X = np.array([[0.0], [1.0]])
    model = ForwardStagewise(n_terms=50).fit(X, [0.0, 2.0])
    assert model.n_terms_ <= 3
    np.testing.assert_allclose(model.predict(X), [0, 2], atol=1e-9)


def test_weights_repeat_rows():
    t, y = line(40)
    s = np.random.default_rng(0).integers(0, 3, 40)
    weighted = ForwardStagewise(n_terms=10).fit(t, y, sample_weight=s)
    repeated = ForwardStagewise(n_terms=10).fit(np.repeat(t, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.predict(t), repeated.predict(t), atol=1e-9)
    weighted.verify(t, y, sample_weight=s)


def test_margins_need_signs():
    with pytest.raises(InvalidData, match="targets -1 and 1"):
        ForwardStagewise("logistic").fit(*line(20))


@pytest.mark.parametrize(("name", "place", "value"), [("factors_", 2, 0.1), ("thresholds_", 1, 0.77)])
def test_another_term_is_refused(name, place, value):
    t, y = line(60)
    model = ForwardStagewise(n_terms=5).fit(t, y)
    other = model.certificate_.model[name].copy()
    other[place] = value
    forged = replace(model.certificate_, subject=None, seal="", model={**model.certificate_.model, name: other})
    with pytest.raises(CertificateError, match="stagewise"):
        forged.verify(t, y)
