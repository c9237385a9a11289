"""The checkers of discriminants, fed with models from anywhere: they never believe, they re-derive."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surefit import FisherDiscriminant, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from surefit.checks import verify
from surefit.core.errors import CertificateError

X, Y = load_iris(return_X_y=True)


def altered(certificate, model=None, claims=None, problem=None):
    """A certificate with other contents and a valid seal: what a forger would write."""
    return replace(
        certificate,
        model={**certificate.model, **(model or {})},
        claims=tuple(claims or certificate.claims),
        problem={**certificate.problem, **(problem or {})},
        seal="",
        subject=None,
    )


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_gap_of_a_spoiled_rule_is_the_true_one(solver):
    certificate = LinearDiscriminantAnalysis(solver=solver).fit(X, Y).certificate_
    coef = certificate.model["coef_"] * 1.001
    with pytest.raises(CertificateError, match=r"discriminant.gap.*does not hold") as refusal:
        verify(altered(certificate, {"coef_": coef}), X, Y)
    # all residuals are a thousandth of the targets, so the gap is 1e-6 of the criterion, times the slack of the bound
    best = certificate["discriminant.gap"].numbers["criterion"]
    assert refusal.value.excess >= 1e-6 * best
    claim = replace(certificate["discriminant.gap"], value=best, limit=None, holds=None)
    honest = altered(certificate, {"coef_": coef}, [claim])
    assert 1e-6 * best <= verify(honest, X, Y)["discriminant.gap"].proved <= 1e-3 * best


def test_spoiled_directions_and_counts_are_refused():
    certificate = LinearDiscriminantAnalysis().fit(X, Y).certificate_
    V = certificate.model["scalings_"]
    turned = np.column_stack([V[:, 0] + 1e-4 * V[:, 1], V[:, 1]])
    with pytest.raises(CertificateError, match=r"discriminant.directions.*does not hold"):
        verify(altered(certificate, {"scalings_": turned}), X, Y)
    complete = certificate["discriminant.complete"]
    ratios = certificate["discriminant.directions"].numbers["ratios"]
    wrong = replace(complete, numbers={"threshold": (ratios[0] + ratios[1]) / 2, "count": 2})
    with pytest.raises(CertificateError, match=r"1 eigenvalues are above"):
        verify(altered(certificate, claims=[wrong]), X, Y)


@pytest.mark.parametrize("name", ["means_", "intercept_"])
def test_spoiled_moments_are_refused(name):
    certificate = LinearDiscriminantAnalysis().fit(X, Y).certificate_
    spoiled = certificate.model[name].copy()
    spoiled.flat[1] += 1e-4
    with pytest.raises(CertificateError, match=r"discriminant.moments.*does not hold"):
        verify(altered(certificate, {name: spoiled}), X, Y)


def test_wrong_priors_are_refused():
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(tol=1e-6)):
        certificate = model.fit(X, Y).certificate_
        with pytest.raises(CertificateError, match="does not hold"):
            verify(altered(certificate, problem={"priors": [0.3, 0.3, 0.4]}), X, Y)


def test_another_covariance_is_refused():
    certificate = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(X, Y).certificate_
    with pytest.raises(CertificateError, match=r"discriminant.gap.*does not hold"):
        verify(altered(certificate, problem={"shrinkage": 0.2}), X, Y)
    two = FisherDiscriminant(ridge=0.5).fit(X[Y > 0], Y[Y > 0]).certificate_
    with pytest.raises(CertificateError, match=r"discriminant.gap.*does not hold"):
        verify(altered(two, problem={"ridge": 0.51}), X[Y > 0], Y[Y > 0])


@pytest.mark.parametrize(("name", "factor"), [("scalings_", 1.001), ("means_", 1.001), ("rotations_", 1.01)])
def test_spoiled_densities_are_refused(name, factor):
    certificate = QuadraticDiscriminantAnalysis(tol=1e-6).fit(X, Y).certificate_
    with pytest.raises(CertificateError, match=r"quadratic.likelihood.*does not hold"):
        verify(altered(certificate, {name: certificate.model[name] * factor}), X, Y)


def test_rule_outside_the_span_is_refused():
    thin = X[::10]
    labels = Y[::10]
    wide = np.hstack([thin, thin**2, thin**3, np.sin(5 * thin)])
    certificate = LinearDiscriminantAnalysis().fit(wide, labels).certificate_
    assert verify(certificate, wide, labels)["discriminant.restricted_gap"].ok
    coef = certificate.model["coef_"].copy()
    coef[0, 0] += 1.0
    with pytest.raises(CertificateError, match="span of scalings_"):
        verify(altered(certificate, {"coef_": coef}), wide, labels)


def test_scaled_columns_prove_as_much():
    units = np.array([1e-8, 1.0, 1e8, 1e3])
    plain = LinearDiscriminantAnalysis().fit(X, Y).verify(X, Y)["discriminant.gap"].proved
    scaled = LinearDiscriminantAnalysis().fit(X * units, Y).verify(X * units, Y)["discriminant.gap"].proved
    assert scaled <= 10 * plain


def test_far_from_the_origin_completeness_is_claimed_only_where_it_can_be_proved():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 4))
    y = np.digitize(X[:, 0] - X[:, 1], [-0.5, 0.5])
    near, far = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X + 1e12, y)
    assert near.verify(X, y)["discriminant.complete"].ok
    assert far.verify(X + 1e12, y)["discriminant.gap"].ok
    assert "discriminant.complete" not in [claim.name for claim in far.certificate_.claims]
