"""Searches and cross-validation on partitions: folds are views of them, and the bounds verify in memory and on other partitions."""

import dask
import dask.array as da
import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.model_selection import cross_validate as theirs

from surefit import (
    GaussianNB,
    GridSearchCV,
    HistGradientBoostingClassifier,
    LogisticRegression,
    RandomizedSearchCV,
    Ridge,
    cross_validate,
)
from surefit.checks.risk.search import _marked_trouble
from surefit.cluster.folds import draw_folds
from surefit.cluster.rows import rows_of
from surefit.core.errors import InvalidData, InvalidParameter, SurefitError
from surefit.core.marks import fold_of, row_marks
from surefit.core.partitioned import Part
from surefit.core.sample import read

RNG = np.random.default_rng(8)
X = RNG.normal(size=(600, 3)) + 0.2
SIGNAL = X @ [1.0, -1.0, 0.5] + 0.7 * RNG.normal(size=600)
LABELS = np.where(SIGNAL > 0.2, "yes", "no")
SEARCHES = [
    GridSearchCV(LogisticRegression(tol=1e-9), {"C": [0.001, 1.0]}, cv=3),
    GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=KFold(4, shuffle=True, random_state=3), assume=("equal_rows_are_draws",)),
    RandomizedSearchCV(LogisticRegression(tol=1e-9), {"C": [0.001, 0.1, 1.0]}, n_iter=2, random_state=0, cv=3),
]  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


def folds_in_memory(y, folds, seed=0, copies=True):
    labels = np.unique(y) if y.dtype.kind not in "biuf" else None
    code = fold_of(row_marks(Part(X, y, None, 0, ""), seed, labels, copies), folds)
    return [(np.flatnonzero(code != k), np.flatnonzero(code == k)) for k in range(folds)]


@pytest.mark.parametrize("search", SEARCHES, ids=["grid", "naive Bayes", "randomized"])
def test_results_are_those_of_the_same_folds_in_memory(search):
    found = [clone(search).fit(chunked(X, parts), chunked(LABELS, parts)) for parts in (1, 4)]
    count, seed = (4, 3) if search.estimator.__class__ is GaussianNB else (3, 0)
    splits = folds_in_memory(LABELS, count, seed, "equal_rows_are_draws" not in search.assume)
    memory = clone(search).set_params(cv=splits).fit(X, LABELS)
    for model in found:
        assert model.best_params_ == memory.best_params_ and model.n_splits_ == count
        for key in ["mean_test_score", "std_test_score", *(f"split{k}_test_score" for k in range(count))]:
            np.testing.assert_allclose(model.cv_results_[key], memory.cv_results_[key], rtol=1e-12)
        assert np.array_equal(model.cv_results_["rank_test_score"], memory.cv_results_["rank_test_score"])
        assert set(memory.cv_results_) == set(model.cv_results_)
        claim, other = model.certificate_["selection.search"], memory.certificate_["selection.search"]
        assert claim.value == pytest.approx(other.value, rel=1e-12) and claim.numbers["n"] == other.numbers["n"]
        assert np.array_equal(model.predict(X), memory.predict(X))
        for rows in ((X, LABELS), (chunked(X, 5), chunked(LABELS, 5))):
            assert all(finding.ok for finding in model.verify(*rows))


def test_changed_folds_are_refused():
    model = clone(SEARCHES[0]).fit(chunked(X, 3), chunked(LABELS, 3))
    data = read(X, LABELS)
    assert _marked_trouble(model, (), data) == ""
    rows = model.fold_rows_
    for wrong in ((rows[1], rows[0], rows[2]), (rows[0][:-1], *rows[1:]), (rows[0][:0], *rows[1:]), rows[:2]):
        model.fold_rows_ = wrong
        assert _marked_trouble(model, (), data) != ""
    model.fold_rows_, model.split_seed_ = rows, 1
    assert "not those of cv" in _marked_trouble(model, (), data)
    with pytest.raises(SurefitError):
        model.verify(X, LABELS)


@pytest.mark.parametrize(
    "scoring", [None, "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"]
)
def test_scores_of_regressors_are_those_of_scikit_learn(scoring):
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 100.0]}, cv=3, scoring=scoring, return_train_score=True)
    model = search.fit(chunked(X, 4), chunked(SIGNAL, 4))
    splits, scorer = folds_in_memory(SIGNAL, 3), get_scorer(scoring or "r2")
    for i, alpha in enumerate((0.1, 100.0)):
        for k, (train, test) in enumerate(splits):
            memory = Ridge(alpha=alpha).fit(X[train], SIGNAL[train])
            assert model.cv_results_[f"split{k}_test_score"][i] == pytest.approx(
                scorer(memory, X[test], SIGNAL[test]), rel=1e-9
            )
            assert model.cv_results_[f"split{k}_train_score"][i] == pytest.approx(
                scorer(memory, X[train], SIGNAL[train]), rel=1e-9
            )
    assert model.certificate_.claims[0].name == "selection.unclaimed" and "not an error rate" in model.unclaimed_
    assert model.verify(X, SIGNAL)


def test_cross_validate_agrees_with_the_same_folds_in_memory():
    models = {"bayes": GaussianNB(), "logistic": LogisticRegression(tol=1e-9)}
    found = cross_validate(
        models, chunked(X, 4), chunked(LABELS, 4), cv=3, random_state=2, scoring="neg_log_loss", return_train_score=True
    )
    splits = folds_in_memory(LABELS, 3, 2)
    memory = cross_validate(models, X, LABELS, cv=splits, scoring="neg_log_loss", return_train_score=True)
    for key in ("test_score", "train_score"):
        np.testing.assert_allclose(found[key], memory[key], rtol=1e-5)
    np.testing.assert_allclose(found.means, memory.means, rtol=1e-12)
    np.testing.assert_allclose(found.train_means, memory.train_means, rtol=1e-12)
    np.testing.assert_allclose(found.interval("bayes"), memory.interval("bayes"), rtol=1e-12)
    assert (
        found.chosen == memory.chosen
        and found.compare("bayes", "logistic").decided == memory.compare("bayes", "logistic").decided
    )
    own = theirs(GaussianNB(), X, LABELS, cv=splits)["test_score"]
    np.testing.assert_allclose(
        cross_validate(GaussianNB(), chunked(X, 2), chunked(LABELS, 2), cv=3, random_state=2)["test_score"], own
    )
    squared = cross_validate(Ridge(), chunked(X, 2), chunked(SIGNAL, 2), cv=3, y_range=(-10.0, 10.0))
    low, high = squared.interval()
    assert 0 <= low < squared.means[0] < high


def test_copies_stay_in_one_fold():
    repeated, y = np.repeat(X[:60], 5, axis=0), np.repeat(LABELS[:60], 5)
    folds = draw_folds("test", rows_of("test", chunked(repeated, 7), chunked(y, 7)), 3, ())
    assert sum(map(len, folds.rows)) == 60
    codes = np.repeat(np.arange(60), 5)
    assert len(np.unique(np.concatenate([codes[rows] for rows in folds.rows]))) == 60


def test_other_estimators_and_bits_of_workers():
    search = GridSearchCV(HistGradientBoostingClassifier(max_iter=5), {"learning_rate": [0.1, 1.0]}, cv=2)
    found = set()
    for workers in (1, 3):
        with dask.config.set(scheduler="threads", num_workers=workers):
            model = clone(search).fit(chunked(X, 5), chunked(LABELS, 5))
        found.add((repr(model.certificate_.claims), model.predict_proba(X).tobytes()))
    assert len(found) == 1 and model.verify(X, LABELS)["selection.search"].ok


def test_what_needs_memory_is_named():
    rows, grid = (chunked(X, 2), chunked(LABELS, 2)), {"C": [1.0]}
    with pytest.raises(InvalidParameter, match="cv must be None, a number of folds >= 2 or a KFold"):
        GridSearchCV(LogisticRegression(), grid, cv=StratifiedKFold(3)).fit(*rows)
    with pytest.raises(InvalidParameter, match="scoring must be None or one of accuracy"):
        GridSearchCV(LogisticRegression(), grid, scoring="roc_auc").fit(*rows)
    with pytest.raises(InvalidData, match="groups must be left out for rows in partitions"):
        cross_validate(LogisticRegression(), *rows, groups=np.zeros(600))


@pytest.mark.filterwarnings("ignore")  # of processes that end
def test_candidates_times_folds_in_memory_are_spread_over_a_cluster():
    """Rows in memory: joblib's Dask backend sends each candidate and fold to a worker; the results are those without it."""
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=3, n_jobs=2)
    alone = clone(search).set_params(n_jobs=None).fit(X, LABELS)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with dask.config.set(scheduler=None), LocalCluster(**options) as cluster, Client(cluster):
        with joblib.parallel_backend("dask"):
            spread = clone(search).fit(X, LABELS)
        assert cluster.scheduler.transition_counter > 10  # the fits were tasks of the cluster
    for key in ("mean_test_score", "split0_test_score", "rank_test_score"):
        assert np.array_equal(spread.cv_results_[key], alone.cv_results_[key])
    assert spread.best_estimator_.coef_.tobytes() == alone.best_estimator_.coef_.tobytes()
    assert repr(spread.certificate_.claims) == repr(alone.certificate_.claims)
    assert spread.verify(X, LABELS)["selection.search"].ok
