"""The checkers of discriminants, fed with models from anywhere: they never believe, they re-derive."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.forging import reissued
from tests.hard_data import hard_data

from surefit import FisherDiscriminant, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from surefit.checks import verify
from surefit.core.errors import CertificateError, InvalidData

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
    claim = replace(
        certificate["discriminant.gap"], value=best, numbers={"criterion": 0.99 * best}, limit=0.9e-6 * best
    )
    honest = altered(certificate, {"coef_": coef}, [claim])
    assert 1e-6 * best <= verify(honest, X, Y)["discriminant.gap"].proved <= 1e-3 * best


def test_spoiled_directions_and_counts_are_refused():
    certificate = LinearDiscriminantAnalysis().fit(X, Y).certificate_
    V = certificate.model["scalings_"]
    turned = np.column_stack([V[:, 0] + 1e-4 * V[:, 1], V[:, 1]])
    with pytest.raises(CertificateError, match=r"discriminant.directions.*does not hold"):
        verify(altered(certificate, {"scalings_": turned}), X, Y)
    complete = certificate["discriminant.complete"]
    for numbers in (
        {"threshold": -1.0, "count": 2},
        {**complete.numbers, "count": 1},
        {**complete.numbers, "count": 3},
    ):
        with pytest.raises(CertificateError, match=r"discriminant.complete.*does not hold"):
            verify(altered(certificate, claims=[replace(complete, numbers=numbers)]), X, Y)


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
        with pytest.raises(CertificateError, match="does not follow from the parameters"):
            verify(altered(certificate, problem={"priors": [0.3, 0.3, 0.4]}), X, Y)


def test_another_covariance_is_refused():
    certificate = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(X, Y).certificate_
    with pytest.raises(CertificateError, match="does not follow from the parameters"):
        verify(altered(certificate, problem={"shrinkage": 0.2}), X, Y)
    other = replace(
        altered(certificate, problem={"shrinkage": 0.2}), params={**certificate.params, "shrinkage": 0.2}, seal=""
    )
    with pytest.raises(CertificateError, match=r"discriminant.gap.*does not hold"):
        verify(other, X, Y)
    two = FisherDiscriminant(ridge=0.5).fit(X[Y > 0], Y[Y > 0]).certificate_
    with pytest.raises(CertificateError, match="does not follow from the parameters"):
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
    with pytest.raises(CertificateError, match=r"discriminant.restricted_gap.*does not hold"):
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
    assert near.certificate_["discriminant.complete"].value == 0


MODELS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    QuadraticDiscriminantAnalysis(),
    FisherDiscriminant(),
    FisherDiscriminant(ridge=1.0),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_hard_data_are_claimed_with_what_can_be_proved(model):
    for hard in hard_data():
        if len(np.unique(hard.labels)) < 2:
            continue
        weights = {} if hard.weights is None else {"sample_weight": hard.weights}
        try:
            model.fit(hard.X, hard.labels, **weights)
        except InvalidData:  # two rows have no scatter, and FisherDiscriminant has two classes
            continue
        for finding in model.verify(hard.X, hard.labels, **weights).findings:
            assert not finding.claimed < finding.proved, (hard.name, finding)


@pytest.mark.parametrize("model", MODELS[:5], ids=str)
def test_models_and_numbers_that_were_changed_are_refused(model):
    certificate = model.fit(X, Y).certificate_
    for name, array in certificate.model.items():
        for wrong in (-array, array[::-1].copy(), 2 * array, 0 * array, array * np.nan):
            same = name in ("scalings_", "rotations_") and np.array_equal(wrong, -array)  # an axis has no sign
            if array.dtype.kind in "if" and not np.array_equal(wrong, array) and not same:
                with pytest.raises(CertificateError):
                    verify(altered(certificate, {name: wrong}), X, Y)
    found = model.verify(X, Y)
    for claim in certificate.claims:
        if claim.kind == "no_claim":
            continue
        for value in (found[claim.name].proved * 0.99 - 1e-300, -np.inf, np.nan):
            forged = [replace(claim, value=value) if other is claim else other for other in certificate.claims]
            with pytest.raises(CertificateError):
                verify(altered(certificate, claims=forged), X, Y)


@pytest.mark.parametrize(
    "model", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("texts", [False, True])
def test_classes_in_another_order_are_refused(model, texts):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y] if texts else y
    model.fit(X, y)
    model.classes_ = model.classes_[::-1].copy()
    with pytest.raises(CertificateError, match="classes_ are not the sorted labels"):
        reissued(model).verify(X, y)
