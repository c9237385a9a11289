"""Jackknife+ of kernel ridge regression in closed form: the same intervals as by one fit a row."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as SkKernelRidge
from tests.forging import reissued

from surefit import CertificateError, ConformalRegressor, KernelRidge, load, save
from surefit.risk.left_out import kernel_left_out


def wave(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, size=(n, 2))
    return X, np.sin(6 * X[:, 0]) + 0.2 * rng.normal(size=n)


MODELS = [
    SkKernelRidge(alpha=0.1, kernel="rbf", gamma=5.0),
    KernelRidge(alpha=0.1, kernel="rbf", gamma=5.0),
    KernelRidge(kernel="poly"),
]


@pytest.mark.parametrize("model", MODELS, ids=["scikit-learn", "rbf", "poly"])
def test_left_out_fits_are_those_of_refits(model):
    X, y = wave()
    new = wave(15, seed=1)[0]
    found = kernel_left_out(model.fit(X, y), X, y)
    answers = found.answers(new)
    for i in range(len(y)):
        others = np.delete(np.arange(len(y)), i)
        alone = type(model)(**model.get_params()).fit(X[others], y[others])
        assert np.allclose(answers[:, i], alone.predict(new), rtol=1e-6, atol=1e-8)
        assert found.residuals[i] == pytest.approx(y[i] - alone.predict(X[[i]])[0], rel=1e-6, abs=1e-8)
        assert found.model.dual_coef_[i, i] == pytest.approx(0.0, abs=1e-10)


def test_intervals_verify_and_survive_a_file(tmp_path):
    X, y = wave(60)
    model = ConformalRegressor(KernelRidge(alpha=0.1, kernel="rbf", gamma=5.0), "jackknife+", coverage=0.8).fit(X, y)
    claim = model.certificate_["conformal.folds"]
    assert claim.value == pytest.approx(0.4) and not hasattr(model, "models_")
    model.verify(X, y)
    Z, t = wave(500, seed=2)
    ends = model.predict_interval(Z)
    assert 0.7 < np.mean((ends[:, 0] <= t) & (t <= ends[:, 1])) < 0.95
    slow = ConformalRegressor(Slow(alpha=0.1, kernel="rbf", gamma=5.0), "jackknife+", coverage=0.8).fit(X, y)
    assert len(slow.models_) == 60 and np.allclose(slow.predict_interval(Z), ends, rtol=1e-6)
    model.residuals_ = model.residuals_ / 2
    with pytest.raises(CertificateError, match="without row 0 its residual is"):
        reissued(model).verify(X, y)
    model.residuals_ = model.residuals_ * 2
    save(model, tmp_path / "intervals.surefit")
    assert np.array_equal(load(tmp_path / "intervals.surefit").predict_interval(Z), ends)


class Slow(KernelRidge):
    """Another name has no closed form: one fit a row."""


@pytest.mark.parametrize(
    "options",
    [{"fit_intercept": True}, {"radius": 1.0}, {"kernel": "precomputed"}, {"alpha": np.array([1.0])}],
    ids=str,
)
def test_other_forms_are_refitted(options):
    X, y = wave(12)
    gram = X @ X.T
    model = KernelRidge(**options).fit(gram if options.get("kernel") else X, y)
    assert kernel_left_out(model, X, y) is None


def test_no_closed_form_without_a_positive_definite_matrix():
    X, y = wave(12)
    with pytest.warns(UserWarning, match="Singular matrix"):
        indefinite = SkKernelRidge(kernel="sigmoid", gamma=50.0, coef0=-3.0, alpha=1e-9).fit(X, y)
    assert kernel_left_out(indefinite, X, y) is None
