"""Numbers whose squares leave double precision: a fit that verifies, or one sentence; never NaN."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import surefit
from surefit.core import fingerprint, validation
from surefit.core.errors import ConvergenceWarning, DataWarning, InvalidData
from surefit.core.guards import extremes

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
y = X @ [1.0, 2.0, 3.0] + rng.normal(size=24)


@pytest.mark.parametrize("scale", [1e-310, 1e-150, 1e-100, 1e100, 1e150])
@pytest.mark.parametrize(
    "cls", [surefit.Ridge, surefit.KernelRidge, surefit.SGDRegressor, surefit.DecisionTreeRegressor]
)
def test_extreme_columns_are_fitted_with_proof_or_refused(cls, scale):
    model = cls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            model.fit(X * scale, y)
        except InvalidData as refusal:
            assert "X reaches" in str(refusal) and "divide" in str(refusal)
            return
    assert np.isfinite(model.predict(X * scale)).all()
    model.certificate_.verify(X * scale, y)


def test_trees_do_not_mind_large_columns():
    plain, large = (surefit.DecisionTreeRegressor().fit(X * scale, y) for scale in (1.0, 2.0**500))
    np.testing.assert_array_equal(plain.predict(X), large.predict(X * 2.0**500))


@pytest.mark.parametrize("cls", [surefit.Ridge, surefit.LinearRegression])
def test_huge_weights_are_refused_by_name(cls):
    with pytest.raises(InvalidData, match="sample_weight reaches 1.0e\\+300"):
        cls().fit(X, y, sample_weight=np.full(24, 1e300))


def test_overflow_is_an_error_only_inside_of_the_fit():
    with pytest.raises(InvalidData):
        surefit.KernelRidge().fit(X * 1e150, y)
    assert np.geterr()["over"] == "warn"


def test_errors_of_other_libraries_become_a_sentence_with_the_cause():
    with pytest.raises(InvalidData, match="LassoCV: Cannot have number of splits") as caught:
        surefit.LassoCV().fit(X[:2], y[:2])
    assert isinstance(caught.value.__cause__, ValueError)


def test_mean_squares_of_many_numbers_do_not_depend_on_threads(monkeypatch):
    values = np.random.default_rng(0).standard_normal((40_000, 3))
    monkeypatch.setattr(extremes, "MANY", 10_000)
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(extremes, "blas_threads", lambda count=count: count)
        found.append(extremes.mean_square(values))
    assert found[0] == found[1] == found[2] == pytest.approx(np.mean(values**2), rel=1e-14)
    values[35_000, 1] = np.inf
    assert extremes.mean_square(values) == np.inf


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
def test_the_pass_of_the_fingerprint_finds_extreme_numbers(made, monkeypatch):
    monkeypatch.setattr(fingerprint, "_MANY", 10_000)
    rows, found, whole = np.random.default_rng(1).standard_normal((4000, 4)), [], extremes.mean_square
    for module in (extremes, validation):
        monkeypatch.setattr(module, "mean_square", lambda values: found.append(values.size) or whole(values))
    surefit.Ridge().fit(made(rows), rows[:, 0])
    assert set(found) == {4000}  # the targets only
    found.clear()
    with pytest.raises(InvalidData, match="X reaches"):
        surefit.Ridge().fit(made(rows * 1e160), rows[:, 0])
    assert max(found) == rows.size


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
def test_missing_and_infinite_numbers_are_named_in_many(made, value, monkeypatch):
    monkeypatch.setattr(fingerprint, "_MANY", 10_000)
    rows = np.random.default_rng(1).standard_normal((4000, 4))
    rows[17, 2] = value
    with pytest.raises(InvalidData, match="row 17"):
        surefit.Ridge().fit(made(rows), np.ones(4000))
