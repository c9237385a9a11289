"""Data that cannot be read: one sentence that names the place and the remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import surefit
from surefit.core.errors import InvalidData
from surefit.core.validation import canonical

X, y = np.arange(12.0).reshape(6, 2) ** 2, np.arange(6.0)
FRAME = pd.DataFrame(X, columns=["a", "b"])
BAD = {
    "NA": (FRAME.astype("Int64").mask(FRAME > 80), "X contains NA at row 4, column 1 \\('b'\\)"),
    "Arrow null": (FRAME.astype("float64[pyarrow]").mask(FRAME > 80), "X contains .* at row 4, column 1 \\('b'\\)"),
    "polars null": (pl.DataFrame({"a": [1.0, None] * 3, "b": X[:, 1]}), "X contains NaN at row 1, column 0 \\('a'\\)"),
    "None": (np.array([[1, 2]] * 5 + [[None, 1]], dtype=object), "X contains (None|NaN) at row 5, column 0"),
    "a text": (np.array([["1", "2"]] * 5 + [["?", "1"]], dtype=object), "could not convert string.*Encode texts"),
    "equal names": (FRAME.set_axis(["a", "a"], axis=1), "unique column names.*Rename the columns"),
    "one dimension": (X[:, 0], "Expected 2D array.*Reshape your data"),
    "complex": (X.astype(complex), "Complex data not supported.*two columns"),
}


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_with_place_and_remedy(name):
    values, words = BAD[name]
    with pytest.raises(InvalidData, match=f"^Ridge: .*{words}") as caught:
        surefit.Ridge().fit(values, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (np.datetime64("2026-01-01") + np.arange(6), "y holds dates"),
        (np.arange(6, dtype=np.uint64) + 2**60, "above 2\\*\\*53"),
        (pd.Series([1, 2, None, 4, 5, 6], dtype="Int64"), "y contains .* at row 2"),
    ],
)
def test_targets_that_floats_cannot_hold(target, words):
    with pytest.raises(InvalidData, match=words):
        surefit.Ridge().fit(X, target)


def test_equal_sparse_matrices_have_one_form():
    halves = sparse.csr_array((np.repeat(X.ravel() / 2, 2), np.tile([1, 1, 0, 0], 6), np.arange(7) * 4), shape=(6, 2))
    wide = sparse.csr_array(
        (halves.data, halves.indices.astype(np.int64), halves.indptr.astype(np.int64)), shape=(6, 2)
    )
    for given in (halves, wide):
        found = canonical(given)
        assert found.indices.dtype == np.int32 and found.has_canonical_format
        np.testing.assert_array_equal(found.toarray(), X[:, ::-1])
        surefit.Ridge().fit(given, y).certificate_.verify(given, y)


def test_objects_that_are_numbers_verify():
    surefit.Ridge().fit(X, y.astype(object)).certificate_.verify(X, y.astype(object))


def test_memory_is_asked_for_before_allocation(monkeypatch):
    monkeypatch.setattr("surefit.core.guards.memory.available", lambda: 2.0**25)
    many = np.random.default_rng(0).normal(size=(1300, 2))
    for cls in (surefit.KernelRidge, surefit.KernelPCA):
        with pytest.raises(InvalidData, match="1300 rows need about .* GiB and .* 1182 rows would fit"):
            cls().fit(many, many[:, 0])


@pytest.mark.parametrize("cls", [surefit.BayesianRidge, surefit.GaussianMixture, surefit.QuadraticDiscriminantAnalysis])
def test_memory_for_covariances_of_many_columns_is_asked_for(cls, monkeypatch):
    monkeypatch.setattr("surefit.core.guards.memory.available", lambda: 2.0**24)
    wide = np.random.default_rng(0).normal(size=(10, 1300))
    with pytest.raises(
        InvalidData, match=r"1300 columns need about 0.0\d+ GiB and 0.0156 GiB are available; \d+ columns would fit"
    ):
        cls().fit(wide, [0, 1] * 5)


def test_search_says_in_a_line_why_all_candidates_failed():
    search = surefit.GridSearchCV(surefit.LogisticRegression(), {"C": [1.0, 2.0]}, cv=2)
    words = "^GridSearchCV: All .* fits failed: LogisticRegression: Found array with 0 feature"
    with pytest.raises(InvalidData, match=words) as caught:
        search.fit(X[:, :0], [0, 1] * 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "columns, words",
    [
        (["b", "a"], "Feature names must be in the same order as they were in fit"),
        (["a", "c"], "Feature names unseen at fit time:\n- c\nFeature names seen at fit time, yet now missing:\n- b"),
    ],
)
def test_columns_of_another_table_are_named(columns, words):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = surefit.Ridge().fit(pd.DataFrame(X, columns=["a", "b"]), X[:, 0])
    with pytest.raises(
        InvalidData, match=f"Ridge: The feature names should match those that were passed during fit.\n{words}"
    ):
        model.predict(pd.DataFrame(X, columns=columns))
    with pytest.raises(InvalidData, match=words):  # though a cell is missing, too
        model.predict(pd.DataFrame(np.where(X > 1, np.nan, X), columns=columns))
