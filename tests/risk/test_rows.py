"""Units, signs of scaling, and tables of every kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler

from surefit import (
    Certified,
    ConformalClassifier,
    DataWarning,
    GridSearchCV,
    StructuralRiskMinimizer,
    cross_validate,
    risk_certificate,
)
from surefit.core.rows import row_keys, take_rows
from surefit.risk.units import find_units, sign_of_scaling


def blobs(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 2, size=n)
    return rng.normal(size=(n, d)) + t[:, None], t


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=2, max_size=12))
def test_copies_are_equal_rows_with_equal_targets(rows):
    X, y = np.array([row[:2] for row in rows], dtype=float), np.array([row[2] for row in rows])
    units = find_units("", X, y)
    assert units.total == len(set(rows)) and units.kind == ("rows" if units.total == len(rows) else "copies")
    for i in range(len(rows)):
        for j in range(len(rows)):
            assert (units.codes[i] == units.codes[j]) == (rows[i] == rows[j])
    for form in (sparse.csr_array, sparse.csc_array, np.asfortranarray):
        assert np.array_equal(find_units("", form(X), y).codes, units.codes)
    losses = np.arange(float(len(rows)))
    means = units.means(losses, np.arange(len(rows)))
    assert np.allclose(
        means, [np.mean([losses[i] for i in range(len(rows)) if rows[i] == r]) for r in dict.fromkeys(rows)]
    )


def test_minus_zero_and_stored_zeros_are_zeros():
    assert row_keys(np.array([[0.0, 1.0]])) == row_keys(np.array([[-0.0, 1.0]]))
    stored = sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert row_keys(stored) == row_keys(sparse.csr_array(np.array([[0.0, 1.0]])))


@settings(max_examples=20)
@given(st.permutations(range(12)), st.sampled_from(["C", "F"]))
def test_order_of_rows_and_of_memory_changes_nothing(order, memory):
    X, y = blobs(12)
    model = GaussianNB().fit(*blobs(50, seed=1))
    first = risk_certificate(model, X, y)["risk.holdout"]
    again = risk_certificate(model, np.array(X[list(order)], order=memory), y[list(order)])["risk.holdout"]
    assert first.value == again.value and first.statement == again.statement


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_std=False),
        MinMaxScaler(),
        MinMaxScaler((-1, 1)),
        MaxAbsScaler(),
        RobustScaler(),
        QuantileTransformer(n_quantiles=50),
        QuantileTransformer(n_quantiles=50, output_distribution="normal"),
        PCA(whiten=True),
    ],
    ids=repr,
)
def test_scaling_by_all_rows_is_seen(scaler):
    X, _ = blobs(100)
    assert sign_of_scaling(scaler.fit_transform(X)) is not None
    assert sign_of_scaling(scaler.fit_transform(X).astype(np.float32)) is not None
    # part of a scaled table, raw measurements, designed levels, indicators and pictures give no sign
    assert sign_of_scaling(scaler.fit_transform(X)[:60]) is None
    levels = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)] * 5)
    for table in (X, levels, (X > 0).astype(float), np.clip(X, 0, 1) * [1, 1, 0.5], sparse.csr_array(X), X[:4]):
        assert sign_of_scaling(table) is None


@pytest.mark.parametrize(
    "form", [pd.DataFrame, pl.DataFrame, sparse.csr_array, sparse.csc_matrix, lambda X, **_: X.tolist()]
)
def test_tables_of_every_kind(form):
    X, y = blobs(120)
    names = (
        {"columns": ["a", "b", "c"]}
        if form is pd.DataFrame
        else {"schema": ["a", "b", "c"]}
        if form is pl.DataFrame
        else {}
    )
    table = form(X, **names)
    plain = Certified(SkLogistic(), random_state=0).fit(X, y)
    fitted = Certified(SkLogistic(), random_state=0).fit(table, y)
    assert fitted.risk_bound_ == plain.risk_bound_
    fitted.verify(table, y)
    assert (
        cross_validate(SkLogistic(), table, y, cv=3, random_state=0).means
        == cross_validate(SkLogistic(), X, y, cv=3, random_state=0).means
    )
    sets = ConformalClassifier(SkLogistic(), random_state=0).fit(table, pd.Series(y, index=np.arange(120) + 7))
    assert sets.predict_set(table).shape == (120, 2)
    sets.verify(table, y)


def test_taking_rows_keeps_the_kind_and_the_order():
    X, _ = blobs(6)
    rows = np.array([4, 1])
    for form in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        part = take_rows(form, rows)
        assert type(part) is type(form) and np.array_equal(part.to_numpy(), X[rows])
    assert take_rows(["u", "v", "w", "x", "y"], rows) == ["y", "v"]
    assert np.array_equal(take_rows(sparse.coo_array(X), rows).toarray(), X[rows])


def test_rows_in_order_of_time_get_no_claim_unless_grouped_or_declared():
    X, y = blobs(120)
    days = pd.date_range("2020-01-01", periods=120)
    table, target = pd.DataFrame(X, columns=list("abc"), index=days), pd.Series(y, index=days)
    for estimator in (
        Certified(SkLogistic(), random_state=0),
        ConformalClassifier(SkLogistic(), random_state=0),
    ):
        with pytest.warns(DataWarning, match="indexed by time"):
            estimator.fit(table, target)
        assert estimator.certificate_.claims[0].kind == "no_claim"
    for quiet in (GridSearchCV(SkLogistic(), {"C": [1.0]}, cv=3), StructuralRiskMinimizer()):
        quiet.fit(table, target)
        assert "indexed by time" in quiet.unclaimed_ and np.isnan(quiet.risk_bound_)
    with pytest.warns(DataWarning, match="no interval is valid: the rows are indexed by time"):
        assert cross_validate(SkLogistic(), table, target, cv=3, random_state=0).interval() == (0.0, 1.0)
    model = SkLogistic().fit(*blobs(50, seed=1))
    with pytest.warns(DataWarning, match="indexed by time"):
        assert risk_certificate(model, X, target).claims[0].name == "risk.void"
    weeks = np.arange(120) // 7
    grouped = Certified(SkLogistic(), random_state=0).fit(table, target, groups=weeks)
    declared = Certified(SkLogistic(), assume=("independent_times",), random_state=0).fit(table, target)
    for fitted in (grouped, declared):
        assert fitted.risk_bound_ <= 1 and fitted.verify(table, target)["risk.holdout"].ok
    assert "do not depend on each other, as declared" in declared.certificate_.claims[0].statement
