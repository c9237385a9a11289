"""Certificates and models that were made better than they are, with fresh digests and seal: the checker refuses each."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from tests.forging import reissued, with_claim

from surefit import (
    CertificateError,
    Certified,
    ConformalClassifier,
    ConformalRegressor,
    DeltaLedger,
    GridSearchCV,
    RandomizedSearchCV,
    StructuralRiskMinimizer,
    risk_certificate,
)
from surefit.bounds import clopper_pearson
from surefit.checks.risk.answers import row_losses


def blobs(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 2, size=n)
    return rng.normal(size=(n, d)) + t[:, None], t


def refuse(model, X, y, match=None, **attributes):
    """Change fitted attributes, compute digests and seal anew, and expect a refusal; then put everything back."""
    kept = {name: getattr(model, name) for name in attributes}
    for name, value in attributes.items():
        setattr(model, name, value)
    with pytest.raises(CertificateError, match=match):
        reissued(model).verify(X, y)
    for name, value in kept.items():
        setattr(model, name, value)
    assert model.verify(X, y)


def test_rows_that_were_got_wrong_cannot_be_moved_into_training():
    X, y = blobs(300)
    model = Certified(GaussianNB(), random_state=4).fit(X, y)
    tested = model.test_rows_
    wrong = model.predict(X[tested]) != y[tested]
    better = {"test_rows_": tested[~wrong], "train_rows_": np.sort(np.concatenate([model.train_rows_, tested[wrong]]))}
    refuse(model, X, y, "150 rows .* must be held out", **better)
    for name in ("train_rows_", "test_rows_"):
        with pytest.raises(CertificateError, match=name):  # without new digests the change itself is found
            changed = getattr(model, name)
            setattr(model, name, changed[::-1].copy())
            try:
                model.verify(X, y)
            finally:
                setattr(model, name, changed)


@pytest.mark.parametrize(
    ("model", "size"),
    [
        (Certified(GaussianNB(), test_size=60, random_state=4), "test_size"),
        (Certified(GaussianNB(), "transfer", test_size=60, random_state=4), "test_size"),
        (ConformalClassifier(GaussianNB(), calibration_size=60, random_state=4), "calibration_size"),
    ],
    ids=["holdout", "transfer", "conformal"],
)
def test_the_number_of_held_out_rows_is_that_of_the_parameters(model, size):
    X, y = blobs(300)
    fresh = {"X_unlabeled": blobs(60, seed=1)[0]} if getattr(model, "by", "") == "transfer" else {}
    model.fit(X, y, **fresh)
    assert model.verify(X, y)
    for other, words in ((None, "150 rows"), (61, "61 rows")):
        setattr(model, size, other)
        certificate = reissued(model)
        params = {**certificate.params, size: other}
        with pytest.raises(CertificateError, match=rf"{words} \(or groups\) must be held out, and 60 were"):
            dataclasses.replace(certificate, params=params, seal="").verify(X, y)


@pytest.mark.parametrize("by", ["holdout", "progressive", "transfer", "p2l"])
def test_every_procedure_draws_its_split_from_the_seed(by):
    X, y = blobs(240)
    fresh = {"X_unlabeled": blobs(60, seed=1)[0]} if by == "transfer" else {}
    model = Certified(SVC(), by, n_blocks=4, random_state=np.int64(2)).fit(X, y, **fresh)
    rows, train = model.test_rows_.copy(), model.train_rows_.copy()
    train[0], rows[0] = rows[0], train[0]
    changed = {"test_rows_": rows, "train_rows_": train} if by != "progressive" else {"test_rows_": rows}
    refuse(model, X, y, **changed)


@pytest.mark.parametrize("by", ["holdout", "progressive", "transfer", "p2l"])
def test_numbers_of_a_claim_cannot_be_changed(by):
    X, y = blobs(240)
    fresh = {"X_unlabeled": blobs(60, seed=1)[0]} if by == "transfer" else {}
    model = Certified(SVC(), by, n_blocks=4, random_state=0).fit(X, y, **fresh)
    certificate = model.certificate_
    claim = certificate.claims[0]
    with pytest.raises(CertificateError):
        with_claim(certificate, claim.name, value=claim.value * 0.99).verify(X, y)
    for name, number in claim.numbers.items():
        if isinstance(number, str):
            worse = number + "x"
        elif isinstance(number, list):
            worse = number[1:]
        else:
            worse = number * 0.5 + 0.1 if isinstance(number, float) else number + 1
        with pytest.raises(CertificateError):
            with_claim(certificate, claim.name, numbers={**claim.numbers, name: worse}).verify(X, y)
    with pytest.raises(CertificateError, match="missing or unexpected numbers"):
        with_claim(certificate, claim.name, numbers={**claim.numbers, "more": 1.0}).verify(X, y)


def test_blocks_cannot_be_tested_by_models_that_saw_them():
    X, y = blobs(240)
    model = Certified(SVC(), "progressive", n_blocks=4, random_state=np.random.RandomState(0)).fit(X, y)
    refuse(model, X, y, "drawn", block_sizes_=np.array([90, 10, 10, 10]))
    refuse(model, X, y, models_=model.models_[::-1])


def test_copies_are_counted_once_and_others_not_together():
    X, y = blobs(100)
    twice, labels = np.vstack([X, X]), np.concatenate([y, y])
    model = Certified(GaussianNB(), random_state=np.random.RandomState(0)).fit(twice, labels)
    claim = model.certificate_.claims[0]
    errors, n = 2 * claim.numbers["errors"], 2 * claim.numbers["n"]
    numbers = {**claim.numbers, "errors": errors, "n": n}
    with pytest.raises(CertificateError):
        with_claim(model.certificate_, claim.name, value=clopper_pearson(errors, n, 0.05), numbers=numbers).verify(
            twice, labels
        )
    assert "equal_rows_are_copies" in claim.assumptions


def test_a_seed_that_was_not_used_is_found():
    X, y = blobs(240)
    model = Certified(SVC(), random_state=0).fit(X, y)
    model.random_state = 1
    with pytest.raises(CertificateError, match="random_state"):
        model.verify(X, y)


def test_a_look_of_a_ledger_cannot_spend_more():
    X, y = blobs(200)
    model = LogisticRegression().fit(*blobs(200, seed=1))
    ledger = DeltaLedger(confidence=0.9)
    looks = [risk_certificate(model, X, y, ledger=ledger) for _ in range(3)]
    for look in looks:
        assert look.verify(X, y)["risk.holdout"].ok
    claim = looks[-1].claims[0]
    with pytest.raises(CertificateError):
        with_claim(looks[-1], claim.name, numbers={**claim.numbers, "delta_spent": 0.2}).verify(X, y)


@pytest.mark.parametrize("change", ["rows", "targets", "seal"])
def test_other_data_and_broken_seals(change):
    X, y = blobs(120)
    model = ConformalRegressor(Ridge(), random_state=0).fit(X, y.astype(float))
    certificate = model.certificate_
    if change == "seal":
        claim = dataclasses.replace(certificate.claims[0], value=0.0)
        certificate = dataclasses.replace(certificate, claims=(claim, *certificate.claims[1:]))
        with pytest.raises(CertificateError, match="seal"):
            certificate.verify(X, y.astype(float))
        return
    other_X, other_y = (X + 1e-12, y) if change == "rows" else (X, 1 - y)
    with pytest.raises(CertificateError, match="fingerprint"):
        certificate.verify(other_X, other_y.astype(float))


def test_calibration_rows_cannot_be_chosen_or_repeated():
    X, _ = blobs(200)
    t = X @ [1.0, 0.5, 0.0] + np.random.default_rng(1).normal(size=200)
    model = ConformalRegressor(Ridge(), coverage=0.8, random_state=3).fit(X, t)
    rows = model.calibration_rows_
    best = rows[np.argsort(np.abs(model.residuals_))[:50]]
    refuse(model, X, t, "100 rows .* must be held out", calibration_rows_=np.sort(best))
    train, other = model.train_rows_.copy(), rows.copy()
    train[0], other[0] = rows[0], model.train_rows_[0]
    refuse(model, X, t, "random_state draws", calibration_rows_=np.sort(other), train_rows_=np.sort(train))
    refuse(model, X, t, "tested twice", calibration_rows_=np.concatenate([rows, rows]))
    refuse(model, X, t, quantile_=model.quantile_ / 2)


def test_folds_of_sets_cannot_be_renumbered():
    X, y = blobs(60)
    model = ConformalRegressor(Ridge(), "cv+", n_folds=6, random_state=0).fit(X, y.astype(float))
    claim = model.certificate_["conformal.folds"]
    with pytest.raises(CertificateError):
        with_claim(model.certificate_, claim.name, value=0.2, numbers={**claim.numbers, "folds": 60}).verify(
            X, y.astype(float)
        )
    refuse(model, X, y.astype(float), "not of the same size|predictions", folds_=np.arange(60))
    refuse(model, X, y.astype(float), "not those that were calibrated", residuals_=model.residuals_ / 2)


def test_thresholds_of_classes_cannot_be_lowered():
    X, y = blobs(200)
    model = ConformalClassifier(GaussianNB(), by_class=True, random_state=0).fit(X, y)
    refuse(model, X, y, thresholds_=model.thresholds_ / 2)


def test_structures_cannot_be_made_smaller():
    X, y = blobs(3000)
    model = StructuralRiskMinimizer([GaussianNB(), GaussianNB(var_smoothing=0.1)], [4, 5]).fit(X, y)
    claim = model.certificate_["selection.structural"]
    for changes in (
        {"value": claim.value * 0.9},
        {"numbers": {**claim.numbers, "errors": 0}},
        {"numbers": {**claim.numbers, "n": 30000}},
    ):
        with pytest.raises(CertificateError):
            with_claim(model.certificate_, claim.name, **changes).verify(X, y)


def test_searches_count_every_candidate():
    X, y = blobs(60)
    grid = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1.0]}, cv=3).fit(X, y)
    claim = grid.certificate_["selection.search"]
    with pytest.raises(CertificateError):
        with_claim(grid.certificate_, claim.name, numbers={**claim.numbers, "candidates": 1}).verify(X, y)
    refuse(grid, X, y, splits_=grid.splits_[::-1])
    draws = RandomizedSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1.0]}, n_iter=3, cv=3, random_state=0).fit(
        X, y
    )
    claim = draws.certificate_["selection.random_draws"]
    with pytest.raises(CertificateError):
        with_claim(draws.certificate_, claim.name, value=0.01, numbers={**claim.numbers, "draws": 1000}).verify(X, y)


def test_without_the_model_nothing_is_believed():
    X, y = blobs(300)
    model = Certified(GaussianNB(), random_state=0).fit(X, y)
    alone = dataclasses.replace(model.certificate_, subject=None)
    with pytest.raises(CertificateError, match="pass verify"):
        alone.verify(X, y)
    assert alone.verify(X, y, model=model)["risk.holdout"].ok


def test_losses_of_one_claim_are_not_those_of_another():
    X, y = blobs(300)
    mild = Certified(GaussianNB(), loss="brier", random_state=4).fit(X, y).certificate_.claims[0]
    model = Certified(GaussianNB(), random_state=4).fit(X, y)
    honest, *others = model.certificate_.claims
    both = dataclasses.replace(model.certificate_, claims=(mild, honest, *others), seal="").of(model)
    assert both.verify(X, y)["risk.holdout"].claimed == mild.value
    n, few = honest.numbers["n"], round(mild.numbers["empirical"] * honest.numbers["n"])
    assert few < honest.numbers["errors"]
    fewer = dataclasses.replace(honest, value=clopper_pearson(few, n), numbers={**honest.numbers, "errors": few})
    with pytest.raises(CertificateError, match=r"risk\.holdout"):
        dataclasses.replace(both, claims=(mild, fewer, *others), seal="").verify(X, y)


def test_answers_that_are_not_numbers_are_misses():
    class Nothing(Ridge):
        def predict(self, X):
            return np.full(len(X), np.nan)

    z = {"loss": "miss", "tolerance": 5.0, "low": 0.0, "high": 1.0}
    X, y = np.zeros((4, 1)), np.zeros(4)
    assert row_losses(Nothing().fit(X, y), X, y, z).tolist() == [1.0] * 4
