"""AdaBoost.R2: a run by hand, weights as repetitions, the order of the rows, and certificates that cannot be forged."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from tests.forging import reissued, resealed_model, verified_strictly

import surefit
from surefit.core.errors import CertificateError
from surefit.ensembles.adaboost_regressor_training import relative_losses, weighted_medians


def sample(n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] ** 2 + 0.3 * rng.normal(size=n)


def test_losses_and_medians_by_hand():
    said, y = np.array([1.0, 2.0, 5.0]), np.array([1.0, 4.0, 1.0])
    counted = np.ones(3, dtype=bool)
    assert relative_losses(said, y, counted, "linear").tolist() == [0.0, 0.5, 1.0]
    assert relative_losses(said, y, counted, "square").tolist() == [0.0, 0.25, 1.0]
    assert relative_losses(said, y, counted, "exponential") == pytest.approx([0, 1 - math.exp(-0.5), 1 - math.exp(-1)])
    assert weighted_medians(np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 1.0, 1.0])).tolist() == [2.0]
    assert weighted_medians(np.array([[1.0], [2.0], [3.0]]), np.array([3.0, 1.0, 1.0])).tolist() == [1.0]


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_errors_and_weights_follow_from_the_members(loss):
    X, y = sample()
    model = surefit.AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=2), n_estimators=4, loss=loss, learning_rate=0.7, random_state=0
    ).fit(X, y)
    D = np.full(len(y), 1 / len(y))
    for member, error, alpha in zip(model, model.estimator_errors_, model.estimator_weights_, strict=True):
        u = np.abs(member.predict(X) - y)
        each = relative_losses(member.predict(X), y, np.ones(len(y), dtype=bool), loss)
        assert u.max() > 0 and error == pytest.approx(D @ each, rel=1e-12)
        assert alpha == pytest.approx(0.7 * math.log((1 - error) / error), rel=1e-12)
        D *= (error / (1 - error)) ** (0.7 * (1 - each))
        D /= D.sum()
    assert model.verify(X, y)["adaboost_r2.rounds"].ok
    *_, last = model.staged_predict(X)
    assert np.array_equal(last, model.predict(X))


def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter():
    X, y = sample()
    weights = np.arange(len(y)) % 3
    again = np.repeat(np.arange(len(y)), weights)
    model = surefit.AdaBoostRegressor(LinearRegression(), n_estimators=3, random_state=0)
    weighted = model.fit(X, y, sample_weight=weights).predict(X)
    np.testing.assert_allclose(model.fit(X[again], y[again]).predict(X), weighted, rtol=1e-9)
    turned = again[::-1]
    np.testing.assert_allclose(model.fit(X[turned], y[turned]).predict(X), weighted, rtol=1e-9)


def test_a_member_without_errors_ends_the_run():
    X = np.arange(8.0)[:, None]
    model = surefit.AdaBoostRegressor(LinearRegression(), random_state=0).fit(X, np.zeros(8))
    assert len(model) == 1 and model.estimator_weights_.tolist() == [1.0]
    model.verify(X, np.zeros(8))


def test_a_first_member_that_is_wrong_by_the_same_amount_everywhere_is_kept():
    X, y = np.zeros((2, 1)), np.array([0.0, 2.0])  # the mean is off by one on both rows, and the relative loss is 1
    models = [surefit.AdaBoostRegressor(n_estimators=3, random_state=seed).fit(X, y) for seed in range(6)]
    assert {float(model.estimator_errors_[0]) for model in models} == {0.5, 1.0}
    for model in models:
        assert model.estimator_weights_.tolist() == [1.0]
        model.verify(X, y)


def test_changed_numbers_are_refused_even_with_a_new_seal():
    X, y = sample()
    model = surefit.AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=3, random_state=0).fit(X, y)
    verified_strictly(model, X, y)
    for name in ("estimator_weights_", "estimator_errors_"):
        forged = resealed_model(model, name, getattr(model, name) * 1.001)
        with pytest.raises(CertificateError):
            forged.verify(X, y)


def test_other_members_are_refused_even_with_a_new_seal():
    X, y = sample()
    model = surefit.AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, y)
    reissued(model).verify(X, y)
    model.estimators_[1] = surefit.DecisionTreeRegressor(max_depth=1).fit(X, y)
    with pytest.raises(CertificateError, match="do not reproduce the recorded predictions"):
        reissued(model).verify(X, y)
    model.estimators_[1] = surefit.DecisionTreeRegressor(max_depth=1).fit(X[:, :1], y)
    with pytest.raises(CertificateError, match="the members cannot predict"):
        reissued(model).verify(X, y)
