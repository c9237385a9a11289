"""Certified: what is claimed, what the checker refuses, and which mistakes get no claim at all."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.linear_model import Ridge as SkRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from surefit import Certificate, CertificateError, Certified, DataWarning, InvalidData, InvalidParameter, Ridge
from surefit.bounds import clopper_pearson, conformal_rank, holdout_size, pick_to_learn, progressive_losses, transfer

CANCER = load_breast_cancer(return_X_y=True)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def blobs(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 2, size=n)
    return rng.normal(size=(n, d)) + 1.2 * t[:, None], t


# --- what is claimed ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [scaled(SkLogistic()), DecisionTreeClassifier(random_state=0), KNeighborsClassifier()]
)
def test_holdout_is_clopper_pearson_on_the_rows_that_were_withheld(model):
    X, y = CANCER
    fitted = Certified(model, random_state=1).fit(X, y)
    train, test = fitted.train_rows_, fitted.test_rows_
    assert len(test) == holdout_size(len(y)) == 200
    assert sorted([*train, *test]) == list(range(len(y)))
    wrong = int(np.sum(fitted.predict(X[test]) != y[test]))
    assert fitted.risk_bound_ == pytest.approx(clopper_pearson(wrong, 200, 0.05), rel=1e-12)
    again = type(model)(**model.get_params()) if not hasattr(model, "steps") else scaled(SkLogistic())
    assert np.array_equal(again.fit(X[train], y[train]).predict(X), fitted.predict(X))
    assert fitted.ledger_ == [("risk of the model", pytest.approx(0.05))]
    assert fitted.verify(X, y)["risk.holdout"].level in ("exact", "enclosed")


def test_refit_is_about_the_twin_and_says_so():
    X, y = CANCER
    fitted = Certified(scaled(SkLogistic()), refit=True, random_state=0).fit(X, y)
    claim, refusal = fitted.certificate_.claims
    assert "twin" in claim.about and refusal.kind == "no_claim" and "not proved" in refusal.statement
    assert np.array_equal(fitted.predict(X), scaled(SkLogistic()).fit(X, y).predict(X))
    wrong = np.sum(fitted.twin_.predict(X[fitted.test_rows_]) != y[fitted.test_rows_])
    assert fitted.risk_bound_ == pytest.approx(clopper_pearson(int(wrong), 200, 0.05), rel=1e-12)
    fitted.verify(X, y)


def test_transfer_adds_the_difference_on_fresh_inputs():
    X, y = blobs(600)
    U = blobs(500, seed=1)[0]
    fitted = Certified(SVC(), by="transfer", random_state=0).fit(X, y, X_unlabeled=U)
    wrong = int(np.sum(fitted.twin_.predict(X[fitted.test_rows_]) != y[fitted.test_rows_]))
    differ = int(np.sum(fitted.twin_.predict(U) != fitted.predict(U)))
    assert fitted.risk_bound_ == pytest.approx(transfer(wrong, 200, differ, 500, 0.05).value, rel=1e-12)
    assert [share for _, share in fitted.ledger_] == [pytest.approx(0.025)] * 2
    assert np.array_equal(fitted.predict(U), SVC().fit(X, y).predict(U))
    fitted.verify(X, y)


def test_progressive_average_and_its_brier_score():
    X, y = CANCER
    fitted = Certified(scaled(SkLogistic(C=0.1)), by="progressive", random_state=0).fit(X, y)
    claim = fitted.certificate_["risk.progressive"]
    assert len(fitted.models_) == 10 and sum(fitted.weights_) == pytest.approx(1)
    by_hand = sum(w * m.predict_proba(X) for m, w in zip(fitted.models_, fitted.weights_, strict=True))
    assert np.allclose(fitted.predict_proba(X), by_hand)
    rows, blocks = fitted.test_rows_, np.repeat(np.arange(10), fitted.block_sizes_)
    p = np.array([fitted.models_[b].predict_proba(X[[i]])[0, 1] for i, b in zip(rows, blocks, strict=True)])
    losses = (p - y[rows]) ** 2
    assert claim.value == pytest.approx(progressive_losses(losses, 0.05, rate=claim.numbers["rate"]).value, rel=1e-9)
    assert 0.02 < np.mean(losses) < claim.value < 0.08
    fitted.verify(X, y)


def test_progressive_vote_costs_a_factor_of_two():
    X, y = blobs(400)
    fitted = Certified(SVC(), by="progressive", n_blocks=5, random_state=0).fit(X, y)
    claim = fitted.certificate_["risk.progressive"]
    assert claim.numbers["factor"] == 2 and "vote" in claim.about
    votes = sum(w * (m.predict(X) == 1) for m, w in zip(fitted.models_, fitted.weights_, strict=True))
    assert np.array_equal(fitted.predict(X), (votes > 0.5).astype(int))
    fitted.verify(X, y)


def test_pick_to_learn_counts_what_it_picked():
    X, y = blobs(400)
    fitted = Certified(SVC(), by="p2l", random_state=0).fit(X, y)
    claim = fitted.certificate_["risk.pick_to_learn"]
    left = int(np.sum(fitted.predict(X[fitted.test_rows_]) != y[fitted.test_rows_]))
    picked = claim.numbers["picked"]
    assert picked + len(fitted.test_rows_) == 200 == len(fitted.train_rows_) - picked
    assert claim.value == pick_to_learn(picked, left, 200, 0.05, budgets=6).value
    fitted.verify(X, y)


def test_regressors_with_and_without_a_range():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    plain = Certified(scaled(SkRidge()), random_state=0).fit(X, y)
    claim = plain.certificate_["risk.quantile"]
    errors = np.abs(plain.predict(X[plain.test_rows_]) - y[plain.test_rows_])
    assert (
        claim.value == pytest.approx(np.sort(errors)[conformal_rank(200, 0.1, 0.05) - 1])
        and 0.9 < np.mean(errors <= claim.value) < 1
    )
    plain.verify(X, y)
    ranged = Certified(scaled(Ridge()), by="progressive", y_range=(0, 400), random_state=0).fit(X, y)
    mse = np.mean((np.clip(ranged.predict(X), 0, 400) - y) ** 2)
    assert mse < ranged.risk_bound_ < 0.5 * 160_000
    ranged.verify(X, y)
    absolute = Certified(scaled(SkRidge()), loss="absolute", y_range=(0, 400), random_state=0).fit(X, y)
    assert 40 < absolute.risk_bound_ < 80
    absolute.verify(X, y)


def test_own_loss():
    X, y = blobs(300)
    costs = lambda y, p: np.where(p == y, 0.0, np.where(y == 1, 1.0, 0.2))  # noqa: E731
    fitted = Certified(SVC(), loss=costs, random_state=0).fit(X, y)
    assert 0 < fitted.risk_bound_ < Certified(SVC(), random_state=0).fit(X, y).risk_bound_ + 0.05
    fitted.verify(X, y)


# --- inputs of every kind ---------------------------------------------------------------------------------------------------


def test_table_with_texts_and_list_of_documents():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"color": rng.choice(["red", "blue"], 300), "size": rng.normal(size=300)})
    y = np.where((table["color"] == "red") ^ (rng.random(300) < 0.1), "yes", "no")
    model = make_pipeline(make_column_transformer((OneHotEncoder(), ["color"]), remainder="passthrough"), SkLogistic())
    fitted = Certified(model, random_state=0).fit(table, y)
    assert fitted.risk_bound_ < 0.3 and list(fitted.feature_names_in_) == ["color", "size"]
    fitted.verify(table, y)
    words = [
        f"{a} {b} number{i}"
        for i, (a, b) in enumerate(zip(rng.choice(["good", "bad"], 300), table["color"], strict=True))
    ]
    mood = np.array(["bad" in text for text in words])
    fitted = Certified(make_pipeline(CountVectorizer(), SkLogistic()), random_state=0).fit(words, mood)
    assert fitted.risk_bound_ < 0.1
    fitted.verify(words, mood)


def test_parameters_of_fit_are_cut_to_the_rows():
    X, y = blobs(300)
    weight = np.where(y == 1, 50.0, 1.0)
    fitted = Certified(SkLogistic(), random_state=0).fit(X, y, sample_weight=weight)
    train = fitted.train_rows_
    alone = SkLogistic().fit(X[train], y[train], sample_weight=weight[train])
    assert np.allclose(fitted.estimator_.coef_, alone.coef_)


def test_certificate_survives_json_and_knows_its_model():
    X, y = blobs(300)
    fitted = Certified(RandomForestClassifier(20, random_state=0), random_state=0).fit(X, y)
    again = Certificate.from_json(fitted.certificate_.to_json())
    with pytest.raises(CertificateError, match="needs predictions of the model"):
        again.verify(X, y)
    assert again.verify(X, y, model=fitted)["risk.holdout"].message.startswith("the limit")


# --- what is refused --------------------------------------------------------------------------------------------------------


def test_changed_model_fails():
    X, y = blobs(300)
    fitted = Certified(SkLogistic(), random_state=0).fit(X, y)
    fitted.estimator_.coef_ = -fitted.estimator_.coef_
    with pytest.raises(CertificateError, match="estimator_ was changed"):
        fitted.verify(X, y)


def test_scaler_outside_the_pipeline_gets_no_claim():
    X, y = CANCER
    with pytest.warns(DataWarning, match="scaled with statistics of all rows"):
        fitted = Certified(SkLogistic(), random_state=0).fit(StandardScaler().fit_transform(X), y)
    assert np.isnan(fitted.risk_bound_) and fitted.certificate_.claims[0].kind == "no_claim"
    declared = Certified(SkLogistic(), assume=("fixed_scaling",), random_state=0).fit(
        StandardScaler().fit_transform(X), y
    )
    assert "fixed_scaling" in declared.certificate_.claims[0].assumptions and declared.risk_bound_ < 0.1
    low, high = X.min(axis=0), X.max(axis=0)
    with pytest.warns(DataWarning, match="from 0 to 1"):
        Certified(SkLogistic(max_iter=1000), random_state=0).fit((X - low) / (high - low), y)


def test_copies_stay_on_one_side_and_count_once():
    X, y = blobs(150)
    twice, labels = np.vstack([X, X]), np.concatenate([y, y])
    fitted = Certified(KNeighborsClassifier(1), random_state=0).fit(twice, labels)
    claim = fitted.certificate_["risk.holdout"]
    assert claim.numbers["n"] == holdout_size(150) and "equal_rows_are_copies" in claim.assumptions
    train, test = set(fitted.train_rows_ % 150), set(fitted.test_rows_ % 150)
    assert not train & test
    fitted.verify(twice, labels)
    # Forgetting it makes a nearest neighbor look far better than it is.
    fooled = Certified(KNeighborsClassifier(1), assume=("equal_rows_are_draws",), random_state=0).fit(twice, labels)
    assert fooled.risk_bound_ < fitted.risk_bound_ and "as declared" in fooled.certificate_.claims[0].statement


def test_groups_are_what_is_counted():
    X, y = blobs(400)
    groups = np.repeat(np.arange(40), 10)
    fitted = Certified(SkLogistic(), random_state=0).fit(X, y, groups=groups)
    claim = fitted.certificate_["risk.holdout"]
    assert not set(groups[fitted.train_rows_]) & set(groups[fitted.test_rows_])
    assert claim.numbers["n"] == 20 and claim.numbers["bound"] == "holdout_loss" and "groups_iid" in claim.assumptions
    assert claim.value > Certified(SkLogistic(), random_state=0).fit(X, y).risk_bound_
    fitted.verify(X, y)
    Certified(SkLogistic(), by="progressive", random_state=0).fit(X, y, groups=groups).verify(X, y)


def test_iris_has_one_copy():
    X, y = load_iris(return_X_y=True)
    fitted = Certified(random_state=0).fit(X, y)
    assert fitted.certificate_["risk.holdout"].numbers["n"] == holdout_size(149)
    fitted.verify(X, y)


@pytest.mark.parametrize(
    ("options", "fit", "match"),
    [
        ({"by": "transfer"}, {}, "X_unlabeled"),
        ({"by": "transfer", "refit": True}, {}, "refit must be False"),
        ({"by": "p2l", "loss": "brier"}, {}, "loss must be one of"),
        ({"loss": "squared"}, {}, "'zero_one' or 'brier'"),
        ({"test_size": 60}, {}, "test_size must be below"),
        ({"by": "progressive", "n_blocks": 40}, {}, "at least 80"),
        ({"by": "p2l"}, {"groups": np.arange(60)}, "groups must be None"),
        ({"confidence": 1.0}, {}, "confidence must be"),
        ({}, {"groups": np.arange(3)}, "one group per row"),
    ],
)
def test_bad_use_is_refused_with_a_sentence(options, fit, match):
    X, y = blobs(60)
    with pytest.raises((InvalidParameter, InvalidData), match=match):
        Certified(SkLogistic(), random_state=0, **options).fit(X, y, **fit)


def test_fresh_inputs_must_be_fresh():
    X, y = blobs(60)
    with pytest.raises(InvalidData, match="also rows of X"):
        Certified(SkLogistic(), by="transfer").fit(X, y, X_unlabeled=X[:5])
    with pytest.raises(InvalidData, match="columns"):
        Certified(SkLogistic(), by="transfer").fit(X, y, X_unlabeled=X[:, :2] + 1)


def test_regressor_without_range_is_told_what_is_missing():
    X, y = blobs(60)
    with pytest.raises(InvalidParameter, match="y_range must be the declared range"):
        Certified(SkRidge(), by="progressive").fit(X, y.astype(float))
    with pytest.raises(InvalidData, match="y must lie in y_range"):
        Certified(SkRidge(), y_range=(0, 0.5)).fit(X, y.astype(float))
    with pytest.raises(InvalidData, match="one target"):
        Certified(SkRidge()).fit(X, X)


def test_same_seed_same_split_and_methods_of_the_model():
    X, y = blobs(300)
    first, second = (Certified(SVC(), random_state=3).fit(X, y) for _ in range(2))
    assert np.array_equal(first.test_rows_, second.test_rows_)
    assert not hasattr(first, "predict_proba") and np.array_equal(
        first.decision_function(X), first.estimator_.decision_function(X)
    )
    assert first.score(X, y) == np.mean(first.predict(X) == y)
    assert copy.deepcopy(first).certificate_.seal == first.certificate_.seal
