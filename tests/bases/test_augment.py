"""A constant column instead of an intercept, circles, and rules by threshold or sign."""

import numpy as np
import pytest
from scipy import sparse

from surefit import (
    CircleBasis,
    DataWarning,
    InvalidData,
    InvalidParameter,
    LinearRegression,
    LogisticRegression,
    Ridge,
    augment,
    saturation_report,
    sigmoid,
    sigmoid_derivative,
    sign_intercept,
    split_augmented,
)


def test_both_forms_predict_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    plain = LinearRegression().fit(X, y)
    lifted = LinearRegression(fit_intercept=False).fit(augment(X, 2.5), y)
    coef, intercept = split_augmented(lifted.coef_, 2.5)
    assert coef == pytest.approx(plain.coef_) and intercept == pytest.approx(plain.intercept_)
    assert (augment(sparse.csr_matrix(X), 2.0).toarray() == augment(X, 2.0)).all()
    with pytest.raises(InvalidParameter, match="constant"):
        augment(X, 0.0)
    with pytest.raises(InvalidData, match="two dimensions"):
        augment([1.0, 2.0])


def test_penalized_intercept_by_augmentation():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 2)) + 3, rng.standard_normal(30)
    literal = Ridge(2.0, penalize_intercept=True).fit(X, y)
    lifted = Ridge(2.0, fit_intercept=False).fit(augment(X), y)
    coef, intercept = split_augmented(lifted.coef_)
    assert coef == pytest.approx(literal.coef_) and intercept == pytest.approx(literal.intercept_)
    labels = (y > 0).astype(int)
    logistic = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-12).fit(augment(X), labels)
    w = logistic.coef_[0]
    p = sigmoid(augment(X) @ w)
    assert augment(X).T @ (p - labels) + w / 0.5 == pytest.approx(np.zeros(3), abs=1e-5)  # all weights are penalized


def test_sigmoid_identities():
    z = np.linspace(-30, 30, 241)
    assert sigmoid(-z) == pytest.approx(1 - sigmoid(z), abs=1e-15)
    difference = (sigmoid(z + 1e-6) - sigmoid(z - 1e-6)) / 2e-6
    assert sigmoid_derivative(z) == pytest.approx(difference, abs=1e-9)
    second = (sigmoid_derivative(z + 1e-6) - sigmoid_derivative(z - 1e-6)) / 2e-6
    assert sigmoid_derivative(z, 2) == pytest.approx(second, abs=1e-9)
    assert np.all(sigmoid_derivative(z) <= 0.25) and np.all(sigmoid_derivative(z) > 0)
    assert sigmoid(-800.0) == 0.0 and sigmoid(800.0) == 1.0
    with pytest.raises(InvalidParameter, match="order"):
        sigmoid_derivative(0.0, 3)


def test_saturation():
    report = saturation_report([1.0, -2.0], [[0.1, 0.0], [3.0, 0.0]], [1, 1])
    assert report.probabilities[0] == pytest.approx([0.52498, 0.95257], abs=5e-6)
    assert 1 - report.probabilities[1, 1] == pytest.approx(9.3e-14, rel=0.02)
    assert np.all(report.probabilities[2] == 1.0) and report.saturated
    assert np.all(np.diff(report.losses) < 0)
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    with pytest.warns(DataWarning, match="no finite"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.no_finite_mle_
    assert saturation_report(model, X, y).saturated
    assert saturation_report(model, X).losses is None
    with pytest.raises(InvalidData, match="one per weight"):
        saturation_report([1.0], [[1.0, 2.0]])
    with pytest.raises(InvalidData, match="two classes"):
        saturation_report([1.0], [[1.0], [2.0], [3.0]], [0, 1, 2])


def test_threshold_rule_is_a_sign_rule():
    c, c0 = np.array([2.0, -1.0]), 0.3
    X = np.random.default_rng(2).standard_normal((50, 2))
    assert np.array_equal(X @ c + c0 > 0.5, X @ c + sign_intercept(c0) > 0)
    assert sign_intercept([0.5, 1.0]).tolist() == [0.0, 0.5]


def test_circle_basis():
    basis = CircleBasis().fit([[3.0, 4.0]])
    assert basis.get_feature_names_out().tolist() == ["x0", "x1", "|x|^2"]
    assert basis.transform([[1.0, 1.0]]).tolist() == [[1.0, 1.0, 2.0]]
    each = CircleBasis(squares="each").fit([[3.0, 4.0]])
    assert each.transform([[1.0, 2.0]]).tolist() == [[1.0, 2.0, 1.0, 4.0]]
    assert each.get_feature_names_out().tolist() == ["x0", "x1", "x0^2", "x1^2"]
