"""The checker on coefficients that no solver of ours has touched: its gap is a bound, and it is sharp at the optimum."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import SVC

from surefit.checks.dual_repair import balanced
from surefit.checks.linear_scores import Column, prove_column, rows_at_risk
from surefit.checks.multinomial import with_column_sums
from surefit.checks.score_losses import differences, dual_numbers, values

MARGIN_LOSSES = ["logistic", "hinge", "squared_hinge"]
TUBES = ["epsilon_insensitive", "squared_epsilon_insensitive"]


def problem(loss, l1=0.0, l2=1.0, free=True):
    return {"loss": loss, "l1": l1, "l2": l2, "fit_intercept": free, "epsilon": 0.3}


def data(seed, n=25, d=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n), rng.uniform(0.2, 2.0, n), rng.standard_normal(d)


@pytest.mark.parametrize("loss", MARGIN_LOSSES + TUBES)
def test_fenchel_young_differences_are_zero_at_the_slope_and_positive_elsewhere(loss):
    y = np.array([-1.0, 1.0])[:, None] * np.ones(41)
    z = np.tile(np.linspace(-4, 4, 41), (2, 1))
    q = dual_numbers(problem(loss), y, z)
    own, error = differences(problem(loss), y, z, q)
    assert np.all(own <= 1e-12) and np.all(error <= 1e-11)
    others, _ = differences(problem(loss), y, z + 0.7, q)
    direct = values(problem(loss), y, z + 0.7) - values(problem(loss), y, z) + 0.7 * q
    np.testing.assert_allclose(others, direct, atol=1e-12)  # phi(z') - phi(z) - phi'(z) (z' - z)
    h = 1e-6
    slope = (values(problem(loss), y, z + h) - values(problem(loss), y, z - h)) / (2 * h)
    smooth = np.abs(slope + q) < 0.4  # at a kink the difference quotient is between the slopes
    assert smooth.mean() > 0.9 and np.allclose(slope[smooth], -q[smooth], atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from(MARGIN_LOSSES + TUBES), st.sampled_from([(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)])
)
def test_the_gap_bounds_the_excess_of_any_coefficients(seed, loss, penalty):
    X, y, c, w = data(seed)
    p = problem(loss, *penalty)
    b = float(np.random.default_rng(seed).standard_normal())

    def objective(v):
        return c @ values(p, y, X @ v[:3] + v[3]) + penalty[0] * np.abs(v[:3]).sum() + penalty[1] / 2 * v[:3] @ v[:3]

    proof = prove_column(p, X, Column(y, c, w, b, 0.1))
    assert proof.objective == pytest.approx(objective(np.append(w, b)), rel=1e-12)
    best = min(
        minimize(objective, start, method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-9, "xatol": 1e-9}).fun
        for start in (np.append(w, b), np.zeros(4))
    )
    assert proof.objective - best <= proof.gap
    assert proof.gap_mid <= proof.gap
    thin = prove_column(p, sparse.csr_array(X), Column(y, c, w, b, 0.1))
    assert thin.gap_mid == pytest.approx(proof.gap_mid, rel=1e-9)


def test_a_foreign_support_vector_machine_is_proved_by_its_own_multipliers():
    X, y, _, _ = data(1, 60)
    model = SVC(kernel="linear", tol=1e-10).fit(X, y)
    q = np.zeros(60)
    q[model.support_] = model.dual_coef_[0]
    column = Column(y, np.ones(60), model.coef_[0], float(model.intercept_[0]), 0.0, q)
    assert prove_column(problem("hinge"), X, column).gap < 1e-6
    wrong = column._replace(dual=-q)
    assert prove_column(problem("hinge"), X, wrong).gap > 1.0  # a wrong witness proves little, never something false


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=3, max_size=30), st.integers(0, 1000))
def test_repaired_sums_vanish_exactly(values_, seed):
    theta = np.array(values_)
    c = np.abs(theta) + np.random.default_rng(seed).uniform(0.0, 1.0, len(theta))
    fixed, row, remainder = balanced(theta, c, 1.0)
    if math.isfinite(remainder):
        exact = [Fraction(v) for v in fixed]
        exact[row] += Fraction(remainder)
        # what fsum rounds off is far below the radius that the caller adds
        assert abs(sum(exact)) <= Fraction(abs(remainder)) * Fraction(1, 2**50) + Fraction(1, 10**300)
        assert np.all(np.abs(fixed) <= c * (1 + 1e-12))


def test_column_sums_are_repaired_inside_the_simplex():
    rng = np.random.default_rng(0)
    Q, c = rng.dirichlet(np.ones(4), 50), rng.uniform(0.1, 1, 50)
    Y = np.eye(4)[rng.integers(0, 4, 50)]
    fixed = with_column_sums(Q, Y, c)
    np.testing.assert_allclose(c @ fixed, c @ Y, rtol=1e-12)
    assert fixed.min() >= 0 and np.allclose(fixed.sum(axis=1), 1)


def test_rows_at_risk_follow_pinsker():
    # a relative entropy of g / c moves probabilities by at most sqrt(2 g / c) in the 1-norm
    p, g, c = 0.5 + 0.05, 1e-3, 1.0
    other = 0.5 - 1e-9
    entropy = p * math.log(p / other) + (1 - p) * math.log((1 - p) / (1 - other))
    assert rows_at_risk(np.array([2 * p - 1]), np.array([c]), entropy)[0]
    assert not rows_at_risk(np.array([0.5]), np.array([c]), g)[0]


def test_separable_rows_without_a_penalty_have_no_optimum_to_be_near():
    # The infimum is zero and not attained: whatever is proved cannot be less than the objective itself.
    rng, seen = np.random.default_rng(0), 0
    for _ in range(300):
        n, d = int(rng.integers(3, 9)), int(rng.integers(1, 3))
        X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
        y, size = np.where(X @ w + 0.1 > 0, 1.0, -1.0), 10 ** rng.uniform(0, 2.5)
        if len(set(y)) < 2:
            continue
        column = Column(y, np.ones(n), w * size, 0.1 * size, 0.0)
        problem = {"l1": 0.0, "l2": 0.0, "fit_intercept": True, "loss": "logistic"}
        objective = np.logaddexp(0, -y * (X @ w + 0.1) * size).sum()
        assert prove_column(problem, X, column).gap >= objective * (1 - 1e-9)
        seen += 1
    assert seen > 200
