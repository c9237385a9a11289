"""Offsets of Poisson, gamma and Tweedie regressions: exposures by hand, scikit-learn on rates, and what the checker refuses."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import TweedieRegressor as Peer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefit import Certificate, GammaRegressor, Invalidated, InvalidData, PoissonRegressor, TweedieRegressor
from surefit.core.errors import CertificateError

TIGHT = {"tol": 1e-10}


def claims_data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X, exposure = rng.normal(size=(n, 3)), rng.uniform(0.1, 4.0, n)
    mean = exposure * np.exp(X @ [0.5, -0.3, 0.0] - 0.5)
    return X, rng.poisson(mean).astype(float), rng.gamma(2.0, mean / 2) + 1e-3, exposure, rng.uniform(0.5, 2.0, n)


def test_without_features_the_rates_are_known():
    X, counts, amounts, exposure, _ = claims_data()
    flat = np.zeros((len(X), 1))
    offset = np.log(exposure)
    poisson = PoissonRegressor(**TIGHT).fit(flat, counts, offset=offset)
    assert np.exp(poisson.intercept_) == pytest.approx(counts.sum() / exposure.sum(), rel=1e-6)
    gamma = GammaRegressor(**TIGHT).fit(flat, amounts, offset=offset)
    assert np.exp(gamma.intercept_) == pytest.approx(np.mean(amounts / exposure), rel=1e-6)
    normal = TweedieRegressor(power=0, **TIGHT).fit(flat, amounts, offset=offset)
    assert normal.intercept_ == pytest.approx(np.mean(amounts - offset), rel=1e-6)
    assert normal.predict(flat, offset=offset) == pytest.approx(normal.intercept_ + offset)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_scikit_learn_on_rates_is_the_same_model(power):
    """Half the mean deviance of counts is that of rates with weights s e^(2-p), up to the total weight."""
    X, counts, amounts, exposure, s = claims_data()
    y = amounts if power == 2.0 else counts
    weights = s * exposure ** (2.0 - power)
    peer = Peer(power=power, link="log", alpha=0.1 * s.sum() / weights.sum(), tol=1e-10, max_iter=10_000)
    peer.fit(X, y / exposure, sample_weight=weights)
    model = TweedieRegressor(power=power, alpha=0.1, **TIGHT).fit(X, y, s, offset=np.log(exposure))
    assert model.coef_ == pytest.approx(peer.coef_, abs=1e-5)
    assert model.predict(X, offset=np.log(exposure)) == pytest.approx(exposure * peer.predict(X), rel=1e-4)
    found = model.verify(X, y, s, offset=np.log(exposure))["linear.gap"]
    assert found.ok and found.level == "enclosed" and found.proved < 1e-8


@pytest.mark.parametrize("cls", [PoissonRegressor, GammaRegressor, TweedieRegressor])
def test_a_constant_offset_moves_the_intercept_and_zero_nothing(cls):
    X, _, y, _, _ = claims_data()
    plain, zero, moved = (
        cls(**TIGHT).fit(X, y, **extra)
        for extra in ({}, {"offset": np.zeros(len(X))}, {"offset": np.full(len(X), 2.0)})
    )
    assert zero.coef_ == pytest.approx(plain.coef_, abs=1e-7)
    assert moved.predict(X, offset=np.full(len(X), 2.0)) == pytest.approx(plain.predict(X), rel=1e-4)


def test_the_certificate_is_about_these_offsets():
    X, y, _, exposure, _ = claims_data()
    offset = np.log(exposure)
    model = PoissonRegressor(**TIGHT).fit(X, y, offset=offset)
    certificate = Certificate.from_json(model.certificate_.to_json())
    assert certificate.verify(X, y, offset=offset)["linear.gap"].ok
    for other in (None, offset + 1e-9, offset[::-1]):
        with pytest.raises(Invalidated, match="offsets differ"):
            model.verify(X, y, offset=other)
    plain = PoissonRegressor(**TIGHT).fit(X, y)
    with pytest.raises(Invalidated, match="offsets differ"):
        plain.verify(X, y, offset=offset)


def test_a_fit_that_ignores_its_offsets_cannot_pass_for_one_that_did_not():
    """The certificate of the model without offsets, forged to name them, has a gap that is too small."""
    from dataclasses import replace

    X, y, _, exposure, _ = claims_data()
    offset = np.log(exposure)
    without, with_them = PoissonRegressor(**TIGHT).fit(X, y), PoissonRegressor(**TIGHT).fit(X, y, offset=offset)
    forged = replace(without.certificate_, data=with_them.certificate_.data, seal="", subject=None)
    with pytest.raises(CertificateError, match=r"linear\.gap"):
        forged.verify(X, y, offset=offset)


def test_score_and_metadata_routing():
    X, y, _, exposure, _ = claims_data()
    offset = np.log(exposure)
    with sklearn.config_context(enable_metadata_routing=True):
        last = PoissonRegressor(**TIGHT).set_fit_request(offset=True).set_predict_request(offset=True)
        model = make_pipeline(StandardScaler(), last.set_score_request(offset=True)).fit(X, y, offset=offset)
        predicted = model.predict(X, offset=offset)
        assert model.score(X, y, offset=offset) > model[-1].score(model[0].transform(X), y)
    assert predicted == pytest.approx(model[-1].predict(model[0].transform(X), offset=offset))
    assert predicted.sum() == pytest.approx(y.sum(), rel=1e-5)  # the intercept is not penalized


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (np.zeros(3), "one number per row"),
        (np.full(120, np.nan), "offset of row 0 is nan"),
        (["a"] * 120, "must be numbers"),
    ],
)
def test_bad_offsets_are_named(offset, words):
    X, y, _, _, _ = claims_data()
    with pytest.raises(InvalidData, match=words):
        PoissonRegressor().fit(X, y, offset=offset)
