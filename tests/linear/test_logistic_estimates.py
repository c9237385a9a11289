"""Logistic regression beyond two classes and a penalty: softmax forms, missing estimates with their proofs, inference."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from surefit import DataWarning, InvalidParameter, LogisticRegression
from surefit.core.budget import Budget
from surefit.core.errors import SurefitError
from surefit.solvers.newton import Rows, SoftmaxScores, minimize


def problem(seed=0, n=60, d=5, K=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))
    return X, scores.argmax(axis=1)


# --- several classes --------------------------------------------------------------------------------------------------


def test_softmax_of_two_classes_is_binary_with_half_the_penalty():
    X, y = problem(9, 80, 3)
    binary = LogisticRegression(C=1.0, tol=1e-13).fit(X, y)
    fit = minimize(
        Rows(X), SoftmaxScores(y, 2, np.full(80, 0.5)), 0.0, 1.0, intercept=True, tolerance=1e-13, budget=Budget(100)
    )
    np.testing.assert_allclose(fit.coef[1] - fit.coef[0], binary.coef_[0], atol=1e-6)
    np.testing.assert_allclose(fit.coef.sum(axis=0), 0, atol=1e-8)  # the symmetric form is centered


def test_reference_class_is_zero_and_unpenalized_forms_agree():
    X, y = problem(10, 200, 3, 3)
    symmetric = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    pinned = LogisticRegression(C=np.inf, tol=1e-12, reference=0).fit(X, y)
    assert not pinned.coef_[0].any() and pinned.intercept_[0] == 0.0
    np.testing.assert_allclose(pinned.predict_proba(X), symmetric.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(pinned.predict_proba(X).sum(axis=0), np.bincount(y), atol=1e-5)  # class frequencies
    penalized = [LogisticRegression(tol=1e-12, reference=r).fit(X, y) for r in (None, 0)]
    assert np.abs(penalized[0].predict_proba(X) - penalized[1].predict_proba(X)).max() > 1e-4  # not the same model
    for model in (*penalized, pinned, symmetric):
        model.verify(X, y)
    with pytest.raises(InvalidParameter, match="reference must be None or one of the classes"):
        LogisticRegression(reference=7).fit(X, y)


# --- no finite estimate -----------------------------------------------------------------------------------------------


def test_separable_data_have_no_finite_estimate_and_that_is_proved():
    X = StandardScaler().fit_transform(load_iris().data)[:100]
    y = load_iris().target[:100]
    with pytest.warns(DataWarning, match="no finite maximum-likelihood estimate exists"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.no_finite_mle_ and model.score(X, y) == 1.0
    assert model.verify(X, y)["logistic.no_finite_mle"].level in ("exact", "enclosed")
    assert np.array_equal(model.predict_proba(X), np.eye(2)[y])  # the limit
    with pytest.raises(SurefitError, match="the likelihood has no maximum"):
        model.inference(X, y)


def test_quasi_separation_is_separation_too():
    X, y = np.array([[0.0], [1.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(DataWarning):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.no_finite_mle_
    assert model.verify(X, y)["logistic.no_finite_mle"].level == "exact"


def test_one_separable_class_among_three():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(DataWarning):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.no_finite_mle_
    model.verify(X, y)


def test_overlapping_data_have_a_finite_estimate_and_no_warning():
    X, y = problem(11, 100, 3)
    y[:10] = 1 - y[:10]
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    assert not model.no_finite_mle_ and model.verify(X, y)["logistic.finite_mle"].level == "enclosed"
    errors = y - model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(np.r_[errors.sum(), X.T @ errors], 0, atol=1e-4)


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e5])
def test_scaling_a_separating_direction_raises_the_likelihood_for_ever(scale):
    # scores 0.1 and 3 under (1, -2): near and far points saturate alike
    p = 1 / (1 + np.exp(-scale * np.array([0.1, 3.0])))
    expected = {1.0: [0.52498, 0.95257], 10.0: [0.73106, 1.0], 1e5: [1.0, 1.0]}[scale]
    np.testing.assert_allclose(p, expected, atol=1e-5)


# --- inference --------------------------------------------------------------------------------------------------------


def test_one_coefficient_has_the_information_of_a_bernoulli_trial():
    y = np.r_[np.ones(30), np.zeros(70)]
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-13).fit(np.ones((100, 1)), y)
    result = model.inference(np.ones((100, 1)), y)
    assert result.estimates[0] == pytest.approx(np.log(0.3 / 0.7), abs=1e-6)
    assert result.standard_errors[0] == pytest.approx(1 / np.sqrt(100 * 0.3 * 0.7), rel=1e-6)
    assert result.information[0, 0] == pytest.approx(
        result.score_information[0, 0], rel=1e-5
    )  # both routes, exactly here
    assert result.odds_ratios[0] == pytest.approx(3 / 7, abs=1e-6)
    assert result.low[0] < result.estimates[0] < result.high[0]


def test_standard_errors_are_the_inverse_of_the_second_derivative():
    X, y = problem(12, 300, 3, 3)
    model = LogisticRegression(C=np.inf, tol=1e-13, reference=0).fit(X, y)
    result = model.inference(X, y)
    assert len(result.names) == 8 and result.names[0].endswith("intercept")
    base = np.column_stack([model.intercept_[1:], model.coef_[1:]]).ravel()

    def likelihood(v):
        V = v.reshape(2, 4)
        F = np.column_stack([np.zeros(300), V[:, 0] + X @ V[:, 1:].T])
        return np.log(np.exp(F).sum(1)).sum() - F[np.arange(300), y].sum()

    h, eye = 1e-3, np.eye(8)
    second = np.array([[
        (likelihood(base + h * (a + b)) - likelihood(base + h * (a - b)) - likelihood(base - h * (a - b))
         + likelihood(base - h * (a + b))) / (4 * h * h) for a in eye] for b in eye])  # fmt: skip
    np.testing.assert_allclose(result.information, second, rtol=1e-3, atol=1e-3)
    assert "odds ratio" in repr(result) and result.discrepancy < 1.0


@pytest.mark.parametrize(
    ("params", "reason"),
    [({"C": 1.0}, "the penalty biases"), ({"C": np.inf, "class_weight": {0: 2.0}}, "with class weights the objective"),
     ({"C": np.inf}, "the symmetric form determines differences only")],
)  # fmt: skip
def test_inference_is_refused_with_the_reason(params, reason):
    X, y = problem(13, 200, 2, 3 if params == {"C": np.inf} else 2)
    with pytest.raises(SurefitError, match=reason):
        LogisticRegression(**params).fit(X, y).inference(X, y)


def test_dependent_columns_have_no_standard_errors():
    X, y = problem(14, 100, 2)
    X = np.c_[X, X[:, 0]]
    model = LogisticRegression(C=np.inf).fit(X, y)
    with pytest.raises(SurefitError, match="depend on each other"):
        model.inference(X, y)
