"""Verification reads data as the fit did."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import surefit
from surefit import Invalidated, LogisticRegression, PolynomialBasis, Ridge, SmoothingSpline


def test_rows_in_single_precision_that_a_fit_turned_into_double():
    X = np.random.default_rng(0).standard_normal((20, 2)).astype(np.float32)
    basis = PolynomialBasis(2).fit(X)
    assert basis.verify(X) and basis.verify(X.astype(np.float64))
    with pytest.raises(Invalidated):
        basis.verify(X + np.float32(1))
    y = X[:, 0] + X[:, 1]
    for rows in (X, sparse.csr_array(X)):  # a fit in single precision stays one
        model = Ridge().fit(rows, y)
        assert model.verify(rows, y)
        with pytest.raises(Invalidated):
            model.verify(rows.astype(np.float64), y)


def test_one_variable_needs_no_columns():
    x = np.linspace(0, 1, 20)
    spline = SmoothingSpline().fit(x, np.sin(3 * x))
    assert spline.verify(x, np.sin(3 * x)) and spline.verify(x[:, None], np.sin(3 * x))


def test_large_columns_do_not_make_an_honest_multinomial_model_fail():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 4))
    score = np.append(X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(60), 1e3)
    X, y = np.vstack([X, [1e9] * 4]), np.digitize(score, np.quantile(score, [0.3, 0.6]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit may say that it stopped early
        model = LogisticRegression().fit(X, y)
    assert model.verify(X, y)


@pytest.mark.parametrize("name", ["HistGradientBoostingRegressor", "DecisionTreeRegressor", "SmoothingSpline"])
def test_a_model_or_certificate_of_another_width_is_no_longer_certified(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    y = X[:, 0] + rng.normal(size=30)
    X = X[:, 0] if name == "SmoothingSpline" else X
    model = getattr(surefit, name)().fit(X, y)
    model.verify(X, y)
    certificate = model.certificate_
    with pytest.raises(Invalidated):
        replace(certificate, data={**certificate.data, "n_columns": 2}, seal="").verify(X, y)
    model.n_features_in_ = 2
    with pytest.raises(Invalidated):
        certificate.verify(X, y)
