"""What a fit states about rows in one storage is proved from the same rows in another: memory orders, dense and sparse."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import get_tags

import surefit as sf

MODELS = [
    (sf.LinearSVC(C=100), "label"), (sf.LogisticRegression(C=100), "label"), (sf.LogisticRegression(C=10, l1_ratio=1.0), "label"),
    (sf.Lasso(1e-3), "number"), (sf.Ridge(1e-6), "number"), (sf.LinearRegression(), "number"), (sf.LinearSVR(C=10), "number"),
    (sf.HuberRegressor(), "number"), (sf.QuantileRegressor(alpha=0.01), "number"), (sf.SVC(C=10), "label"),
    (sf.KernelRidge(1e-6, kernel="rbf"), "number"), (sf.LinearDiscriminantAnalysis(), "label"), (sf.PCA(2), "number"),
    (sf.KMeans(3, random_state=0), "number"), (sf.GaussianMixture(2, random_state=0), "number"),
]  # fmt: skip


def tables(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 6))
    yield X
    yield X * 10.0 ** rng.integers(-4, 5, 6)
    yield X + 1e6
    yield rng.standard_normal((40, 80))
    yield np.hstack([X, X[:, :2] + 1e-8 * rng.standard_normal((200, 2))])


@pytest.mark.parametrize(("model", "target"), MODELS, ids=lambda part: type(part).__name__)
@pytest.mark.filterwarnings("ignore")
def test_other_storage(model, target):
    for seed in (1, 3):
        rng = np.random.default_rng(seed)
        for X in tables(seed):
            z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.standard_normal(X.shape[1]) + rng.standard_normal(len(X))
            y = (z > 0).astype(int) if target == "label" else z
            F = np.asfortranarray(X)
            others = [(X, sparse.csr_array(X)), (sparse.csr_array(X), F)] if get_tags(model).input_tags.sparse else []
            for one, other in [(X, F), (F, X), *others]:
                assert type(model)(**model.get_params()).fit(one, y).verify(other, y)


def test_a_target_that_no_fit_read_is_ignored():
    X = np.random.default_rng(0).standard_normal((30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sf.KMeans(2, random_state=0).fit(X, np.arange(30)).verify(X, np.arange(30))
