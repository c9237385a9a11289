"""Coefficients stored as a sparse matrix: the same numbers, predictions and certificate."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as theirs

import surefit
from surefit import Invalidated
from surefit.core.issuing.state import dense

MODELS = {
    "LinearSVC": {"penalty": "l1", "loss": "squared_hinge", "dual": False, "C": 0.1},
    "LogisticRegression": {"l1_ratio": 1.0, "solver": "saga", "C": 0.1},
    "Perceptron": {},
    "SGDClassifier": {"penalty": "l1", "alpha": 0.05, "random_state": 0},
    "SGDRegressor": {"penalty": "l1", "alpha": 0.5, "random_state": 0},
}


def data(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 6))
    codes = np.arange(60) % n_classes
    X[:, 0] += 3 * codes
    return X, codes


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_storage_changes_neither_predictions_nor_the_certificate(name, n_classes, tmp_path):
    X, y = data(n_classes)
    model = getattr(surefit, name)(**MODELS[name]).fit(X, y)
    coef, score = model.coef_.copy(), model.predict(X)
    certificate = model.certificate_
    assert model.sparsify() is model and sparse.issparse(model.coef_) and model.coef_.shape == coef.shape
    for rows in (X, sparse.csr_matrix(X)):
        assert model.predict(rows) == pytest.approx(score)
    certificate.verify(X, y)
    model.verify(X, y)
    surefit.save(model, tmp_path / "model.surefit")
    again = surefit.load(tmp_path / "model.surefit")
    assert sparse.issparse(again.coef_) and again.predict(X) == pytest.approx(score)
    again.verify(X, y)
    kept, model.coef_ = model.coef_, model.coef_ * 1.01
    with pytest.raises(Invalidated, match="coef_ was changed"):
        certificate.verify(X, y)
    model.coef_ = kept
    assert np.array_equal(model.densify().coef_, coef) and np.array_equal(np.signbit(model.coef_), np.signbit(coef))
    model.densify().sparsify().sparsify()
    model.fit(X, y).verify(X, y)
    assert not sparse.issparse(model.coef_)


@pytest.mark.parametrize("name", ["LogisticRegression", "SGDClassifier"])
def test_the_type_is_that_of_scikit_learn(name):
    X, y = data(3)
    ours, peer = (getattr(kind, name)(tol=1e-3).fit(X, y).sparsify() for kind in (surefit, theirs))
    assert type(ours.coef_) is type(peer.coef_) and ours.coef_.shape == peer.coef_.shape


def test_an_unfitted_model_has_nothing_to_store():
    for name in MODELS:
        with pytest.raises(ValueError, match="not fitted"):
            getattr(surefit, name)().sparsify()


def test_negative_zeros_keep_their_sign():
    model = surefit.LogisticRegression()
    model.coef_ = np.array([[1.0, -0.0, 0.0]])
    assert model.sparsify().coef_.nnz == 2 and np.signbit(dense(model.coef_)).tolist() == [[False, True, False]]
