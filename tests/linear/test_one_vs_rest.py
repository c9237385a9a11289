"""Logistic regression of one class against the rest, and with a penalized intercept."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.multiclass import OneVsRestClassifier
from tests.forging import with_claim

from surefit import CertificateError, InvalidParameter, LogisticRegression


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_one_vs_rest_agrees_with_scikit_learn(iris):
    X, y = iris
    model = LogisticRegression(multi_class="ovr", tol=1e-12).fit(X, y)
    other = OneVsRestClassifier(Theirs(tol=1e-10, max_iter=10_000)).fit(X, y)
    assert np.allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-5)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)
    type(model.certificate_).from_json(model.certificate_.to_json()).verify(X, y)
    with pytest.raises(CertificateError):
        with_claim(model.certificate_, "linear.gap", value=1e-25).verify(X, y)
    with pytest.raises(AttributeError, match="multinomial"):
        _ = model.labels_at_risk_


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_a_penalized_intercept_is_the_coefficient_of_a_constant(iris, multi_class, storage):
    X, y = iris
    ones = np.column_stack([X, np.ones(len(X))])
    model = LogisticRegression(C=0.7, multi_class=multi_class, penalize_intercept=True, tol=1e-12)
    model.fit(storage(X), y)
    column = LogisticRegression(C=0.7, multi_class=multi_class, fit_intercept=False, tol=1e-12).fit(ones, y)
    assert np.allclose(np.column_stack([model.coef_, model.intercept_]), column.coef_, atol=1e-5)
    assert model.verify(storage(X), y)["linear.gap"].level == "enclosed"


def test_what_does_not_go_together_is_refused(iris):
    X, y = iris
    for model in (
        LogisticRegression(C=np.inf, multi_class="ovr"),
        LogisticRegression(multi_class="ovr", reference=0),
        LogisticRegression(multi_class="ovr", penalty_factors=np.ones(4)),
        LogisticRegression(C=np.inf, penalize_intercept=True),
    ):
        with pytest.raises(InvalidParameter, match="LogisticRegression"):
            model.fit(X, y)
