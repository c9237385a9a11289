"""Ensembles on sparse rows: the same trees as on dense rows, and certificates that cover them."""

import numpy as np
import pytest
from scipy import sparse

import surefit
from surefit.checks.ensembles.draws import _lexicographic
from surefit.core.blocks import MOST_BYTES
from surefit.core.errors import CertificateError, InvalidData
from surefit.ensembles.bootstrap import lexicographic_order


def counts(seed=0, n=60, d=6, missing=False):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, size=(n, d)).astype(float) * rng.choice([-1.0, 1.0], size=(n, d))
    X[rng.integers(n, size=6)] = X[0]  # repeated rows
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0)
    if missing:
        X[3, 2] = X[5, 2] = np.nan
    return X, y


@pytest.mark.parametrize("seed", range(8))
def test_rows_have_the_same_lexicographic_order_by_four_algorithms(seed):
    X, y = counts(seed, missing=seed % 2 == 0)
    order = lexicographic_order(X, y)
    stored = sparse.csr_matrix(X)
    assert np.array_equal(order, lexicographic_order(stored, y))
    assert np.array_equal(order, _lexicographic(X, y))
    assert np.array_equal(order, _lexicographic(stored, y))
    keys = [(*np.nan_to_num(X[i], nan=np.inf), y[i], i) for i in range(len(y))]
    assert order.tolist() == sorted(range(len(y)), key=keys.__getitem__)


ENSEMBLES = [
    surefit.RandomForestClassifier(4, random_state=0, oob_score=True, class_weight="balanced_subsample"),
    surefit.RandomForestRegressor(4, random_state=0, max_bins=None),
    surefit.ExtraTreesClassifier(4, random_state=0),
    surefit.ExtraTreesRegressor(4, random_state=0, bootstrap=True),
    surefit.BaggingClassifier(surefit.DecisionTreeClassifier(max_depth=3), 3, max_features=4, random_state=0),
    surefit.AdaBoostClassifier(n_estimators=4),
]


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::surefit.DataWarning")
def test_sparse_rows_give_the_same_model_and_verify(model):
    X, y = counts()
    y = np.minimum(y, 1) if isinstance(model, surefit.AdaBoostClassifier) else y
    queries = counts(seed=9)[0]
    dense = model.fit(X, y).predict(queries)
    for packed in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array):
        model.fit(packed(X), y)
        assert np.array_equal(model.predict(packed(queries)), dense)
        model.verify(packed(X), y)
    changed = packed(np.where(X == X[0, 0], X + 1, X))
    with pytest.raises(CertificateError):
        model.verify(changed, y)


def test_a_table_that_is_too_large_is_refused_before_memory_is_taken():
    n, d = 200_000, MOST_BYTES // 200_000 + 1
    X = sparse.csr_matrix((n, d))
    y = np.arange(n) % 2
    with pytest.raises(InvalidData, match="RandomForestClassifier: this sparse X of shape .* more than 2 GiB"):
        surefit.RandomForestClassifier(1).fit(X, y)
    with pytest.raises(InvalidData, match="DecisionTreeClassifier: this sparse X"):
        surefit.DecisionTreeClassifier().fit(X, y)
