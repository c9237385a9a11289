"""Searches: scikit-learn's results, the finite-class price, and comparisons that prove nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.linear_model import Ridge as SkRidge
from sklearn.model_selection import GridSearchCV as SkGrid
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.model_selection import RandomizedSearchCV as SkRandom
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.forging import with_claim

from surefit import CertificateError, GridSearchCV, InvalidData, InvalidParameter, RandomizedSearchCV
from surefit.bounds import clopper_pearson, k_fold
from surefit.selection.drawn_folds import share_weight

GRID = {"n_neighbors": [1, 3, 5, 9, 15, 25]}


def blobs(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 2, size=n)
    return rng.normal(size=(n, d)) + t[:, None], t


def test_results_are_those_of_scikit_learn():
    X, y = blobs(150)
    ours, theirs = (cls(KNeighborsClassifier(), GRID).fit(X, y) for cls in (GridSearchCV, SkGrid))
    assert ours.best_params_ == theirs.best_params_ and ours.best_score_ == theirs.best_score_
    assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert np.array_equal(ours.predict(X), theirs.predict(X)) and ours.score(X, y) == theirs.score(X, y)
    distribution = {"C": loguniform(1e-3, 1e3)}
    ours, theirs = (
        cls(SkLogistic(), distribution, n_iter=4, random_state=0).fit(X, y) for cls in (RandomizedSearchCV, SkRandom)
    )
    assert ours.best_params_ == theirs.best_params_ and ours.cv_results_["params"] == theirs.cv_results_["params"]


def test_the_price_of_comparing_on_a_development_set():
    X, y = blobs(300)
    fold = np.where(np.arange(300) < 200, -1, 0)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=PredefinedSplit(fold)).fit(X, y)
    model = KNeighborsClassifier(**search.best_params_).fit(X[:200], y[:200])
    errors = int(np.sum(model.predict(X[200:]) != y[200:]))
    assert search.risk_bound_ == pytest.approx(clopper_pearson(errors, 100, 0.05 / 6), rel=1e-9)
    claim = search.certificate_["selection.search"]
    assert "6 candidates" in claim.statement and search.ledger_ == [("each of 6 candidates", pytest.approx(0.05 / 6))]
    search.verify(X, y)
    # the winner is the exact minimiser, and a grid of one point is that fit
    assert errors == min(
        np.sum(KNeighborsClassifier(k).fit(X[:200], y[:200]).predict(X[200:]) != y[200:]) for k in GRID["n_neighbors"]
    )
    one = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3]}, cv=PredefinedSplit(fold)).fit(X, y)
    assert one.certificate_["selection.search"].numbers["candidates"] == 1


def test_labels_of_the_test_part_do_not_move_the_choice():
    X, y = blobs(300)
    fold = np.where(np.arange(300) < 150, -1, np.where(np.arange(300) < 220, 0, -1))
    rest = np.arange(300) >= 220
    train = [(np.arange(150), np.arange(150, 220))]
    flipped = np.where(rest, 1 - y, y)
    chosen = [GridSearchCV(KNeighborsClassifier(), GRID, cv=train).fit(X, t).best_index_ for t in (y, flipped)]
    assert chosen[0] == chosen[1] and fold.max() == 0


def test_folds_are_counted_on_held_out_rows():
    X, y = blobs(400)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=KFold(2)).fit(X, y)
    claim = search.certificate_["selection.search"]
    errors = [
        int(np.sum(m.predict(X[b]) != y[b])) for m, (_, b) in zip(search.fold_models_, KFold(2).split(X), strict=True)
    ]
    assert 1 - np.mean(errors) / 200 == pytest.approx(search.best_score_)
    assert search.risk_bound_ == pytest.approx(k_fold(errors, [200, 200], 0.05 / 6).value, rel=1e-9)
    assert "folds_drawn_independently_of_rows" in claim.assumptions and "drawn by class" not in claim.statement
    assert search.verify(X, y)["selection.search"].ok


def test_folds_drawn_by_class_cost_a_little_more():
    X, y = blobs(400)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(X, y)
    claim, splits = search.certificate_["selection.search"], list(StratifiedKFold(5).split(X, y))
    errors = [int(np.sum(m.predict(X[b]) != y[b])) for m, (_, b) in zip(search.fold_models_, splits, strict=True)]
    weights = [share_weight(np.bincount(y), np.bincount(y[b]), Fraction(1, 5)) for _, b in splits]
    weight = math.prod(weights) ** (1 / 5)
    assert 0.2 < weight < 1
    assert search.risk_bound_ == pytest.approx(k_fold(errors, [80] * 5, 0.05 * weight / 6).value, rel=1e-9)
    assert "on folds drawn by class" in claim.statement and "classes_known" in claim.assumptions
    search.verify(X, y)
    single = GridSearchCV(KNeighborsClassifier(), GRID, cv=StratifiedShuffleSplit(1, test_size=0.5, random_state=0))
    assert single.fit(X, y).certificate_.claims[0].numbers.keys() >= {"empirical", "folds"}
    single.verify(X, y)


def test_groups_are_what_is_counted():
    X, y = blobs(240)
    groups = np.arange(240) // 3
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=GroupKFold(4, shuffle=True, random_state=0))
    claim = search.fit(X, y, groups=groups).certificate_.claims[0]
    assert claim.numbers["n"] == 20 and claim.assumptions[0] == "groups_iid"
    search.verify(X, y)
    torn = GridSearchCV(KNeighborsClassifier(), GRID, cv=KFold(4, shuffle=True, random_state=0))
    with pytest.warns(UserWarning, match="groups parameter is ignored"):  # scikit-learn's
        torn.fit(X, y, groups=groups)
    assert "one group" in torn.unclaimed_
    uneven = np.minimum(groups, 60)  # folds balanced by size look at the groups
    by_size = GridSearchCV(KNeighborsClassifier(), GRID, cv=GroupKFold(4)).fit(X, y, groups=uneven)
    assert "sizes" in by_size.unclaimed_ and math.isnan(by_size.risk_bound_)


def test_random_draws():
    X, y = blobs(200)
    distribution = {"var_smoothing": loguniform(1e-9, 1e3)}
    search = RandomizedSearchCV(GaussianNB(), distribution, n_iter=60, cv=2, confidence=0.9, random_state=0)
    claim = search.fit(X, y).certificate_["selection.random_draws"]
    # D09: 60 draws hit the best 5 % with probability .954
    assert (1 - claim.value) ** 60 == pytest.approx(0.05) and 1 - 0.95**60 == pytest.approx(0.954, abs=5e-4)
    assert math.fsum(share for _, share in search.ledger_[1:]) + 60 * search.ledger_[0][1] == pytest.approx(0.1)
    search.verify(X, y)


def test_no_claim_where_nothing_is_proved():
    X, y = load_iris(return_X_y=True)
    copies = GridSearchCV(KNeighborsClassifier(), GRID, cv=KFold(10)).fit(X, y)
    assert math.isnan(copies.risk_bound_) and "equal rows" in copies.unclaimed_
    declared = GridSearchCV(KNeighborsClassifier(), GRID, cv=KFold(10), assume=("equal_rows_are_draws",)).fit(X, y)
    assert 0.3 < declared.risk_bound_ < 1.0  # ten rows a fold prove little
    X, y = blobs(60)
    for search in (
        GridSearchCV(SkRidge(), {"alpha": [1.0, 2.0]}),
        GridSearchCV(SkLogistic(), {"C": [1.0]}, scoring="roc_auc"),
        GridSearchCV(SkLogistic(), {"C": [1.0]}, cv=[(np.arange(40), np.arange(40, 60))] * 2),
    ):
        assert search.fit(X, y).certificate_.claims[0].kind == "no_claim"


def test_forgeries_and_bad_parameters():
    X, y = blobs(200)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=4).fit(X, y)
    claim = search.certificate_.claims[0]
    z = claim.numbers
    for changes, words in (
        ({"value": claim.value * 0.98}, "does not follow"),
        ({"numbers": {**z, "candidates": 1}}, "candidates is 6"),
        ({"numbers": {**z, "empirical": z["empirical"] / 2}}, "empirical is"),
        ({"numbers": {**z, "assumes": z["assumes"][:1]}}, "assumes is"),
    ):
        with pytest.raises(CertificateError, match=words):
            with_claim(search.certificate_, claim.name, **changes).verify(X, y)
    search.fold_models_[1].n_neighbors = 149
    with pytest.raises(CertificateError, match="fold_models_ was changed"):
        search.verify(X, y)
    with pytest.raises(InvalidParameter, match="confidence"):
        GridSearchCV(confidence=1.5).fit(X, y)


def test_several_scores_and_model_files(tmp_path):
    import surefit

    X, y = blobs(80)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring=["accuracy", "f1"], refit="f1").fit(
        X, y
    )
    theirs = SkGrid(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring=["accuracy", "f1"], refit="f1").fit(X, y)
    assert search.score(X, y) == theirs.score(X, y) and search.certificate_.claims[0].kind == "no_claim"
    file = tmp_path / "search.surefit"
    surefit.save(GridSearchCV().fit(X, y), file)
    again = surefit.load(file)
    again.verify(X, y)
    assert again.score(X, y) > 0.5


@pytest.mark.parametrize("counts", [True, False])
def test_splitters_that_miscount_are_named(counts):
    class Broken(KFold):
        def get_n_splits(self, *args, **named):
            return 1

    class Plain:
        def split(self, X, y=None, groups=None):
            return KFold(3).split(X, y)

    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=Broken(3) if counts else Plain())
    if not counts:  # a splitter without get_n_splits says nothing that could be wrong
        assert search.fit(X, y).n_splits_ == 3
        return
    with pytest.raises(
        InvalidData, match=r"GridSearchCV: .*inconsistent results. Expected 1 splits, got 3; get_n_splits must"
    ):
        search.fit(X, y)
