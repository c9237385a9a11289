"""Wiener priors in linear time: the dense process, the smoothing splines, and the closed forms of the notes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefit
from surefit import GaussianProcessRegressor, SmoothingSpline, WienerProcessRegressor
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter
from surefit.kernels import IntegratedBrownian, Min

KERNELS = {1: Min(), 2: IntegratedBrownian()}


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([1, 2]),
    st.lists(st.integers(0, 12), min_size=1, max_size=12),  # ties, and the origin itself
    st.floats(0.1, 5.0),
    st.floats(0.05, 2.0),
    st.integers(0, 99),
)
def test_agrees_with_the_dense_process(order, ticks, delta, noise, seed):
    x, y = np.array(ticks) / 4.0, np.random.default_rng(seed).normal(size=len(ticks))
    dense = GaussianProcessRegressor(delta * KERNELS[order], alpha=noise, optimizer=None).fit(x[:, None], y)
    model = WienerProcessRegressor(order, variance=delta, noise=noise).fit(x, y)
    new = np.array([0.0, 0.3, 1.0, 2.9, 7.0])
    mean, deviation = model.predict(new, return_std=True)
    expected = dense.predict(new[:, None], return_std=True)
    assert np.allclose(mean, expected[0], atol=1e-8) and np.allclose(deviation, expected[1], atol=1e-5)
    assert np.isclose(model.log_evidence_, dense.log_marginal_likelihood_value_, atol=1e-8)
    assert np.allclose(model.alpha_, dense.alpha_, atol=1e-7)
    assert model.verify(x[:, None], y)["wiener.mean"].level == "enclosed"


@pytest.mark.parametrize("order", [1, 2])
def test_is_the_special_smoothing_spline(order):
    rng = np.random.default_rng(0)
    x, delta, noise = np.sort(rng.uniform(0.1, 2, 40)), 2.0, 0.3
    y = np.sin(3 * x) + rng.normal(size=40)
    model = WienerProcessRegressor(order, variance=delta, noise=noise).fit(x, y)
    spline = SmoothingSpline(2 * order - 1, lam=noise / (40 * delta), form="special", origin=0.0).fit(x, y)
    t = np.linspace(0, 3, 50)
    assert np.allclose(model.predict(t), spline.predict(t), atol=1e-9)


def test_determinant_and_inverse_of_the_covariance():
    x = np.array([0.25, 0.5, 0.75, 1.0])[:, None]
    K = Min()(x)
    assert np.isclose(np.linalg.det(K), 0.25**4)  # product of the steps
    assert np.allclose(np.linalg.inv(K), Min().inverse(x).toarray())
    assert np.allclose(np.diag(np.linalg.inv(K)), [8, 8, 8, 4])


def test_variances_of_a_simulated_path_are_found():
    rng = np.random.default_rng(2)
    x = np.linspace(0.001, 4, 4000)
    path = np.cumsum(rng.normal(size=4000) * np.sqrt(2.0 * np.diff(x, prepend=0.0)))
    model = WienerProcessRegressor().fit(x, path + 0.5 * rng.normal(size=4000))
    assert 1.0 < model.variance_ < 4.0 and 0.23 < model.noise_ < 0.27
    for factor in (0.9, 1.1):  # no neighbor has a higher evidence
        other = WienerProcessRegressor(variance=factor * model.variance_, noise=model.noise_)
        assert other.fit(x, model._sorted[1]).log_evidence_ < model.log_evidence_


def test_wrong_claims_and_inputs_are_refused():
    x, y = np.linspace(0.1, 1, 20), np.ones(20)
    model = WienerProcessRegressor(variance=1.0, noise=0.1).fit(x, y)
    certificate = model.certificate_
    claims = (replace(certificate.claims[0], value=1e-20),)
    with pytest.raises(CertificateError, match="wiener.mean"):
        replace(certificate, claims=claims, seal="").verify(x[:, None], y)
    with pytest.raises(InvalidData, match="Pass a smaller origin"):
        WienerProcessRegressor(origin=0.5).fit(x, y)
    with pytest.raises(InvalidParameter, match="noise must be a number if variance is a number"):
        WienerProcessRegressor(variance=1.0).fit(x, y)
    with pytest.raises(InvalidData, match="variances cannot be learned"):
        WienerProcessRegressor().fit(x, 0 * y)


def test_dates_without_columns_are_verified_as_they_are_fitted():
    days = pd.Series(pd.to_datetime(np.arange(1.0, 9.0), unit="D"))
    model = surefit.WienerProcessRegressor().fit(days, np.sqrt(np.arange(8.0)))
    assert model.certificate_.verify(days, np.sqrt(np.arange(8.0)))
