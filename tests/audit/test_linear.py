"""Linear models of scikit-learn: exact numbers by hand, gaps against cvxpy, conventions, refusals."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefit import Certificate, CertificateError, Invalidated, InvalidData, InvalidParameter, Lasso, certify

DIABETES = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
CANCER = (StandardScaler().fit_transform(CANCER[0])[:250], CANCER[1][:250])
WINE = load_wine(return_X_y=True)
WINE = (StandardScaler().fit_transform(WINE[0]), WINE[1])
TALLIES = np.random.default_rng(0).integers(0, 4, len(CANCER[1])).astype(float)


def fitted(model, X, y, sample_weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=sample_weight) if sample_weight is not None else model.fit(X, y)


def smallest(objective) -> float:
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Solution may be inaccurate"
        )  # to the last of the digits that are compared here
        return cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)


def classifier_optimum(model, X, y, s=None, class_weights=(1.0, 1.0)):
    """Smallest objective as the documentation of the two-class model states it, by cvxpy."""
    t, s = np.where(y == 1, 1.0, -1.0), np.ones(len(y)) if s is None else s
    s = s * np.where(y == 1, class_weights[1], class_weights[0])
    penalized = isinstance(model, svm.LinearSVC) or model.solver == "liblinear"
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    margins = cp.multiply(t, X @ w + b)
    if isinstance(model, svm.LinearSVC):
        losses = cp.pos(1 - margins) if model.loss == "hinge" else cp.square(cp.pos(1 - margins))
        l1 = 1.0 if model.penalty == "l1" else 0.0
    else:
        losses, l1 = cp.logistic(-margins), model.l1_ratio
    offset = b / model.intercept_scaling if penalized else 0.0
    penalty = l1 * (cp.norm1(w) + cp.abs(offset)) + (1 - l1) / 2 * (cp.sum_squares(w) + cp.square(offset))
    return smallest(penalty + model.C * (s @ losses))


EARLY = [
    svm.LinearSVC(max_iter=3, random_state=0),
    svm.LinearSVC(loss="hinge", max_iter=5, random_state=0, intercept_scaling=3.0),
    svm.LinearSVC(penalty="l1", C=0.1, max_iter=2, random_state=0),
    linear_model.LogisticRegression(max_iter=3),
    linear_model.LogisticRegression(solver="liblinear", max_iter=2, intercept_scaling=2.0),
    linear_model.LogisticRegression(solver="liblinear", l1_ratio=1.0, max_iter=2, random_state=0),
    linear_model.LogisticRegression(solver="saga", l1_ratio=0.5, C=0.3, max_iter=5, random_state=0),
]


@pytest.mark.parametrize("model", EARLY, ids=str)
@pytest.mark.parametrize("weights", [None, TALLIES], ids=["plain", "weighted"])
def test_an_unconverged_classifier_is_told_its_excess(model, weights):
    X, y = CANCER
    model = fitted(model, X, y, weights)
    certificate = certify(model, X, y, weights)
    claim = certificate["audit.gap"]
    excess = claim.numbers["objective"] - classifier_optimum(model, X, y, weights)
    assert certificate.holds is False
    assert excess == pytest.approx(claim.value, rel=2e-3)
    assert claim.numbers["at_least"] <= claim.value
    assert certificate.verify(X, y, weights)["audit.gap"].ok


@pytest.mark.parametrize(
    "model",
    [
        svm.LinearSVC(tol=1e-10, max_iter=1_000_000, random_state=0),
        svm.LinearSVC(loss="hinge", C=0.01, tol=1e-10, max_iter=1_000_000, random_state=0),
        linear_model.LogisticRegression(solver="newton-cholesky", tol=1e-10),
        linear_model.LogisticRegression(solver="liblinear", tol=1e-10, max_iter=1000),
        linear_model.LogisticRegression(solver="liblinear", l1_ratio=1.0, tol=1e-10, max_iter=5000, random_state=0),
    ],
    ids=str,
)
def test_a_converged_classifier_has_a_tiny_gap(model):
    X, y = CANCER
    certificate = certify(model.fit(X, y), X, y)
    assert certificate.holds
    assert certificate["audit.gap"].value < 1e-6
    assert certificate["audit.labels"].value == 0
    certificate.verify(X, y)


def test_labels_in_doubt_cover_those_that_the_optimum_changes():
    X, y = CANCER
    early = fitted(svm.LinearSVC(max_iter=3, random_state=0), X, y)
    exact = fitted(svm.LinearSVC(tol=1e-10, max_iter=1_000_000, random_state=0), X, y)
    changed = int(np.sum(early.predict(X) != exact.predict(X)))
    assert changed > 0
    assert certify(early, X, y)["audit.labels"].value == changed


@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).random(len(WINE[1]))], ids=["plain", "weighted"])
def test_multinomial_logistic_regression(weights):
    X, y = WINE
    model = fitted(linear_model.LogisticRegression(max_iter=3, class_weight={0: 1.0, 1: 2.0, 2: 1.0}), X, y, weights)
    claim = certify(model, X, y, weights)["audit.gap"]
    W, b = cp.Variable((3, X.shape[1])), cp.Variable(3)
    s = (np.ones(len(y)) if weights is None else weights) * np.where(y == 1, 2.0, 1.0)
    losses = [cp.log_sum_exp(W @ x + b) - (W[k] @ x + b[k]) for x, k in zip(X, y, strict=True)]
    optimum = smallest(0.5 * cp.sum_squares(W) + sum(c * loss for c, loss in zip(s, losses, strict=True)))
    assert claim.numbers["objective"] - optimum == pytest.approx(claim.value, rel=1e-3)


def test_without_a_penalty_separable_rows_have_no_optimum():
    """The infimum is zero and not attained: the whole objective is the excess. Minimizing sequences end with the labels of the rows."""
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    certificate = certify(fitted(linear_model.LogisticRegression(C=np.inf), X, y), X, y)
    assert certificate["audit.gap"].value == certificate["audit.gap"].numbers["objective"] > 0
    assert certificate["audit.labels"].value == 0
    certificate.verify(X, y)
    overlapping = np.array([0, 1, 0, 1])
    model = linear_model.LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky").fit(X, overlapping)
    assert certify(model, X, overlapping)["audit.gap"].value < 1e-10
    with pytest.raises(InvalidParameter, match="C must be finite"):
        certify(fitted(linear_model.LogisticRegression(C=np.inf), *WINE), *WINE)


def test_one_against_the_rest_adds_up():
    X, y = WINE
    model = fitted(svm.LinearSVC(max_iter=2, random_state=0), X, y)
    certificate = certify(model, X, y)
    parts = [fitted(svm.LinearSVC(max_iter=2, random_state=0), X, y == k) for k in range(3)]
    for k, part in enumerate(parts):
        part.coef_, part.intercept_ = model.coef_[[k]], model.intercept_[[k]]
    gaps = [certify(part, X, y == k)["audit.gap"].value for k, part in enumerate(parts)]
    assert certificate["audit.gap"].value == pytest.approx(sum(gaps), rel=1e-4)
    assert certificate.verify(X, y)["audit.labels"].ok


def squares_optimum(model, X, y, s):
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    squares = s @ cp.square(y - X @ w - b)
    if isinstance(model, linear_model.Ridge):
        return smallest(squares + model.alpha * cp.sum_squares(w))
    ratio = getattr(model, "l1_ratio", 1.0)
    penalty = model.alpha * (ratio * cp.norm1(w) + (1 - ratio) / 2 * cp.sum_squares(w))
    return smallest(squares / (2 * s.sum()) + penalty)


@pytest.mark.parametrize(
    "model",
    [
        linear_model.Ridge(solver="sag", max_iter=3, random_state=0),
        linear_model.Lasso(alpha=0.1, max_iter=2),
        linear_model.ElasticNet(alpha=0.01, l1_ratio=0.3, max_iter=2),
    ],
    ids=str,
)
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 443.0)], ids=["plain", "weighted"])
def test_unconverged_squares_are_told_their_excess(model, weights):
    X, y = DIABETES
    model = fitted(model, X, y, weights)
    certificate = certify(model, X, y, weights, tol=1e-6)
    claim = certificate["audit.gap"]
    optimum = squares_optimum(model, X, y, np.ones(len(y)) if weights is None else weights)
    assert certificate.holds is False
    assert claim.numbers["objective"] - optimum == pytest.approx(claim.value, rel=1e-4)
    certificate.verify(X, y, weights)


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        linear_model.LinearRegression(positive=True),
        linear_model.Ridge(alpha=2.0),
        linear_model.Lasso(alpha=0.1, tol=1e-12),
        linear_model.Lasso(alpha=0.1, tol=1e-12, positive=True),
        linear_model.ElasticNet(alpha=0.01, tol=1e-12),
        linear_model.LassoCV(tol=1e-10, cv=3),
    ],
    ids=str,
)
def test_converged_squares_have_a_tiny_gap(model):
    X, y = DIABETES
    certificate = certify(model.fit(X, y), X, y)
    claim = certificate["audit.gap"]
    assert certificate.holds
    assert claim.value <= 1e-4 * claim.limit  # 1e-8 of the objective of the best constant
    certificate.verify(X, y)


def test_two_rows_by_hand():
    """One column, no intercept: P(w) = (1 - w)^2 + (3 - w)^2 has its minimum 2 at w = 2; w = 1 is 2 above it."""
    X, y = np.ones((2, 1)), np.array([1.0, 3.0])
    model = linear_model.LinearRegression(fit_intercept=False).fit(X, y)
    model.coef_ = np.array([1.0])
    certificate = certify(model, X, y)
    assert certificate["audit.gap"].value == pytest.approx(2.0)
    assert certificate["audit.predictions"].value == pytest.approx(1.0)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_tube_regression_with_its_penalized_intercept(loss):
    X, y = DIABETES
    model = fitted(
        svm.LinearSVR(loss=loss, epsilon=5.0, C=3.0, max_iter=4, random_state=0, intercept_scaling=2.0), X, y
    )
    certificate = certify(model, X, y)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    beyond = cp.pos(cp.abs(y - X @ w - 2.0 * b) - 5.0)
    total = cp.sum(beyond) if loss == "epsilon_insensitive" else cp.sum_squares(beyond)
    optimum = smallest(0.5 * (cp.sum_squares(w) + b**2) + 3.0 * total)
    claim = certificate["audit.gap"]
    assert claim.numbers["objective"] - optimum == pytest.approx(claim.value, rel=2e-3)
    exact = svm.LinearSVR(
        loss=loss, epsilon=5.0, C=3.0, max_iter=1_000_000, tol=1e-9, intercept_scaling=2.0, dual="auto"
    ).fit(X, y)
    assert np.max(np.abs(model.predict(X) - exact.predict(X))) <= certificate["audit.predictions"].value * (1 + 1e-3)
    certificate.verify(X, y)


def test_tampering_is_refused():
    X, y = DIABETES
    model = linear_model.Lasso(alpha=0.1).fit(X, y)
    certificate = certify(model, X, y)
    honest = certificate["audit.gap"]
    forged = replace(certificate, claims=(replace(honest, value=1e-3 * honest.value), *certificate.claims[1:]), seal="")
    with pytest.raises(CertificateError, match="audit.gap"):
        forged.verify(X, y)
    model.coef_[2] += 1.0
    with pytest.raises(Invalidated, match="coef_"):
        certificate.verify(X, y)
    assert certify(model, X, y)["audit.gap"].value > 10 * honest.value
    with pytest.raises(Invalidated, match="y differ"):
        certify(model, X, y).verify(X, y + 1)


def test_a_bad_reference_cannot_prove_a_small_gap():
    X, y = DIABETES
    certificate = certify(fitted(linear_model.Lasso(alpha=0.1, max_iter=2), X, y), X, y)
    honest = certificate["audit.gap"]
    witness = {**honest.witness, "coef": certificate.model["coef_"], "intercept": certificate.model["intercept_"]}
    forged = replace(
        certificate, claims=(replace(honest, witness=witness, value=1e-9), *certificate.claims[1:]), seal=""
    )
    with pytest.raises(CertificateError, match="audit.gap"):
        forged.verify(X, y)


def test_pipelines_texts_sparse_rows_and_files():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.where(y == 1, "benign", "malignant")
    model = fitted(make_pipeline(StandardScaler(), linear_model.LogisticRegression(max_iter=4)), X, names)
    certificate = certify(model, X, names)
    certificate.verify(X, names)
    assert certificate["audit.gap"].value == pytest.approx(
        certify(model[-1], model[:-1].transform(X), names)["audit.gap"].value
    )
    stored = Certificate.from_json(certificate.to_json())
    stored.verify(X, names, model=model)
    with pytest.raises(CertificateError, match="pass the pipeline"):
        stored.verify(X, names)
    model[-1].coef_ = model[-1].coef_ * 2
    with pytest.raises(Invalidated, match="coef_ was changed"):
        certificate.verify(X, names)
    y, wide = CANCER[1], sparse.csr_array(CANCER[0])
    sparse_model = fitted(svm.LinearSVC(max_iter=3, random_state=0), wide, y)
    same = fitted(svm.LinearSVC(max_iter=3, random_state=0), CANCER[0], y)
    same.coef_, same.intercept_ = sparse_model.coef_, sparse_model.intercept_
    gaps = [certify(sparse_model, wide, y), certify(same, CANCER[0], y)]
    gaps[0].verify(wide, y)
    assert gaps[0]["audit.gap"].value == pytest.approx(gaps[1]["audit.gap"].value, rel=1e-6)


def test_what_cannot_be_certified_is_refused_with_a_reason():
    X, y = DIABETES
    with pytest.raises(InvalidData, match="fit it first"):
        certify(linear_model.Lasso(), X, y)
    with pytest.raises(InvalidData, match="best_estimator_"):
        certify(GridSearchCV(linear_model.Ridge(), {"alpha": [1.0]}).fit(X, y), X, y)
    with pytest.raises(InvalidData, match="no objective of TheilSenRegressor"):
        certify(linear_model.TheilSenRegressor(), X, y)
    with pytest.raises(InvalidData, match="10 columns"):
        certify(linear_model.Ridge().fit(X, y), X[:, :3], y)
    with pytest.raises(InvalidData, match="pass y"):
        certify(linear_model.Ridge().fit(X, y), X)
    with pytest.raises(InvalidParameter, match="multi_class"):
        certify(svm.LinearSVC(multi_class="crammer_singer").fit(*WINE), *WINE)
    with pytest.raises(InvalidParameter, match="tol"):
        certify(linear_model.Ridge().fit(X, y), X, y, tol=-1)
    with pytest.raises(InvalidData, match="label"):
        certify(svm.LinearSVC().fit(*CANCER), CANCER[0], CANCER[1] + 1)


def test_our_own_models_answer_with_the_certificate_they_have():
    X, y = DIABETES
    model = Lasso(alpha=0.1).fit(X, y)
    assert certify(model, X, y)["linear.gap"].value == model.dual_gap_
