"""Posteriors of linear and logistic weights, their evidence and its derivatives, against integrals with many digits."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.exact import (
    SAMPLES,
    column,
    form,
    inner,
    logistic,
    matrix,
    number,
    numbers,
    penalized,
    require_upper,
    sample,
    standard,
    with_constant,
)

import surefit

pytestmark = pytest.mark.usefixtures("digits")


def rows_with_constant(X):
    """The rows with a column of ones first."""
    return matrix(np.column_stack([np.ones(len(X)), X]))


def posterior(Z, y, s, noise, prior):
    """Precision matrix, mean and log evidence of weights with a normal prior; a weight of a row counts its repetitions."""
    S, p = mpmath.diag(s), Z.cols
    A = Z.T * S * Z / noise + mpmath.eye(p) / prior
    m = mpmath.lu_solve(A, Z.T * S * y / noise)
    rest = y - Z * m
    quadratic = form(rest, S) / noise + inner(m, m) / prior
    logs = sum(s) * mpmath.log(2 * mpmath.pi * noise) + p * mpmath.log(prior) + mpmath.log(mpmath.det(A))
    return A, m, -(logs + quadratic) / 2


@pytest.mark.parametrize("noise", [0.01, 2.0])
@pytest.mark.parametrize("data", SAMPLES)
def test_linear_weights(data, noise):
    X, y, _, _, w = sample(data)
    prior = 3.0
    for constant in (True, False):
        model = surefit.BayesianLinearRegression(noise_variance=noise, prior_variance=prior, fit_intercept=constant)
        model.fit(X, y, sample_weight=w)
        Z = rows_with_constant(X) if constant else matrix(X)
        A, best, _ = posterior(Z, column(y), numbers(w), mpf(noise), mpf(prior))
        own, covariance = column(model.posterior_mean_), A**-1
        claim = model.certificate_["bayesian_linear.posterior"]
        require_upper(claim, mpmath.sqrt(form(own - best, A)), 1e-3)
        off = max(abs(number(model.posterior_covariance_[j, j]) / covariance[j, j] - 1) for j in range(Z.cols))
        require_upper(claim, off, 1e-3, "variance")


@pytest.mark.parametrize("data", SAMPLES)
def test_the_largest_evidence(data):
    X, y, _, _, w = sample(data)
    X = standard(X) if data == "scales" else X - np.round(X.mean(axis=0))
    candidates = {"columns": "passthrough", "squares": surefit.PolynomialBasis(2), "one": surefit.PolynomialBasis(1)}
    noise, prior = 0.3, 2.0
    model = surefit.EvidenceSelector(candidates, noise_variance=noise, prior_variance=prior).fit(X, y, sample_weight=w)
    tables = [model.certificate_["evidence.best"].witness[f"features_{j}"] for j in range(3)]
    values = [posterior(rows_with_constant(T), column(y), numbers(w), mpf(noise), mpf(prior))[2] for T in tables]
    claim, chosen = model.certificate_["evidence.best"], model.best_index_
    require_upper(claim, max(values) - values[chosen], 1e-9)
    assert values[chosen] - mpf(10) ** -9 <= claim.numbers["log_evidence"] <= values[chosen]
    off = max(abs(values[chosen] - v - number(f)) for v, f in zip(values, model.log_bayes_factors_, strict=True))
    require_upper(claim, off, 1e-9, "factors")


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("data", SAMPLES)
def test_derivatives_of_the_evidence(data, constant):
    X, y, _, _, w = sample(data)
    for tol in (1e-1, 1e-8):
        model = surefit.BayesianRidge(fit_intercept=constant, tol=tol, alpha_1=0.5, lambda_2=1e-3).fit(
            X, y, sample_weight=w
        )
        Z, t, s = matrix(X), column(y), numbers(w)
        if constant:
            total = sum(s)
            means = [inner(s, list(Z[:, j])) / total for j in range(2)]
            middle = inner(s, list(t)) / total
            Z = mpmath.matrix([[Z[i, j] - means[j] for j in range(2)] for i in range(len(X))])
            t = mpmath.matrix([v - middle for v in t])

        def log_evidence(a, b, Z=Z, t=t, s=s, model=model):
            alpha, lam = mpmath.exp(a), mpmath.exp(b)
            priors = (model.alpha_1, model.alpha_2, model.lambda_1, model.lambda_2)
            alpha_1, alpha_2, lambda_1, lambda_2 = map(number, priors)
            found = posterior(Z, t, s, 1 / alpha, 1 / lam)[2]
            return found + alpha_1 * a - alpha_2 * alpha + lambda_1 * b - lambda_2 * lam

        at, h = (mpmath.log(number(model.alpha_)), mpmath.log(number(model.lambda_))), mpf(10) ** -15
        slopes = [
            abs(
                log_evidence(at[0] + (k == 0) * h, at[1] + (k == 1) * h)
                - log_evidence(at[0] - (k == 0) * h, at[1] - (k == 1) * h)
            )
            / (2 * h)
            for k in range(2)
        ]  # central differences, exact to 29 digits
        claim = model.certificate_["bayesian_ridge.evidence"]
        require_upper(claim, max(slopes), 2 * max(slopes) + mpf(10) ** -6)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("data", SAMPLES)
def test_mode_of_logistic_weights(data, constant):
    X, _, c, _, w = sample(data)
    prior = [1e4, 1e-8, 1.0][: 2 + constant] if data == "scales" else 2.0
    model = surefit.BayesianLogisticRegression(prior_covariance=prior, fit_intercept=constant, tol=1e-4)
    model.fit(X, c, sample_weight=w)
    Z = with_constant(X) if constant else matrix(X)
    ridge = [1 / number(v) for v in np.broadcast_to(prior, Z.cols)]
    losses = [logistic(int(t), number(s)) for t, s in zip(2 * c - 1, w, strict=True)]
    best, own = penalized(Z, lambda i, z: losses[i](z), ridge), column(model.posterior_mean_)

    def value(v):
        z = Z * v
        return sum(losses[i](z[i])[0] for i in range(Z.rows)) + inner(ridge, [u * u for u in v]) / 2

    claim = model.certificate_["bayesian_logistic.mode"]
    require_upper(claim, value(own) - value(best), claim.limit)
    curves = [losses[i](z)[2] for i, z in enumerate(Z * own)]
    covariance = (Z.T * mpmath.diag(curves) * Z + mpmath.diag(ridge)) ** -1
    off = max(abs(number(model.posterior_covariance_[j, j]) / covariance[j, j] - 1) for j in range(Z.cols))
    # The condition number of the diagonal prior, 1e12 for "scales", does not matter.
    require_upper(model.certificate_["bayesian_logistic.covariance"], off, 1e-9)


@pytest.mark.parametrize("data", SAMPLES)
def test_integral_over_one_weight(data):
    X, _, c, _, w = sample(data)
    X = X[:, 1:] if data == "scales" else X[:, :1] - X[0, 0]
    prior = 1e-11 if data == "scales" else 0.7
    model = surefit.BayesianLogisticRegression(prior_covariance=prior, method="grid").fit(X, c, sample_weight=w)
    x, s, t = numbers(X), numbers(w), (2 * c - 1).tolist()

    def density(v):
        loss = sum(a * mpmath.log1p(mpmath.exp(-b * u * v)) for a, b, u in zip(s, t, x, strict=True))
        return mpmath.exp(-loss - v * v / (2 * mpf(prior))) / mpmath.sqrt(2 * mpmath.pi * mpf(prior))

    wide = 14 * mpmath.sqrt(mpf(prior))
    ends = [-wide, -wide / 3, -wide / 10, 0, wide / 10, wide / 3, wide]
    with mpmath.workdps(25):
        moments = [mpmath.quad(lambda v, k=k: v**k * density(v), ends) for k in range(3)]
    mean = moments[1] / moments[0]
    variance = moments[2] / moments[0] - mean**2
    own = number(model.posterior_covariance_[0, 0])
    off = max(
        abs(mpmath.log(moments[0]) - number(model.log_evidence_)),
        abs(mean - number(model.posterior_mean_[0])) / mpmath.sqrt(own),
        abs(variance / own - 1),
    )
    require_upper(model.certificate_["bayesian_logistic.integral"], off, 1e-6)
