"""Certificates of ensembles: honest models of hard data verify strictly, changed models and certificates are refused."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier as Tree
from tests.forging import accepted_forgeries, changed_values, resealed_model, verified_strictly
from tests.hard_data import hard_data

from surefit import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CertificateError,
    DecisionStump,
    DecisionTreeRegressor,
    ForwardStagewise,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    InvalidData,
    RandomForestClassifier,
    RandomForestRegressor,
)
from surefit.core.claims import Claim

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)

CLASSIFIERS = [
    DecisionStump(),
    AdaBoostClassifier(n_estimators=5),
    AdaBoostClassifier(Tree(max_depth=2, random_state=0), n_estimators=3),
    RandomForestClassifier(5, random_state=0, oob_score=True),
    RandomForestClassifier(
        3, random_state=0, subset="tree", bootstrap=False, class_weight="balanced", criterion="entropy"
    ),
    BaggingClassifier(n_estimators=8, random_state=0, oob_score=True),
    HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2),
    HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=2, l2_regularization=1.0),
]
REGRESSORS = [
    RandomForestRegressor(5, random_state=0, oob_score=True),
    RandomForestRegressor(3, random_state=0, criterion="absolute_error"),
    BaggingRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=6, random_state=0, oob_score=True),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=2),
    HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=2, loss="absolute_error"),
    HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=2, loss="quantile", quantile=0.3),
    ForwardStagewise(n_terms=5),
    ForwardStagewise(basis="columns", n_terms=4),
]


def dense(hard):
    return hard._replace(X=hard.X.toarray() if hasattr(hard.X, "toarray") else hard.X)


def fitted(model, X, y, weights=None):
    """Fit, without remarks about rows that were drawn by every tree; None where the data are refused by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(X, y, sample_weight=weights)
        except InvalidData:
            return None


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_honest_classifiers_of_hard_data_verify_strictly(model):
    refused = 0
    for hard in map(dense, hard_data(24)):
        if fitted(model, hard.X, hard.labels, hard.weights) is None:
            refused += 1  # one class, or nothing left out: said by fit
            continue
        verified_strictly(model, hard.X, hard.labels, hard.weights)
    assert refused <= 4


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_honest_regressors_of_hard_data_verify_strictly(model):
    refused = 0
    for hard in map(dense, hard_data(24)):
        if fitted(model, hard.X, hard.y, hard.weights) is None:
            refused += 1
            continue
        verified_strictly(model, hard.X, hard.y, hard.weights)
    assert refused <= 1


#: Parts that no claim needs: children of leaves and flags for missing values where nothing is missing; a table of votes that are true.
FREE = (
    "model threshold_ scaled",  # the same cut of the training rows
    "model tree_missing_left_",
    "model loss_name_",
    "model monotone_signs_",
    "model n_bins_",
    "model bin_cuts_",
    "model tree_bin_",
    "model tree_low_",
    "model tree_high_",
    "model tree_subset_",
    "model is_categorical_",
    "model tree_feature_ one entry",  # of a leaf, where it is not used
    "model tree_left_ one entry",
    "model tree_right_ one entry",
    "model tree_threshold_ one entry",
    "model tree_value_ one entry",
    "model tree_seeds_ one entry",  # no claim of absolute errors draws the rows again; predictions do not use them
    "model tree_left_ zero",
    "model tree_right_ zero",
)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=str)
def test_no_change_of_a_certificate_is_accepted(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
        accepted = accepted_forgeries(model.certificate_, X, Y, but=FREE)
    assert accepted == []


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_reversed_classes_are_refused(model):
    other = resealed_model(fitted(model, X, Y), "classes_", np.array([1, 0]))
    with pytest.raises(CertificateError, match="sorted labels|members cannot predict"):
        other.certificate_.verify(X, Y)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(4, random_state=0), RandomForestRegressor(4, random_state=0)], ids=str
)
def test_no_change_of_a_forest_is_accepted(model):
    expected = model.fit(X, Y).predict(X)
    for name in ("feature", "threshold", "left", "right", "values"):
        for _, value in changed_values(getattr(model.trees_[0], name)):
            trees = [model.trees_[0]._replace(**{name: value}), *model.trees_[1:]]
            other = resealed_model(model, "trees_", trees)
            try:
                other.verify(X, Y)
            except CertificateError:
                continue
            np.testing.assert_array_equal(other.predict(X), expected)
    with pytest.raises(CertificateError):
        resealed_model(model, "trees_", model.trees_[::-1]).verify(X, Y)


def test_hostile_trees_end_in_a_sentence():
    for model, names in (
        (RandomForestClassifier(2, random_state=0), "forest"),
        (HistGradientBoostingRegressor(max_iter=2), "boosted"),
    ):
        certificate = model.fit(X, Y).certificate_
        size = len(certificate.model["tree_left_"])
        for name, value in (
            ("tree_left_", np.zeros(size, dtype=np.int32)),
            ("tree_feature_", np.full(size, 99)),
            ("tree_feature_", np.zeros(size)),
            ("tree_starts_", np.array([0, 10**9])),
            ("tree_value_", np.zeros(0)),
        ):
            changed = replace(certificate, subject=None, model={**certificate.model, name: value}, seal="")
            with pytest.raises(CertificateError, match=names):
                changed.verify(X, Y)


def test_one_class_and_weight_on_one_row():
    forest = RandomForestClassifier(3, random_state=0, oob_score=True)
    verified_strictly(fitted(forest, X, np.ones(60)), X, np.ones(60))
    weights = np.zeros(60)
    weights[[3, 40]] = 1e9, 1e-9
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, Y, sample_weight=weights)
    verified_strictly(model, X, Y, weights)


def test_the_loss_of_boosting_is_the_mean_loss():
    model = HistGradientBoostingClassifier(max_iter=7, min_samples_leaf=5).fit(X, Y)
    p = model.predict_proba(X)[np.arange(60), Y]
    assert model.certificate_["boosted_trees.loss"].value == pytest.approx(-np.mean(np.log(p)), rel=1e-9)
    claim = model.certificate_["boosted_trees.leaves"]
    assert claim.numbers == {"checked": 7, "trees": 7} and claim.value < 1e-12


def test_only_some_rounds_of_many_are_repeated():
    model = HistGradientBoostingRegressor(max_iter=120, min_samples_leaf=5).fit(X, X[:, 0])
    assert model.certificate_["boosted_trees.leaves"].numbers == {"checked": 12, "trees": 120}
    assert Claim("boosted_trees.leaves").entry.kind == "optimality"


def test_stagewise_fits_of_separable_rows_verify():
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)  # the first factor is at its limit, where the exponential loss is zero
    model = ForwardStagewise("exponential", n_terms=2).fit(X, signs)
    assert verified_strictly(model, X, signs)["stagewise.losses"].proved < 1e-12
