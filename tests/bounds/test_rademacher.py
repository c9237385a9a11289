"""Rademacher complexity: identities over all signs, closed forms, contraction, and the regression bounds."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    Complexity,
    empirical_rademacher,
    kernel_ball_rademacher,
    kernel_ball_trace,
    kernel_ridge_mse,
    kernel_ridge_mse_grid,
    linear_ball_closed_form,
    linear_ball_rademacher,
    lp_lipschitz,
    massart,
    mean_absolute_sum,
    rademacher_risk,
    theory_lambda,
)
from surefit.bounds.balls import dual_exponent
from surefit.core.errors import InvalidData, InvalidParameter

functions = st.lists(st.lists(st.floats(-2, 2), min_size=5, max_size=5), min_size=1, max_size=6)


def brute(table, absolute=False):
    total = 0.0
    for signs in itertools.product([-1, 1], repeat=table.shape[1]):
        sums = table @ signs / table.shape[1]
        total += max(abs(sums)) if absolute else max(sums)
    return total / 2 ** table.shape[1]


@given(table=functions)
@settings(max_examples=50, deadline=None)
def test_enumeration_is_the_definition(table):
    H = np.array(table)
    value = empirical_rademacher(H).value
    assert value == pytest.approx(brute(H), abs=1e-12) and value >= -1e-15
    assert empirical_rademacher(H, absolute=True).value == pytest.approx(brute(H, absolute=True), abs=1e-12)
    assert value <= massart(H) + 1e-12
    assert empirical_rademacher(H[:1]).value == pytest.approx(0.0, abs=1e-15)


@given(table=functions, p=st.sampled_from([1.0, 1.5, 2.0, 3.0]))
@settings(max_examples=50, deadline=None)
def test_translation_and_contraction(table, p):
    H, c = np.array(table), np.array([0.5, -1.0, 0.0, 2.0, 0.3])
    value = empirical_rademacher(H).value
    assert empirical_rademacher(H - c).value == pytest.approx(value, abs=1e-12)
    M = float(np.max(np.abs(H - c))) or 1.0
    assert empirical_rademacher(np.abs(H - c) ** p).value <= lp_lipschitz(p, M) * value + 1e-12


def test_lipschitz_constant_is_tight():
    assert lp_lipschitz(2, 1.0) == 2.0 and lp_lipschitz(1, 5.0) == 1.0
    assert (1.0**2 - 0.99**2) / 0.01 == pytest.approx(1.99)
    x, y = np.random.default_rng(0).uniform(-3, 3, size=(2, 1000))
    for p in (1.0, 1.7, 2.0, 4.0):
        ratio = np.abs(np.abs(x) ** p - np.abs(y) ** p) / np.abs(x - y)
        assert np.max(ratio) <= lp_lipschitz(p, 3.0) * (1 + 1e-9)


def test_clipping_to_the_range_of_the_targets_never_costs():
    rng = np.random.default_rng(0)
    y, f = rng.uniform(-2, 2, 500), rng.normal(0, 4, 500)
    for p in (1, 1.5, 2):
        assert np.all(np.abs(np.clip(f, -2, 2) - y) ** p <= np.abs(f - y) ** p)
    assert np.max((np.clip(f, -2, 2) - y) ** 2) <= (2 * 2) ** 2  # the bound 4 B^2 of the loss


def test_monte_carlo_covers_the_exact_value():
    H = np.random.default_rng(1).normal(size=(20, 12))
    exact = empirical_rademacher(H)
    assert exact.exact and exact.upper == exact.value and exact.delta == 0.0
    drawn = empirical_rademacher(H, exact=False, draws=4000, delta=1e-6)
    assert not drawn.exact and drawn.delta == 1e-6 and exact.value <= drawn.upper
    assert drawn.value == pytest.approx(exact.value, abs=0.03)
    assert drawn == empirical_rademacher(H, exact=False, draws=4000, delta=1e-6)  # seeded


@pytest.mark.parametrize("m", range(1, 11))
def test_random_walk(m):
    brute = sum(abs(sum(s)) for s in itertools.product([-1, 1], repeat=m)) / 2**m
    assert mean_absolute_sum(m) == pytest.approx(brute, rel=1e-14)


def test_random_walk_at_large_m():
    assert mean_absolute_sum(998) == pytest.approx(2 * 499 * math.comb(998, 499) / 4**499, rel=1e-14)
    for m in (1001, 19_999, 20_001, 10**9):
        assert mean_absolute_sum(m) == pytest.approx(math.sqrt(2 * (m + 1) / math.pi) * (1 - 0.25 / (m + 1)), rel=1e-6)
    assert mean_absolute_sum(20_001) == pytest.approx(mean_absolute_sum(19_999) * 20_001 / 20_000, rel=1e-9)


def test_kernel_ball_of_the_notes():
    assert kernel_ball_rademacher(np.eye(2), 1.0, 1.0).value == pytest.approx((math.sqrt(2) + 1) / 2, rel=1e-14)
    assert kernel_ball_trace(2.0, 2, 1.0, 1.0) == pytest.approx(math.sqrt(2), rel=1e-14)


@given(seed=st.integers(0, 10**6), m=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_kernel_ball_chain(seed, m):
    A = np.random.default_rng(seed).normal(size=(m, 3))
    K, r, radius = A @ A.T, math.sqrt(max(np.max(np.sum(A**2, axis=1)), 1e-9)), 1.7
    exact = kernel_ball_rademacher(K, radius, r * radius).value
    trace = kernel_ball_trace(float(np.trace(K)), m, radius, r * radius)
    assert exact <= trace + 1e-12 and trace <= 2 * r * radius / math.sqrt(m) + 1e-12
    assert kernel_ball_rademacher(K, radius).value == pytest.approx(linear_ball_rademacher(A, radius).value, rel=1e-9)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, math.inf])
def test_linear_ball_is_the_supremum(p):
    X = np.random.default_rng(2).normal(size=(6, 3))
    value = linear_ball_rademacher(X, 2.0, p).value
    W = np.random.default_rng(3).normal(size=(400, 3))
    W = 2.0 * W / np.linalg.norm(W, ord=p, axis=1, keepdims=True)
    inner = empirical_rademacher(W @ X.T).value  # a finite part of the ball
    assert 0.8 * value <= inner <= value + 1e-12
    assert 1 / dual_exponent(p) + (0 if math.isinf(p) else 1 / p) == pytest.approx(1.0)
    if p in (1, 2, math.inf):
        assert value <= linear_ball_closed_form(X, 2.0, p) + 1e-12


def test_regression_bounds_of_the_notes():
    R = rademacher_risk(0.1, 0.02, 1000, 0.05, lipschitz=lp_lipschitz(2, 3.0), loss_bound=9.0, data_dependent=False)
    assert R.value == pytest.approx(0.1 + 4 * 3 * 0.02 + 9 * math.sqrt(math.log(20) / 2000), rel=1e-8)
    E = rademacher_risk(0.1, 0.02, 1000, 0.05, lipschitz=1.0, loss_bound=1.0)
    assert E.value == pytest.approx(0.1 + 0.04 + 3 * math.sqrt(math.log(40) / 2000), rel=1e-8)
    drawn = Complexity(0.01, 0.02, 0.003, False, 1000)
    assert rademacher_risk(0.1, drawn, 1000).value == E.value and rademacher_risk(
        0.1, drawn, 1000
    ).delta == pytest.approx(0.053)


def test_kernel_ridge_numbers_of_the_notes():
    def excess(**options):
        return kernel_ridge_mse(0.0, 10_000, kernel_radius=1.0, ball_radius=1.0, delta=0.05, **options).value

    assert excess(offset=True) == pytest.approx(0.35014861, abs=1e-8)
    assert excess(offset=True, trace=1e4) == pytest.approx(0.60668741, abs=1e-8)
    assert excess(offset=True, trace=5e3) == pytest.approx(0.57154022, abs=1e-8)
    assert excess() == pytest.approx(0.12895494, abs=1e-8)
    assert excess(trace=1e4) == pytest.approx(0.24297218, abs=1e-8)
    assert theory_lambda(1.0, 10_000) == pytest.approx(0.35014861, abs=1e-8)
    assert 10_000 * theory_lambda(1.0, 10_000) == pytest.approx(3501.4861, abs=1e-4)
    assert theory_lambda(1.0, 10_000, offset=False) == pytest.approx(0.12895494, abs=1e-8)


def test_kernel_ridge_is_the_rademacher_bound():
    n, r, L = 500, 1.3, 0.7
    M = 3 * r * L
    complexity = 2 * r * L / math.sqrt(n)
    twin = rademacher_risk(0.2, complexity, n, 0.1, lipschitz=2 * M, loss_bound=M**2, data_dependent=False)
    assert kernel_ridge_mse(0.2, n, kernel_radius=r, ball_radius=L, delta=0.1, offset=True).value == pytest.approx(
        twin.value
    )


def test_balls_on_a_grid():
    def bound(norm, **options):
        return kernel_ridge_mse_grid(0.01, 10**7, norm=norm, kernel_radius=1.0, target_bound=1.0, **options)

    assert [bound(norm).inputs["ball_radius"] for norm in (0.5, 1.0, 1.01, 2.0, 3.9, 4.1)] == [1, 1, 2, 2, 4, 8]
    assert bound(1.5).inputs["delta_spent"] == pytest.approx(0.05 / 6) and bound(1.5).delta == 0.05
    assert bound(0.5, offset=3.0).inputs["ball_radius"] == 4.0
    assert bound(0.5, first_radius=0.25).inputs["ball_radius"] == 1.0  # the targets need it
    assert kernel_ridge_mse_grid(0.0, 100, norm=1.0, kernel_radius=1.0, target_bound=1.0).vacuous


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: empirical_rademacher([1.0]), InvalidData, "table"),
        (lambda: empirical_rademacher(np.ones((1, 30)), exact=True), InvalidParameter, "more than 24"),
        (lambda: empirical_rademacher(np.ones((1, 30)), draws=0), InvalidParameter, "draws"),
        (lambda: kernel_ball_rademacher(np.ones((2, 3))), InvalidData, "square"),
        (lambda: kernel_ball_rademacher(np.eye(2), -1.0), InvalidParameter, "radius"),
        (lambda: kernel_ball_rademacher(np.eye(2), 1.0, -1.0), InvalidParameter, "offset"),
        (lambda: linear_ball_rademacher(np.eye(2), p=0.5), InvalidParameter, "p must be"),
        (lambda: linear_ball_closed_form(np.eye(2), p=3), InvalidParameter, "linear_ball_rademacher"),
        (lambda: lp_lipschitz(0.5, 1.0), InvalidParameter, "p must be"),
        (lambda: rademacher_risk(2.0, 0.1, 10), InvalidParameter, "empirical"),
        (lambda: kernel_ridge_mse(0.1, 10, kernel_radius=1.0, ball_radius=1.0, trace=11.0), InvalidParameter, "trace"),
        (lambda: kernel_ridge_mse(0.1, 10, kernel_radius=1.0, ball_radius=0.0), InvalidParameter, "ball_radius"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
