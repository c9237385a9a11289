"""Forests: what they reduce to, draws, out-of-bag errors, bounds, and what the checker refuses."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_regression
from sklearn.ensemble import RandomForestClassifier as Peer
from sklearn.tree import DecisionTreeClassifier as PeerTree

from surefit import (
    Certificate,
    CertificateError,
    DecisionTreeRegressor,
    InvalidParameter,
    RandomForestClassifier,
    RandomForestRegressor,
)

X, Y = load_breast_cancer(return_X_y=True)
U, V = load_diabetes(return_X_y=True)


def test_one_tree_without_draws_and_with_all_columns_is_a_tree():
    model = RandomForestClassifier(1, bootstrap=False, max_features=None, max_bins=None).fit(X, Y)
    tree = PeerTree(random_state=0).fit(X, Y)
    assert model.score(X, Y) == tree.score(X, Y) == 1
    assert model.trees_[0].feature[0] == tree.tree_.feature[0]
    assert model.trees_[0].threshold[0] == pytest.approx(tree.tree_.threshold[0], rel=1e-6)


def test_accuracy_is_that_of_scikit_learn():
    ours = RandomForestClassifier(100, random_state=0, oob_score=True).fit(X, Y)
    peer = Peer(100, random_state=0, oob_score=True).fit(X, Y)
    assert ours.oob_score_ == pytest.approx(peer.oob_score_, abs=0.015)
    top = np.argsort(ours.feature_importances_)[-5:]
    assert len(set(top) & set(np.argsort(peer.feature_importances_)[-8:])) >= 3
    assert ours.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("cls", [RandomForestClassifier, RandomForestRegressor])
def test_threads_change_no_bit_and_seeds_repeat(cls):
    data = (X, Y) if cls is RandomForestClassifier else (U, V)
    one, two = (cls(10, random_state=3, n_jobs=k, oob_score=True) for k in (1, 2))
    with pytest.warns(match="without out-of-bag"):
        one.fit(*data)
    with pytest.warns(match="without out-of-bag"):
        two.fit(*data)
    np.testing.assert_array_equal(one.tree_value_, two.tree_value_)
    np.testing.assert_array_equal(one.predict(data[0]), two.predict(data[0]))
    assert one.oob_score_ == two.oob_score_


def test_order_of_the_rows_does_not_matter_and_weights_repeat_them():
    rng = np.random.default_rng(0)
    s, shuffle = rng.integers(0, 3, len(U)), rng.permutation(len(U))
    weighted = RandomForestRegressor(5, random_state=0).fit(U[shuffle], V[shuffle], sample_weight=s[shuffle])
    repeated = RandomForestRegressor(5, random_state=0).fit(np.repeat(U, s, axis=0), np.repeat(V, s))
    np.testing.assert_allclose(weighted.predict(U), repeated.predict(U), rtol=1e-9)
    weighted.verify(U[shuffle], V[shuffle], sample_weight=s[shuffle])


def test_out_of_bag_error_by_hand():
    model = RandomForestClassifier(30, random_state=0, oob_score=True).fit(X, Y)
    from surefit.ensembles.bootstrap import Draws

    draws = Draws(X, Y, None)
    sums = np.zeros((len(Y), 2))
    for seed, member in zip(model.tree_seeds_, model.estimators_, strict=True):
        out = draws.counts(int(seed)) == 0
        sums[out] += member.predict_proba(X[out])
    assert model.oob_score_ == pytest.approx(np.mean(sums.argmax(axis=1) == Y))
    np.testing.assert_allclose(model.oob_decision_function_.sum(axis=1), 1)


def test_columns_of_a_tree_are_its_own():
    model = RandomForestClassifier(12, random_state=0, subset="tree", max_features=3).fit(X, Y)
    for tree in model.trees_:
        assert len(np.unique(tree.feature[tree.feature >= 0])) <= 3
    assert model.verify(X, Y)["forest.subsets"].level == "exact"


def test_bounds_hold_for_the_vote_on_new_rows():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((6000, 5))
    labels = (Z[:, 0] + 0.5 * Z[:, 1] > 0).astype(int)
    model = RandomForestClassifier(40, random_state=0, oob_score=True, min_samples_leaf=3).fit(Z[:3000], labels[:3000])
    risk = np.mean(model.vote(Z[3000:]) != labels[3000:])
    for name in ("forest.vote_first_order", "forest.vote_tandem"):
        claim = model.certificate_[name]
        assert risk <= claim.value < 0.5
        assert claim.confidence == 0.975
    model.verify(Z[:3000], labels[:3000])


def test_agreement_grows_with_the_columns_to_choose_from():
    few, all_ = (RandomForestClassifier(15, max_features=k, random_state=0).fit(X[::2], Y[::2]) for k in (1, None))
    a, b = few.agreement(X[1::2], Y[1::2]), all_.agreement(X[1::2], Y[1::2])
    assert a.mean < b.mean
    assert a.scores.mean() < b.scores.mean()
    assert np.all(np.diag(a.pairwise) == 1)


def test_mean_of_trees_is_better_by_their_spread():
    model = RandomForestRegressor(20, random_state=0).fit(U, V)
    error, members, spread = model.ambiguity(U, V)
    assert error == pytest.approx(members - spread, rel=1e-12)
    assert error == pytest.approx(np.mean((model.predict(U) - V) ** 2), rel=1e-12)
    assert model.agreement(U).mean < 1


def test_permutation_importance_is_zero_where_nothing_depends_on_a_column():
    Z = np.column_stack([U[:, 2], np.zeros(len(U))])
    model = RandomForestRegressor(10, random_state=0, max_depth=3).fit(Z, V)
    found = model.permutation_importance(Z, V, random_state=0)
    assert found[0].min() > 0.1
    np.testing.assert_array_equal(found[1], 0)


def test_warm_start_adds_trees():
    whole = RandomForestRegressor(8, random_state=0).fit(U, V)
    parts = RandomForestRegressor(3, random_state=0, warm_start=True).fit(U, V)
    parts.set_params(n_estimators=8).fit(U, V)
    np.testing.assert_array_equal(parts.predict(U), whole.predict(U))
    parts.verify(U, V)


def test_trees_have_the_parameters_of_the_forest():
    model = RandomForestRegressor(3, max_depth=2, min_samples_leaf=4, max_features=0.5, random_state=0).fit(U, V)
    for tree, seed in zip(model.estimators_, model.tree_seeds_, strict=True):
        assert (tree.max_depth, tree.min_samples_leaf, tree.max_features) == (2, 4, 0.5)
        assert tree.random_state == seed and tree.get_depth() == 2


def test_more_draws_than_rows():
    share, count = (RandomForestRegressor(3, max_samples=m, random_state=0).fit(U, V) for m in (1.5, int(1.5 * len(V))))
    np.testing.assert_array_equal(share.predict(U), count.predict(U))
    assert {len(rows) for rows in share.estimators_samples_} == {int(1.5 * len(V))}
    share.verify(U, V)


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor])
def test_monotonicity_holds_for_absolute_errors(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=80)
    model = kind(criterion="absolute_error", monotonic_cst=[1, -1, 0], random_state=0).fit(X, y, rng.integers(1, 3, 80))
    for column, sign in ((0, 1), (1, -1)):
        line = np.repeat(X[:20], 40, axis=0)
        line[:, column] = np.tile(np.linspace(-3, 3, 40), 20)
        steps = sign * np.diff(model.predict(line).reshape(20, 40), axis=1)
        assert steps.min() >= 0 and steps.max() > 0


def test_poisson_leaves_predict_positive_rates_despite_rounding():
    X, y = make_regression(n_features=10, random_state=0)
    y[(-1 < y) & (y < 0)] = 0  # sums of these targets are exact zeros whose differences are not
    assert DecisionTreeRegressor(criterion="poisson").fit(X, np.abs(y)).predict(X).min() > 0.01


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_leaves_hold_what_they_claim(criterion):
    model = RandomForestRegressor(5, criterion=criterion, random_state=0, max_samples=0.5).fit(U, V)
    assert model.verify(U, V)["forest.leaves"].proved < 1e-9


def test_class_weights_missing_values_and_pruning():
    Z = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = RandomForestClassifier(10, class_weight="balanced", ccp_alpha=0.01, random_state=0).fit(Z, Y)
    assert model.score(Z, Y) > 0.9
    assert len(model.tree_feature_) < 10 * 20
    model.verify(Z, Y)


def test_monotone_columns_are_monotone():
    model = RandomForestRegressor(10, monotonic_cst=[0, 0, 1] + [0] * 7, random_state=0).fit(U, V)
    grid = np.tile(U[:10, None], (1, 30, 1))
    grid[:, :, 2] = np.linspace(-0.1, 0.2, 30)
    assert np.all(np.diff(model.predict(grid.reshape(-1, 10)).reshape(10, 30), axis=1) >= -1e-9)


def test_parameters_are_checked():
    with pytest.raises(InvalidParameter, match="no row is out of bag"):
        RandomForestClassifier(oob_score=True, bootstrap=False).fit(X, Y)
    with pytest.raises(InvalidParameter, match="at least 5, the number of trees"):
        model = RandomForestClassifier(5, warm_start=True).fit(X, Y)
        model.set_params(n_estimators=2).fit(X, Y)


# --- the checker ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest():
    Z, labels = load_iris(return_X_y=True)
    return RandomForestClassifier(25, random_state=0, oob_score=True, max_depth=3).fit(Z, labels), Z, labels


def test_certificate_survives_json(forest):
    model, Z, labels = forest
    Certificate.from_json(model.certificate_.to_json()).verify(Z, labels)


@pytest.mark.parametrize(("name", "change"), [("tree_value_", 0.01), ("tree_seeds_", 1), ("tree_threshold_", 0.5)])
def test_another_forest_is_refused(forest, name, change):
    model, Z, labels = forest
    other = model.certificate_.model[name].copy()
    other[:] = other + np.asarray(change, dtype=other.dtype)
    forged = replace(model.certificate_, subject=None, seal="", model={**model.certificate_.model, name: other})
    with pytest.raises(CertificateError, match="forest"):
        forged.verify(Z, labels)


@pytest.mark.parametrize("name", ["forest.out_of_bag", "forest.vote_first_order", "forest.vote_tandem"])
def test_a_better_number_than_the_true_one_is_refused(forest, name):
    model, Z, labels = forest
    claims = tuple(replace(c, value=c.value - 1e-3) if c.name == name else c for c in model.certificate_.claims)
    with pytest.raises(CertificateError, match=name):
        replace(model.certificate_, subject=None, seal="", claims=claims).verify(Z, labels)
