"""Models that chose their penalty, and classification by regression: last fit, choice, labels."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNetCV,
    LassoCV,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.preprocessing import StandardScaler

from surefit import CertificateError, InvalidParameter, certify

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X)[:200, :10], Y[:200]
WINE, GRAPE = load_wine(return_X_y=True)
WINE = StandardScaler().fit_transform(WINE)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
WEIGHTS = np.random.default_rng(0).random(len(GRAPE))


def indicators(y, K):
    return np.where(y[:, None] == np.arange(1 if K == 2 else 0, K), 1.0, -1.0)


def ridge_by_hand(rows, T, s, alpha):
    """Normal equations of the weighted problem with a free intercept."""
    A = np.hstack([rows, np.ones((len(rows), 1))])
    P = alpha * np.diag([1.0] * rows.shape[1] + [0.0])
    W = np.linalg.solve(A.T @ (s[:, None] * A) + P, A.T @ (s[:, None] * T))
    return np.sum(s[:, None] * (T - A @ W) ** 2) + alpha * np.sum(W[:-1] ** 2), A @ W


@pytest.mark.parametrize(("rows", "y", "s"), [(X, Y, None), (WINE, GRAPE, WEIGHTS)], ids=["two", "three"])
def test_an_early_ridge_classifier_is_told_excess_and_labels(rows, y, s):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RidgeClassifier(solver="sag", max_iter=1, class_weight={1: 2.0}, random_state=0).fit(rows, y, s)
    certificate = certify(model, rows, y, s)
    K = len(np.unique(y))
    c = np.where(y == 1, 2.0, 1.0) * (1.0 if s is None else s)
    best, Z = ridge_by_hand(rows, indicators(y, K), c, 1.0)
    claim = certificate["audit.gap"]
    assert claim.numbers["objective"] - best == pytest.approx(claim.value, rel=1e-6)
    changed = model.predict(rows) != (Z.argmax(axis=1) if K > 2 else Z[:, 0] > 0)
    assert certificate["audit.labels"].value == changed.sum() > 0
    assert certificate.holds is False
    certificate.verify(rows, y, s)


@pytest.mark.parametrize("model", [RidgeClassifier(alpha=0.5), RidgeClassifierCV()], ids=["given", "chosen"])
def test_a_solved_ridge_classifier_holds(model):
    certificate = certify(model.fit(WINE, GRAPE), WINE, GRAPE)
    assert certificate.holds and certificate["audit.labels"].value == 0
    certificate.verify(WINE, GRAPE)


def test_a_posterior_mean_is_a_ridge_solution():
    model = BayesianRidge().fit(DIABETES, PROGRESS)
    certificate = certify(model, DIABETES, PROGRESS)
    assert certificate.problem["penalty"]["alphas"] == [pytest.approx(2 * model.lambda_ / model.alpha_)]
    assert certificate["audit.gap"].value < 1e-9 * PROGRESS.size
    model.coef_ = model.coef_ + 1.0
    assert certify(model, DIABETES, PROGRESS)["audit.gap"].value == pytest.approx(
        np.sum((DIABETES - DIABETES.mean(axis=0)).sum(axis=1) ** 2) + 10 * model.lambda_ / model.alpha_, rel=1e-6
    )  # the minimum is quadratic: P(w + 1) - P(w) with the intercept left, whose columns are centered


def test_the_ridge_penalty_is_tried_again():
    alphas = np.geomspace(1e-3, 10, 9)
    model = RidgeCV(alphas).fit(DIABETES, PROGRESS)
    certificate = certify(model, DIABETES, PROGRESS)
    assert certificate["audit.choice_by_left_out"].holds
    certificate.verify(DIABETES, PROGRESS)
    model.alpha_ = alphas[-1]
    claim = certify(model, DIABETES, PROGRESS)["audit.choice_by_left_out"]
    assert claim.holds is False and claim.value > 0.01


def test_paths_and_scores_that_are_kept():
    for model in (LassoCV(cv=3), ElasticNetCV(l1_ratio=[0.3, 0.9], cv=3)):
        certificate = certify(model.fit(DIABETES, PROGRESS), DIABETES, PROGRESS)
        assert certificate["audit.choice_by_scores"].holds
        certificate.verify(DIABETES, PROGRESS)
    claim = certificate["audit.choice_by_scores"]
    worst = int(np.argmin(claim.witness["scores"].mean(axis=1)))
    forged = replace(claim, numbers={"chosen": worst})
    claims = tuple(forged if c.name == claim.name else c for c in certificate.claims)
    with pytest.raises(CertificateError, match="choice_by_scores"):
        replace(certificate, claims=claims, seal="").verify(DIABETES, PROGRESS)


@pytest.mark.parametrize("legacy", [True, False], ids=["by class", "plain"])
@pytest.mark.parametrize("ratios", [(0.0,), (0.0, 0.5)], ids=["one", "two"])
def test_logistic_regression_with_its_choice(legacy, ratios):
    model = LogisticRegressionCV(
        Cs=[0.1, 1.0],
        l1_ratios=ratios,
        cv=3,
        solver="saga",
        scoring="accuracy",
        max_iter=5000,
        use_legacy_attributes=legacy,
        random_state=0,
    ).fit(WINE, GRAPE)
    certificate = certify(model, WINE, GRAPE)
    assert certificate.holds
    assert len(certificate["audit.choice_by_scores"].witness["scores"]) == 2 * len(ratios)
    certificate.verify(WINE, GRAPE)
    model.coef_ = model.coef_ * 0.5
    assert certify(model, WINE, GRAPE).holds is False


def test_means_of_folds_are_refused():
    model = LogisticRegressionCV(
        Cs=[0.1, 1.0],
        cv=3,
        refit=False,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
        solver="newton-cholesky",
        scoring="accuracy",
    ).fit(X, Y)
    with pytest.raises(InvalidParameter, match="refit"):
        certify(model, X, Y)
