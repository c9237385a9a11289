"""Progressive validation: the formula, the mixture against the grid, pilots, and the exponential moment itself."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    clopper_pearson,
    online_mistakes,
    pilot_rate,
    pilot_rate_bernstein,
    progressive_errors,
    progressive_losses,
)
from surefit.bounds.kl import minus_log1p
from surefit.bounds.progressive import bernstein_rate_grid, rate_grid, running_means
from surefit.core.errors import InvalidData, InvalidParameter


def closed_form(errors, n, delta, rate):
    return (1 - math.exp(-(rate * errors / n + math.log(1 / delta) / n))) / (1 - math.exp(-rate))


@pytest.mark.parametrize("rate", [0.05, 0.4, 2.0])
@pytest.mark.parametrize(("errors", "n"), [(0, 50), (7, 100), (300, 1000)])
def test_one_rate_is_the_closed_form(errors, n, rate):
    expected = min(1.0, closed_form(errors, n, 0.05, rate))
    assert progressive_errors(errors, n, 0.05, rate=rate).value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("rate", [0.05, 0.4, 0.9])
def test_one_rate_for_losses_is_the_closed_form(rate):
    losses = np.random.default_rng(0).beta(1, 9, size=300)
    guesses = [np.mean([0.5, *losses[:t]]) for t in range(300)]
    spread = sum((loss - estimate) ** 2 for loss, estimate in zip(losses, guesses, strict=True))
    psi = -math.log(1 - rate) - rate
    expected = losses.mean() + (math.log(20) + psi * spread) / (rate * 300)
    assert progressive_losses(losses, 0.05, rate=rate).value == pytest.approx(min(1.0, expected), rel=1e-8)


@given(n=st.integers(1, 3000), data=st.data(), delta=st.floats(1e-12, 0.3))
@settings(max_examples=60, deadline=None)
def test_mixture_beats_the_union_over_the_grid_and_never_clopper_pearson(n, data, delta):
    errors = data.draw(st.integers(0, n))
    union = min(closed_form(errors, n, delta / 24, rate) for rate in rate_grid(n, delta))
    value = progressive_errors(errors, n, delta).value
    assert value <= min(1.0, union) * (1 + 2e-9)
    # A test set is the special case of equal models, and Clopper-Pearson is the smallest limit that grows with the count.
    assert value >= clopper_pearson(errors, n, delta) * (1 - 2e-9)


def test_mixture_of_real_losses_beats_the_union_too():
    losses = np.random.default_rng(1).beta(1, 30, size=2000)
    spread = float(np.sum((losses - running_means(losses)) ** 2))
    limits = [
        losses.mean() + (math.log(24 / 0.05) + minus_log1p(-lam) * spread) / (lam * 2000)
        for lam in bernstein_rate_grid(2000, 0.05)
    ]
    assert losses.mean() < progressive_losses(losses, 0.05).value <= min(limits) * (1 + 1e-8)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.95])
def test_exponential_moment_of_the_bernstein_form_is_at_most_one(rate):
    # E exp(rate (mean - X) - psi(rate) (X - c)^2) <= 1 for every guess c and every X in [0, 1]; here on a lattice of
    # guesses and of laws on three points.
    psi = minus_log1p(-rate)
    grid = np.linspace(0, 1, 11)
    for c, p, x in itertools.product(grid, grid, grid):
        points, weights = np.array([0.0, 1.0, x]), np.array([0.5 * (1 - p), 0.5 * p, 0.5])
        mean = points @ weights
        assert weights @ np.exp(rate * (mean - points) - psi * (points - c) ** 2) <= 1 + 1e-12


@pytest.mark.parametrize("rate", [0.1, 1.0, 4.0])
def test_exponential_moment_of_the_error_form_is_exactly_one(rate):
    # E prod exp(-rate l_t) / (1 - p_t (1 - exp(-rate))) = 1, also when p_t depends on what happened before.
    total = 0.0
    for path in itertools.product([0, 1], repeat=6):
        probability = capital = 1.0
        for t, loss in enumerate(path):
            p = 0.1 + 0.6 * np.mean([0.0, *path[:t]])  # the model got worse after errors
            probability *= p if loss else 1 - p
            capital *= math.exp(-rate * loss) / (1 - p * -math.expm1(-rate))
        total += probability * capital
    assert total == pytest.approx(1.0, rel=1e-12)


def test_online_mistakes_is_progressive_without_a_pilot():
    bound = online_mistakes(40, 1000)
    assert bound.value == progressive_errors(40, 1000).value and "random iterate" in bound.about
    assert bound.inputs == {"errors": 40, "n": 1000, "rate": None}
    assert online_mistakes(1000, 1000).vacuous and online_mistakes(500, 1000).compared_with(0.5).vacuous


def test_pilots_are_finite_and_near_the_best_rate():
    assert 0 < pilot_rate(0, 10, 1000) < math.inf and 0 < pilot_rate(10, 10, 1000) < math.inf
    rate = pilot_rate(30, 300, 1000)
    best = min(closed_form(100, 1000, 0.05, r) for r in np.geomspace(0.01, 5, 2000))
    assert closed_form(100, 1000, 0.05, rate) <= best * 1.001
    assert 0 < pilot_rate_bernstein(np.zeros(5), 1000) < 1
    assert progressive_errors(100, 1000, rate=rate).value < progressive_errors(100, 1000).value


def test_extremes():
    assert progressive_errors(0, 1, 1e-300).value <= 1.0
    assert 0 < progressive_errors(0, 10**9, 1e-12).value < 1e-7
    assert progressive_errors(10**8, 10**9, 1e-300).value == pytest.approx(0.1, abs=2e-3)
    assert progressive_losses(np.zeros(1000), 1e-12).value < 0.2
    assert progressive_losses([1.0]).vacuous and progressive_losses([0.0], 1e-300).vacuous


def test_running_means_do_not_look_ahead():
    assert running_means(np.array([1.0, 0.0, 1.0]), 0.5) == pytest.approx([0.5, 0.75, 0.5])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: progressive_errors(5, 4), InvalidParameter, "errors must be"),
        (lambda: progressive_errors(1, 4, rate=0.0), InvalidParameter, "rate must be a number > 0 and < inf"),
        (lambda: progressive_losses([0.1], rate=1.0), InvalidParameter, "rate must be a number > 0 and < 1"),
        (lambda: progressive_losses([-0.1]), InvalidData, "entry 0 is"),
        (lambda: online_mistakes(1, 10, delta=2.0), InvalidParameter, "delta must be"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
