"""Bayesian models on hard data: exact rationals, strict certificates, refused changes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from tests.forging import fitted, require_unforgeable, verified_strictly
from tests.hard_data import hard_data

from surefit import BayesianLinearRegression, EvidenceSelector, MAPClassifier
from surefit.checks.bayes.linear import enclosed_posterior, exactly

HARD = hard_data()


@pytest.mark.parametrize("hard", HARD, ids=lambda hard: hard.name)
def test_hard_data_of_linear_regression(hard):
    for model in (BayesianLinearRegression(), BayesianLinearRegression(noise_variance=0.1, fit_intercept=False)):
        verified_strictly(fitted(model, hard.X, hard.y, hard.weights), hard.X, hard.y, hard.weights)


def test_numbers_that_vanish_beside_the_prior():
    X = np.array([[1.0], [2.0], [3.0]]) * 5e-324
    verified_strictly(fitted(BayesianLinearRegression(), X, [1.0, 2.0, 3.0]), X, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("hard", HARD, ids=lambda hard: hard.name)
@pytest.mark.parametrize("distributions", ["diagonal", "full", "common"])
def test_hard_data_of_classes(distributions, hard):
    X = hard.X.toarray() if sparse.issparse(hard.X) else hard.X
    many = hard.name not in ("two rows", "wide") and "weights" not in hard.name
    smoothing = 1e-9 if many and distributions == "diagonal" else 1e-2
    model = fitted(MAPClassifier(distributions, var_smoothing=smoothing), X, hard.labels, hard.weights)
    verified_strictly(model, X, hard.labels, hard.weights)


@pytest.mark.parametrize("hard", HARD, ids=lambda hard: hard.name)
def test_hard_data_of_the_selector(hard):
    X = hard.X.toarray() if sparse.issparse(hard.X) else hard.X
    verified_strictly(fitted(EvidenceSelector(), X, hard.y, hard.weights), X, hard.y, hard.weights)


@pytest.mark.parametrize("seed", range(20))
def test_posterior_and_evidence_against_rationals(seed):
    """Two coefficients, solved in fractions: neither the mean, nor the variances, nor the evidence is off by more than stated."""
    rng = np.random.default_rng(seed)
    n, scale = 6, 10.0 ** rng.integers(-3, 4, size=2)
    Z, y = rng.normal(size=(n, 2)) * scale + rng.choice([0.0, 1e3]), rng.normal(size=n)
    s, noise, prior = rng.integers(0, 3, size=n).astype(float), 0.25, 4.0
    exact = [[Fraction(v) for v in row] for row in Z.tolist()]
    A = [
        [
            sum(Fraction(w) * a[i] * a[j] for w, a in zip(s, exact, strict=True)) * 4 + Fraction(int(i == j), 4)
            for j in (0, 1)
        ]
        for i in (0, 1)
    ]
    c = [sum(Fraction(w) * a[i] * Fraction(t) for w, a, t in zip(s, exact, y, strict=True)) * 4 for i in (0, 1)]
    det = A[0][0] * A[1][1] - A[0][1] ** 2
    C = [[A[1][1] / det, -A[0][1] / det], [-A[0][1] / det, A[0][0] / det]]
    m = [C[i][0] * c[0] + C[i][1] * c[1] for i in (0, 1)]
    quadratic = sum(Fraction(w) * Fraction(t) ** 2 for w, t in zip(s, y, strict=True)) * 4 - (c[0] * m[0] + c[1] * m[1])
    evidence = -0.5 * (sum(s) * math.log(2 * math.pi * noise) + 2 * math.log(prior) + math.log(det) + float(quadratic))
    model = BayesianLinearRegression(noise_variance=noise, prior_variance=prior, fit_intercept=False).fit(Z, y, s)
    found = enclosed_posterior(
        exactly(Z), exactly(y), s, noise, prior, model.posterior_mean_, model.posterior_covariance_
    )
    off = [Fraction(v) - e for v, e in zip(model.posterior_mean_, m, strict=True)]
    square = sum(off[i] * A[i][j] * off[j] for i in (0, 1) for j in (0, 1))
    assert math.sqrt(square) <= found.distance <= 1e-6
    for i in (0, 1):
        assert abs(Fraction(model.posterior_covariance_[i, i]) - C[i][i]) <= C[i][i] * Fraction(
            found.eta / (1 - found.eta)
        )
    assert abs(found.log_evidence - evidence) <= found.radius + 1e-13 * abs(evidence)
    assert abs(model.log_evidence_ - evidence) <= model.certificate_["bayesian_linear.evidence"].value + 1e-13 * abs(
        evidence
    )


def test_unforgeable():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    labels = (np.arange(15) % 3).astype(str)
    tried = require_unforgeable(BayesianLinearRegression().fit(X, y), X, y)
    tried += require_unforgeable(EvidenceSelector().fit(X, y), X, y)
    tried += require_unforgeable(MAPClassifier("full", var_smoothing=0.1).fit(X, labels), X, labels)
    tried += require_unforgeable(MAPClassifier(priors=[0.2, 0.3, 0.5]).fit(X, labels), X, labels)
    assert tried > 300
