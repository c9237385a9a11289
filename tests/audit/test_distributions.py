"""Discriminants and naive Bayes of scikit-learn: closed forms by a second route, and what happens when a number is changed."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.covariance import OAS
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

from surefit import CertificateError, Invalidated, InvalidData, certify

X, Y = load_wine(return_X_y=True)
X = X[:, :6]
NAMES = np.array(["red", "white", "yellow"])[Y]
WEIGHTS = np.random.default_rng(0).random(len(Y))


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2, priors=[0.2, 0.3, 0.5]),
        LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()),
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(reg_param=0.1, priors=[0.2, 0.3, 0.5]),
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    ],
    ids=str,
)
def test_discriminants_hold(model):
    certificate = certify(model.fit(X, NAMES), X, NAMES)
    assert certificate.holds
    certificate.verify(X, NAMES)
    with pytest.raises(InvalidData, match="without weights"):
        certify(model, X, NAMES, WEIGHTS)


def test_a_worse_rule_is_told_by_how_much():
    """Fisher's criterion of c times the best rule is 2c - c^2 of the largest value."""
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(X, Y)
    best = certify(model, X, Y)["audit.discriminant.gap"].numbers["criterion"]
    model.coef_ = 0.9 * model.coef_
    certificate = certify(model, X, Y)
    claim = certificate["audit.discriminant.gap"]
    assert claim.numbers["criterion"] == pytest.approx((2 * 0.9 - 0.9**2) * best)
    assert 0.01 * best <= claim.value  # the bound divides by the least eigenvalue of the scatter within classes
    assert claim.holds is False
    certificate.verify(X, Y)


def test_columns_that_repeat_leave_no_largest_criterion():
    wide = np.hstack([X, X[:, :1]])
    certificate = certify(LinearDiscriminantAnalysis().fit(wide, Y), wide, Y)
    assert [c.kind for c in certificate.claims][:2] == ["data_fact", "no_claim"]
    certificate.verify(wide, Y)


def test_densities_that_are_too_wide_lose_likelihood():
    model = QuadraticDiscriminantAnalysis().fit(X, Y)
    model.scalings_ = [1.2 * s for s in model.scalings_]
    certificate = certify(model, X, Y)

    def likelihood(factor):
        parts = [multivariate_normal(X[Y == k].mean(0), factor * np.cov(X[Y == k].T, bias=True)) for k in range(3)]
        return sum(distribution.logpdf(X[Y == k]).sum() for k, distribution in enumerate(parts))

    lost = likelihood(1.0) - likelihood(1.2)
    claim = certificate["audit.quadratic.likelihood"]
    assert lost <= claim.value <= 3 * lost  # the bound is by a norm
    assert claim.holds is False
    certificate.verify(X, Y)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("model", [GaussianNB(), BernoulliNB(binarize=2.0), MultinomialNB(alpha=0.5)], ids=str)
def test_naive_bayes(model, weights):
    certificate = certify(model.fit(X, Y, sample_weight=weights), X, Y, weights)
    assert certificate.holds
    certificate.verify(X, Y, weights)
    name = "theta_" if isinstance(model, GaussianNB) else "feature_log_prob_"
    getattr(model, name)[1, 2] *= 1.01
    with pytest.raises(Invalidated, match=name):
        certificate.verify(X, Y, weights)
    assert certify(model, X, Y, weights).holds is False
    other = certify(model.fit(X, np.roll(Y, 1), sample_weight=weights), X, Y, weights)
    assert other.holds is False
    other.verify(X, Y, weights)


def test_counts_of_three_rows_by_hand():
    """Two words; class 0 has counts (2, 0) and (1, 1), class 1 has (0, 3): with alpha = 1 the shares are 4/6, 2/6 and 1/5, 4/5."""
    rows, y = np.array([[2, 0], [1, 1], [0, 3]]), np.array([0, 0, 1])
    model = MultinomialNB().fit(sparse.csr_array(rows), y)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[4 / 6, 2 / 6], [1 / 5, 4 / 5]])
    certificate = certify(model, sparse.csr_array(rows), y)
    assert certificate.holds and certificate["audit.naive_bayes.parameters"].value < 1e-12
    model.feature_log_prob_ = np.log([[4 / 6, 2 / 6], [2 / 5, 3 / 5]])
    assert certify(model, rows, y)["audit.naive_bayes.parameters"].value == pytest.approx(np.log(2))


def test_forged_laws_are_refused():
    from dataclasses import replace

    model = GaussianNB().fit(X, Y)
    model.var_[0, 0] *= 2
    certificate = certify(model, X, Y)
    forged = (replace(certificate.claims[0], value=1e-12), *certificate.claims[1:])
    with pytest.raises(CertificateError, match="naive_bayes"):
        replace(certificate, claims=forged, seal="").verify(X, Y)
