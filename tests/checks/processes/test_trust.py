"""Gaussian processes on hard data: strict certificates, refused changes."""

import numpy as np
import pytest
from scipy import sparse
from tests.forging import fitted, require_unforgeable, verified_strictly
from tests.hard_data import hard_data

from surefit import (
    BayesianLogisticRegression,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    SparseGaussianProcessRegressor,
    WienerProcessRegressor,
)
from surefit.kernels import RBF, Noise

HARD = [hard for hard in hard_data() if hard.weights is None]
TWO = [hard for hard in hard_data() if len(np.unique(hard.labels)) == 2]
LEARNED = RBF(1.0) + Noise(0.5)


@pytest.mark.parametrize("hard", HARD, ids=lambda hard: hard.name)
@pytest.mark.parametrize(
    "model",
    [
        GaussianProcessRegressor(),
        GaussianProcessRegressor(RBF(1.0) + Noise(0.5), normalize_y=True),
        GaussianProcessRegressor(alpha=0.1, optimizer=None),
        SparseGaussianProcessRegressor(RBF(1.0) + Noise(0.5), n_inducing=5),
    ],
    ids=str,
)
def test_hard_data_of_regression(model, hard):
    verified_strictly(fitted(model, hard.X, hard.y), hard.X, hard.y)


@pytest.mark.parametrize("hard", [h for h in HARD if h.name != "one class"], ids=lambda hard: hard.name)
@pytest.mark.parametrize(
    "model", [GaussianProcessClassifier(), GaussianProcessClassifier(RBF(2.0), multi_class="one_vs_one")], ids=str
)
def test_hard_data_of_classification(model, hard):
    verified_strictly(fitted(model, hard.X, hard.labels), hard.X, hard.labels)


@pytest.mark.parametrize("hard", HARD, ids=lambda hard: hard.name)
@pytest.mark.parametrize("order", [1, 2])
def test_hard_data_of_wiener_processes(order, hard):
    x = hard.X.toarray()[:, -1:] if sparse.issparse(hard.X) else np.asarray(hard.X, dtype=float)[:, -1:]
    y = np.asarray(hard.y, dtype=float)
    origin = float(x.min()) - 1.0
    for variances in ({}, {"variance": 1.0, "noise": 0.5}):
        model = fitted(WienerProcessRegressor(order, origin=origin, **variances), x, y)
        verified_strictly(model, x, y)


@pytest.mark.parametrize("hard", TWO, ids=lambda hard: hard.name)
@pytest.mark.parametrize("method", ["laplace", "gaussian"])
def test_hard_data_of_weights(method, hard):
    X = hard.X.toarray() if sparse.issparse(hard.X) else hard.X
    model = fitted(BayesianLogisticRegression(method=method), X, hard.labels, hard.weights)
    verified_strictly(model, X, hard.labels, hard.weights)


def test_weights_on_a_grid():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * [1.0, 3.0]
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    model = BayesianLogisticRegression(method="grid").fit(X, y)
    verified_strictly(model, X, y)
    assert model.certificate_["bayesian_logistic.integral"].value < 1e-6
    assert require_unforgeable(model, X, y) > 80


def test_unforgeable():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 2))
    y, labels = X[:, 0] + 0.1 * rng.normal(size=15), (X[:, 0] > 0).astype(int)
    tried = sum(
        require_unforgeable(fitted(model, X, y), X, y)
        for model in (
            GaussianProcessRegressor(RBF(1.0) + Noise(0.5)),
            GaussianProcessRegressor(alpha=0.1),
        )
    )
    sparse_process = fitted(SparseGaussianProcessRegressor(n_inducing=5), X, y)
    tried += require_unforgeable(sparse_process, X, y, free=("inducing_",))  # the same rows in another order
    tried += sum(
        require_unforgeable(model.fit(X, labels), X, labels)
        for model in (GaussianProcessClassifier(RBF(1.0)), BayesianLogisticRegression(fit_intercept=True))
    )
    x = np.arange(15.0)
    tried += require_unforgeable(WienerProcessRegressor().fit(x, y), x[:, None], y)
    assert tried > 500
