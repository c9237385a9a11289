"""Gaussian-process classification: modes, gaps, averages, slopes, and the demonstration of length scales."""

from dataclasses import replace

import cvxpy
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessClassifier as Theirs
from sklearn.gaussian_process import kernels as sk

from surefit import GaussianProcessClassifier, LogisticRegression, load, save
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter
from surefit.gaussian_processes.quadrature import logistic_normal_mean
from surefit.kernels import RBF, Linear


def crossed(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


def test_the_mode_satisfies_its_equation_and_agrees_with_a_cone_solver():
    X, y = crossed(20)
    kernel = 2.0 * RBF(0.7)
    model = GaussianProcessClassifier(kernel, optimizer=None, tol=1e-14).fit(X, y)
    K, a = kernel(X), model.dual_coef_[0]
    assert np.allclose(a, y - expit(K @ a), atol=1e-9)
    root, w = np.linalg.cholesky(K + 1e-12 * np.eye(20)), cvxpy.Variable(20)
    loss = cvxpy.sum(cvxpy.logistic(cvxpy.multiply(1 - 2 * y, root @ w)))
    least = cvxpy.Problem(cvxpy.Minimize(loss + 0.5 * cvxpy.sum_squares(w))).solve(solver="CLARABEL")
    here = np.sum(np.logaddexp(0, (1 - 2 * y) * (K @ a))) + 0.5 * a @ K @ a
    assert abs(here - least) < 1e-6 and model.dual_gap_ < 1e-10


def test_linear_kernel_is_ridge_logistic_regression():
    X, y = crossed(50)
    y = (X[:, 0] > 0.2).astype(int)
    model = GaussianProcessClassifier(Linear(), optimizer=None, tol=1e-14).fit(X, y)
    other = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12).fit(X, y)
    assert np.allclose(model.dual_coef_[0] @ X, other.coef_[0], atol=1e-6)


@pytest.mark.parametrize("m, v", [(0.3, 4.0), (-2.0, 0.5), (5.0, 60.0), (1.0, 0.0)])
def test_averages_by_adaptive_quadrature(m, v):
    s = np.sqrt(v)
    exact = quad(lambda z: expit(m + s * z) * norm.pdf(z), -12, 12, epsabs=1e-13)[0]
    assert abs(logistic_normal_mean(np.array([m]), np.array([v]))[0] - exact) < 1e-10
    both = logistic_normal_mean(np.array([m, -m, 0.0]), np.array([v, v, v]))
    assert abs(both[0] + both[1] - 1) < 1e-14 and both[2] == 0.5


@pytest.mark.parametrize("v", [64.0, 64.1, 1e3, 1e5, 1e10])
@pytest.mark.parametrize("m", [1e-9, 0.5, 7.0, 60.0, 900.0])
def test_averages_of_steep_scores(m, v):
    s = np.sqrt(v)
    pieces = [(-60.0, 0.0), (0.0, 60.0)]  # beyond these, the logistic function is a step
    near = sum(quad(lambda t: expit(t) * norm.pdf(t, m, s), *piece, epsabs=1e-15)[0] for piece in pieces)
    mean = logistic_normal_mean(m, v)
    assert mean == pytest.approx(near + norm.sf(60.0, m, s), abs=1e-13)
    assert mean > 0.5 and logistic_normal_mean(-m, v) == pytest.approx(1 - mean, abs=1e-15)
    assert logistic_normal_mean(m, 1.01 * v) < mean + 1e-15


def test_laplace_slopes_agree_with_differences_and_scikit_learn():
    X, y = crossed(40)
    kernel = 1.3 * sk.RBF([0.8, 1.2])
    ours = GaussianProcessClassifier(kernel, optimizer=None, tol=1e-15).fit(X, y)
    theirs = Theirs(kernel, optimizer=None).fit(X, y)
    theta = kernel.theta + 0.1
    value, slopes = ours.log_marginal_likelihood(theta, eval_gradient=True)
    assert np.isclose(value, theirs.log_marginal_likelihood(theta), rtol=1e-7)
    for j in range(3):
        move = np.eye(3)[j] * 1e-4
        ahead, behind = ours.log_marginal_likelihood(theta + move), ours.log_marginal_likelihood(theta - move)
        assert np.isclose(slopes[j], (ahead - behind) / 2e-4, rtol=1e-5, atol=1e-6)


def test_agrees_with_scikit_learn_up_to_its_approximate_integral():
    X, y = crossed(80)
    kernel = 1.0 * sk.RBF(1.0)
    ours, theirs = GaussianProcessClassifier(kernel).fit(X, y), Theirs(kernel).fit(X, y)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-4  # of a log evidence
    assert np.max(np.abs(ours.predict_proba(X) - theirs.predict_proba(X))) < 5e-3
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_averaged_and_plug_in_decisions_agree_and_far_away_is_a_coin():
    X, y = crossed()
    model = GaussianProcessClassifier(4.0 * RBF(0.5), optimizer=None).fit(X, y)
    new = np.random.default_rng(1).normal(size=(200, 2))
    mean, variance = model.latent_mean_and_variance(new)
    probability = model.predict_proba(new)[:, 1]
    assert np.array_equal(mean > 0, probability > 0.5)
    assert np.all(np.abs(probability - 0.5) <= np.abs(expit(mean) - 0.5) + 1e-12)  # shrunk towards 1/2
    assert np.all(variance >= 0) and np.allclose(model.predict_proba([[90.0, 90.0]]), 0.5)


@pytest.mark.parametrize("strategy", ["one_vs_rest", "one_vs_one"])
def test_several_classes(strategy):
    X, _ = crossed(90)
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = GaussianProcessClassifier(5.0 * RBF(1.0), optimizer=None, multi_class=strategy).fit(X, y)
    assert model.score(X, y) > 0.95 and len(model.kernels_) == 3
    assert model.verify(X, y)["gaussian_process_classifier.gap"].level == "enclosed"
    if strategy == "one_vs_rest":
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    else:
        with pytest.raises(InvalidParameter, match="one_vs_rest"):
            model.predict_proba(X)


def test_a_wrong_gap_is_found_and_the_certificate_survives_json():
    X, y = crossed(30)
    model = GaussianProcessClassifier(RBF(1.0), optimizer=None).fit(X, y)
    certificate = model.certificate_
    assert type(certificate).from_json(certificate.to_json()).verify(X, y)["gaussian_process_classifier.gap"].ok
    claims = (replace(certificate.claims[0], value=1e-30), *certificate.claims[1:])
    with pytest.raises(CertificateError, match="gap"):
        replace(certificate, claims=claims, seal="").verify(X, y)
    loose = GaussianProcessClassifier(RBF(1.0), optimizer=None, max_iter_predict=1).fit(X, y)
    K, a, best = RBF(1.0)(X), loose.dual_coef_[0], model.dual_coef_[0]
    values = [np.sum(np.logaddexp(0, (1 - 2 * y) * (K @ v))) + 0.5 * v @ K @ v for v in (a, best)]
    assert 0 < values[0] - values[1] <= loose.dual_gap_ and not loose.certificate_.holds


def test_longer_lengths_give_smoother_boundaries():
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(20, 2))
    y = (np.arange(20) < 10).astype(int)
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 40)), -1).reshape(-1, 2)
    changes = []
    for length in (0.1, 0.2, 0.3):
        model = GaussianProcessClassifier(9.0 * RBF(length), optimizer=None).fit(X, y)
        sides = model.predict(grid).reshape(40, 40)
        changes.append(np.sum(sides[1:] != sides[:-1]) + np.sum(sides[:, 1:] != sides[:, :-1]))
    assert changes[0] >= changes[1] >= changes[2]


def test_one_class_is_refused():
    with pytest.raises(InvalidData, match="at least two classes"):
        GaussianProcessClassifier().fit([[0.0], [1.0]], [1, 1])


def test_a_file_holds_the_whole_model(tmp_path):
    X, y = crossed(25)
    model = GaussianProcessClassifier(1.0 * RBF(1.0)).fit(X, y)
    save(model, tmp_path / "model.surefit")
    again = load(tmp_path / "model.surefit")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.verify(X, y)["gaussian_process_classifier.gap"].ok


def test_a_row_far_away_leaves_the_claims_numbers():
    X = np.vstack([np.random.default_rng(7).normal(size=(30, 4)), np.full(4, 1e9)])
    y = X[:, 0] > 0
    model = GaussianProcessClassifier().fit(X, y)
    assert model.certificate_["gaussian_process_classifier.gap"].value < 1e-3
    assert model.verify(X, y)["gaussian_process_classifier.gap"].ok


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_the_evidence_of_a_search_is_accurate(scale):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] * X[:, 1] > 0
    model = GaussianProcessClassifier(1.0 * RBF(1.15 * scale)).fit(scale * X, y)
    again, slopes = model.log_marginal_likelihood(
        model.kernel_.theta, eval_gradient=True
    )  # from zero, without a warm start
    assert model.log_marginal_likelihood_value_ == pytest.approx(again, abs=1e-8)
    free = (model.kernel_.theta > model.kernel_.bounds[:, 0]) & (model.kernel_.theta < model.kernel_.bounds[:, 1])
    assert np.max(np.abs(slopes[free]), initial=0.0) <= 1e-5 * len(y)


def test_a_dot_product_kernel_is_searched_as_in_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessClassifier as Peer
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

    X = np.array(
        [[-4.6, -6.0], [4.1, 5.3], [0.0, -0.5], [-6.2, -4.7], [1.3, -6.9], [-5.0, 3.1], [-2.9, 6.7], [5.2, 4.3]]
    )
    y = (5.0 - X[:, 1] - 0.5 * X[:, 0] ** 2 > 0).astype(int)
    kernel = ConstantKernel(0.1, (1e-5, np.inf)) * DotProduct(sigma_0=0.1) ** 2
    peer, ours = (kind(kernel).fit(X, y) for kind in (Peer, GaussianProcessClassifier))
    np.testing.assert_allclose(ours.kernel_.theta, peer.kernel_.theta, rtol=1e-4)
    np.testing.assert_allclose(ours.kernel_.bounds, peer.kernel_.bounds)
    assert ours.kernel_.k2.kernel.sigma_0 == pytest.approx(peer.kernel_.k2.kernel.sigma_0, rel=1e-4)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(peer.log_marginal_likelihood_value_, abs=1e-5)
    ours.certificate_.verify(X, y)
