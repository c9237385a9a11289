"""Coefficients of machines that were fitted to sparse rows: sparse as in scikit-learn, and certified in either form."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm as theirs

import surefit
from surefit.core.errors import CertificateError

NAMES = ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM")


def data(classes=2, n=40):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.6)
    y = np.arange(n) % classes
    X[:, 0] += 2 * y
    return X, y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("classes", [2, 3])
def test_forms_and_numbers_are_those_of_scikit_learn(name, kernel, classes):
    X, y = data(classes)
    rows = sparse.csr_matrix(X)
    model = getattr(surefit, name)(kernel=kernel, gamma=0.3, tol=1e-9).fit(rows, y)
    plain = getattr(surefit, name)(kernel=kernel, gamma=0.3, tol=1e-9).fit(X, y)
    peer = getattr(theirs, name)(kernel=kernel, gamma=0.3).fit(rows, y)
    assert type(model.dual_coef_) is type(peer.dual_coef_)
    assert model.dual_coef_.shape[0] == peer.dual_coef_.shape[0]
    assert isinstance(plain.dual_coef_, np.ndarray)
    if kernel == "rbf":  # with more rows than columns, the dual solution of a linear kernel is not unique
        np.testing.assert_allclose(model.dual_coef_.toarray(), plain.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(np.ravel(model.predict(rows)), np.ravel(plain.predict(X)), atol=1e-4)
    if kernel == "linear":
        assert type(model.coef_) is type(peer.coef_) and model.coef_.shape == peer.coef_.shape
        np.testing.assert_allclose(model.coef_.toarray(), plain.coef_, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_the_certificate_covers_both_forms(name):
    X, y = data()
    rows = sparse.csr_matrix(X)
    model = getattr(surefit, name)(kernel="rbf", gamma=0.3).fit(rows, y)
    model.verify(rows, y)
    kept = model.dual_coef_
    model.dual_coef_ = kept.toarray()
    model.verify(rows, y)
    model.dual_coef_ = kept.copy()
    model.dual_coef_.data[0] *= 1.5
    with pytest.raises(CertificateError):
        model.verify(rows, y)


def test_files_twins_paths_and_conditions(tmp_path):
    X, y = data(3)
    rows = sparse.csr_matrix(X)
    model = surefit.SVC(gamma=0.3).fit(rows, y)
    surefit.save(model, tmp_path / "model.surefit")
    again = surefit.load(tmp_path / "model.surefit")
    assert sparse.issparse(again.dual_coef_) and np.array_equal(again.predict(rows), model.predict(rows))
    again.verify(rows, y)
    twin = surefit.to_sklearn(model)
    np.testing.assert_allclose(twin.decision_function(rows), model.decision_function(rows), atol=1e-10)
    pair = surefit.SVC(kernel="linear").fit(rows, y > 0)
    assert surefit.kkt_report(pair, rows, y > 0) is not None
    assert surefit.SVC(kernel="linear", warm_start=True).fit(rows, y).fit(rows, y).score(rows, y) > 0.5
