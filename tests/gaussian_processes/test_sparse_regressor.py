"""Inducing rows: bounds around the exact evidence, exactness with all rows, and large samples."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import GaussianProcessRegressor, SparseGaussianProcessRegressor
from surefit.core.errors import CertificateError, InvalidParameter
from surefit.kernels import RBF, Matern, Noise
from surefit.solvers.gaussian_process.inducing import choose


def waves(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.floats(0.2, 2.0), st.floats(0.01, 1.0), st.integers(0, 50))
def test_the_exact_evidence_lies_between_the_bounds(m, length, noise, seed):
    X, y = waves(40, seed)
    kernel = Matern(length, nu=1.5) + Noise(noise)
    exact = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(X, y).log_marginal_likelihood_value_
    model = SparseGaussianProcessRegressor(kernel, n_inducing=m, optimizer=None).fit(X, y)
    low, high = model.evidence_bounds_
    assert low - 1e-6 <= exact <= high + 1e-6
    assert model.verify(X, y)["gaussian_process.variational_gap"].ok


def test_all_rows_give_the_exact_process():
    X, y = waves(40)
    kernel = 1.5 * RBF(0.7) + Noise(0.1)
    exact = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(X, y)
    model = SparseGaussianProcessRegressor(kernel, n_inducing=40, optimizer=None).fit(X, y)
    new = waves(15, 1)[0]
    for one, other in zip(model.predict(new, return_std=True), exact.predict(new, return_std=True), strict=True):
        assert np.allclose(one, other, atol=1e-5)
    assert model.variational_gap_ < 1e-4


def test_more_rows_never_widen_what_is_left():
    X, y = waves(200)
    gaps = [
        SparseGaussianProcessRegressor(RBF(1.0) + Noise(0.04), n_inducing=m, optimizer=None).fit(X, y).variational_gap_
        for m in (5, 20, 80, 140, 190)
    ]
    assert all(a > b for a, b in pairwise(gaps)) and gaps[-1] < 1e-2


def test_rows_are_chosen_by_the_variance_that_is_left():
    X = np.array([[0.0], [0.01], [5.0], [0.02]])
    assert set(choose(RBF(1.0), X, 2)) == {0, 2}
    assert len(choose(RBF(1.0), np.zeros((5, 1)), 4)) == 1  # copies explain each other


def test_a_large_sample_learns_its_noise():
    X, y = waves(6000)
    model = SparseGaussianProcessRegressor(n_inducing=60).fit(X, y)
    assert abs(model.kernel_.right.variance - 0.04) < 0.004 and model.variational_gap_ < 20
    assert np.sqrt(np.mean((model.predict(X) - np.sin(X[:, 0])) ** 2)) < 0.05


def test_wrong_claims_and_missing_noise_are_refused():
    X, y = waves(50)
    model = SparseGaussianProcessRegressor(RBF(1.0) + Noise(0.1), n_inducing=5).fit(X, y)
    certificate = model.certificate_
    claims = (replace(certificate.claims[0], value=model.variational_gap_ / 2), *certificate.claims[1:])
    with pytest.raises(CertificateError, match="variational_gap"):
        replace(certificate, claims=claims, seal="").verify(X, y)
    with pytest.raises(InvalidParameter, match="alpha must be > 0"):
        SparseGaussianProcessRegressor(RBF(1.0)).fit(X, y)


@pytest.mark.parametrize("seed", [0, 9, 12])
def test_bounds_of_targets_without_noise_agree_with_the_checker(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 120)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d)
    assert SparseGaussianProcessRegressor().fit(X, y).verify(X, y)["gaussian_process.variational_gap"].ok
