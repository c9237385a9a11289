"""Tweedie and gamma regression: means by hand, scikit-learn's solutions, and what is refused."""

import numpy as np
import pytest
from sklearn import linear_model as peers

from surefit import GammaRegressor, LinearModel, PoissonRegressor, TweedieRegressor
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.losses import Poisson, Tweedie, value

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 4))
AMOUNTS = RNG.gamma(2.0, np.exp(X @ [0.3, -0.2, 0.5, 0.0]) / 2)
WITH_ZEROS = np.where(RNG.random(120) < 0.4, 0.0, AMOUNTS)
WEIGHTS = RNG.uniform(0.1, 2.0, 120)


@pytest.mark.parametrize("power", [1.0, 1.3, 1.7, 2.0])
def test_without_features_the_prediction_is_the_mean(power):
    """The score equation of every power is sum s (mu - y) mu^(1-p) = 0."""
    y = AMOUNTS if power == 2.0 else WITH_ZEROS
    model = TweedieRegressor(power=power, tol=1e-12).fit(np.zeros((120, 1)), y, WEIGHTS)
    assert model.predict([[0.0]])[0] == pytest.approx(np.average(y, weights=WEIGHTS), rel=1e-6)


@pytest.mark.parametrize("y", [0.3, 1.0, 7.0])
def test_the_deviance_is_zero_at_the_target_and_has_the_limits_of_its_ends(y):
    for power in (1.0, 1.4, 2.0):
        assert value(Tweedie(power), y, np.log(y)) == pytest.approx(0.0, abs=1e-15)
    for z in (-1.0, 0.5, 2.0):
        assert value(Tweedie(1.0), y, z) == pytest.approx(value(Poisson(), y, z), rel=1e-12)
        assert value(Tweedie(2.0), y, z) == pytest.approx(y * np.exp(-z) + z - np.log(y) - 1, rel=1e-12)
        assert value(Tweedie(1.0 + 1e-9), y, z) == pytest.approx(value(Tweedie(1.0), y, z), rel=1e-7)
        assert value(Tweedie(2.0 - 1e-9), y, z) == pytest.approx(value(Tweedie(2.0), y, z), rel=1e-7)


@pytest.mark.parametrize("power", [0.0, 1.0, 1.5, 1.9, 2.0])
def test_as_scikit_learn(power):
    y = AMOUNTS if power == 2.0 else WITH_ZEROS
    model = TweedieRegressor(power=power, alpha=0.1, tol=1e-10).fit(X, y, WEIGHTS)
    peer = peers.TweedieRegressor(power=power, alpha=0.1, tol=1e-10, max_iter=10000, solver="newton-cholesky")
    peer.fit(X, y, WEIGHTS)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-7)
    assert model.score(X, y, WEIGHTS) == pytest.approx(peer.score(X, y, WEIGHTS), rel=1e-7)
    model.verify(X, y, WEIGHTS)


def test_gamma_and_poisson_are_the_ends():
    gamma, tweedie = GammaRegressor(tol=1e-12).fit(X, AMOUNTS), TweedieRegressor(power=2, tol=1e-12).fit(X, AMOUNTS)
    assert gamma.coef_.tolist() == tweedie.coef_.tolist()
    assert gamma.score(X, AMOUNTS) == tweedie.score(X, AMOUNTS)
    poisson, tweedie = (
        PoissonRegressor(tol=1e-12).fit(X, WITH_ZEROS),
        TweedieRegressor(power=1, tol=1e-12).fit(X, WITH_ZEROS),
    )
    np.testing.assert_allclose(poisson.coef_, tweedie.coef_, rtol=1e-9)


def test_a_lasso_of_the_deviance():
    model = LinearModel(loss=Tweedie(1.3), penalty="l1", alpha=0.2, tol=1e-9).fit(X, WITH_ZEROS)
    assert np.any(model.coef_ == 0.0) and model.dual_gap_ < 1e-8
    model.verify(X, WITH_ZEROS)


def test_refusals():
    for power in (-1.0, 0.5, 3.0):
        with pytest.raises(InvalidParameter, match="power must be 0 or a number from 1 to 2"):
            TweedieRegressor(power=power).fit(X, AMOUNTS)
    with pytest.raises(InvalidParameter, match="link"):
        TweedieRegressor(power=1.5, link="identity").fit(X, AMOUNTS)
    with pytest.raises(InvalidParameter, match="power from 1 to 2"):
        LinearModel(loss=Tweedie(3.0)).fit(X, AMOUNTS)
    with pytest.raises(InvalidData, match="targets must be > 0"):
        GammaRegressor().fit(X, WITH_ZEROS)
    with pytest.raises(InvalidData, match="targets must be >= 0"):
        TweedieRegressor(power=1.5).fit(X, -AMOUNTS)
