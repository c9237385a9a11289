"""Data of every odd kind: a right answer that verifies, or a sentence that names who, what and where."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from surefit import (
    Certified,
    ConformalClassifier,
    ConformalRegressor,
    GridSearchCV,
    InvalidData,
    StructuralRiskMinimizer,
    certify,
    cross_validate,
    learning_curve,
    risk_certificate,
)

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, size=60)
X = RNG.normal(size=(60, 3)) + LABELS[:, None]
TARGET = X @ [1.0, 0.5, 0.0] + 0.1 * RNG.normal(size=60)
FRESH = RNG.normal(size=(40, 3))

CLASSIFIERS = [LogisticRegression(), SVC(), DummyClassifier(), make_pipeline(StandardScaler(), LinearSVC())]
TABLES = {
    "array": lambda: (X, LABELS),
    "texts": lambda: (X, np.where(LABELS, "yes", "no")),
    "objects": lambda: (X, np.where(LABELS, "yes", "no").astype(object)),
    "truth values": lambda: (X, LABELS.astype(bool)),
    "lists": lambda: (X.tolist(), LABELS.tolist()),
    "pandas": lambda: (pd.DataFrame(X, columns=list("abc"), index=range(7, 67)), pd.Series(LABELS, index=range(7, 67))),
    "categories": lambda: (
        pd.DataFrame(X, columns=list("abc")),
        pd.Series(LABELS).map({0: "u", 1: "v"}).astype("category"),
    ),
    "polars": lambda: (pl.DataFrame(X, schema=list("abc")), pl.Series(LABELS)),
    "small integers": lambda: ((X * 10).astype(np.int8), LABELS),
    "single precision": lambda: (X.astype(np.float32), LABELS),
    "huge numbers": lambda: (X * 1e150, LABELS),
}


def procedures(model):
    yield Certified(model, random_state=0), {}
    yield Certified(model, "progressive", n_blocks=3, random_state=0), {}
    yield Certified(model, "p2l", random_state=0), {}
    yield Certified(model, "transfer", random_state=0), {"X_unlabeled": FRESH}
    yield GridSearchCV(model, {}, cv=3), {}
    if hasattr(model, "predict_proba"):
        for method in ("split", "cv+"):
            yield ConformalClassifier(model, method, n_folds=4, random_state=0), {}


@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize(
    ("name", "model"),
    [*((name, GaussianNB()) for name in TABLES), *(("array", model) for model in CLASSIFIERS)],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_tables_and_models(name, model):
    table, y = TABLES[name]()
    for estimator, options in procedures(model):
        estimator.fit(table, y, **options).verify(table, y)
        assert list(estimator.classes_) == sorted(set(np.asarray(y).tolist()))
        assert set(np.asarray(estimator.predict(table)).tolist()) <= set(np.asarray(y).tolist())
    assert repr(cross_validate(model, table, y, cv=3, random_state=0))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_tables(form, dtype):
    table = form(np.where(np.abs(X) > 0.7, X, 0.0).astype(dtype))
    for estimator, options in procedures(LogisticRegression()):
        if not options:
            estimator.fit(table, LABELS).verify(table, LABELS)


@pytest.mark.parametrize("target", [TARGET, np.full(60, 3.0), TARGET * 1e-9, (TARGET > 0).astype(int)], ids=range(4))
def test_regressors(target):
    for model in (Ridge(), DummyRegressor()):
        for estimator in (
            Certified(model, random_state=0),
            Certified(model, y_range=(-20, 20), random_state=0),
            Certified(model, tolerance=0.1, random_state=0),
            Certified(model, "progressive", n_blocks=3, y_range=(-20, 20), random_state=0),
            Certified(model, "p2l", tolerance=0.1, random_state=0),
            ConformalRegressor(model, "split", random_state=0),
            ConformalRegressor(model, "cv+", n_folds=4, random_state=0),
            ConformalRegressor(model, "jackknife+"),
            GridSearchCV(model, {}, cv=3),
        ):
            estimator.fit(X, target).verify(X, target)
        assert repr(cross_validate(model, X, target, cv=3, random_state=0))


FITS = {
    "Certified": lambda X, y: Certified(GaussianNB(), random_state=0).fit(X, y),
    "ConformalClassifier": lambda X, y: ConformalClassifier(GaussianNB(), random_state=0).fit(X, y),
    "GridSearchCV": lambda X, y: GridSearchCV(GaussianNB(), {}, cv=2).fit(X, y),
    "StructuralRiskMinimizer": lambda X, y: StructuralRiskMinimizer().fit(X, y),
    "cross_validate": lambda X, y: cross_validate(GaussianNB(), X, y, cv=2, random_state=0),
    "learning_curve": lambda X, y: learning_curve(GaussianNB(), X, y, cv=2, random_state=0),
    "risk_certificate": lambda X, y: risk_certificate(GaussianNB().fit(FRESH, np.arange(40) % 2), X, y),
}


@pytest.mark.parametrize("who", FITS)
def test_targets_that_say_nothing_are_refused_by_name_and_row(who):
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        broken = LABELS.astype(float)
        broken[4] = value
        with pytest.raises(InvalidData, match=f"{who}: y contains {word} at row 4"):
            FITS[who](X, broken)
    with pytest.raises(InvalidData, match=f"{who}: y contains None at row 2"):
        FITS[who](X, np.array([1, "a", None] * 20, dtype=object))
    mixed = np.array([1, "a", 2] * 20, dtype=object)
    with pytest.raises(
        InvalidData, match=f"{who}: y must contain only text or only numbers; got values of type int, str"
    ):
        FITS[who](X, mixed)
    with pytest.raises(ValueError, match="inconsistent numbers of samples|has 50 rows"):
        FITS[who](X[:50], LABELS)


def test_several_targets():
    both = np.column_stack([LABELS, 1 - LABELS])
    with pytest.raises(InvalidData, match="y must have one column"):
        Certified(MultiOutputClassifier(GaussianNB())).fit(X, both)
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=3).fit(X, both.astype(float))
    assert search.certificate_.claims[0].kind == "no_claim" and search.predict(X).shape == (60, 2)
    neighbors = GridSearchCV(KNeighborsClassifier(3), {}, cv=3, scoring="accuracy").fit(X, both)
    assert "several targets" in neighbors.unclaimed_


def test_answers_that_are_no_numbers_are_refused():
    # One row has no variance: the probabilities are NaN, and no loss follows from them.
    for estimator in (
        Certified(GaussianNB(), loss="brier", random_state=0),
        ConformalClassifier(GaussianNB(), random_state=0),
    ):
        with (
            pytest.warns(RuntimeWarning),
            pytest.raises(InvalidData, match="GaussianNB: the fitted model predicts nan"),
        ):
            estimator.fit(X[:2], np.array([0, 1]))


def test_two_rows_are_enough_to_say_that_nothing_is_known():
    model = Certified(DummyClassifier(), random_state=0).fit(X[:2], np.array([0, 1]))
    assert model.risk_bound_ == 1.0 and "vacuous" in model.certificate_.claims[0].statement
    model.verify(X[:2], np.array([0, 1]))
    intervals = ConformalRegressor(DummyRegressor(), random_state=0).fit(X[:2], TARGET[:2])
    assert np.all(np.isinf(intervals.predict_interval(X)))
    intervals.verify(X[:2], TARGET[:2])


def test_a_fold_without_a_class_is_named_by_a_search():
    y = np.r_[0, 0, np.ones(58, dtype=int)]
    folds = [(np.arange(2, 60), np.arange(2))]
    with pytest.raises(
        InvalidData,
        match="GridSearchCV: a candidate could not be fitted .the training rows of a fold contain no row of class 0",
    ):
        GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=folds).fit(X, y)
    fitted = GridSearchCV(GaussianNB(), {}, cv=folds).fit(X, y)
    assert fitted.risk_bound_ == 1.0  # it errs on both rows of the class it has not met
    fitted.verify(X, y)


@pytest.mark.parametrize(
    "made", [Certified(GaussianNB()), ConformalClassifier(GaussianNB()), GridSearchCV(GaussianNB(), {})]
)
def test_labels_that_floats_would_merge_are_refused(made):
    huge = LABELS.astype(np.uint64) + np.uint64(
        2**63
    )  # as floats all of them are equal, and no prediction would be wrong
    with pytest.raises(InvalidData, match=r"y holds integers above 2\*\*53, which floats cannot represent exactly"):
        made.fit(X, huge)
    model = GaussianNB().fit(X, huge)
    with pytest.raises(InvalidData, match=r"above 2\*\*53"):
        risk_certificate(model, X, huge)
    with pytest.raises(InvalidData, match=r"above 2\*\*53"):
        certify(model, X[:40], huge[:40], X_holdout=X[40:], y_holdout=huge[40:])
