"""Fits to tall data and their predictions: the same bits for any number of threads of BLAS."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from surefit import (
    BayesianRidge,
    GammaRegressor,
    GaussianNB,
    Lasso,
    LinearSVC,
    LogisticRegression,
    MultiTaskElasticNet,
    MultiTaskLasso,
    Ridge,
    TweedieRegressor,
)
from surefit.core import threads

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6_000, 20))
TABLE = X @ RNG.standard_normal((20, 3)) / 5 + 0.3 * RNG.standard_normal((6_000, 3))
NUMBERS, POSITIVE = TABLE[:, 0], np.exp(TABLE[:, 0])


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (BayesianRidge(), NUMBERS),
        (Ridge(), NUMBERS),
        (MultiTaskLasso(alpha=0.01), TABLE),
        (MultiTaskElasticNet(alpha=0.01), TABLE),
        (GammaRegressor(alpha=0.01), POSITIVE),
        (TweedieRegressor(power=1.5, alpha=0.01, link="log"), POSITIVE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_same_bits_for_any_number_of_threads(monkeypatch, model, y):
    assert threads.is_tall(X) and X.size < threads.THREADED
    monkeypatch.setattr(threads, "cores", lambda: 3)
    monkeypatch.setattr(threads, "PART", 2**12)
    found = []
    for count in (1, 2, 3):
        with threadpool_limits(count, "blas"):
            model.fit(X, y)
            values = [(claim.name, claim.value) for claim in model.certificate_.claims]
            found.append(
                (model.coef_.tobytes(), np.asarray(model.intercept_).tobytes(), model.predict(X).tobytes(), values)
            )
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=0.1),
        LogisticRegression(C=0.01, l1_ratio=1.0, tol=0.1),
        LinearSVC(C=0.1),
        LinearSVC(loss="hinge"),
    ],
    ids=["l2", "l1", "squared_hinge", "hinge"],
)
def test_classifiers_have_the_same_bits_for_any_number_of_threads(monkeypatch, model, layout):
    monkeypatch.setattr(threads, "THREADED", 1)  # share even these few rows
    for module in ("rows", "picked"):
        monkeypatch.setattr(f"surefit.solvers.newton.{module}.THREADED", 1)
    monkeypatch.setattr("surefit.solvers.newton.scalar_scores.MANY", 1)
    rows, found = layout(np.where(np.abs(X) > 1.0, X, 0.0)), []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads._GRANTED, "count", count)
        model.fit(rows, NUMBERS > 0)
        values = [(claim.name, claim.value) for claim in model.certificate_.claims]
        found.append((model.coef_.tobytes(), model.intercept_.tobytes(), str(values)))
        model.verify(rows, NUMBERS > 0)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("layout", [np.asfortranarray, sparse.csc_array], ids=["dense", "csc"])
def test_lasso_on_columns_has_the_same_bits_for_any_number_of_threads(monkeypatch, layout):
    values, y = X[:300] @ RNG.standard_normal((20, 700)) + RNG.standard_normal((300, 700)), NUMBERS[:300]
    rows = layout(np.where(np.abs(values) > 2.0, values, 0.0))
    monkeypatch.setattr(threads, "THREADED", 1)
    for name, value in {"THREADED": 1, "LEAST": 100}.items():
        monkeypatch.setattr(f"surefit.operators.sparse_columns.{name}", value)
    monkeypatch.setattr("surefit.checks.gap.operators.THREADED", 1)
    found, model = [], Lasso(alpha=0.05)
    for count in (1, 2, 3):
        monkeypatch.setattr(threads._GRANTED, "count", count)
        model.fit(rows, y)
        values = [(claim.name, claim.value) for claim in model.certificate_.claims]
        found.append((model.coef_.tobytes(), float(model.intercept_), str(values)))
        model.verify(rows, y)
    assert found[0] == found[1] == found[2] and np.count_nonzero(model.coef_) > 5


def test_naive_bayes_has_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "THREADED", 1)
    codes, weights, found, model = np.digitize(NUMBERS, [-0.5, 0.5]), RNG.integers(0, 3, len(X)), [], GaussianNB()
    for count in (1, 2, 3):
        monkeypatch.setattr(threads._GRANTED, "count", count)
        model.fit(X, codes, sample_weight=weights)
        found.append(model.theta_.tobytes() + model.var_.tobytes() + model.class_count_.tobytes())
        model.verify(X, codes, sample_weight=weights)
    assert found[0] == found[1] == found[2]
    for k in range(3):
        rows, own = X[codes == k], weights[codes == k]
        np.testing.assert_allclose(model.theta_[k], np.average(rows, axis=0, weights=own), rtol=1e-9, atol=1e-12)
        assert model.class_count_[k] == own.sum()
