"""Gaussian-process regression: exact numbers, identities, and scikit-learn's to rounding."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as sk

from surefit import GaussianProcessRegressor, SmoothingSpline
from surefit.core.errors import CertificateError, ConvergenceWarning, DataWarning, InvalidData, InvalidParameter
from surefit.kernels import RBF, CommonWords, Constant, IntegratedBrownian, Linear, Matern, Min, Noise, Precomputed


def waves(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, d))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def test_two_observations_by_hand():
    model = GaussianProcessRegressor(Min(), alpha=1.0).fit([[1.0], [2.0]], [1.5, 2.5])
    assert np.allclose(model.alpha_, [0.4, 0.7], rtol=1e-15)
    mean, deviation = model.predict([[1.0]], return_std=True)
    assert np.isclose(mean[0], 1.1) and np.isclose(deviation[0] ** 2, 1 - 3 / 5)  # (1, 1) A^-1 (1, 1)' = 3/5


def test_evidence_is_the_density_of_the_targets():
    X, y = waves(12)
    kernel = 1.3 * RBF(0.7) + Noise(0.2)
    model = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.05).fit(X, y)
    density = stats.multivariate_normal(np.zeros(12), kernel(X) + 0.05 * np.eye(12)).logpdf(y)
    assert np.isclose(model.log_marginal_likelihood_value_, density, rtol=1e-12)
    chain, part = 0.0, GaussianProcessRegressor(kernel, optimizer=None, alpha=0.05)
    for i in range(12):  # second route: each target given those before it
        mean, deviation = part.predict(X[i : i + 1], return_std=True)
        chain += stats.norm(mean[0], np.sqrt(deviation[0] ** 2 + 0.05)).logpdf(y[i])
        part.fit(X[: i + 1], y[: i + 1])
    assert np.isclose(chain, density, rtol=1e-10)


@pytest.mark.parametrize(
    "kernel",
    [
        1.5 * RBF(0.8) + Noise(0.1),
        RBF([0.5, 2.0]) * Matern(1.0, nu=1.5) + Noise(0.1) + Constant(0.5),
        Matern(1.0, nu=2.5) + RBF(0.3) + Noise(0.3),
    ],
)
def test_slopes_of_the_evidence_agree_with_differences(kernel):
    X, y = waves(30)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, np.column_stack([y, y**2]))
    theta = kernel.theta
    value, slopes = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert np.isclose(value, model.log_marginal_likelihood(theta), rtol=1e-12)
    for j in range(len(theta)):
        move = np.zeros(len(theta))
        move[j] = 1e-5
        difference = model.log_marginal_likelihood(theta + move) - model.log_marginal_likelihood(theta - move)
        assert np.isclose(slopes[j], difference / 2e-5, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_agrees_with_scikit_learn_to_rounding(normalize_y, several):
    X, y = waves()
    y = np.column_stack([y, 3 + y**2]) if several else y
    kernel, alpha = 1.5 * sk.RBF(0.8) + sk.WhiteKernel(0.1), np.linspace(0.01, 0.2, len(X))
    theirs = Theirs(kernel, alpha=alpha, optimizer=None, normalize_y=normalize_y).fit(X, y)
    ours = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None, normalize_y=normalize_y).fit(X, y)
    new = waves(20, seed=1)[0]
    for one, other in zip(ours.predict(new, return_std=True), theirs.predict(new, return_std=True), strict=True):
        assert one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=1e-11)
    assert np.allclose(ours.predict(new, return_cov=True)[1], theirs.predict(new, return_cov=True)[1], atol=1e-11)
    assert np.isclose(ours.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_, rtol=1e-11)
    assert np.allclose(ours.L_, theirs.L_, atol=1e-11)
    assert np.allclose(ours.sample_y(new, 3), theirs.sample_y(new, 3), atol=1e-5)


def test_search_ends_no_lower_than_scikit_learn():
    X, y = waves(150)
    kernel = 1.0 * sk.RBF(1.0) + sk.WhiteKernel(1.0)
    theirs = Theirs(kernel).fit(X, y)
    ours = GaussianProcessRegressor(kernel).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-6
    assert np.allclose(ours.kernel_.theta, theirs.kernel_.theta, atol=1e-3)


def test_a_thinned_search_ends_stationary_for_all_rows():
    X, y = waves(1200)
    model = GaussianProcessRegressor(1.0 * RBF(1.0) + Noise(1.0)).fit(X, y)
    _, slopes = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert np.max(np.abs(slopes)) <= 1e-5 * len(y)
    assert model.certificate_["gaussian_process.stationary"].holds


def test_restarts_and_foreign_optimizers():
    X, y = waves(40)
    kernel = RBF(1e3) + Noise(1.0)
    alone = GaussianProcessRegressor(kernel).fit(X, y).log_marginal_likelihood_value_
    many = GaussianProcessRegressor(kernel, n_restarts_optimizer=4, random_state=0).fit(X, y)
    assert many.log_marginal_likelihood_value_ >= alone - 1e-8

    def lazy(objective, theta, bounds):
        return theta, objective(theta)[0]

    kept = GaussianProcessRegressor(kernel, optimizer=lazy).fit(X, y)
    assert np.allclose(kept.kernel_.theta, kernel.theta)
    assert kept.certificate_["gaussian_process.stationary"].holds is False


def test_leaving_one_out_in_closed_form():
    X, y = waves(15)
    kernel = RBF(1.0) + Noise(0.05)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    mean, deviation = model.loo()
    for i in range(15):
        rest = np.arange(15) != i
        other = GaussianProcessRegressor(kernel, optimizer=None).fit(X[rest], y[rest])
        m, s = other.predict(X[i : i + 1], return_std=True)
        assert np.isclose(mean[i], m[0]) and np.isclose(deviation[i], s[0])


def test_brownian_prior_gives_the_linear_spline():
    rng = np.random.default_rng(3)
    x, y, noise, delta = np.sort(rng.uniform(0.05, 1, 8)), rng.normal(size=8), 0.3, 2.0
    model = GaussianProcessRegressor(delta * Min(), alpha=noise, optimizer=None).fit(x[:, None], y)
    K = Min()(x[:, None])
    hat = np.linalg.inv(np.eye(8) + noise / delta * np.linalg.inv(K))  # lambda n = noise / delta
    assert np.allclose(model.predict(x[:, None]), hat @ y, atol=1e-12)
    flat = model.predict([[0.0], [x[-1]], [5.0]])
    assert flat[0] == 0.0 and np.isclose(flat[1], flat[2])  # zero at the origin, constant after the last point
    middle = model.predict([[(x[3] + x[4]) / 2]])
    assert np.isclose(middle[0], np.mean(model.predict(x[3:5, None])))  # linear between the points


@pytest.mark.parametrize("degree, kernel", [(1, Min()), (3, IntegratedBrownian())])
def test_a_diffuse_null_space_gives_the_smoothing_spline(degree, kernel):
    rng = np.random.default_rng(4)
    x = np.sort(rng.uniform(0.05, 1, 30))
    y, lam = np.sin(6 * x) + 0.1 * rng.normal(size=30), 1e-3
    spline = SmoothingSpline(degree=degree, lam=lam).fit(x, y)
    tau = 1e6
    prior = kernel + Constant(tau, "fixed")
    if degree == 3:
        prior = prior + tau * Linear()
    model = GaussianProcessRegressor(prior, alpha=30 * lam, optimizer=None).fit(x[:, None], y)
    assert np.allclose(model.predict(x[:, None]), spline.predict(x), atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 25), st.floats(0.01, 3.0), st.floats(1e-3, 1.0), st.integers(0, 100))
def test_the_mean_is_proved_near_the_exact_one(n, length, noise, seed):
    X, y = waves(n, seed=seed)
    model = GaussianProcessRegressor(RBF(length, "fixed"), alpha=noise).fit(X, y)
    assert model.certificate_["gaussian_process.mean"].value < 1e-8
    assert model.verify(X, y)["gaussian_process.mean"].level == "enclosed"


def test_tampering_is_found():
    X, y = waves(25)
    model = GaussianProcessRegressor(1.0 * RBF(1.0) + Noise(0.1)).fit(X, y)
    certificate = model.certificate_
    for name, wrong in (("mean", 1e-20), ("evidence", 1e-20), ("stationary", 0.0)):
        claims = tuple(
            replace(c, value=wrong) if c.name == f"gaussian_process.{name}" else c for c in certificate.claims
        )
        forged = replace(certificate, claims=claims, seal="")
        with pytest.raises(CertificateError, match=name):
            forged.verify(X, y)
    again = type(certificate).from_json(certificate.to_json())
    assert again.verify(X, y)["gaussian_process.evidence"].ok


def test_repeated_rows_without_noise_climb_the_jitter_ladder():
    X, y = np.repeat([[0.0], [1.0]], 3, axis=0), np.array([1.0, 1.1, 0.9, 2.0, 2.1, 1.9])
    with pytest.warns(DataWarning, match="added to its diagonal"):
        model = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.0).fit(X, y)
    assert 0 < model.jitter_ <= 1e-4
    assert np.allclose(model.predict([[0.0], [1.0]]), [1.0, 2.0], atol=1e-3)


def test_memory_is_estimated_first():
    X, y = waves(100)
    with pytest.raises(InvalidData, match=r"100 rows need .* 59 rows would fit"):
        GaussianProcessRegressor(RBF(1.0) + Noise(0.1), max_memory=200_000).fit(X, y)


def test_strings_and_sparse_rows():
    model = GaussianProcessRegressor(CommonWords(), alpha=0.5).fit(["a b", "a c", "d"], [1.0, 2.0, -1.0])
    assert model.predict(["a"])[0] > 0 > model.predict(["d"])[0]
    X, y = waves(20)
    dense = GaussianProcessRegressor(RBF(1.0), alpha=0.1).fit(X, y).predict(X)
    rows = sparse.csr_array(X)
    assert np.allclose(GaussianProcessRegressor(RBF(1.0), alpha=0.1).fit(rows, y).predict(rows), dense, atol=1e-6)


def test_errors_say_what_to_do():
    X, y = waves(10)
    with pytest.raises(InvalidParameter, match="say nothing about new rows"):
        GaussianProcessRegressor(Precomputed()).fit(X @ X.T, y)
    with pytest.raises(InvalidData, match="one number per row of X; got 3 entries for 10"):
        GaussianProcessRegressor(alpha=[0.1, 0.1, 0.1]).fit(X, y)
    with pytest.raises(InvalidParameter, match="return_std"):
        GaussianProcessRegressor().fit(X, y).predict(X, return_std=True, return_cov=True)


def test_time_that_is_up_gives_a_warning_and_an_honest_certificate():
    X, y = waves(40)
    with pytest.warns(ConvergenceWarning, match="max_time was reached"):
        model = GaussianProcessRegressor(RBF(1.0) + Noise(1.0), max_time=1e-9).fit(X, y)
    assert model.certificate_["gaussian_process.stationary"].holds is False
    assert model.verify(X, y)["gaussian_process.stationary"].ok


def test_hardly_any_noise_is_verified_without_a_false_claim():
    X = np.linspace(0, 10, 40)[:, None]
    y = X[:, 0] * np.sin(X[:, 0])
    model = GaussianProcessRegressor(1.0 * RBF(1.0), alpha=1e-6).fit(X, y)
    findings = model.verify(X, y)
    assert findings["gaussian_process.evidence"].ok and findings["gaussian_process.stationary"].ok
    assert np.allclose(model.predict(X), y, atol=1e-2)


def test_a_row_far_away_leaves_the_claims_numbers():
    X = np.vstack([np.random.default_rng(7).normal(size=(30, 4)), np.full(4, 1e9)])
    y = X[:, 0] - X[:, 1]
    model = GaussianProcessRegressor(optimizer=None).fit(X, y)
    assert model.certificate_["gaussian_process.mean"].value < 1e-3
    assert model.verify(X, y)["gaussian_process.mean"].ok
