"""Gaussian processes with kernels of scikit-learn that have no translation, of the user, or none at all."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier as PeerClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as PeerProcess
from sklearn.gaussian_process.kernels import RBF, GenericKernelMixin, Hyperparameter, Kernel, WhiteKernel
from sklearn.gaussian_process.kernels import Matern as PeerMatern

from surefit import GaussianProcessClassifier, GaussianProcessRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
R = 2 * X[:, 0] + RNG.normal(size=60)


def test_a_process_without_a_kernel_learns_its_own():
    ours, peer = (kind(alpha=0.5).fit(X, R) for kind in (GaussianProcessRegressor, PeerProcess))
    assert np.allclose(ours.kernel_.theta, peer.kernel_.theta, atol=1e-2) and ours.verify(X, R)
    assert np.allclose(ours.predict(X), peer.predict(X), atol=1e-4)


class Letters(GenericKernelMixin, Kernel):
    """Common letters of two words, and a little for all others."""

    def __init__(self, other=0.5, other_bounds=(1e-5, 1.0)):
        self.other, self.other_bounds = other, other_bounds

    @property
    def hyperparameter_other(self):
        return Hyperparameter("other", "numeric", self.other_bounds)

    def __call__(self, X, Y=None, eval_gradient=False):
        pairs = [[[a == b for a in s for b in t] for t in (X if Y is None else Y)] for s in X]
        values = np.array([[np.sum(np.where(pair, 1.0, self.other)) for pair in line] for line in pairs])
        slopes = np.array([[[self.other * np.sum(~np.array(pair))] for pair in line] for line in pairs])
        return (values, slopes) if eval_gradient else values

    def diag(self, X):
        return np.diagonal(self(X)).copy()

    def is_stationary(self):
        return False


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of scikit-learn, at a bound
def test_processes_take_strings_and_a_kernel_of_the_user():
    words, values = np.array(["AGCT", "AGC", "AACT", "TAA", "AAA", "GAACA"]), np.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0])
    ours, peer = (kind(Letters(), alpha=0.1).fit(words, values) for kind in (GaussianProcessRegressor, PeerProcess))
    assert ours.kernel_.other == pytest.approx(peer.kernel_.other, rel=1e-2) and ours.verify(words, values)
    assert ours.predict(words) == pytest.approx(peer.predict(words), abs=1e-5)
    ours, peer = (kind(Letters()).fit(words, values > 1) for kind in (GaussianProcessClassifier, PeerClassifier))
    assert np.allclose(ours.predict_proba(words), peer.predict_proba(words), atol=1e-3)
    for mine, theirs in zip(ours.latent_mean_and_variance(words), peer.latent_mean_and_variance(words), strict=True):
        assert mine.shape == theirs.shape == (6,)


def test_kernels_without_a_translation_are_used_as_they_are():
    kernel = PeerMatern(nu=1.2) + WhiteKernel()
    ours, peer = (kind(kernel).fit(X, R) for kind in (GaussianProcessRegressor, PeerProcess))
    assert ours.log_marginal_likelihood_value_ == pytest.approx(peer.log_marginal_likelihood_value_, abs=1e-4)
    assert ours.verify(X, R) and ours.kernel_.k1.nu == 1.2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernels_of_several_classes_have_one_theta():
    y = np.repeat([0, 1, 2], 20)
    ours, peer = (
        kind(1.0 * RBF(1.0)).fit(X + 2 * np.eye(3, 4)[y], y) for kind in (GaussianProcessClassifier, PeerClassifier)
    )
    assert ours.kernel_.theta.shape == peer.kernel_.theta.shape and np.allclose(
        ours.kernel_.bounds, peer.kernel_.bounds
    )
    value = ours.log_marginal_likelihood(ours.kernel_.theta)
    assert value == pytest.approx(ours.log_marginal_likelihood_value_, rel=1e-6)
    assert value == pytest.approx(peer.log_marginal_likelihood(peer.kernel_.theta), abs=0.05)
    assert ours.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)[1].shape == peer.kernel_.theta.shape
    common = ours.kernel_[0].theta
    assert ours.log_marginal_likelihood(common, eval_gradient=True)[1].shape == common.shape
