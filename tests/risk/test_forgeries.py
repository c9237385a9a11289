"""Certificates that were made better than they are, with a fresh seal: the checker refuses each, and says why."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from surefit import (
    CertificateError,
    Certified,
    ConformalRegressor,
    DeltaLedger,
    RandomizedSearchCV,
    StructuralRiskMinimizer,
    risk_certificate,
)
from surefit.bounds import clopper_pearson, pick_to_learn
from surefit.checks.risk_answers import labels_of


def blobs(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 2, size=n)
    return rng.normal(size=(n, d)) + t[:, None], t


def forged(certificate, claim=None, **changes):
    """The certificate with a changed first claim, sealed again; ``subject`` and ``problem`` as named."""
    claims = certificate.claims if claim is None else (claim, *certificate.claims[1:])
    return dataclasses.replace(certificate, claims=claims, seal="", **changes)


def holdout_claim(claim, rows, y, errors=None):
    """The hold-out claim about other rows, with the bound that their errors would give."""
    keep = np.isin(claim.witness["test_rows"], rows)
    predictions = claim.witness["predictions"][keep]
    wrong = int(np.sum(predictions != y[claim.witness["test_rows"][keep]])) if errors is None else errors
    value = clopper_pearson(wrong, int(keep.sum()), 0.05)
    numbers = {
        **claim.numbers,
        "errors": wrong,
        "n": int(keep.sum()),
        "normalised": value,
        "empirical": wrong / keep.sum(),
    }
    gone = claim.witness["test_rows"][~keep]
    witness = {
        **claim.witness,
        "predictions": predictions,
        "test_rows": claim.witness["test_rows"][keep],
        "train_rows": np.sort(np.concatenate([claim.witness["train_rows"], gone])),
    }
    return dataclasses.replace(claim, value=value, numbers=numbers, witness=witness)


def test_rows_that_were_got_wrong_cannot_be_moved_into_training():
    X, y = blobs(300)
    model = Certified(GaussianNB(), random_state=4).fit(X, y)
    certificate, claim = model.certificate_, model.certificate_.claims[0]
    rows = claim.witness["test_rows"]
    right = rows[claim.witness["predictions"] == y[rows]]
    better = holdout_claim(claim, right, y)
    assert better.value < claim.value / 3
    for subject in (model, None):
        with pytest.raises(CertificateError, match="not the one that random_state=4 draws"):
            forged(certificate, better, subject=subject).verify(X, y)
    assert forged(certificate, holdout_claim(claim, rows, y)).verify(X, y)  # nothing moved: the same claim


@pytest.mark.parametrize("by", ["progressive", "transfer", "p2l"])
def test_every_procedure_draws_its_split_from_the_seed(by):
    X, y = blobs(240)
    fresh = {"X_unlabelled": blobs(60, seed=1)[0]} if by == "transfer" else {}
    model = Certified(SVC(), by, n_blocks=4, random_state=np.int64(2)).fit(X, y, **fresh)
    model.verify(X, y)
    claim = model.certificate_.claims[0]
    rows = claim.witness["test_rows"].copy()
    if by == "progressive":
        rows[[0, -1]] = rows[[-1, 0]]
        witness = {**claim.witness, "test_rows": rows}
    else:
        train = claim.witness["train_rows"].copy()
        train[0], rows[0] = rows[0], train[0]
        witness = {**claim.witness, "test_rows": rows, "train_rows": train}
    with pytest.raises(CertificateError, match="random_state=2"):
        forged(model.certificate_, dataclasses.replace(claim, witness=witness)).verify(X, y)


def test_blocks_cannot_be_tested_by_models_that_saw_them():
    X, y = blobs(240)
    model = Certified(SVC(), "progressive", n_blocks=4, random_state=np.random.RandomState(0)).fit(X, y)
    claim = model.certificate_.claims[0]
    for blocks in (np.full(120, 3), np.r_[np.zeros(90), 1 + np.arange(30) // 10]):
        changed = dataclasses.replace(claim, witness={**claim.witness, "blocks": blocks.astype(np.int64)})
        with pytest.raises(CertificateError, match="the model of the rows before it"):
            forged(model.certificate_, changed).verify(X, y)


def test_picked_rows_cannot_be_forgotten():
    # Eighty places with a label each: a row picked settles its place. No seed: the split is believed, its size is not.
    rng = np.random.default_rng(0)
    place = rng.integers(0, 80, size=400)
    X, y = (place + rng.uniform(0, 0.1, size=400))[:, None], place * 37 % 80 % 2
    tree = DecisionTreeClassifier(random_state=0)
    model = Certified(tree, "p2l", batch_size=2, random_state=np.random.RandomState(0)).fit(X, y)
    claim = model.certificate_.claims[0]
    left = len(claim.witness["test_rows"])
    size = claim.numbers["size"] - claim.numbers["picked"]
    value = pick_to_learn(0, size, left, 0.05, budgets=6).value
    numbers = {**claim.numbers, "picked": 0, "n": left, "size": size, "normalised": value}
    assert claim.numbers["picked"] > 0
    with pytest.raises(CertificateError, match="second half of 400"):
        forged(model.certificate_, dataclasses.replace(claim, value=value, numbers=numbers)).verify(X, y)


def test_errors_cannot_be_hidden_in_one_unit():
    X, y = blobs(300)
    model = Certified(GaussianNB(), random_state=np.random.RandomState(0)).fit(X, y)
    claim = model.certificate_.claims[0]
    wrong = claim.witness["predictions"] != y[claim.witness["test_rows"]]
    units = np.where(wrong, 0, np.cumsum(~wrong))
    n = int(units.max()) + 1
    value = clopper_pearson(1, n, 0.05)
    fewer = dataclasses.replace(
        claim,
        value=value,
        numbers={**claim.numbers, "errors": 1, "n": n, "normalised": value, "empirical": 1 / n},
        assumptions=("iid", "equal_rows_are_copies", "rows_untouched"),
        witness={**claim.witness, "units": units},
    )
    with pytest.raises(CertificateError, match="not copies of each other"):
        forged(model.certificate_, fewer).verify(X, y)


def test_copies_cannot_be_counted_apart():
    X, y = blobs(100)
    twice, labels = np.vstack([X, X]), np.concatenate([y, y])
    model = Certified(GaussianNB(), random_state=np.random.RandomState(0)).fit(twice, labels)
    claim = model.certificate_.claims[0]
    kept = {name: value for name, value in claim.witness.items() if name != "units"}
    errors, n = 2 * claim.numbers["errors"], 2 * claim.numbers["n"]
    value = clopper_pearson(errors, n, 0.05)
    numbers = {**claim.numbers, "errors": errors, "n": n, "normalised": value}
    apart = dataclasses.replace(claim, value=value, numbers=numbers, witness=kept)
    with pytest.raises(CertificateError, match="not copies"):
        forged(model.certificate_, apart).verify(twice, labels)


def test_vote_and_units_of_the_loss():
    X, y = blobs(240)
    model = Certified(SVC(), "progressive", n_blocks=4, random_state=0).fit(X, y)
    claim = model.certificate_.claims[0]
    half = dataclasses.replace(claim, value=claim.value / 2, numbers={**claim.numbers, "factor": 1.0})
    with pytest.raises(CertificateError, match="twice as often"):
        forged(model.certificate_, half).verify(X, y)
    t = X @ [1.0, 0.5, 0.0]
    ranged = Certified(Ridge(), y_range=(-10, 10), random_state=0).fit(X, t)
    claim = ranged.certificate_.claims[0]
    small = dataclasses.replace(claim, value=claim.value / 400, numbers={**claim.numbers, "scale": 1.0})
    with pytest.raises(CertificateError, match="units of the loss"):
        forged(ranged.certificate_, small).verify(X, t)


def test_ledger_cannot_be_overspent():
    X, y = blobs(200)
    model = LogisticRegression().fit(*blobs(200, seed=1))
    ledger = DeltaLedger(confidence=0.9)
    looks = [risk_certificate(model, X, y, ledger=ledger) for _ in range(3)]
    for look in looks:
        assert look.verify(X, y)["risk.holdout"].ok
    certificate = looks[-1]
    entries = [[what, 3 * share] for what, share in certificate.problem["ledger"]]
    with pytest.raises(CertificateError, match="ledger spends more"):
        forged(certificate, problem={**certificate.problem, "ledger": entries}).verify(X, y)
    claim = certificate.claims[0]
    whole = {**claim.numbers, "delta_spent": 0.2}
    with pytest.raises(CertificateError, match="does not follow"):
        forged(certificate, dataclasses.replace(claim, numbers=whole)).verify(X, y)


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
    claim = model.certificate_["conformal.coverage"]
    error = np.abs(t[claim.witness["rows"]] - claim.witness["predictions"])
    order = np.argsort(error)[:50]  # the fifty best of a hundred
    rank = 41
    numbers = {**claim.numbers, "m": 50, "rank": rank, "threshold": float(np.sort(error)[rank - 1])}
    kept = {**claim.witness, "rows": claim.witness["rows"][order], "predictions": claim.witness["predictions"][order]}
    value = 1 - rank / 51
    best = dataclasses.replace(claim, value=value, numbers=numbers, witness=kept)
    with pytest.raises(CertificateError, match="random_state draws"):
        forged(model.certificate_, best).verify(X, t)
    again = {name: np.concatenate([kept[name], kept[name]]) for name in ("rows", "predictions")}
    numbers = {**numbers, "m": 100, "rank": 82}
    twice = dataclasses.replace(claim, value=1 - 82 / 101, numbers=numbers, witness={**kept, **again})
    with pytest.raises(CertificateError, match="counted twice"):
        forged(model.certificate_, twice).verify(X, t)


def test_folds_of_sets_cannot_be_renumbered():
    X, y = blobs(60)
    model = ConformalRegressor(Ridge(), "cv+", n_folds=6, random_state=0).fit(X, y.astype(float))
    claim = model.certificate_["conformal.folds"]
    more = dataclasses.replace(claim, value=0.2, numbers={**claim.numbers, "folds": 60})
    with pytest.raises(CertificateError, match="not 60 of the same size"):
        forged(model.certificate_, more).verify(X, y.astype(float))


def test_structures_cannot_be_made_smaller():
    X, y = blobs(3000)
    model = StructuralRiskMinimizer([GaussianNB(), GaussianNB(var_smoothing=0.1)], [4, 5]).fit(X, y)
    claim = model.certificate_["selection.structural"]
    z, w = claim.numbers, claim.witness

    def refused(words, value=0.3, **changes):
        with pytest.raises(CertificateError, match=words):
            forged(model.certificate_, dataclasses.replace(claim, value=value, **changes)).verify(X, y)

    refused("dimension", numbers={**z, "dimension": 1})
    refused("different rows", numbers={**z, "n": 300_000})
    refused("by the vc bound", numbers={**z, "bound": "finite_class", "log_size": 0.0, "sides": 1, "width": 1.0})
    refused("add up", numbers={**z, "delta_spent": 0.05}, witness={**w, "shares": np.array([0.05, 0.05])})
    refused("classes were compared", witness={**w, "shares": w["shares"][:1]})
    refused("errors on", numbers={**z, "empirical": 0.0})
    refused(
        "errors on|no longer",
        witness={**w, "predictions": np.vstack([labels_of(y)] * 2), "errors": np.zeros(2, dtype=np.int64)},
    )


def test_draws_cannot_be_invented():
    X, y = blobs(60)
    model = RandomizedSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1.0]}, n_iter=3, cv=3, random_state=0).fit(
        X, y
    )
    search, refit, draws = model.certificate_.claims
    many = dataclasses.replace(draws, value=0.01, numbers={**draws.numbers, "draws": 1000})
    with pytest.raises(CertificateError, match="3 candidates were drawn"):
        dataclasses.replace(model.certificate_, claims=(search, refit, many), seal="").verify(X, y)
