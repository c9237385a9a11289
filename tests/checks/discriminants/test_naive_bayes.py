"""The checker of naive Bayes: it bounds the lost likelihood truly, accepts honest fits on hard data, and refuses forgeries."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.forging import fitted, forgeries, refused, resealed_model, verified_strictly
from tests.hard_data import hard_data

from surefit import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from surefit.core.errors import InvalidData

RNG = np.random.default_rng(2)
X, Y = RNG.poisson(2.0, size=(40, 4)).astype(float), RNG.integers(0, 3, 40)
ALL = [GaussianNB, MultinomialNB, BernoulliNB, ComplementNB]


def log_likelihood(model):
    """Log-likelihood of the rows, each in its own class, with the smoothing of the model; densities are normalized."""
    codes = np.searchsorted(model.classes_, Y)
    if isinstance(model, GaussianNB):
        noise = model.epsilon_ / 2 * (1 / model.var_)[codes].sum()  # expected, for noise of variance epsilon
        return model.predict_joint_log_proba(X)[np.arange(len(Y)), codes].sum() - noise
    P = np.exp(model.feature_log_prob_)
    if isinstance(model, BernoulliNB):
        B = X > 0
        own = [
            B[codes == k].sum(axis=0) @ np.log(p) + (~B[codes == k]).sum(axis=0) @ np.log1p(-p) for k, p in enumerate(P)
        ]
        return sum(own) + np.sum(np.log(P) + np.log1p(-P)) + np.sum(model.class_log_prior_[codes])
    P /= P.sum(axis=1, keepdims=True)
    own = [(X[codes == k].sum(axis=0) + 1) @ np.log(p) for k, p in enumerate(P)]
    return sum(own) + np.sum(model.class_log_prior_[codes])


@pytest.mark.parametrize("cls", [GaussianNB, MultinomialNB, BernoulliNB])
def test_the_likelihood_that_a_spoiled_model_loses_is_bounded(cls):
    model = cls().fit(X, Y)
    best = log_likelihood(model)
    for name, factor in (("theta_", 1.01), ("var_", 1.03)) if cls is GaussianNB else (("feature_log_prob_", 1.02),):
        value = getattr(model, name).copy()
        value[1, 2] *= factor
        other = resealed_model(model, name, value)
        lost = best - log_likelihood(other)
        assert lost > 1e-8
        claims = tuple(
            replace(claim, value=1.0, limit=None) if claim.name.startswith("naive_bayes") else claim
            for claim in other._certificate.claims
        )
        certificate = replace(other._certificate, claims=claims[:1], seal="")
        found = certificate.of(other).verify(X, Y)["naive_bayes.likelihood"]
        assert lost * (1 - 1e-9) <= found.proved <= 5 * lost  # differences of likelihoods are rounded


@pytest.mark.parametrize("data", hard_data(), ids=lambda data: data.name)
@pytest.mark.parametrize("cls", ALL)
def test_honest_models_pass_on_hard_data(cls, data):
    rows = data.X if cls in (GaussianNB, BernoulliNB) else abs(data.X)
    if cls is GaussianNB and sparse.issparse(rows):
        rows = rows.toarray()
    try:
        model = fitted(cls(), rows, data.labels, data.weights)
    except InvalidData as refusal:  # two rows: each class has one, with variance zero
        assert data.name == "two rows" and "variance zero" in str(refusal)
        return
    verified_strictly(model, rows, data.labels, data.weights)


@pytest.mark.parametrize("cls", ALL)
def test_forgeries_are_refused(cls):
    stream = cls().partial_fit(X[:20], Y[:20], [0, 1, 2]).partial_fit(X[20:], Y[20:])
    for model, rows, y in ((cls().fit(X, Y), X, Y), (stream, X[20:], Y[20:])):
        proved = [finding.proved for finding in model.verify(rows, y).findings]
        for what, forged in forgeries(model.certificate_, proved):
            assert refused(forged, rows, y), what
