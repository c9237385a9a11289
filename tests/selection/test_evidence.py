"""Evidence and Schwarz's criterion: choices, two routes, the constant by which they differ, and the exercise of the notes."""

import math

import numpy as np
import pytest

from surefit import (
    BayesianLinearRegression,
    CertificateError,
    EvidenceSelector,
    InvalidParameter,
    PolynomialBasis,
    bayes_factor,
    bic,
)


def quadratic(n, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 1))
    return x, 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 2 + noise * rng.standard_normal(n)


def test_quadratic_data_prefer_degree_two():
    x, y = quadratic(60)
    model = EvidenceSelector(
        {str(k): PolynomialBasis(k) for k in (1, 2, 9)}, noise_variance=0.09, prior_variance=4.0
    ).fit(x, y)
    assert model.results_[model.best_index_].name == "2"
    assert model.log_bayes_factors_[1] == 0
    assert np.all(model.log_bayes_factors_[[0, 2]] > 0)
    assert [r.n_parameters for r in model.results_] == [2, 3, 10]
    assert max(model.results_, key=lambda r: r.bic).name == "2"
    found = model.verify(x, y)["evidence.best"]
    assert found.ok and found.claimed == 0.0


def test_evidence_is_the_density_of_the_targets():
    x, y = quadratic(12)
    model = EvidenceSelector(["passthrough"], noise_variance=0.5, prior_variance=2.0).fit(x, y)
    Z = np.c_[np.ones(12), x]
    V = 0.5 * np.eye(12) + 2.0 * Z @ Z.T
    exact = -6 * math.log(2 * math.pi) - 0.5 * np.linalg.slogdet(V)[1] - 0.5 * y @ np.linalg.solve(V, y)
    assert model.results_[0].log_evidence == pytest.approx(exact)


def test_weights_are_repetitions():
    x, y = quadratic(20)
    w = np.random.default_rng(1).integers(0, 4, 20)
    weighted = EvidenceSelector().fit(x, y, sample_weight=w)
    repeated = EvidenceSelector().fit(x.repeat(w, axis=0), y.repeat(w))
    assert [r.log_evidence for r in weighted.results_] == pytest.approx([r.log_evidence for r in repeated.results_])
    assert weighted.verify(x, y, sample_weight=w)


def test_predictions_are_those_of_the_best_candidate():
    x, y = quadratic(40)
    model = EvidenceSelector(noise_variance=0.09, prior_variance=4.0).fit(x, y)
    features = PolynomialBasis(2).fit(x)
    alone = BayesianLinearRegression(noise_variance=0.09, prior_variance=4.0).fit(features.transform(x), y)
    assert model.predict(x) == pytest.approx(alone.predict(features.transform(x)))
    assert model.predict(x, return_std=True)[1].min() > 0.3


def test_evidence_minus_bic_tends_to_a_constant_that_is_not_zero():
    differences = []
    for n in (1000, 10_000, 100_000):
        x, y = quadratic(n, noise=0.3)
        result = EvidenceSelector([PolynomialBasis(2)], noise_variance=0.09, prior_variance=4.0).fit(x[:n], y[:n])
        differences.append(result.results_[0].log_evidence - result.results_[0].bic)
    moments = np.array([[1, 0, 1 / 3], [0, 1 / 3, 0], [1 / 3, 0, 1 / 5]])  # of (1, x, x^2) for x uniform on [-1, 1]
    information = np.linalg.slogdet(moments / 0.09)[1]
    w = np.array([1.0, -2.0, 3.0])
    prior = -1.5 * math.log(2 * math.pi * 4.0) - w @ w / 8.0
    limit = prior + 1.5 * math.log(2 * math.pi) - 0.5 * information
    assert differences[-1] == pytest.approx(limit, abs=0.05)
    assert abs(limit) > 1


def test_exercise_of_the_notes():
    edge = math.exp(100 / 3)
    assert edge == pytest.approx(2.9956e14, rel=1e-4)
    for n, complex_wins in ((0.99 * edge, True), (1.01 * edge, False)):
        assert (bic(-50, 6, n) > bic(-100, 3, n)) is complex_wins
        assert (bic(-50, 6, n, convention="smaller") < bic(-100, 3, n, convention="smaller")) is complex_wins


def test_bayes_factor_and_errors():
    assert bayes_factor(1e4, 0.0) == math.inf
    assert bayes_factor(0.0, 1e4) == 0.0
    with pytest.raises(InvalidParameter, match="convention"):
        bic(0, 1, 1, convention="up")
    with pytest.raises(InvalidParameter, match="n_rows"):
        bic(0, 1, 0)
    with pytest.raises(InvalidParameter, match="candidate"):
        EvidenceSelector([3]).fit([[0.0], [1.0]], [0.0, 1.0])


def test_tampered_evidence_is_refused():
    x, y = quadratic(30)
    model = EvidenceSelector().fit(x, y)
    model.certificate_.claims[0].numbers["log_evidence"] += 0.1
    with pytest.raises(CertificateError):
        model.verify(x, y)


def test_large_features_keep_what_digits_they_have():
    x, y = quadratic(60)
    far = EvidenceSelector().fit(1e4 * x + 1e6, y)
    assert far.verify(1e4 * x + 1e6, y)
    assert far.certificate_["evidence.best"].numbers["factors"] < 1e-3
