"""Least squares within a radius: the constraint holds exactly, the gap is a bound, penalized and constrained agree."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.budget import Budget, Reason
from surefit.operators import as_design
from surefit.penalties import L1, L2, ElasticNetPenalty, Positive, Weighted
from surefit.solvers.coordinate_descent import prepare, solve, solve_radius


def problem(n=60, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    return X, X[:, :4] @ [1.0, -2.0, 3.0, 0.5] + rng.normal(size=n) + 5.0


FACTORS = np.r_[0.0, np.inf, 2.0, np.ones(27)]
KINDS = {
    "l1": L1,
    "l2": L2,
    "elastic": lambda a: ElasticNetPenalty(0.7 * a, 0.3 * a),
    "positive": lambda a: Positive(L1(a)),
    "weighted": lambda a: Weighted(L1(a), FACTORS),
}


def size(kind, w):
    if kind == "weighted":
        return math.fsum(np.where(w == 0, 0.0, np.where(np.isinf(FACTORS), 0.0, FACTORS) * np.abs(w)))
    linear, quadratic = {"l2": (0.0, 1.0), "elastic": (0.7, 0.3)}.get(kind, (1.0, 0.0))
    return math.fsum(linear * np.abs(w) + 0.5 * quadratic * w**2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", [0.0, 1e-3, 0.5, 3.0, 1e4])
def test_agrees_with_a_conic_solver(kind, radius):
    X, y = problem()
    prepared = prepare(as_design(X), y, None, True)
    solution = solve_radius(prepared, KINDS[kind], radius, tol=1e-9, budget=Budget())
    w, b = cp.Variable(30), cp.Variable()
    excluded = np.isinf(FACTORS) if kind == "weighted" else np.zeros(30, dtype=bool)
    linear, quadratic = {"l2": (0.0, 1.0), "elastic": (0.7, 0.3)}.get(kind, (1.0, 0.0))
    factors = np.where(excluded, 0.0, FACTORS) if kind == "weighted" else np.ones(30)
    constraints = [linear * (factors @ cp.abs(w)) + quadratic * cp.sum_squares(w) / 2 <= radius]
    constraints += [w[excluded] == 0] if excluded.any() else []
    constraints += [w >= 0] if kind == "positive" else []
    oracle = cp.Problem(cp.Minimize(cp.sum_squares(y - X @ w - b) / 120), constraints).solve(solver=cp.CLARABEL)
    assert size(kind, solution.coef) <= radius  # exactly, in floating point
    assert solution.reason == Reason.CONVERGED and solution.gap <= 1e-9 * solution.null_objective
    loss = np.mean((y - X @ solution.coef - solution.intercept) ** 2) / 2
    assert solution.objective == pytest.approx(loss, rel=1e-10)
    assert loss == pytest.approx(oracle, rel=1e-6, abs=1e-7 * solution.null_objective)


def test_spec_f39_penalized_and_constrained_are_one_family():
    X, y = problem()
    prepared = prepare(as_design(X), y, None, True)
    for alpha in (0.02, 0.1, 0.6):
        penalized = solve(prepared, L1(alpha), tol=1e-13, budget=Budget())
        radius = np.abs(penalized.coef).sum()
        constrained = solve_radius(prepared, L1, radius, tol=1e-11, budget=Budget())
        assert constrained.multiplier == pytest.approx(alpha, rel=1e-3)
        assert constrained.coef == pytest.approx(penalized.coef, abs=1e-4)
        signs = np.sign(penalized.coef)[penalized.coef != 0][:8]
        part = penalized.coef[penalized.coef != 0][:8]
        corners = [np.dot(corner, part) for corner in itertools.product([-1, 1], repeat=len(part))]
        assert max(corners) == pytest.approx(np.abs(part).sum()) == pytest.approx(signs @ part)


def test_one_feature_numbers():
    prepared = prepare(as_design(np.array([[-1.0], [0.0], [1.0]])), np.array([-2.0, 0.0, 2.0]), None, True)
    for radius, w, multiplier in ((0.0, 0.0, 4 / 3), (0.5, 0.5, 1.0), (1.5, 1.5, 1 / 3)):  # multiplier: 2/3 (2 - w)
        solution = solve_radius(prepared, L1, radius, tol=1e-12, budget=Budget())
        assert solution.coef == pytest.approx([w], abs=1e-9)
        assert solution.multiplier == pytest.approx(multiplier, rel=1e-6)
    free = solve_radius(prepared, L1, 10.0, tol=1e-12, budget=Budget())
    assert free.coef == pytest.approx([2.0], abs=1e-5) and free.multiplier < 1e-11


@pytest.mark.parametrize("max_iter", [1, 2, 4, 8])
def test_gap_bounds_suboptimality_at_every_early_stop(max_iter):
    X, y = problem()
    prepared = prepare(as_design(X), y, None, True)
    for radius in (0.1, 2.0):
        best = solve_radius(prepared, L1, radius, tol=1e-12, budget=Budget())
        early = solve_radius(prepared, L1, radius, tol=1e-12, budget=Budget(max_iter=max_iter))
        assert np.abs(early.coef).sum() <= radius
        assert early.objective - best.objective <= early.gap + 1e-12
        assert early.reason in (Reason.MAX_ITER, Reason.CONVERGED)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(-3, 1), st.integers(1, 6))
def test_inactive_features_are_zero_even_if_the_multiplier_is_wrong(seed, exponent, max_iter):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(15, 6)), rng.normal(size=15)
    prepared = prepare(as_design(X), y, None, True)
    radius = 10.0**exponent
    best = solve_radius(prepared, L1, radius, tol=1e-12, budget=Budget())
    early = solve_radius(prepared, L1, radius, tol=1e-12, budget=Budget(max_iter=max_iter))
    assert not np.any(np.abs(best.coef[early.inactive]) > 1e-5 * radius)


def test_a_multiplier_far_too_large_proves_nothing_about_features():
    # y = x: at multipliers beyond |x'y|/n the *penalized* solution is zero, the constrained one is not
    x = np.array([[1.0], [-1.0]])
    prepared = prepare(as_design(x), x.ravel(), None, False)
    from surefit.solvers.coordinate_descent.descent import Descent

    state = Descent(prepared)
    state.solve(L1(50.0), 1e-12, Budget())
    claimed = state.within(np.array([0.01]), 0.01, 0.01, 50.0, Reason.MAX_ITER)
    assert not claimed.inactive.any()
    zero = state.within(np.array([0.0]), 0.0, 0.01, 50.0, Reason.MAX_ITER)
    assert not zero.inactive.any() and zero.gap >= 0.5 - 0.5 * 0.99**2  # loss at 0 minus loss at the best w, 0.01


def test_constant_target():
    prepared = prepare(as_design(np.arange(6.0).reshape(3, 2)), np.full(3, 0.1), None, True)
    solution = solve_radius(prepared, L1, 1.0, tol=1e-6, budget=Budget())
    assert not solution.coef.any() and solution.gap == 0.0 and solution.intercept == 0.1
