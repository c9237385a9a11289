"""Bagging: draws, members, out-of-bag errors, and what the checker refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from tests.forging import reissued

from surefit import BaggingClassifier, BaggingRegressor, CertificateError, Invalidated, InvalidParameter, Ridge
from surefit.ensembles.bootstrap import Draws

X, Y = load_iris(return_X_y=True)
U, V = load_diabetes(return_X_y=True)


def test_members_are_fitted_to_their_draws():
    model = BaggingRegressor(Ridge(alpha=0.1), n_estimators=4, random_state=0).fit(U, V)
    draws = Draws(U, V, None)
    by_hand = [Ridge(alpha=0.1).fit(U, V, sample_weight=draws.counts(int(seed))) for seed in model.tree_seeds_]
    np.testing.assert_allclose(model.predict(U), np.mean([member.predict(U) for member in by_hand], axis=0), rtol=1e-9)


def test_the_mean_is_better_by_the_spread_of_the_members():
    model = BaggingRegressor(DecisionTreeRegressor(max_depth=4, random_state=0), n_estimators=8, random_state=0).fit(
        U, V
    )
    said = np.array([member.predict(U) for member in model.estimators_])
    mean = model.predict(U)
    spread = np.mean((said - mean) ** 2)
    assert np.mean((mean - V) ** 2) == pytest.approx(np.mean((said - V) ** 2) - spread, rel=1e-9)


def test_out_of_bag_error_by_hand_and_bounds():
    X, Y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = BaggingClassifier(tree, n_estimators=25, oob_score=True, random_state=0).fit(X, Y)
    draws, sums = Draws(X, Y, None), np.zeros((len(Y), 2))
    for seed, member in zip(model.tree_seeds_, model.estimators_, strict=True):
        out = draws.counts(int(seed)) == 0
        sums[out] += member.predict_proba(X[out])
    assert model.oob_score_ == pytest.approx(np.mean(sums.argmax(axis=1) == Y))
    found = model.verify(X, Y)
    assert found["forest.vote_first_order"].ok
    assert 1 - model.oob_score_ < model.certificate_["forest.vote_first_order"].value < 1


@pytest.mark.parametrize("base", [KNeighborsClassifier(), LinearSVC(random_state=0), None])
def test_any_classifier(base):
    model = BaggingClassifier(base, n_estimators=5, random_state=0, max_features=0.75).fit(X, Y)
    assert model.score(X, Y) > 0.85
    assert all(len(columns) == 3 for columns in model.estimators_features_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    model.verify(X, Y)


def test_threads_seeds_and_warm_start_change_nothing():
    tree = DecisionTreeRegressor(max_depth=3)
    one, two = (BaggingRegressor(tree, 6, random_state=0, n_jobs=k).fit(U, V) for k in (1, 2))
    np.testing.assert_array_equal(one.predict(U), two.predict(U))
    parts = BaggingRegressor(tree, 2, random_state=0, warm_start=True).fit(U, V)
    parts.set_params(n_estimators=6).fit(U, V)
    np.testing.assert_array_equal(parts.predict(U), one.predict(U))


def test_weights_repeat_rows():
    s = np.random.default_rng(0).integers(0, 3, len(U))
    weighted = BaggingRegressor(Ridge(alpha=0.1), random_state=0).fit(U, V, sample_weight=s)
    repeated = BaggingRegressor(Ridge(alpha=0.1), random_state=0).fit(np.repeat(U, s, axis=0), np.repeat(V, s))
    np.testing.assert_allclose(weighted.predict(U), repeated.predict(U), rtol=1e-6)
    weighted.verify(U, V, sample_weight=s)


def test_pasting_draws_without_replacement():
    model = BaggingRegressor(Ridge(alpha=0.1), 3, bootstrap=False, max_samples=0.5, random_state=0).fit(U, V)
    assert np.isfinite(model.predict(U)).all()
    assert [claim.name for claim in model.certificate_.claims] == ["bagging.members", "risk.unclaimed"]


def test_forged_tables_are_refused_and_changed_members_noticed():
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=20, oob_score=True, random_state=0
    ).fit(X, Y)
    model.verify(X, Y)
    claim = model.certificate_["forest.out_of_bag"]
    said = claim.witness["said"].copy()
    said[:, :40] = said[:, :40, ::-1]
    claims = tuple(replace(c, witness={"said": said}) if c.name == claim.name else c for c in model.certificate_.claims)
    with pytest.raises(CertificateError, match=r"forest\.out_of_bag"):
        replace(model.certificate_, subject=None, seal="", claims=claims).verify(X, Y)
    model.estimators_[0] = DecisionTreeClassifier(max_depth=1).fit(X, Y)
    with pytest.raises(Invalidated, match="do not reproduce"):
        reissued(model).verify(X, Y)


def test_out_of_bag_needs_draws():
    with pytest.raises(InvalidParameter, match="no row is out of bag"):
        BaggingClassifier(oob_score=True, bootstrap=False).fit(X, Y)


class _Remembers(BaseEstimator):
    """A regressor known by its methods: ``fit`` returns nothing, and keeps the type of its rows."""

    def fit(self, X, y):
        self.kind_, self.mean_ = type(X), float(np.mean(y))

    def predict(self, X):
        return np.full(X.shape[0], self.mean_)


@pytest.mark.parametrize("packed", [sparse.csr_matrix, sparse.csc_matrix, sparse.csc_array])
def test_members_need_only_fit_and_predict_and_see_the_given_format(packed):
    X, y = np.eye(12), np.arange(12.0)
    model = BaggingRegressor(_Remembers(), n_estimators=3, random_state=0).fit(packed(X), y)
    assert [member.kind_ for member in model] == [packed] * 3
    for member, rows in zip(model, model.estimators_samples_, strict=True):
        assert member.mean_ == y[rows].mean()
    assert model.verify(packed(X), y)["forest.draws"].ok


class Constant:
    """A classifier without scikit-learn's base class: it predicts the first class."""

    def __init__(self, shift=0):
        self.shift = shift

    def get_params(self, deep=True):
        return {"shift": self.shift}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.shift])


def test_members_need_no_base_class_of_scikit_learn():
    X, y = np.arange(12.0).reshape(6, 2), np.array(list("aaabbb"))
    model = BaggingClassifier(Constant(), n_estimators=3, random_state=0).fit(X, y)
    assert model.predict(X).tolist() == ["a"] * 6
    assert not get_tags(model).input_tags.allow_nan and model.verify(X, y)
