"""Boosted trees: against scikit-learn, against the definition, and what the checker refuses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier as PeerClassifier
from sklearn.ensemble import HistGradientBoostingRegressor as PeerRegressor

from surefit import (
    Certificate,
    CertificateError,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    InvalidData,
    InvalidParameter,
)
from surefit.losses import Huber


def rows(n=600, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + X[:, 1] ** 2 + np.sin(3 * X[:, 2]) + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(n_classes):
    X, f = rows()
    y = np.digitize(f, np.quantile(f, np.linspace(0, 1, n_classes + 1)[1:-1]))
    s = (
        np.random.default_rng(1).random(len(y)) + 0.5
    )  # without weights many cuts tie exactly, and ties are broken by rounding
    ours, peer = (cls(max_iter=20).fit(X, y, s) for cls in (HistGradientBoostingClassifier, PeerClassifier))
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-4)  # scikit-learn sums in float32
    ours.verify(X, y, s)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma"])
def test_predictions_are_those_of_scikit_learn(loss):
    X, f = rows()
    y = f if loss == "squared_error" else np.exp(f / 3)
    ours, peer = (cls(loss, max_iter=20).fit(X, y) for cls in (HistGradientBoostingRegressor, PeerRegressor))
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-4, atol=1e-4)
    ours.verify(X, y)


@pytest.mark.parametrize(
    ("loss", "quantile"), [("absolute_error", None), ("quantile", 0.8), (Huber(0.5), None), ("squared_error", None)]
)
def test_the_loss_falls_and_is_that_of_the_predictions(loss, quantile):
    X, y = rows()
    model = HistGradientBoostingRegressor(loss, quantile=quantile, max_iter=30).fit(X, y)
    r = y - model.predict(X)
    q = quantile or 0.5
    by_hand = {
        "absolute_error": np.abs(r),
        "quantile": np.maximum(q * r, (q - 1) * r),
        "squared_error": r**2 / 2,
    }.get(loss, np.where(np.abs(r) <= 0.5, r**2 / 2, 0.5 * (np.abs(r) - 0.25)))
    assert model.training_losses_[-1] == pytest.approx(by_hand.mean(), rel=1e-9)
    assert np.all(np.diff(model.training_losses_) < 0)
    found = model.verify(X, y)
    assert found["boosted_trees.leaves"].proved < 1e-12
    if quantile:
        assert np.mean(y <= model.predict(X)) == pytest.approx(quantile, abs=0.05)


def test_one_stump_of_squared_loss_is_the_best_cut_by_hand():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 3.0, 5.0])
    model = HistGradientBoostingRegressor(
        learning_rate=1.0, max_iter=1, max_leaf_nodes=2, min_samples_leaf=1, early_stopping=False
    ).fit(x[:, None], y)
    assert model.baseline_ == [2.0]
    np.testing.assert_allclose(model.predict(x[:, None]), [0, 0, 4, 4], atol=1e-12)
    assert model.bin_cuts_[0, model.tree_bin_[0]] == 1.5


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_integer_weights_repeat_rows(seed):
    rng = np.random.default_rng(seed)
    X, y, s = rng.integers(0, 6, (40, 2)).astype(float), rng.standard_normal(40), rng.integers(0, 3, 40)
    options = {"max_iter": 5, "min_samples_leaf": 1, "early_stopping": False}
    weighted = HistGradientBoostingRegressor(**options).fit(X, y, sample_weight=s)
    repeated = HistGradientBoostingRegressor(**options).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)
    weighted.verify(X, y, sample_weight=s)


def test_missing_values_go_where_they_help():
    x = np.array([0.0, 1.0, np.nan, np.nan] * 10)[:, None]
    y = np.array([0.0, 0.0, 1.0, 1.0] * 10)
    options = {"learning_rate": 1.0, "max_iter": 1, "min_samples_leaf": 1, "early_stopping": False}
    model = HistGradientBoostingRegressor(**options).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-12)
    # The direction is learned: missing values like the high ones go with them.
    x, y = np.array([0.0, 1.0, np.nan] * 10)[:, None], np.array([0.0, 1.0, 1.0] * 10)
    model = HistGradientBoostingRegressor(max_leaf_nodes=2, **options).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-12)


def test_the_best_subset_of_categories_is_found():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, 600)
    high = np.isin(codes, [1, 4, 7, 11])
    y = high + 0.01 * rng.standard_normal(600)
    options = {"learning_rate": 1.0, "max_iter": 1, "max_leaf_nodes": 2, "early_stopping": False}
    model = HistGradientBoostingRegressor(categorical_features=[0], **options).fit(codes[:, None].astype(float), y)
    assert np.array_equal(model.predict(codes[:, None].astype(float)) > 0.5, high)
    # A frame says by itself which columns are categories; the checker reads it too.
    frame = pd.DataFrame({"kind": pd.Categorical([f"k{c}" for c in codes])})
    named = HistGradientBoostingRegressor(**options).fit(frame, y)
    np.testing.assert_allclose(named.predict(frame), model.predict(codes[:, None].astype(float)))
    named.verify(frame, y)
    assert named.is_categorical_.tolist() == [True]
    assert np.isfinite(named.predict(pd.DataFrame({"kind": ["never seen"]}))).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_columns_are_monotone(sign):
    X, y = rows()
    model = HistGradientBoostingRegressor(monotonic_cst=[0, sign, 0, 0, 0], max_iter=30).fit(X, y)
    grid = np.tile(X[:20, None], (1, 50, 1))
    grid[:, :, 1] = np.linspace(-3, 3, 50)
    curves = model.predict(grid.reshape(-1, 5)).reshape(20, 50)
    assert np.all(sign * np.diff(curves, axis=1) >= 0)
    assert model.verify(X, y)["boosted_trees.monotone"].level == "exact"
    free = HistGradientBoostingRegressor(max_iter=30).fit(X, y)
    claim = model.certificate_["boosted_trees.monotone"]
    forged = replace(
        free.certificate_,
        subject=None,
        seal="",
        claims=(*free.certificate_.claims, claim),
        params={**free.certificate_.params, "monotonic_cst": [0, sign, 0, 0, 0]},
        problem={**free.certificate_.problem, "monotone": [0, sign, 0, 0, 0]},
    )
    with pytest.raises(CertificateError, match=r"boosted_trees\.monotone"):
        forged.verify(X, y)


def test_columns_that_may_not_interact_give_a_sum_of_functions():
    X, y = rows()
    model = HistGradientBoostingRegressor(interaction_cst="no_interactions", max_iter=20).fit(X, y)
    a, b = X[:1].copy(), X[1:2].copy()
    mixed, back = a.copy(), b.copy()
    mixed[0, 0], back[0, 0] = b[0, 0], a[0, 0]
    total = model.predict(a) + model.predict(b)
    assert total == pytest.approx(model.predict(mixed) + model.predict(back), abs=1e-9)


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([0, 1], "a sequence of sets of columns"),
        (["ab"], "a sequence of sets"),
        ([{0.5}], "columns from 0"),
        ([{9}], "columns from 0"),
    ],
)
def test_interaction_sets_are_sets_of_columns(sets, expected):
    with pytest.raises(InvalidParameter, match=expected):
        HistGradientBoostingRegressor(interaction_cst=sets).fit(*rows())


def test_early_stopping_watches_rows_that_it_does_not_train_on():
    X, f = rows(400)
    y = (f > 0).astype(int)
    model = HistGradientBoostingClassifier(early_stopping=True, max_iter=300, random_state=0).fit(X, y)
    assert model.n_iter_ < 300
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    model.verify(X, y)
    given = HistGradientBoostingClassifier(early_stopping=True, max_iter=300, scoring=None).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert given.validation_score_[-1] == pytest.approx(given.score(X[300:], y[300:]))


def test_early_stopping_holds_out_the_rows_of_scikit_learn():
    X, f = rows(400)
    for ours, peer, y in (
        (HistGradientBoostingRegressor, PeerRegressor, f),
        (HistGradientBoostingClassifier, PeerClassifier, np.where(f > 1, "yes", "no")),
    ):
        options = {"early_stopping": True, "max_iter": 5, "random_state": 7, "validation_fraction": 0.2}
        mine, theirs = ours(**options).fit(X, y), peer(**options).fit(X, y)
        np.testing.assert_allclose(mine.validation_score_, theirs.validation_score_, rtol=1e-3)
        np.testing.assert_allclose(mine.train_score_, theirs.train_score_, rtol=1e-3)


def test_a_warm_start_holds_out_the_same_rows():
    X, y = rows(400)
    options = {"early_stopping": True, "validation_fraction": 0.5, "random_state": np.random.RandomState(0)}
    model = HistGradientBoostingRegressor(max_iter=3, warm_start=True, **options).fit(X, y)
    first = model.certificate_["boosted_trees.leaves"].witness
    model.set_params(max_iter=6).fit(X, y)
    second = model.certificate_["boosted_trees.leaves"].witness
    assert first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)
    assert np.all(np.diff(model.train_score_) > 0)
    model.set_params(warm_start=False).fit(X, y)
    third = model.certificate_["boosted_trees.leaves"].witness
    assert not all(np.array_equal(first[name], third[name]) for name in first)


def test_rows_for_early_stopping_are_complete_and_used():
    X, y = rows(60)
    for name, part in (("y_val was not", {"X_val": X}), ("X_val was not", {"y_val": y})):
        with pytest.raises(InvalidData, match=f"{name} provided; pass both or neither"):
            HistGradientBoostingRegressor().fit(X, y, **part)
    for cls, target in ((HistGradientBoostingRegressor, y), (HistGradientBoostingClassifier, y > 0)):
        with pytest.raises(InvalidParameter, match="early_stopping must be 'auto' or True if X_val"):
            cls(early_stopping=False).fit(X, target, X_val=X, y_val=target)


def test_warm_start_goes_on_where_it_stopped():
    X, y = rows()
    whole = HistGradientBoostingRegressor(max_iter=12).fit(X, y)
    parts = HistGradientBoostingRegressor(max_iter=5, warm_start=True).fit(X, y)
    parts.set_params(max_iter=12).fit(X, y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-9)
    parts.verify(X, y)
    with pytest.raises(InvalidParameter, match="max_iter must be at least"):
        parts.set_params(max_iter=3).fit(X, y)


def test_threads_and_columns_in_any_memory_order_change_no_bit():
    X, y = rows(25_000, 9)
    one = HistGradientBoostingRegressor(max_iter=5, n_jobs=1, early_stopping=False).fit(X, y)
    two = HistGradientBoostingRegressor(max_iter=5, n_jobs=2, early_stopping=False).fit(np.asfortranarray(X), y)
    np.testing.assert_array_equal(one.tree_value_, two.tree_value_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_exponential_loss_gives_probabilities_on_its_scale():
    X, f = rows()
    y = np.where(f > 0.5, "yes", "no")
    model = HistGradientBoostingClassifier("exponential", max_iter=20).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(X))))
    assert model.score(X, y) > 0.95
    model.verify(X, y)


def test_class_weights_are_sample_weights():
    X, f = rows()
    y = (f > 1.5).astype(int)
    by_class = HistGradientBoostingClassifier(class_weight="balanced", max_iter=5).fit(X, y)
    factors = len(y) / (2 * np.bincount(y))
    by_row = HistGradientBoostingClassifier(max_iter=5).fit(X, y, sample_weight=factors[y])
    np.testing.assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), rtol=1e-9)
    by_class.verify(X, y)


def test_max_features_and_unlimited_leaves():
    X, y = rows()
    few = HistGradientBoostingRegressor(max_features=0.4, max_leaf_nodes=None, max_iter=5, random_state=0).fit(X, y)
    again = HistGradientBoostingRegressor(max_features=0.4, max_leaf_nodes=None, max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(few.predict(X), again.predict(X))
    assert np.diff(few.tree_starts_).max() <= 2 * (600 // 20)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_bins": 300}, "max_bins must be an integer from 2 to 255; got 300"),
        ({"monotonic_cst": [1, 0]}, "one sign for each of 5 columns"),
        ({"loss": "quantile"}, "quantile must be a number from 0 to 1"),
        ({"categorical_features": [9]}, "columns from 0 to 4"),
    ],
)
def test_parameters_are_checked(options, words):
    with pytest.raises(InvalidParameter, match=words):
        HistGradientBoostingRegressor(**options).fit(*rows(50))


def test_targets_are_checked():
    X, y = rows(50)
    with pytest.raises(InvalidData, match="strictly positive"):
        HistGradientBoostingRegressor("gamma").fit(X, y)
    with pytest.raises(InvalidData, match="overflowed"):
        HistGradientBoostingRegressor("poisson", learning_rate=1e4, min_samples_leaf=1).fit(X, np.exp(3 * y))
    largest = np.where(X > 2, np.inf, X)  # infinities are the largest values, as in scikit-learn
    assert np.isfinite(HistGradientBoostingRegressor(max_iter=3).fit(largest, y).predict(largest)).all()


# --- the checker ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    X, f = rows(300)
    y = (f > 0.5).astype(int)
    return HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=4).fit(X, y), X, y


def test_certificate_survives_json(fitted):
    model, X, y = fitted
    Certificate.from_json(model.certificate_.to_json()).verify(X, y)


@pytest.mark.parametrize(("name", "change"), [("tree_value_", 1e-3), ("baseline_", 1e-3), ("bin_cuts_", 0.3)])
def test_another_model_is_refused(fitted, name, change):
    model, X, y = fitted
    other = model.certificate_.model[name].copy()
    if name == "tree_value_":
        other[np.flatnonzero(model.tree_feature_ < 0)[2]] += change
    else:
        other += change
    forged = replace(model.certificate_, subject=None, seal="", model={**model.certificate_.model, name: other})
    with pytest.raises(CertificateError, match="boosted_trees"):
        forged.verify(X, y)


def test_a_smaller_loss_than_the_true_one_is_refused(fitted):
    model, X, y = fitted
    claims = tuple(
        replace(c, value=c.value - 1e-6) if c.name == "boosted_trees.loss" else c for c in model.certificate_.claims
    )
    with pytest.raises(CertificateError, match=r"boosted_trees\.loss"):
        replace(model.certificate_, subject=None, seal="", claims=claims).verify(X, y)
