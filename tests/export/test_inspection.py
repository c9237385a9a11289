"""Partial dependence in programs for scikit-learn: averages over branches for its own names, averages of predictions otherwise."""

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.inspection
import sklearn.tree

import surefit
from surefit.export.inspection import PartialDependenceDisplay, partial_dependence
from surefit.sklearn.mirror import replacement

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3))
TARGET = X[:, 0] + X[:, 1] ** 2
COLUMN = {"features": [1], "grid_resolution": 10}


def average(function, model, **options):
    return function(model, X, **COLUMN, **options)["average"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (surefit.DecisionTreeRegressor(max_depth=2), sklearn.tree.DecisionTreeRegressor(max_depth=2, random_state=0)),
        (surefit.HistGradientBoostingRegressor(max_iter=5), sklearn.ensemble.HistGradientBoostingRegressor(max_iter=5)),
    ],
    ids=["tree", "boosting"],
)
def test_the_default_and_recursion_are_those_of_scikit_learn(ours, theirs):
    ours.fit(X, TARGET)
    theirs.fit(X, TARGET)
    expected = average(sklearn.inspection.partial_dependence, theirs)
    np.testing.assert_allclose(average(partial_dependence, ours), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(
        average(partial_dependence, ours), average(partial_dependence, ours, method="recursion")
    )
    brute = average(sklearn.inspection.partial_dependence, ours)
    np.testing.assert_array_equal(average(partial_dependence, ours, method="brute"), brute)
    np.testing.assert_array_equal(average(partial_dependence, ours, sample_weight=np.ones(80)), brute)


def test_without_weights_in_their_branches_boosted_trees_are_averaged_over_predictions():
    model = surefit.HistGradientBoostingRegressor(max_iter=5).fit(X, TARGET, sample_weight=np.arange(80) % 3 + 1.0)
    brute = average(sklearn.inspection.partial_dependence, model)
    np.testing.assert_array_equal(average(partial_dependence, model), brute)
    with pytest.raises(ValueError, match="recursion"):
        average(partial_dependence, model, method="recursion")


def test_splits_by_categories_are_averaged_over_predictions():
    columns = np.column_stack([X[:, 0], np.arange(80) % 4])
    model = surefit.DecisionTreeRegressor(max_depth=3, categorical_features=[1]).fit(columns, columns[:, 1] ** 2 % 3)
    found = partial_dependence(model, columns, [0], grid_resolution=5)["average"]
    np.testing.assert_array_equal(
        found, sklearn.inspection.partial_dependence(model, columns, [0], grid_resolution=5)["average"]
    )
    with pytest.raises(surefit.InvalidData, match="categories"):
        partial_dependence(model, columns, [0], method="recursion")


def test_other_estimators_and_scikit_learns_own_are_left_as_they_are():
    for model in (surefit.Ridge(), sklearn.tree.DecisionTreeRegressor(max_depth=2)):
        model.fit(X, TARGET)
        expected = average(sklearn.inspection.partial_dependence, model)
        np.testing.assert_array_equal(average(partial_dependence, model), expected)


def test_the_display_draws_what_the_function_returns():
    model = surefit.DecisionTreeRegressor(max_depth=4).fit(X, TARGET)
    display = PartialDependenceDisplay.from_estimator(model, X, [1], grid_resolution=10)
    np.testing.assert_array_equal(display.lines_[0, 0].get_ydata(), average(partial_dependence, model)[0])


def test_programs_for_scikit_learn_get_both():
    module = "sklearn.inspection"
    assert replacement(sklearn.inspection.partial_dependence, module, "partial_dependence") is partial_dependence
    peer = sklearn.inspection.PartialDependenceDisplay
    assert replacement(peer, module, "PartialDependenceDisplay") is PartialDependenceDisplay
