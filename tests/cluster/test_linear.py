"""Linear models on partitions: the fit and the certificate of one machine, whatever the partitions."""

from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from surefit import (
    AdaBoostRegressor,
    ElasticNet,
    ElasticNetCV,
    HuberRegressor,
    Lasso,
    LassoCV,
    LinearModel,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from surefit.cluster import rows as rows_module
from surefit.core.errors import CertificateError, Invalidated, InvalidData, InvalidParameter
from surefit.core.partitioned import ClusterLost

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)) + np.array([0.0, 0.0, 5.0, 0.0, 100.0])
S = RNG.integers(1, 4, size=300).astype(float)
SIGNAL = X @ [1.0, 2.0, 0.0, 0.0, 0.5]
NUMBERS = SIGNAL + RNG.normal(size=300) + 3
LABELS = np.where(SIGNAL + RNG.normal(size=300) > 50, "a", "b")
THREE = np.digitize(SIGNAL + RNG.normal(size=300), [49.0, 51.0])
OUTLIERS = np.where(np.arange(300) % 11 == 0, NUMBERS + 40, NUMBERS)
COUNTS = RNG.poisson(np.exp(0.3 * X[:, 0])).astype(float)
CASES = [
    (LinearRegression(), NUMBERS),
    (LinearRegression(fit_intercept=False), NUMBERS),
    (Ridge(), NUMBERS),
    (Ridge(alpha=1e-8), NUMBERS),
    (Ridge(), np.column_stack([NUMBERS, COUNTS])),
    (Lasso(alpha=0.1), NUMBERS),
    (ElasticNet(alpha=0.1, positive=True), NUMBERS),
    (LogisticRegression(tol=1e-8), LABELS),
    (LogisticRegression(l1_ratio=1.0, C=0.1, tol=1e-8, class_weight="balanced"), LABELS),
    (LogisticRegression(multi_class="ovr", tol=1e-8), THREE),
    (LinearSVC(tol=1e-6), LABELS),
    (LinearSVC(loss="squared_hinge", penalty="l1", dual=False, tol=1e-7), LABELS),
    (LinearSVR(epsilon=0.3, tol=1e-6), NUMBERS),
    (QuantileRegressor(alpha=0.01, quantile=0.3), NUMBERS),
    (PoissonRegressor(tol=1e-10), COUNTS),
    (RidgeClassifier(), THREE),
    (LinearModel(loss="huber", penalty="l1", alpha=0.05), NUMBERS),
    (LogisticRegression(tol=1e-8, class_weight="balanced"), THREE),
    (LogisticRegression(l1_ratio=1.0, C=0.3, tol=1e-8), THREE),
    (HuberRegressor(tol=1e-9), OUTLIERS),
    (HuberRegressor(alpha=1.0, epsilon=1.1, fit_intercept=False), OUTLIERS),
]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


MATRIX = [(3, *case) for case in CASES] + [(parts, *CASES[i]) for parts in (1, 7) for i in (0, 5, 7, 13, 17, 18, 19)]


@pytest.mark.parametrize(
    ("parts", "model", "y"), MATRIX, ids=[f"{parts}-{str(model)[:30]}" for parts, model, _ in MATRIX]
)
def test_agrees_with_the_fit_in_memory_and_verifies_both_ways(parts, model, y):
    weights = S if parts == 3 else None
    memory = clone(model).fit(X, y, sample_weight=weights)
    fitted = clone(model).fit(
        chunked(X, parts), chunked(y, parts), None if weights is None else chunked(weights, parts)
    )
    excess = memory.dual_gap_ + fitted.dual_gap_
    assert abs(memory.objective_ - fitted.objective_) <= excess + 1e-9 * abs(memory.objective_)
    assert fitted.certificate_["linear.gap"].holds
    np.testing.assert_allclose(fitted.coef_, memory.coef_, atol=2e-2 * np.abs(memory.coef_).max())
    assert fitted.cluster_["partitions"] == parts and fitted.cluster_["passes"] >= 2
    # The same rows in other partitions, and in memory, prove the same statements.
    again = fitted.verify(chunked(X, 2), chunked(y, 2), None if weights is None else chunked(weights, 2))
    assert again["linear.gap"].level == "enclosed"
    assert fitted.verify(X, y, weights)["linear.gap"].ok
    predicted = fitted.predict(chunked(X, 4))
    assert isinstance(predicted, da.Array)
    if y.ndim == 1 and y.dtype.kind != "f":
        assert np.array_equal(predicted.compute(), fitted.predict(X))
    else:
        np.testing.assert_allclose(predicted.compute(), fitted.predict(X), rtol=1e-13)


@pytest.mark.parametrize(
    ("model", "y"),
    [CASES[7], CASES[11], CASES[14], CASES[17], CASES[19]],
    ids=["logistic", "svc", "poisson", "softmax", "huber"],
)
def test_certificates_of_fits_in_memory_verify_on_partitions(model, y):
    memory = clone(model).fit(X, y)
    assert memory.verify(chunked(X, 3), chunked(y, 3))["linear.gap"].ok


def test_claims_that_need_all_rows_say_so():
    with pytest.raises(CertificateError, match=r"linear.rank.*verified with the rows in memory only"):
        LinearRegression().fit(X, NUMBERS).verify(chunked(X, 3), chunked(NUMBERS, 3))


def test_other_rows_and_changed_coefficients_are_refused():
    model = QuantileRegressor(alpha=0.01).fit(chunked(X, 3), chunked(NUMBERS, 3))
    other = NUMBERS.copy()
    other[200] += 1e-9
    with pytest.raises(Invalidated, match="y differ"):
        model.verify(chunked(X, 3), chunked(other, 3))
    model.coef_[0] += 1e-3
    with pytest.raises(Invalidated, match="coef_ was changed"):
        model.verify(chunked(X, 3), chunked(NUMBERS, 3))


@pytest.mark.parametrize(("model", "y"), [CASES[5], CASES[17], CASES[19]], ids=["lasso", "softmax", "huber"])
def test_a_gap_that_is_stated_too_small_is_refused(model, y):
    certificate = clone(model).fit(chunked(X, 3), chunked(y, 3)).certificate_
    gap, *others = certificate.claims
    forged = replace(certificate, claims=(replace(gap, value=0.0), *others), seal="", subject=None)
    with pytest.raises(CertificateError, match="linear.gap"):
        forged.verify(chunked(X, 3), chunked(y, 3))


@pytest.mark.parametrize(
    ("estimator", "y"), [(LogisticRegression(), LABELS), CASES[17], CASES[19]], ids=["logistic", "softmax", "huber"]
)
def test_the_same_bits_for_any_number_of_workers(estimator, y):
    found = []
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            model = clone(estimator).fit(chunked(X, 7), chunked(y, 7))
            found.append((model.coef_.tobytes(), repr(model.certificate_.claims)))
    assert len(set(found)) == 1


def test_frames_and_parquet_name_the_target(tmp_path):
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=NUMBERS)
    model = Ridge().fit(dd.from_pandas(table, npartitions=3), "y")
    assert model.feature_names_in_.tolist() == list("abcde")
    for i in range(3):
        table[100 * i : 100 * i + 100].to_parquet(tmp_path / f"{i}.parquet")
    stored = Ridge().fit(str(tmp_path / "*.parquet"), "y")
    assert np.array_equal(stored.coef_, model.coef_)
    assert stored.verify(str(tmp_path), "y")["linear.gap"].ok
    assert model.verify(table[list("abcde")], table["y"])["linear.gap"].ok
    expected = model.predict(table[list("abcde")])
    np.testing.assert_allclose(model.predict(dd.from_pandas(table, npartitions=2)).compute(), expected, rtol=1e-14)
    np.testing.assert_allclose(stored.predict(str(tmp_path)).compute(), expected, rtol=1e-14)


def test_estimators_that_need_their_rows_in_memory_name_those_that_do_not():
    with pytest.raises(
        InvalidData, match=r"AdaBoostRegressor: this estimator needs its rows in memory; .* Lasso, .*Ridge"
    ):
        AdaBoostRegressor().fit(chunked(X, 3), chunked(NUMBERS, 3))
    with pytest.raises(InvalidParameter, match="Ridge: radius must be None for rows in partitions; got 1.0"):
        Ridge(radius=1.0).fit(chunked(X, 3), chunked(NUMBERS, 3))
    with pytest.raises(InvalidParameter, match="HuberRegressor: alpha must be a number > 0 for rows in partitions"):
        HuberRegressor(alpha=0.0).fit(chunked(X, 3), chunked(NUMBERS, 3))
    with pytest.raises(InvalidData, match="y has one class only"):
        LinearSVC().fit(chunked(X, 3), chunked(np.full(300, "a"), 3))
    with pytest.raises(InvalidData, match="y has too many distinct values|Unknown label type"):
        LinearSVC().fit(chunked(X, 3), chunked(NUMBERS, 3))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("limit", [{"max_time": 1e-9}, {"max_iter": 2}], ids=["time", "steps"])
def test_the_gap_of_a_softmax_that_stopped_early_is_true(limit):
    model = LogisticRegression(**limit).fit(chunked(X, 3), chunked(THREE, 3))
    best = LogisticRegression(tol=1e-10).fit(X, THREE)
    claim = model.certificate_["linear.gap"]
    assert not claim.holds and model.objective_ - best.objective_ <= claim.value <= model.objective_
    assert model.certificate_.run["reason"] == next(iter(limit))
    for rows in ((X, THREE), (chunked(X, 7), chunked(THREE, 7))):
        assert model.verify(*rows)["linear.labels"].ok
    changed = int(np.sum(model.predict(X) != best.predict(X)))
    assert changed <= model.certificate_["linear.labels"].value


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("limit", [{"max_time": 1e-9}, {"max_iter": 3}], ids=["time", "steps"])
def test_the_gap_of_a_robust_fit_that_stopped_early_is_true(limit):
    model = HuberRegressor(**limit).fit(chunked(X, 3), chunked(OUTLIERS, 3))
    best, claim = HuberRegressor(tol=1e-9).fit(X, OUTLIERS), model.certificate_["linear.gap"]
    assert not claim.holds and model.objective_ - best.objective_ <= claim.value <= model.objective_
    assert model.certificate_.run["reason"] == next(iter(limit)) and not hasattr(model, "outliers_")
    assert model.verify(X, OUTLIERS)["linear.gap"].ok


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_time_limit_gives_the_best_point_with_its_gap():
    model = QuantileRegressor(alpha=0.01, max_time=1e-9).fit(chunked(X, 3), chunked(NUMBERS, 3))
    claim = model.certificate_["linear.gap"]
    assert np.isfinite(claim.value) and not claim.holds
    assert model.certificate_.run["reason"] == "max_time"
    best = QuantileRegressor(alpha=0.01).fit(X, NUMBERS).objective_
    assert model.objective_ - best <= claim.value


@pytest.mark.parametrize(
    "model", [RidgeCV(), RidgeCV(criterion="gcv"), LassoCV(alphas=20), ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=8)]
)
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
def test_penalties_are_chosen_as_in_memory(model, weights):
    memory = clone(model).fit(X, NUMBERS, sample_weight=weights)
    fitted = clone(model).fit(chunked(X, 3), chunked(NUMBERS, 3), None if weights is None else chunked(weights, 3))
    assert fitted.alpha_ == pytest.approx(memory.alpha_, rel=1e-9)
    np.testing.assert_allclose(fitted.coef_, memory.coef_, atol=1e-4)
    assert fitted.intercept_ == pytest.approx(memory.intercept_, rel=1e-3)
    if isinstance(model, RidgeCV):
        np.testing.assert_allclose(fitted.scores_, memory.scores_, rtol=1e-9)
    else:
        np.testing.assert_allclose(fitted.mse_path_, memory.mse_path_, rtol=1e-3)
    assert fitted.verify(X, NUMBERS, weights)["linear.gap"].ok
    assert fitted.verify(chunked(X, 2), chunked(NUMBERS, 2), weights)["linear.gap"].ok


def test_losing_all_workers_keeps_the_best_point(monkeypatch):
    compute, passes = rows_module.compute, []

    def fail(value, budget=None):
        passes.append(value)
        if len(passes) == 30:
            raise ClusterLost("the cluster has had no worker for 30 seconds")
        return compute(value, budget)

    monkeypatch.setattr(rows_module, "compute", fail)
    with pytest.raises(
        ClusterLost, match=r"QuantileRegressor: the cluster .* the best point so far, with a gap of"
    ) as error:
        QuantileRegressor(alpha=0.01).fit(chunked(X, 3), chunked(NUMBERS, 3))
    best, optimum = error.value.best, QuantileRegressor(alpha=0.01).fit(X, NUMBERS)
    residuals = NUMBERS - X @ best["coef"] - best["intercept"]
    objective = np.mean(np.abs(residuals)) / 2 + 0.01 * np.abs(best["coef"]).sum()
    assert objective - optimum.objective_ <= best["gap"] < optimum.objective_


@pytest.mark.parametrize("model", [LogisticRegression(class_weight="balanced"), LinearSVC(class_weight="balanced")])
def test_balanced_class_weights_do_not_depend_on_the_order_of_fractional_weights(model):
    for seed in range(10):
        weights = np.random.default_rng(seed).random(300)
        fitted = clone(model).fit(chunked(X, 7), chunked(THREE, 7), chunked(weights, 7))
        assert fitted.verify(X, THREE, weights)["linear.gap"].ok
