"""The mistake bound and the margin bracket, on random separable data, against an independent quadratic program."""

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import (
    InvalidParameter,
    MarginPerceptron,
    Perceptron,
    margin_perceptron_bounds,
    novikoff_bound,
)


def widest(X, t):
    """Direction and margin of the widest separation through the origin, by a quadratic program."""
    w = cp.Variable(X.shape[1])
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [cp.multiply(t, X @ w) >= 1]).solve(solver=cp.CLARABEL)
    norm = np.linalg.norm(w.value)
    return w.value / norm, 1 / norm


@st.composite
def separable(draw):
    """Integer rows with both classes, separated by a hidden direction; small enough for exact arithmetic."""
    d = draw(st.integers(1, 4))
    n = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(-9, 10, (n, d)).astype(float)
    hidden = rng.integers(-5, 6, d) + 0.5
    t = np.where(X @ hidden > 0, 1.0, -1.0)
    X[np.all(X == 0, axis=1), 0] = t[np.all(X == 0, axis=1)] * np.sign(hidden[0])
    if len(np.unique(t)) == 1:
        X, t = np.vstack([X, -X]), np.concatenate([t, -t])
    return X, t


@settings(max_examples=40, deadline=None)
@given(separable(), st.sampled_from(["cyclic", "shuffled", "random"]))
def test_updates_stay_below_the_bound_and_the_bracket_holds_the_margin(data, order):
    X, t = data
    u, margin = widest(X, t)
    radius = float(np.max(np.linalg.norm(X, axis=1)))
    best_bound = novikoff_bound(radius, margin)
    model = Perceptron(fit_intercept=False, order=order, tol=None, max_iter=10**5).fit(X, t)
    assert model.converged_ and model.n_updates_ <= best_bound * (1 + 1e-6)
    bracket, bound = (model.certificate_["perceptron." + name] for name in ("margin", "novikoff"))
    assert bracket.value <= margin * (1 + 1e-6) and margin <= bracket.numbers["up"] * (1 + 1e-6)
    assert model.n_updates_ <= bound.limit and best_bound <= bound.limit * (1 + 1e-6)
    # the three inequalities of the proof, after every update
    w = np.zeros(X.shape[1])
    for k, row in enumerate(model.mistake_log_["row"], start=1):
        w = w + t[row] * X[row]
        assert w @ u >= k * margin * (1 - 1e-6)
        assert w @ w <= k * np.max(np.sum(X * X, axis=1))  # integers: no rounding
        assert w @ u / np.linalg.norm(w) >= math.sqrt(k) * margin / radius * (1 - 1e-6)
    found = model.verify(X, t)
    assert found["perceptron.replay"].level == "exact"


@settings(max_examples=25, deadline=None)
@given(separable(), st.integers(0, 10**6))
def test_bound_from_any_start(data, seed):
    X, t = data
    start = np.random.default_rng(seed).integers(-20, 21, X.shape[1]).astype(float)
    u, margin = widest(X, t)
    radius = float(np.max(np.linalg.norm(X, axis=1)))
    model = Perceptron(fit_intercept=False, order="cyclic", tol=None, max_iter=10**5).fit(X, t, coef_init=[start])
    along = float(np.clip(start @ u, -np.linalg.norm(start), np.linalg.norm(start)))
    bound = novikoff_bound(radius, margin, start_norm=float(np.linalg.norm(start)), start_along=along)
    assert model.converged_ and model.n_updates_ <= bound * (1 + 1e-6)
    model.verify(X, t)


@settings(max_examples=20, deadline=None)
@given(separable(), st.sampled_from([0.3, 0.5, 0.8]))
def test_margin_perceptron_reaches_its_share_within_its_bounds(data, epsilon):
    X, t = data
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    _, best = widest(unit, t)
    gamma = min(best * (1 - 1e-9), 1.0)
    model = MarginPerceptron(gamma=gamma, epsilon=epsilon, fit_intercept=False, max_iter=10**5).fit(X, t)
    assert model.converged_
    reached = np.min(t * (unit @ model.coef_[0])) / np.linalg.norm(model.coef_[0])
    assert reached >= (1 - epsilon) * gamma * (1 - 1e-9)
    assert model.n_updates_ <= model.update_bounds_.min() + 1e-9
    bracket = model.certificate_["perceptron.unit_margin"]
    assert bracket.value <= best * (1 + 1e-6) and best <= bracket.numbers["up"] * (1 + 1e-6)
    model.verify(X, t)
    searched = MarginPerceptron(fit_intercept=False, min_gamma=1e-6, max_iter=10**5).fit(X, t)
    reached = np.min(t * (unit @ searched.coef_[0])) / np.linalg.norm(searched.coef_[0])
    assert reached >= best / 4 * (1 - 1e-6) and searched.gamma_[0] <= 1
    searched.verify(X, t)


def test_bound_invariances():
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (40, 3)).astype(float)
    t = np.where(X @ [1.0, -2.5, 0.5] > 0, 1.0, -1.0)
    plain = Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(X, t)
    limit = plain.certificate_["perceptron.novikoff"].limit
    for other in (4 * X, np.column_stack([X, np.zeros((40, 5))])):  # scaling and empty columns change nothing
        model = Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(other, t)
        assert model.n_updates_ == plain.n_updates_
        assert model.certificate_["perceptron.novikoff"].limit == pytest.approx(limit, rel=1e-9)
    twice = Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(np.vstack([X, X]), np.append(t, t))
    assert twice.n_updates_ <= limit


def test_different_shuffles_give_different_hyperplanes_none_wider_than_the_widest():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    t = np.where(X @ [1.0, 0.7] > 0, 1.0, -1.0)
    X = X + 0.2 * t[:, None] * np.array([1.0, 0.7])
    _, margin = widest(X, t)
    directions = []
    for seed in range(8):
        model = Perceptron(fit_intercept=False, tol=None, random_state=seed).fit(X, t)
        directions.append(model.coef_[0] / np.linalg.norm(model.coef_))
        assert model.certificate_["perceptron.margin"].value <= margin * (1 + 1e-6)
        low = model.certificate_["perceptron.margin"].value
        noise = rng.standard_normal(X.shape)
        moved = X + 0.999 * low * noise / np.linalg.norm(noise, axis=1)[:, None]
        assert np.array_equal(np.sign(moved @ model.coef_[0]), t)  # the margin is a radius of robustness
    assert np.std(directions, axis=0).max() > 1e-3


@pytest.mark.parametrize(
    "gamma, recursive", [(1, 1), (0.7, 3), (0.5, 8), (0.3, 26), (0.2, 61), (0.1, 249), (0.05, 1003), (0.01, 25127)]
)
def test_bounds_of_the_margin_perceptron(gamma, recursive):
    bounds = margin_perceptron_bounds(gamma)
    assert bounds.recursive == recursive
    assert bounds.textbook == pytest.approx(12 / gamma**2)
    assert bounds.closed == pytest.approx(8 / gamma**2 + 4 / gamma - 3)
    assert bounds.recursive <= bounds.closed <= max(bounds.textbook, bounds.closed)


def test_recursive_bound_grows_like_the_root_of_its_equation():
    # tau / 2 = ln(1 + tau): k gamma^2 -> 2.51286...
    tau = 2.5
    for _ in range(60):
        tau = 2 * math.log1p(tau)
    assert tau == pytest.approx(2.51286, abs=1e-5)
    assert margin_perceptron_bounds(0.001).recursive * 1e-6 == pytest.approx(tau, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 0.9])
def test_closed_bound_for_other_shares(epsilon):
    gamma = 0.2
    bounds = margin_perceptron_bounds(gamma, epsilon)
    assert bounds.closed == pytest.approx(2 / (epsilon * gamma) ** 2 + 2 / (epsilon * gamma) - 2 / epsilon + 1)
    assert bounds.recursive <= bounds.closed
    assert math.isinf(bounds.textbook) == (epsilon != 0.5)


@pytest.mark.parametrize("arguments", [(1.0, 0.0), (-1.0, 1.0), (1.0, float("nan"))])
def test_bound_refuses_nonsense(arguments):
    with pytest.raises(InvalidParameter, match="novikoff_bound"):
        novikoff_bound(*arguments)


def test_bound_refuses_a_component_longer_than_its_vector():
    with pytest.raises(InvalidParameter, match="start_along"):
        novikoff_bound(1.0, 0.5, start_norm=1.0, start_along=2.0)
    with pytest.raises(InvalidParameter, match="gamma"):
        margin_perceptron_bounds(1.5)
    with pytest.raises(InvalidParameter, match="epsilon"):
        margin_perceptron_bounds(0.5, 1.0)


def test_margins_that_many_updates_brought_down_are_claimed_with_their_rounding():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    s = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=60)
    X, y = 1e-4 * X, (s > np.median(s)).astype(int)  # the constant feature is ten thousand times as large as the rows
    model = Perceptron(random_state=0).fit(X, y)
    finding = model.certificate_.verify(X, y)["perceptron.margin"]
    assert 0 < finding.proved <= model.certificate_["perceptron.margin"].numbers["up"]
