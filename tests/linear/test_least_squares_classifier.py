"""Classification by least squares: the cut of the notes, equivalent codings, ties, and the certificate."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surefit import CertificateError, InvalidParameter, LeastSquaresClassifier, LinearRegression


def cut(model):
    return (model.tau - model.intercept_[0]) / model.coef_[0, 0]


def test_a_far_point_moves_the_cut_past_a_training_row():
    x, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    near = LeastSquaresClassifier().fit(x, y)
    assert cut(near) == pytest.approx(0.0, abs=1e-14) and near.score(x, y) == 1.0
    far = LeastSquaresClassifier().fit(np.append(x, [[100.0]], axis=0), np.append(y, 1))
    assert cut(far) == pytest.approx(1.372093, abs=5e-7)
    assert far.predict([[1.0]])[0] == 0


def test_labels_zero_and_one_cut_at_a_half_are_labels_minus_one_and_one_cut_at_zero():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 2, 60)
    scores = LinearRegression().fit(X, 2.0 * y - 1).predict(X)
    np.testing.assert_array_equal(LeastSquaresClassifier().fit(X, y).predict(X), (scores >= 0).astype(int))


def test_a_score_at_the_threshold_is_the_second_class():
    model = LeastSquaresClassifier(fit_intercept=False).fit(np.array([[1.0], [-1.0]]), np.array(["b", "a"]))
    model.tau = float(model.coef_[0, 0])  # so that x = 1 scores the threshold exactly
    assert model.decision_function([[1.0]])[0] == 0.0
    assert model.predict([[1.0]])[0] == "b" and model.predict([[0.999]])[0] == "a"


def test_threshold_moves_the_cut():
    x, y = np.linspace(-1, 1, 11)[:, None], (np.linspace(-1, 1, 11) > 0).astype(int)
    cuts = [cut(LeastSquaresClassifier(tau=tau).fit(x, y)) for tau in (0.2, 0.5, 0.8)]
    assert cuts == sorted(cuts)


def test_several_classes_share_scores_that_sum_to_one():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LeastSquaresClassifier().fit(X, names)
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 1.0)
    assert model.score(X, names) > 0.8
    assert model.verify(X, names)["linear.gap"].level == "enclosed"


def test_weights_are_repetitions():
    X, y = load_iris(return_X_y=True)
    s = np.random.default_rng(0).integers(0, 3, 150)
    one = LeastSquaresClassifier(alpha=1.0).fit(X, y, s)
    two = LeastSquaresClassifier(alpha=1.0).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9)
    one.verify(X, y, s)


def test_a_changed_model_is_found_out_and_bad_parameters_named():
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresClassifier().fit(X, y)
    certificate = model.certificate_
    model.coef_ = model.coef_ * 1.001
    model._issue("A", list(certificate.claims), problem=certificate.problem, model=("coef_", "intercept_"),
                 data=certificate.data)  # fmt: skip
    with pytest.raises(CertificateError, match=r"linear\.gap"):
        model.verify(X, y)
    with pytest.raises(InvalidParameter, match="tau"):
        LeastSquaresClassifier(tau="half").fit(X, y)
