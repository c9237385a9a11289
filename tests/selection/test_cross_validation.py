"""Cross-validation: errors of refits by hand, intervals of the theory, rules of choice, and splits that leak."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.linear_model import Ridge as SkRidge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from surefit import DataWarning, GridSearchCV, InvalidData, InvalidParameter, cross_validate
from surefit.bounds import k_fold
from surefit.checks.bounds import CONFIRM


def blobs(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 2, size=n)
    return rng.normal(size=(n, d)) + t[:, None], t


def test_errors_are_those_of_refits():
    X, y = blobs(100)
    result = cross_validate(SkLogistic(), X, y, cv=KFold(4))
    expected = [np.mean(SkLogistic().fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in KFold(4).split(X)]
    assert np.allclose(result.fold_means[0], expected) and result.means[0] == pytest.approx(np.mean(expected))
    assert result.standard_errors[0] == pytest.approx(np.std(expected, ddof=1) / 2)
    assert np.allclose(result["test_score"], 1 - np.array(expected)) and result["fit_time"].shape == (4,)
    trained = [np.mean(SkLogistic().fit(X[a], y[a]).predict(X[a]) != y[a]) for a, _ in KFold(4).split(X)]
    assert result.train_means[0] == pytest.approx(np.mean(trained))


def test_upper_limit_is_that_of_the_k_fold_bound_and_is_confirmed():
    X, y = blobs(400)
    result = cross_validate(SkLogistic(), X, y, cv=2, random_state=0)
    errors = [round(m * 200) for m in result.fold_means[0]]
    bound = result.bound("LogisticRegression")
    assert bound.value == pytest.approx(k_fold(errors, [200, 200], 0.05).value, rel=1e-9)
    assert CONFIRM[bound.name](bound.value, {**bound.terms, **bound.inputs, "delta": bound.delta}, {}).ok
    low, high = result.interval("LogisticRegression")
    assert high == pytest.approx(k_fold(errors, [200, 200], 0.025).value, rel=1e-9)
    assert low == pytest.approx(1 - k_fold([200 - e for e in errors], [200, 200], 0.025).value, rel=1e-9)
    assert low < result.means[0] < bound.value < high


def test_the_chosen_model_pays_for_the_choice():
    X, y = blobs(300)
    models = {
        "bayes": GaussianNB(),
        "neighbors": KNeighborsClassifier(),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    result = cross_validate(models, X, y, cv=3, random_state=0)
    chosen = result.chosen
    assert result.bound().inputs["delta_spent"] == pytest.approx(0.05 / 3)
    assert result.bound().value > result.bound(chosen).value
    assert result.interval()[1] > result.interval(chosen)[1]
    assert "interval (0.95)" in repr(result) and "chosen" in repr(result)


def test_one_standard_error_rule_prefers_the_first():
    X, y = blobs(200, seed=3)
    models = {f"depth {k}": DecisionTreeClassifier(max_depth=k, random_state=0) for k in (1, 2, 3, 8)}
    result = cross_validate(models, X, y, random_state=0)
    best = int(np.argmin(result.means))
    within = [
        n
        for n, m in zip(result.names, result.means, strict=True)
        if m <= result.means[best] + result.standard_errors[best]
    ]
    assert result.chosen == within[0]
    assert cross_validate(models, X, y, random_state=0, rule="best").chosen == result.names[best]


def test_paired_comparison():
    X, y = blobs(1200, d=1)
    models = {"good": SkLogistic(), "inverted": SkLogistic(C=1e-9), "same": SkLogistic()}
    result = cross_validate(models, X, y, cv=2, random_state=0)
    equal = result.compare("good", "same")
    assert (
        equal.difference == 0 and equal.p_value == 1 and not equal.decided and equal.interval[0] < 0 < equal.interval[1]
    )
    forward, back = result.compare("good", "inverted"), result.compare("inverted", "good")
    assert forward.difference == -back.difference and forward.interval == pytest.approx(
        (-back.interval[1], -back.interval[0])
    )
    assert forward.interval[0] <= forward.difference <= forward.interval[1]
    assert "p-value" in repr(forward)
    # Nadeau and Bengio with two folds: variance of the gaps times 1/2 + 1
    gaps = result.fold_means[0] - result.fold_means[1]
    assert forward.standard_error == pytest.approx(math.sqrt(1.5 * np.var(gaps, ddof=1)))


def test_regression_with_and_without_a_range():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.clip(X[:, 0] + 0.1 * rng.normal(size=200), -4, 4)
    free = cross_validate(SkRidge(), X, y, cv=4, random_state=0)
    assert free.interval() == (0.0, math.inf) and free.means[0] < 0.05
    with pytest.raises(InvalidParameter, match="y_range"):
        free.bound()
    ranged = cross_validate(SkRidge(), X, y, cv=4, y_range=(-5, 5), random_state=0)
    assert ranged.means[0] == pytest.approx(free.means[0]) and ranged.interval()[1] < 20
    with pytest.raises(InvalidData, match="y_range"):
        cross_validate(SkRidge(), X, y, y_range=(-1, 1))


def test_leaking_splits_have_no_interval():
    X, y = load_iris(return_X_y=True)  # holds one copy
    result = cross_validate(GaussianNB(), X, y, cv=KFold(150))
    assert "both sides" in result.trouble and result["test_score"].shape == (150,)
    with pytest.warns(DataWarning, match="both sides"):
        assert result.interval() == (0.0, 1.0)
    assert cross_validate(GaussianNB(), X, y, cv=KFold(50), assume=("equal_rows_are_draws",)).folds.n_folds == 50
    result = cross_validate(GaussianNB(), X, y, cv=10, random_state=0)
    assert result.folds.units.kind == "copies"
    X, y = blobs(60)
    groups = np.arange(60) // 6
    assert "one group" in cross_validate(GaussianNB(), X, y, cv=KFold(4), groups=groups).trouble
    for cv in (5, GroupKFold(5)):
        folds = cross_validate(GaussianNB(), X, y, cv=cv, groups=groups, random_state=0).folds
        assert all(len(set(folds.fold[groups == g])) == 1 for g in range(10)) and folds.smallest_fold == 2
    with pytest.raises(InvalidData, match="twice"):
        _ = cross_validate(GaussianNB(), X, y, cv=ShuffleSplit(5, random_state=0)).means


@pytest.mark.parametrize(
    ("options", "match"), [({"cv": 1}, "cv"), ({"confidence": 2}, "confidence"), ({"rule": "x"}, "rule")]
)
def test_bad_parameters(options, match):
    X, y = blobs(30)
    with pytest.raises((InvalidParameter, ValueError), match=match):
        cross_validate(GaussianNB(), X, y, **options)
    with pytest.raises(InvalidParameter, match="one of"):
        cross_validate(GaussianNB(), X, y, cv=3).interval("nobody")


def test_scaler_outside_the_pipeline_is_seen():
    X, y = blobs(60)
    with pytest.warns(DataWarning, match="no interval is valid"):
        cross_validate(GaussianNB(), StandardScaler().fit_transform(X), y, cv=3).interval()
    scaled = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}).fit(StandardScaler().fit_transform(X), y)
    assert scaled.certificate_.claims[0].kind == "no_claim" and "Pipeline" in scaled.unclaimed_
