"""``Certified`` by hold-out and split conformal prediction on partitions: one split for all partitions, verified anywhere."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Foreign

from surefit import Certified, ConformalClassifier, ConformalRegressor, GaussianNB, LogisticRegression, Ridge
from surefit.checks.risk.marked import mark_trouble
from surefit.core.errors import DataWarning, Invalidated, InvalidData, InvalidParameter, SurefitError
from surefit.core.marks import row_marks, smallest
from surefit.core.partitioned import Part
from surefit.core.sample import read

RNG = np.random.default_rng(3)
X = RNG.normal(size=(900, 4)) + 0.3
SIGNAL = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * RNG.normal(size=900)
LABELS = np.where(SIGNAL > 0.3, "yes", "no")
CASES = [
    (Certified(LogisticRegression(tol=1e-10), random_state=1), LABELS),
    (Certified(LogisticRegression(tol=1e-10), loss="brier", random_state=1, refit=True), LABELS),
    (Certified(Ridge(), random_state=1), SIGNAL),
    (Certified(Ridge(), y_range=(-20.0, 20.0), random_state=1, test_size=150), SIGNAL),
    (Certified(Ridge(), tolerance=1.0, random_state=1, assume=("equal_rows_are_draws",)), SIGNAL),
    (ConformalRegressor(Ridge(), random_state=1), SIGNAL),
    (ConformalClassifier(GaussianNB(), random_state=1), LABELS),
    (ConformalClassifier(GaussianNB(), by_class=True, calibration_size=300), LABELS),
]
IDS = ["errors", "brier", "quantile", "squared", "miss", "intervals", "sets", "sets by class"]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


def held(model):
    return model.test_rows_ if isinstance(model, Certified) else model.calibration_rows_


@pytest.mark.parametrize(("estimator", "y"), CASES, ids=IDS)
def test_the_split_and_the_claims_do_not_depend_on_the_partitions(estimator, y):
    estimator = clone(estimator).set_params(random_state=1)
    found = [clone(estimator).fit(chunked(X, parts), chunked(y, parts)) for parts in (1, 3, 7)]
    for model in found:
        assert np.array_equal(held(model), held(found[0]))
        values = [claim.value for claim in model.certificate_.claims if claim.kind != "no_claim"]
        np.testing.assert_allclose(
            values, [c.value for c in found[0].certificate_.claims if c.kind != "no_claim"], rtol=1e-6
        )
    for rows in ((X, y), (chunked(X, 1), chunked(y, 1)), (chunked(X, 5), chunked(y, 5))):
        findings = found[1].verify(*rows)
        assert all(finding.ok for finding in findings)


@pytest.mark.parametrize(("estimator", "y"), CASES, ids=IDS)
def test_the_model_is_the_fit_in_memory_to_the_rows_that_were_not_held_out(estimator, y):
    model = clone(estimator).fit(chunked(X, 4), chunked(y, 4))
    rest = np.setdiff1d(np.arange(len(X)), held(model))
    twin = model.twin_ if isinstance(model, Certified) else model.estimator_
    memory = clone(twin).fit(X[rest], y[rest])
    np.testing.assert_allclose(twin.predict_proba(X) if hasattr(twin, "predict_proba") else twin.predict(X),
                               memory.predict_proba(X) if hasattr(memory, "predict_proba") else memory.predict(X), atol=1e-4)  # fmt: skip
    assert twin.verify(X[rest], y[rest])  # the nested certificate is that of these rows


def test_bounds_are_those_of_the_losses():
    model = Certified(LogisticRegression(), random_state=2).fit(chunked(X, 4), chunked(LABELS, 4))
    claim, rows = model.certificate_["risk.holdout"], model.test_rows_
    assert claim.numbers["n"] == len(rows) == 200
    assert claim.numbers["errors"] == np.sum(model.estimator_.predict(X[rows]) != LABELS[rows])
    regressor = ConformalRegressor(Ridge(), random_state=2).fit(chunked(X, 4), chunked(SIGNAL, 4))
    rows = regressor.calibration_rows_
    np.testing.assert_allclose(regressor.residuals_, SIGNAL[rows] - regressor.estimator_.predict(X[rows]), rtol=1e-12)
    interval = regressor.predict_interval(chunked(X, 3))
    assert isinstance(interval, da.Array) and np.array_equal(interval.compute(), regressor.predict_interval(X))


def test_copies_stay_on_one_side_and_count_once():
    repeated, y = np.repeat(X[:100], 9, axis=0), np.repeat(LABELS[:100], 9)
    order = RNG.permutation(len(y))
    repeated, y = repeated[order], y[order]
    model = Certified(LogisticRegression(), random_state=0).fit(chunked(repeated, 7), chunked(y, 7))
    assert len(model.test_rows_) == 50 and model.certificate_["risk.holdout"].numbers["n"] == 50
    apart = {row.tobytes() for row in repeated[model.test_rows_]}
    assert len(apart) == 50
    rest = np.array([row.tobytes() not in apart for row in repeated])
    assert model.estimator_.certificate_.data["n_rows"] == rest.sum() == 450
    assert model.estimator_.verify(repeated[rest], y[rest])
    assert model.verify(repeated, y)["risk.holdout"].ok


def test_a_changed_split_is_refused():
    model = ConformalRegressor(Ridge(), random_state=5).fit(chunked(X, 3), chunked(SIGNAL, 3))
    certified = Certified(Ridge(), random_state=5).fit(chunked(X, 3), chunked(SIGNAL, 3))
    for fitted, name in ((model, "calibration_rows_"), (certified, "test_rows_")):
        rows, params, data = getattr(fitted, name), fitted.certificate_.params, read(X, SIGNAL)
        assert mark_trouble(fitted, params, (), data, rows) == ""
        for wrong in (rows + 1, rows[::-1]):
            assert "not those that the seed draws" in mark_trouble(fitted, params, (), data, wrong)
        for size in (0, 50, 199, 201, 899):  # the first rows that the seed draws, but not as many as by default
            wrong = np.sort(smallest(X, SIGNAL, 5, size, True)[0].rows)
            assert "200 rows (or groups) must be held out" in mark_trouble(fitted, params, (), data, wrong)
        assert "not the one that random_state draws" in mark_trouble(fitted, {"random_state": 6}, (), data, rows)
        setattr(fitted, name, rows[:-1])
        with pytest.raises(Invalidated):
            fitted.verify(X, SIGNAL)
    other = Certified(Ridge()).fit(chunked(X, 3), chunked(SIGNAL, 3))
    assert other.verify(chunked(X, 2), chunked(SIGNAL, 2))["risk.quantile"].ok  # a stored seed
    with pytest.raises(Invalidated):
        other.verify(X[::-1], SIGNAL[::-1])


def test_certificates_of_splits_in_memory_need_memory():
    model = Certified(Ridge(), random_state=0).fit(X, SIGNAL)
    with pytest.raises(SurefitError, match="its split was drawn there"):
        model.verify(chunked(X, 2), chunked(SIGNAL, 2))


def test_scaled_columns_and_times_void_the_claim():
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(DataWarning, match="every column of X has mean zero"):
        model = Certified(Ridge(), random_state=0).fit(chunked(scaled, 3), chunked(SIGNAL, 3))
    assert model.certificate_.claims[0].name == "risk.void" and np.isnan(model.risk_bound_)
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    with pytest.warns(DataWarning, match="ranges exactly from 0 to 1"):
        ConformalRegressor(Ridge(), random_state=0).fit(chunked(unit, 3), chunked(SIGNAL, 3))
    table = pd.DataFrame(X, columns=list("abcd"), index=pd.date_range("2020", periods=len(X)))
    table["y"] = SIGNAL
    frame = dd.from_pandas(table, npartitions=3)
    with pytest.warns(DataWarning, match="indexed by time"):
        Certified(Ridge(), random_state=0).fit(frame[list("abcd")], frame["y"])
    declared = Certified(Ridge(), random_state=0, assume=("independent_times",)).fit(frame[list("abcd")], frame["y"])
    assert declared.verify(frame[list("abcd")], frame["y"])["risk.quantile"].ok
    assert declared.verify(table[list("abcd")], table["y"])["risk.quantile"].ok


def test_what_needs_memory_is_named():
    rows = chunked(X, 2), chunked(LABELS, 2)
    with pytest.raises(InvalidParameter, match="by must be 'holdout' for rows in partitions"):
        Certified(LogisticRegression(), by="progressive").fit(*rows)
    with pytest.raises(InvalidParameter, match="method must be 'split' for rows in partitions"):
        ConformalClassifier(LogisticRegression(), method="cv+").fit(*rows)
    with pytest.raises(InvalidParameter, match="test_size must be below the number of distinct rows, 900"):
        Certified(LogisticRegression(), test_size=900).fit(*rows)
    with pytest.raises(
        InvalidData, match="estimator must support rows in partitions; got LogisticRegression of sklearn"
    ):
        Certified(Foreign()).fit(*rows)
    with pytest.raises(InvalidData, match="groups must be left out for rows in partitions"):
        Certified(LogisticRegression()).fit(*rows, groups=np.arange(900))


@pytest.mark.parametrize("copies", [True, False])
def test_marks_are_a_fair_draw(copies):
    counts = np.zeros(60)
    for seed in range(400):
        (found,) = smallest(X[:60], SIGNAL[:60], seed, 12, copies)
        assert np.all(np.diff(found.marks.astype(float)) > 0)
        counts[found.rows] += 1
    assert (
        counts.sum() == 400 * 12 and counts.min() > 80 - 5 * 8 and counts.max() < 80 + 5 * 8
    )  # five standard deviations
    whole = row_marks(Part(X, SIGNAL, None, 0, ""), 1, None, copies)
    part = row_marks(Part(X[100:200], SIGNAL[100:200], None, 100, ""), 1, None, copies)
    assert np.array_equal(whole[100:200], part)
