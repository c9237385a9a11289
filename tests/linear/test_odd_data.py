"""Rows far from the origin, one row of a billion, tiny classes: what is claimed holds, or the model says that it does not."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from surefit import (
    ElasticNet,
    Lasso,
    LassoCV,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from surefit.checks.base import verify
from surefit.checks.enclosure import times
from surefit.core.centering import center, moved_intercept
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter
from surefit.solvers.newton import Rows, SoftmaxScores, centered
from surefit.solvers.newton.model import build
from surefit.solvers.newton.quadratic import factorize


def sample(seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    s = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=60)
    if kind == "outlier":
        return np.vstack([X, np.full((1, 4), 1e9)]), np.append(s, 1e3)
    away = {"near": 0.0, "million": 1e6, "billion": 1e9}[kind]
    return X + away, s + away


def labels(s, classes):
    return np.digitize(s, np.quantile(s, np.linspace(0, 1, classes + 1)[1:-1]))


MODELS = {
    "lasso": (lambda: Lasso(alpha=1e-3, tol=1e-10), 0),
    "elastic net": (lambda: ElasticNet(alpha=1e-3, l1_ratio=0.3, tol=1e-12), 0),
    "tube": (LinearSVR, 0),
    "squared tube": (lambda: LinearSVR(loss="squared_epsilon_insensitive"), 0),
    "hinge": (LinearSVC, 2),
    "hinge 3": (LinearSVC, 3),
    "squared hinge": (lambda: LinearSVC(loss="squared_hinge"), 2),
    "sparse squared hinge": (lambda: LinearSVC(loss="squared_hinge", penalty="l1"), 2),
    "logistic": (LogisticRegression, 2),
    "logistic 3": (LogisticRegression, 3),
    "sparse logistic": (lambda: LogisticRegression(l1_ratio=1.0), 2),
    "free logistic": (lambda: LogisticRegression(C=np.inf), 2),
}


def fitted(name, X, s):
    make, classes = MODELS[name]
    y = labels(s, classes) if classes else s
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y), y


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("kind", ["million", "billion", "outlier"])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_claimed_about_odd_rows_can_be_verified(name, kind, seed):
    X, s = sample(seed, kind)
    model, y = fitted(name, X, s)
    claim = model.certificate_.claims[0]
    assert np.isfinite(claim.value)
    assert claim.holds is not True or claim.value <= claim.limit
    verify(model.certificate_, X, y)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "logistic 3"])
def test_a_million_costs_no_more_than_the_digits_it_takes(name):
    near, _ = fitted(name, *sample(7, "near"))
    far, _ = fitted(name, *sample(7, "million"))
    assert far.certificate_.claims[0].holds
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-3, atol=1e-4)
    assert far.dual_gap_ <= 1.01 * near.dual_gap_ + 1e-7 * len(sample(7, "near")[1])


@pytest.mark.parametrize("name", ["sparse logistic", "tube", "hinge", "squared hinge"])
def test_better_gaps_than_the_true_ones_are_refused_far_from_the_origin_too(name):
    X, s = sample(7, "million")
    model, y = fitted(name, X, s)
    certificate = model.certificate_
    moved = {**certificate.model, "intercept_": certificate.model["intercept_"] + 0.5}
    with pytest.raises(CertificateError, match="does not hold"):
        verify(replace(certificate, model=moved, seal="", subject=None), X, y)
    better = replace(certificate.claims[0], value=0.5 * certificate.claims[0].value - 1e-9)
    with pytest.raises(CertificateError, match="does not hold"):
        verify(replace(certificate, claims=(better,), seal="", subject=None), X, y)


def test_lasso_with_cross_validation_is_verified_far_from_the_origin():
    X, s = sample(7, "million")
    model = LassoCV().fit(X, s)
    assert model.certificate_.verify(X, s)["linear.gap"].proved <= 1e-12


def test_moving_the_center_changes_nothing():
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(9, 3)) + 1e6, rng.normal(size=3), -1e5
    middle = center(X)
    inner = moved_intercept(b, middle, w)
    enclosed = times(X, w, middle)
    for i in range(len(X)):
        exact = sum((Fraction(x) * Fraction(c) for x, c in zip(X[i], w, strict=True)), Fraction(b))
        radius = Fraction(enclosed.rad[i]) + Fraction(abs(inner)) / 2**52
        assert abs(exact - Fraction(enclosed.mid[i]) - Fraction(inner)) <= radius
    assert np.max(enclosed.rad) < 1e-14  # around the origin of X it would be a million times that


def test_columns_near_the_origin_are_left_alone():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert center(X) is None
    assert center((X > 0).astype(float)) is None
    assert center(np.column_stack([X, np.ones(50)])) is None
    assert centered(X, True).rows.X is X
    assert centered(X + 1e6, False).rows.X[0, 0] > 9e5  # without an intercept nothing makes up for it


def test_second_derivatives_are_taken_around_the_rows_that_have_some():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(30, 2)), [[1e9, 1e9]]])
    codes = np.append(rng.integers(3, size=30), 2)
    scores = SoftmaxScores(codes, 3, np.ones(31))
    Z = np.zeros((31, 3))
    Z[-1, 2] = 800.0  # no doubt about the far row
    _, _, P = scores.evaluate(Z)
    H = build(Rows(X), scores, P, np.arange(6), True).H
    near = SoftmaxScores(codes[:30], 3, np.ones(30))
    expected = build(Rows(X[:30]), near, near.evaluate(Z[:30])[2], np.arange(6), True).H
    np.testing.assert_allclose(H, expected, atol=1e-12)


def test_an_indefinite_matrix_still_gives_a_way_down():
    H = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    factor = np.tril(factorize(H, 0.0))
    lifted = factor @ factor.T
    assert np.all(np.linalg.eigvalsh(lifted) > 0)
    np.testing.assert_allclose(lifted - np.diag(np.diag(lifted) - 1.0), H, atol=1e-12)


def test_small_classes_get_fewer_folds_or_a_sentence():
    X = np.random.default_rng(0).normal(size=(6, 2))
    y = np.array(["a", "a", "b", "b", "b", "b"])
    assert LogisticRegressionCV(Cs=[1.0]).fit(X, y).scores_.shape == (2, 1, 1)
    with pytest.raises(InvalidData, match="class 'a' has 1 row"):
        LogisticRegressionCV(Cs=[1.0]).fit(X[1:], y[1:])
    with pytest.raises(InvalidParameter, match="cv must be from 2 to 4 folds"):
        LogisticRegressionCV(Cs=[1.0], cv=5).fit(X, y)
    with pytest.raises(InvalidParameter, match="cv must be from 2 to 4 folds"):
        LogisticRegressionCV(Cs=[1.0], cv=1).fit(X, y)


def test_penalties_are_compared_although_one_row_is_far_away():
    X, s = sample(7, "outlier")
    y = labels(s, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegressionCV(Cs=[0.01, 1.0]).fit(X, y)
    assert np.all(np.isfinite(model.scores_))
    verify(model.certificate_, X, y)


@pytest.mark.parametrize("away", [0.0, 1e6])
@pytest.mark.parametrize("seed", [7, 9, 10])
def test_three_separable_classes_have_no_finite_estimate_and_a_direction_to_prove_it(seed, away):
    X = np.random.default_rng(seed).normal(size=(60, 4))
    y, X = labels(X[:, 0] - X[:, 1], 3), X + away
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.no_finite_mle_
    verify(model.certificate_, X, y)


def test_labels_at_risk_are_counted_around_the_dual_point_too():
    X, s = sample(9, "near")  # a row whose lead is within the gap of the dual point but not of the probabilities
    y = labels(s, 3)
    model = LogisticRegression(C=np.inf).fit(X, y)
    verify(model.certificate_, X, y)


@pytest.mark.parametrize("seed", [1, 6])
def test_ridge_with_cross_validation_does_not_trust_eigenvectors_next_to_a_far_row(seed):
    X, s = sample(seed, "outlier")
    model = RidgeCV().fit(X, s)
    same = Ridge(alpha=model.alpha_).fit(X, s)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-6)
    assert model.certificate_.verify(X, s)["linear.gap"].proved <= 1e-9


@pytest.mark.parametrize("seed", [4, 16, 20])
def test_rows_on_a_plane_are_judged_by_the_better_of_two_bounds(seed):
    X = np.random.default_rng(seed).normal(size=(60, 4))
    for model in (Ridge(alpha=0.1).fit(X, X[:, 0] - X[:, 1]), RidgeCV().fit(X, X[:, 0] - X[:, 1])):
        assert model.certificate_.verify(X, X[:, 0] - X[:, 1])["linear.gap"].proved < 1e-24


def test_one_row_of_counts_is_fitted_without_a_warning():
    X = np.abs(np.random.default_rng(0).normal(size=(1, 3)))
    PoissonRegressor().fit(X, [2.0]).certificate_.verify(X, [2.0])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_smooth_fits_without_a_tolerance_end():
    X = np.random.default_rng(0).normal(size=(8, 1))
    model = RidgeClassifier(tol=0.0).fit(X, np.arange(8) % 2)  # no limit on iterations by default
    assert model.verify(X, np.arange(8) % 2)
