"""Ensembles as sequences of members, the rows and paths of the members, and balanced draws."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import surefit
from surefit.core.errors import CertificateError


def sample(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] > 0.8).astype(int)


def test_forests_and_bagging_know_the_rows_of_their_members():
    X, y = sample()
    forest = surefit.RandomForestRegressor(3, max_bins=None, random_state=0).fit(X, y.astype(float))
    assert len(forest) == 3 and [type(tree).__name__ for tree in forest] == ["DecisionTreeRegressor"] * 3
    for tree, rows in zip(forest.trees_, forest.estimators_samples_, strict=True):
        assert len(rows) == len(y) and tree.weight[0] == len(y)
        assert tree.n_rows[0] == len(np.unique(rows))
        assert tree.values[0, 0] == pytest.approx(y[rows].mean())
    bag = surefit.BaggingClassifier(surefit.LogisticRegression(), 2, random_state=0).fit(X, y)
    for member, rows, columns in zip(bag, bag.estimators_samples_, bag.estimators_features_, strict=True):
        again = surefit.LogisticRegression().fit(X[rows][:, columns], y[rows])
        np.testing.assert_allclose(again.coef_, member.coef_, rtol=1e-3)
    part = surefit.BaggingClassifier(n_estimators=2, max_samples=10, bootstrap=False, random_state=0).fit(X, y)
    assert [len(np.unique(rows)) for rows in part.estimators_samples_] == [10, 10]
    whole = surefit.ExtraTreesClassifier(2, random_state=0).fit(X, y)
    assert np.array_equal(whole.estimators_samples_[1], np.arange(len(y)))


def test_paths_of_a_forest_end_in_its_leaves():
    X, y = sample()
    forest = surefit.RandomForestClassifier(3, random_state=0).fit(X, y)
    paths, starts = forest.decision_path(X)
    leaves = forest.apply(X)
    assert paths.shape == (len(X), starts[-1])
    for t in range(3):
        own = paths[:, starts[t] : starts[t + 1]].toarray()
        assert np.all(own[np.arange(len(X)), leaves[:, t]] == 1)
        assert np.array_equal(own.sum(axis=1) - 1, forest.trees_[t].depth[leaves[:, t]])


def test_balanced_draws_give_every_class_half_of_the_root():
    X, y = sample()
    model = surefit.RandomForestClassifier(4, class_weight="balanced_subsample", random_state=0).fit(X, y)
    for tree in model.trees_:
        assert tree.values[0] == pytest.approx([0.5, 0.5])
    model.verify(X, y)
    model.trees_[0].values[-1] = [0.25, 0.75]
    with pytest.raises(CertificateError):
        model.verify(X, y)
    plain = surefit.RandomForestClassifier(2, class_weight="balanced_subsample", bootstrap=False, random_state=0)
    same = surefit.RandomForestClassifier(2, class_weight="balanced", bootstrap=False, random_state=0)
    assert np.array_equal(plain.fit(X, y).predict_proba(X), same.fit(X, y).predict_proba(X))


def test_random_cuts_fit_the_rows_and_differ_between_trees():
    X, y = sample()
    model = surefit.ExtraTreesClassifier(5, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert len({float(tree.threshold[0]) for tree in model.trees_}) > 1
    assert all(tree.n_rows[0] == len(y) for tree in model.trees_)


class Majority(BaseEstimator):
    """A classifier by its methods alone."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)


def test_bagging_of_any_estimator_and_of_pipelines_that_take_missing_values():
    X, y = sample()
    assert (surefit.BaggingClassifier(Majority(), 2, random_state=0).fit(X, y).predict(X) == 0).all()
    X[::5, 1] = np.nan
    pipe = make_pipeline(SimpleImputer(), surefit.DecisionTreeClassifier(max_depth=2))
    model = surefit.BaggingClassifier(pipe, 2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    model.verify(X, y)


def test_the_decision_function_of_bagging_is_the_mean_of_its_members():
    X, y = sample()
    model = surefit.BaggingClassifier(surefit.LogisticRegression(), 3, random_state=0).fit(X, y)
    mean = np.mean([member.decision_function(X) for member in model], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean)
    assert not hasattr(surefit.BaggingClassifier(surefit.DecisionTreeClassifier()), "decision_function")


@pytest.mark.parametrize(
    "name", ["BaggingClassifier", "BaggingRegressor", "RandomForestClassifier", "RandomForestRegressor"]
)
def test_a_fit_without_out_of_bag_score_removes_the_earlier_one(name):
    model = getattr(surefit, name)(n_estimators=30, oob_score=True, random_state=0).fit(*sample())
    assert model.oob_score_ <= 1
    model.set_params(warm_start=True, oob_score=False, n_estimators=31).fit(*sample())
    assert not [name for name in vars(model) if name.startswith("oob_") and name.endswith("_")]
