"""Gaps of multinomial and unpenalized logistic fits against an independent solver, and the existence of estimates."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from tests.checks.linear.proving import proof_at

from surefit import CertificateError, LogisticRegression

SOLVER_DIGITS = 1e-7


def sample(seed=0, n=60, d=3, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    y = (X @ rng.normal(size=(d, classes)) + 1.5 * rng.gumbel(size=(n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def optimum(X, y, l1, l2, C, intercept, reference):
    W, b, K = cp.Variable((3, X.shape[1])), cp.Variable(3), 3
    F = X @ W.T + cp.reshape(b, (1, K), order="C") if intercept else X @ W.T
    own = cp.sum(cp.multiply(np.eye(K)[y], F))
    limits = [] if reference is None else [W[reference] == 0, b[reference] == 0]
    size = l1 * cp.sum(cp.abs(W)) + l2 / 2 * cp.sum_squares(W)
    return cp.Problem(cp.Minimize(C * (cp.sum(cp.log_sum_exp(F, axis=1)) - own) + size), limits).solve(
        solver="CLARABEL"
    )


def objective(model, X, y, l1, l2, C, W, b):
    F = X @ W.T + b
    loss = np.sum(np.log(np.sum(np.exp(F), axis=1)) - F[np.arange(len(y)), y])
    return C * loss + l1 * np.abs(W).sum() + l2 / 2 * np.sum(W**2)


@pytest.mark.parametrize("reference", [None, 0, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C, ratio", [(1.0, 0.0), (0.5, 1.0), (2.0, 0.4), (np.inf, 0.0)])
def test_multinomial_gaps_bound_the_excess(C, ratio, intercept, reference):
    X, y = sample(int(10 * ratio) + 2 * intercept)
    model = LogisticRegression(C=C, l1_ratio=ratio, fit_intercept=intercept, reference=reference, tol=1e-9).fit(X, y)
    model.verify(X, y)
    l1, l2, weight = (0.0, 0.0, 1.0) if np.isinf(C) else (ratio, 1 - ratio, C)
    best = optimum(X, y, l1, l2, weight, intercept, reference)
    rng = np.random.default_rng(0)
    used = np.ones(3) if reference is None else (np.arange(3) != reference).astype(float)
    for noise in (0.0, 1e-3, 0.1):
        W = model.coef_ * (1 + noise * rng.normal(size=model.coef_.shape))
        b = model.intercept_ + noise * rng.normal(size=3) * used * intercept
        (gap,) = proof_at(model, X, y, W, b)
        excess = objective(model, X, y, l1, l2, weight, W, b) - best
        assert gap.value >= excess - SOLVER_DIGITS * (1 + abs(best))
        assert gap.value <= gap.objective
        if noise == 0.0:
            assert gap.value <= 1e-6 * (1 + abs(best)) and np.isinf(gap.box)


@pytest.mark.parametrize("classes", [2, 3])
def test_unpenalized_fits_are_proved_to_exist(classes):
    X, y = sample(3, 80, classes=classes)
    model = LogisticRegression(C=np.inf).fit(X, y)
    claims = {claim.name: claim for claim in model.certificate_.claims}
    assert claims["logistic.finite_mle"].value == 0 and "exists" in claims["logistic.finite_mle"].statement
    assert claims["linear.gap"].value < 1e-12 and model.labels_at_risk_ == 0
    model.verify(X, y)
    doubled = np.column_stack([X, X[:, 0]])  # dependent columns: nothing is proved, and nothing else is said
    model = LogisticRegression(C=np.inf).fit(doubled, y)
    assert model.certificate_["logistic.finite_mle"].value == len(y)
    assert np.isfinite(model.certificate_["linear.gap"].numbers["box"])
    model.verify(doubled, y)


@pytest.mark.filterwarnings("ignore::surefit.DataWarning")
def test_separation_is_counted_and_a_wrong_direction_refused():
    X, y = np.array([[0.0], [1.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])
    certificate = LogisticRegression(C=np.inf).fit(X, y).certificate_
    claim = certificate["logistic.no_finite_mle"]
    assert (
        claim.value == 2 and claim.holds is False and claim.verdict == "does not hold"
    )  # two rows lie on the boundary
    for V in (-claim.witness["V"].astype(float), np.zeros((2, 2)), np.ones((2, 3)), np.full((2, 2), np.nan)):
        other = replace(claim, witness={"V": V})
        with pytest.raises(CertificateError, match="no_finite_mle"):
            replace(certificate, claims=(other, *certificate.claims[1:]), seal="", subject=None).verify(X, y)
