"""Least squares on sparse data too large to factor: what the slopes prove."""

import numpy as np
import pytest
from scipy import sparse

from surefit import CertificateError, LinearRegression


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_large_sparse_data_are_bounded_by_their_slopes(monkeypatch, fit_intercept, targets):
    monkeypatch.setattr("surefit.solvers.least_squares.minimise.LARGEST_DENSE", 5)
    monkeypatch.setattr("surefit.checks.least_squares.LARGEST_FRAME", 5)
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 20), density=0.3, rng=rng, format="csr")
    Y, s = rng.standard_normal((80, targets)) + 1, rng.integers(0, 3, 80)
    y = Y[:, 0] if targets == 1 else Y
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=s)
    claim = model.certificate_["least_squares.nearby"]
    total = float(np.sum(s[:, None] * Y**2))
    assert claim.holds and claim.value <= 1e-9 * total
    finding = model.verify(X, y, sample_weight=s)["least_squares.nearby"]
    assert finding.level == "enclosed" and finding.proved <= 1e-9 * total
    exact = LinearRegression(fit_intercept=fit_intercept)
    monkeypatch.undo()
    exact.fit(X.toarray(), y, sample_weight=s)
    errors = [np.sum(s[:, None] * (Y - m.predict(X).reshape(80, -1)) ** 2) for m in (model, exact)]
    assert errors[0] - errors[1] <= claim.value + 1e-12 * total


def test_slopes_of_other_coefficients_are_found_out(monkeypatch):
    monkeypatch.setattr("surefit.solvers.least_squares.minimise.LARGEST_DENSE", 5)
    X = sparse.random_array((80, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(X.sum(axis=1)).ravel() + np.arange(80) % 3
    model = LinearRegression().fit(X, y)
    certificate = model.certificate_
    model.coef_ = model.coef_ * (1 + 1e-5)
    claim = certificate["least_squares.nearby"]
    model._issue("A", [claim], problem=certificate.problem, model=("coef_", "intercept_"), data=certificate.data)
    with pytest.raises(CertificateError, match=r"least_squares\.nearby"):
        model.verify(X, y)
