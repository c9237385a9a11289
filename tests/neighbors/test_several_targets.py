"""Nearest neighbors with several targets, missing values, metric objects, and the training rows as queries."""

import numpy as np
import pytest
from sklearn import neighbors as theirs
from sklearn.metrics import DistanceMetric

import surefit
from surefit.core.errors import CertificateError, InvalidData


def sample(n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.column_stack([(X[:, 0] > 0).astype(int), rng.integers(0, 3, n) * 10])


@pytest.mark.parametrize("ties", ["first", "nearest"])
def test_each_target_is_predicted_as_if_it_were_alone(ties):
    X, Y = sample()
    model = surefit.KNeighborsClassifier(3, ties=ties).fit(X, Y)
    single = [surefit.KNeighborsClassifier(3, ties=ties).fit(X, y) for y in Y.T]
    queries = X + 0.1
    assert np.array_equal(model.predict(queries), np.column_stack([each.predict(queries) for each in single]))
    for table, each in zip(model.predict_proba(queries), single, strict=True):
        assert np.array_equal(table, each.predict_proba(queries))
    assert model.outputs_2d_ and [known.tolist() for known in model.classes_] == [[0, 1], [0, 10, 20]]


def test_certificates_cover_all_targets():
    X, Y = sample()
    model = surefit.KNeighborsClassifier(3).fit(X, Y)
    assert model.verify(X, Y)["knn.rows"].ok
    changed = Y.copy()
    changed[5, 1] = 10 - changed[5, 1] if changed[5, 1] < 20 else 0
    with pytest.raises(CertificateError):
        model.verify(X, changed)
    model.classes_ = [model.classes_[0][::-1], model.classes_[1]]
    with pytest.raises(CertificateError):
        model.verify(X, Y)


def test_multilabel_targets_agree_with_scikit_learn():
    X, Y = sample()
    labels = (Y > 0).astype(int)
    own = surefit.KNeighborsClassifier(5).fit(X, labels).predict(X)
    assert np.array_equal(own, theirs.KNeighborsClassifier(5).fit(X, labels).predict(X))


def test_training_rows_have_no_vote_on_themselves():
    X, Y = sample()
    model = surefit.KNeighborsClassifier(1).fit(X, Y[:, 0])
    assert np.array_equal(model.predict(None), theirs.KNeighborsClassifier(1).fit(X, Y[:, 0]).predict(None))
    regressor = surefit.KNeighborsRegressor(2).fit(X, Y[:, 1])
    np.testing.assert_allclose(regressor.predict(None), theirs.KNeighborsRegressor(2).fit(X, Y[:, 1]).predict(None))
    with pytest.raises(InvalidData, match="X=None needs a fit without sample_weight"):
        surefit.KNeighborsClassifier(1).fit(X, Y[:, 0], sample_weight=np.full(40, 2.0)).predict(None)


def test_missing_values_with_nan_euclidean():
    X, Y = sample()
    X[::4, 1] = np.nan
    X[3] = np.nan
    X[3, 0], X[7] = 0.5, [np.nan, np.nan, 1.0]  # rows 3 and 7 share no column
    model = surefit.KNeighborsClassifier(3, metric="nan_euclidean").fit(X, Y[:, 0])
    other = theirs.KNeighborsClassifier(3, metric="nan_euclidean").fit(X, Y[:, 0])
    np.testing.assert_allclose(model.kneighbors(X)[0], other.kneighbors(X)[0], rtol=1e-7, atol=1e-7)
    model.verify(X, Y[:, 0])
    with pytest.raises(InvalidData, match="NaN|missing|finite"):
        surefit.KNeighborsClassifier(3).fit(X, Y[:, 0])


def test_metric_objects():
    X, Y = sample()
    metric = DistanceMetric.get_metric("canberra")
    model = surefit.KNeighborsClassifier(3, metric=metric).fit(X, Y[:, 0])
    named = theirs.KNeighborsClassifier(3, metric="canberra", algorithm="brute").fit(X, Y[:, 0])
    assert np.array_equal(model.kneighbors(X, return_distance=False), named.kneighbors(X, return_distance=False))
    model.verify(X, Y[:, 0])
