"""risk_certificate: exact numbers, every kind of predictor, and rows that prove nothing."""

import math

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from surefit import (
    CertificateError,
    DataWarning,
    DeltaLedger,
    InvalidData,
    InvalidParameter,
    Lasso,
    LogisticRegression,
    risk_certificate,
)
from surefit.bounds import conformal_rank, kl_inverse
from surefit.core.errors import SurefitError


class Answers:
    """A predictor of any library: it only has ``predict``."""

    def __init__(self, answers):
        self.answers = np.asarray(answers)

    def predict(self, X):
        return self.answers[np.asarray(X)[:, 0].astype(int)]


def counted(k, n):
    """Rows 0..n-1 with targets 0 and a predictor that errs on the first k."""
    X = np.arange(n, dtype=float)[:, None]
    return Answers(np.where(np.arange(n) < k, "a", "b")), X, np.full(n, "b")


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 100), (12, 400), (400, 400), (3, 7)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_clopper_pearson_from_the_beta_law(k, n, confidence):
    model, X, y = counted(k, n)
    claim = risk_certificate(model, X, y, confidence=confidence)["risk.holdout"]
    delta = 1.0 - confidence
    expected = 1.0 if k == n else beta.ppf(1 - delta, k + 1, n - k) if delta > 1e-6 else beta.isf(delta, k + 1, n - k)
    assert claim.value == pytest.approx(expected, rel=2e-7)
    assert claim.numbers["errors"] == k and claim.confidence == confidence
    assert "vacuous" in claim.statement  # one class only: the constant answer is never wrong here


def test_verify_recounts_and_notices_another_model():
    model, X, y = counted(12, 400)
    certificate = risk_certificate(model, X, y)
    assert certificate.verify(X, y)["risk.holdout"].level == "enclosed"
    model.answers[:12] = "b"
    with pytest.raises(CertificateError, match="errors is 0, 12 was stated"):
        certificate.verify(X, y)
    with pytest.raises(CertificateError):
        risk_certificate(counted(12, 400)[0], X, y).verify(X, np.roll(y, 1) + "x")


def test_comparing_models_costs_the_union_bound():
    # certificates.md: 6 % of 600 rows, J = 1, 10, 100
    model, X, y = counted(36, 600)
    values = [risk_certificate(model, X, y, n_models=J)["risk.holdout"].value for J in (1, 10, 100)]
    assert [round(v, 3) for v in values] == [0.078, 0.089, 0.099]
    risk_certificate(model, X, y, n_models=100).verify(X, y)


def test_ledger_pays_for_every_look():
    model, X, y = counted(36, 600)
    ledger = DeltaLedger(0.9)
    first, second = (risk_certificate(model, X, y, ledger=ledger) for _ in range(2))
    assert first.claims[0].numbers["delta_spent"] == pytest.approx(0.6 / math.pi**2)
    assert second.claims[0].numbers["delta_spent"] == pytest.approx(0.15 / math.pi**2)
    assert second.claims[0].value > first.claims[0].value and second.claims[0].confidence == pytest.approx(0.9)
    second.verify(X, y)
    assert len(ledger.entries) == 2 and 0 < ledger.left < 0.1
    ledger.spend("the rest", ledger.left)
    with pytest.raises(SurefitError, match="is left"):
        ledger.look("one more")


def test_brier_score_two_ways_and_several_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.argmax(X[:, :3] + rng.normal(scale=0.5, size=(600, 3)), axis=1)
    model = SkLogistic().fit(X[:300], y[:300])
    claim = risk_certificate(model, X[300:], y[300:], loss="brier")["risk.holdout"]
    p = model.predict_proba(X[300:])
    mean = np.mean(0.5 * np.sum((p - np.eye(3)[y[300:]]) ** 2, axis=1))
    assert claim.value == pytest.approx(kl_inverse(mean, math.log(20) / 300), rel=1e-8)
    two = SkLogistic().fit(X[:300], y[:300] == 1)
    claim = risk_certificate(two, X[300:], y[300:] == 1, loss="brier")["risk.holdout"]
    assert claim.numbers["empirical"] == pytest.approx(
        np.mean((two.predict_proba(X[300:])[:, 1] - (y[300:] == 1)) ** 2)
    )


def test_a_class_the_model_cannot_name_costs_its_probability():
    X = np.arange(40, dtype=float)[:, None]
    y = np.arange(40) % 2
    model = SkLogistic().fit(X, y)
    claim = risk_certificate(model, X[:7] + 0.5, np.full(7, 5), loss="brier")["risk.holdout"]
    p = model.predict_proba(X[:7] + 0.5)
    assert claim.numbers["empirical"] == pytest.approx(np.mean(0.5 * (1 + np.sum(p**2, axis=1))))


def test_regression_losses_in_the_units_of_the_target():
    X = np.arange(200, dtype=float)[:, None]
    y = np.where(np.arange(200) % 2, 10.0, 30.0)
    model = Answers(np.full(200, 25.0))
    squared = risk_certificate(model, X, y, y_range=(0, 50))["risk.holdout"]
    assert squared.value == pytest.approx(2500 * kl_inverse(125 / 2500, math.log(20) / 200), rel=1e-8)
    absolute = risk_certificate(model, X, y, loss="absolute", y_range=(0, 50))["risk.holdout"]
    assert absolute.value == pytest.approx(50 * kl_inverse(0.2, math.log(20) / 200), rel=1e-8)
    clipped = risk_certificate(Answers(np.full(200, 1e9)), X, y, loss="absolute", y_range=(0, 50))["risk.holdout"]
    assert clipped.numbers["empirical"] == pytest.approx(0.6)


def test_quantile_of_the_absolute_error_needs_no_range():
    X = np.arange(200, dtype=float)[:, None]
    claim = risk_certificate(Answers(np.zeros(200)), X, np.arange(1.0, 201.0))["risk.quantile"]
    assert claim.value == pytest.approx(188, rel=1e-11) and conformal_rank(200, 0.1, 0.05) == 188
    tiny = risk_certificate(Answers(np.zeros(200)), X[:20], np.arange(1.0, 21.0))
    assert tiny["risk.quantile"].value == math.inf and "vacuous" in tiny["risk.quantile"].statement
    tiny.verify(X[:20], np.arange(1.0, 21.0))


def test_functions_and_models_of_this_library():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)
    certificate = risk_certificate(lambda rows: (rows[:, 0] > 0).astype(int), X, y, loss="zero_one")
    assert certificate["risk.holdout"].numbers["errors"] == np.sum((X[:, 0] > 0) != y)
    certificate.verify(X, y)
    model = LogisticRegression().fit(X[:150], y[:150])
    assert risk_certificate(model, X[150:], y[150:])["risk.holdout"].value < 0.25


@pytest.mark.parametrize("model", [LogisticRegression(), SVC()])
def test_training_rows_are_refused(model):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    with pytest.raises(InvalidData, match="training rows of"):
        risk_certificate(model.fit(X, y), X, y)


def test_training_rows_are_found_if_they_are_shown():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, size=100)
    model = KNeighborsClassifier(1).fit(X, y)
    mixed, targets = np.vstack([rng.normal(size=(50, 3)), X[:3]]), np.concatenate([rng.integers(0, 2, size=50), y[:3]])
    with pytest.raises(InvalidData, match="3 of the 53 hold-out rows"):
        risk_certificate(model, mixed, targets, X_train=X)
    assert risk_certificate(model, mixed[:50], targets[:50], X_train=X)["risk.holdout"].numbers["n"] == 50


def test_hold_out_rows_scaled_by_themselves_get_no_claim():
    rng = np.random.default_rng(4)
    X = StandardScaler().fit_transform(rng.normal(size=(100, 3)))
    y = (X[:, 0] > 0).astype(int)
    model = SkLogistic().fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    with pytest.warns(DataWarning, match="Pipeline"):
        claim = risk_certificate(model, X, y).claims[0]
    assert claim.kind == "no_claim" and claim.name == "risk.void"
    assert risk_certificate(model, X, y, assume=("fixed_scaling",)).claims[0].kind == "risk_bound"


def test_copies_count_once_and_groups_are_units():
    model, X, y = counted(10, 50)
    doubled = risk_certificate(model, np.vstack([X, X]), np.concatenate([y, y]))
    assert doubled["risk.holdout"].value == pytest.approx(risk_certificate(model, X, y)["risk.holdout"].value)
    grouped = risk_certificate(model, X, y, groups=np.arange(50) // 5)["risk.holdout"]
    assert grouped.value == pytest.approx(kl_inverse(0.2, math.log(20) / 10), rel=1e-8)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"confidence": 0}, "confidence"),
        ({"loss": "hinge"}, "loss must be"),
        ({"loss": "squared"}, "loss"),
        ({"n_models": 0}, "n_models"),
        ({"assume": ("luck",)}, "assume"),
        ({"y_range": (1, 0)}, "y_range"),
        ({"coverage": 2}, "coverage"),
        ({"loss": "brier"}, "without predict_proba"),
    ],
)
def test_bad_parameters(options, match):
    model, X, y = counted(1, 10)
    with pytest.raises(InvalidParameter, match=match):
        risk_certificate(model, X, y, **options)


def test_bad_data():
    model, X, y = counted(1, 10)
    with pytest.raises(InvalidData, match="10 rows and y_holdout 9"):
        risk_certificate(model, X, y[:9])
    with pytest.raises(InvalidParameter, match="model must be"):
        risk_certificate(7, X, y)
    with pytest.raises(InvalidData, match=r"must lie in \[0, 1\]"):
        risk_certificate(Lasso().fit(X, X[:, 0]), X + 1, X[:, 0], loss=lambda y, p: np.abs(y - p) + 2)
