"""The checker of bounds confirms every honest limit, refuses a smaller one, and agrees with exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bounds.confirmations import CONFIRM

from surefit import bounds
from surefit.checks.tail_sums import (
    Evidence,
    binomial_tail,
    error_capital,
    log_labelings,
    log_of,
    mixture,
    relative_entropy,
    relative_entropy_below,
    stable_sum,
    weakest,
)

RNG = np.random.default_rng(0)
LOSSES = RNG.beta(1, 20, size=400)
MARGINS = RNG.normal(0.5, 0.2, size=20_000).clip(-1, 1)
RIGHT = RNG.random(900) > 0.05
SCALED = np.where(RIGHT, RNG.normal(14, 3, size=900), -2.0)

#: One honest, non-vacuous bound of every kind, and several in the extremes.
HONEST = {
    "bernstein": [bounds.bernstein(0.01, n=500, delta=0.05).risk(0.1)],
    "chebyshev": [bounds.chebyshev(0.01, n=5000, delta=0.05).risk(0.1)],
    "sub_gaussian": [bounds.sub_gaussian(0.2, n=500, delta=1e-12).risk(0.1)],
    "conformal": [bounds.conformal_quantile(np.arange(500.0)).miscoverage(0.05)],
    "empirical_bernstein": [bounds.empirical_bernstein(LOSSES)],
    "finite_class": [
        bounds.finite_class(50, n=900, delta=0.05).risk(0.2),
        bounds.finite_class(2, n=9, delta=0.1).risk(0.0),
    ],
    "hoeffding": [bounds.hoeffding(n=300, delta=1e-12, sides=1).risk(0.1)],
    "holdout": [
        bounds.holdout(12, 400),
        bounds.holdout(0, 100, 1e-12),
        bounds.holdout(7, 10**9, 1e-300),
        bounds.holdout(3, 200, 0.2),
        bounds.holdout(0, 1),
    ],
    "holdout_loss": [bounds.holdout_loss(LOSSES), bounds.holdout_loss(np.zeros(20), 1e-12)],
    "k_fold": [bounds.k_fold([30, 34, 20], [500, 500, 400])],
    "kernel_ridge_mse": [
        bounds.kernel_ridge_mse(0.01, 10**5, kernel_radius=1.0, ball_radius=1.5, offset=True),
        bounds.kernel_ridge_mse_grid(0.01, 10**6, norm=2.7, kernel_radius=1.0, target_bound=2.0, trace=9e5),
    ],
    "margin": [bounds.margin(MARGINS, 1.0), bounds.margin(MARGINS, 1.0, trace=20_000.0)],
    "occam": [bounds.occam(5, 200, 12.0), bounds.occam(60, 2000, 59.29), bounds.occam(4, 100, 2.5)],
    "pac_bayes_hybrid": [bounds.pac_bayes_hybrid(int(np.sum(~RIGHT)), SCALED, RIGHT, 2.0)],
    "pac_bayes_kl": [bounds.pac_bayes_kl(0.1, 5.0, 2000), bounds.pac_bayes_kl(0.0, 5.0, 2000, 1e-12)],
    "pac_bayes_linear": [bounds.pac_bayes_linear(MARGINS), bounds.pac_bayes_linear(MARGINS, deterministic=True)],
    "pick_to_learn": [bounds.pick_to_learn(20, 15, 1000, budgets=3)],
    "progressive_errors": [
        bounds.progressive_errors(40, 1000),
        bounds.progressive_errors(40, 1000, rate=0.4),
        bounds.online_mistakes(0, 10**9, 1e-12),
    ],
    "progressive_losses": [bounds.progressive_losses(LOSSES), bounds.progressive_losses(LOSSES, rate=0.5)],
    "pseudo_dimension": [bounds.pseudo_dimension_deviation(3, n=10**4, delta=0.05, loss_bound=2.0).risk(0.2)],
    "rademacher_risk": [
        bounds.rademacher_risk(0.1, 0.02, 1000),
        bounds.rademacher_risk(0.1, 0.02, 90, data_dependent=False),
    ],
    "sample_compression": [bounds.sample_compression(10, 4, 1000), bounds.sample_compression(50, 0, 10**6, 1e-12)],
    "stable_compression": [bounds.stable_compression(30, 1000), bounds.stable_compression(3, 60_000, 1e-12)],
    "transfer": [bounds.transfer(12, 400, 30, 5000), bounds.transfer(1, 50, 3, 200)],
    "vc": [
        bounds.vc(3, n=10**5, delta=0.05, theorem=theorem, form=form).risk(0.1)
        for theorem in ("symmetrized", "double_sample", "rademacher")
        for form in ("sauer", "power", "euler")
    ]
    + [bounds.vc(bounds.set_class("stumps"), n=10**5, delta=0.05).risk(0.1)],
    "vote_c_bound": [bounds.vote_c_bound(0.2, 3000, 0.3, 1200)],
    "vote_first_order": [bounds.vote_first_order(0.05, 400, divergence=0.3)],
    "vote_margin": [bounds.vote_margin(MARGINS, 10)],
    "vote_tandem": [bounds.vote_tandem(0.01, 2000, divergence=0.1)],
}
CASES = [(name, i) for name, cases in HONEST.items() for i in range(len(cases))]


def confirmed(bound, value=None, delta=None, **arrays) -> Evidence:
    """Ask the checker about the limit of ``bound``, or about another value, delta or witness."""
    numbers = {**bound.terms, **bound.inputs, "delta": bound.delta if delta is None else delta}
    if delta is not None and "delta_spent" in numbers:
        numbers["delta_spent"] *= delta / bound.delta
    return CONFIRM[bound.name](bound.value if value is None else value, numbers, {**bound.arrays, **arrays})


def test_every_bound_has_a_checker_and_a_case():
    assert set(HONEST) | {"transfer_losses"} == set(CONFIRM)


@pytest.mark.parametrize(("name", "i"), CASES)
def test_honest_limits_are_confirmed(name, i):
    bound = HONEST[name][i]
    assert bound.name == name and not bound.vacuous
    evidence = confirmed(bound)
    assert evidence.ok and evidence.level in ("enclosed", "exact")


@pytest.mark.parametrize(("name", "i"), CASES)
def test_limits_that_are_too_small_are_refused(name, i):
    bound = HONEST[name][i]
    for factor in (1 - 1e-11, 0.9, 0.0):
        assert not confirmed(bound, bound.value * factor).ok


@pytest.mark.parametrize(("name", "i"), CASES)
def test_a_smaller_delta_is_refused(name, i):
    bound = HONEST[name][i]
    assert not confirmed(bound, delta=bound.delta / 10).ok


@pytest.mark.parametrize(
    "name", ["progressive_losses", "empirical_bernstein", "margin", "vote_margin", "pac_bayes_linear"]
)
def test_tampering_with_the_witness_is_refused(name):
    bound = HONEST[name][0]
    key = "losses" if "losses" in bound.arrays else "margins"
    sign = 1 if key == "losses" else -1
    changed = bound.arrays[key].copy()
    changed[:20] = np.clip(changed[:20] + sign, -1, 1)
    assert not confirmed(bound, **{key: changed}).ok


def test_hybrid_recounts_the_errors():
    bound = HONEST["pac_bayes_hybrid"][0]
    numbers = {**bound.terms, **bound.inputs, "delta": bound.delta, "errors": 3}
    assert not CONFIRM["pac_bayes_hybrid"](bound.value, numbers, bound.arrays).ok


def test_vacuous_claims_are_true():
    for bound in (bounds.holdout(5, 5), bounds.vc(50, n=100, delta=0.05).risk(0.2), bounds.margin([0.0], 1.0)):
        assert bound.vacuous and confirmed(bound).ok


@given(n=st.integers(1, 40), data=st.data(), p=st.floats(1e-6, 1 - 1e-6), delta=st.floats(1e-9, 0.9))
@settings(max_examples=100, deadline=None)
def test_tail_test_is_exact(n, data, p, delta):
    k = data.draw(st.integers(0, n - 1))
    exact = sum(math.comb(n, j) * Fraction(p) ** j * (1 - Fraction(p)) ** (n - j) for j in range(k + 1))
    evidence = binomial_tail(k, n, p, Fraction(delta))
    assert evidence.ok == (exact <= Fraction(delta)) and evidence.level == "exact"
    if k < n * p:
        logs = binomial_tail(k, n, p, math.log(delta))
        assert logs.slack == pytest.approx(math.log(delta) - log_of(exact), abs=1e-9)
        assert abs(logs.slack - (math.log(delta) - log_of(exact))) <= logs.margin + 1e-14


def test_tail_sum_of_many_terms():
    n, k, p = 3000, 200, 5 / 64
    exact = sum(math.comb(n, j) * Fraction(p) ** j * (1 - Fraction(p)) ** (n - j) for j in range(k + 1))
    evidence = binomial_tail(k, n, p, Fraction(1, 100))
    assert evidence.slack == pytest.approx(-log_of(exact * 100), abs=1e-10) and evidence.margin < 1e-9
    big = bounds.holdout(5 * 10**8, 10**9, 1e-12)
    assert confirmed(big).ok and not confirmed(big, big.value - 1e-7).ok


def test_nothing_is_confirmed_outside_the_range():
    assert not binomial_tail(3, 10, 0.0, Fraction(1, 20)).ok and not binomial_tail(10, 10, 0.5, Fraction(1, 20)).ok
    assert not relative_entropy(0.5, 0.4, 0.0).ok and relative_entropy(0.5, 1.0, 1e9).ok
    assert relative_entropy_below(0.5, 0.0, 1e9).ok and not relative_entropy_below(0.5, 0.6, 0.0).ok
    assert not stable_sum(10, 10, 0.5, 0.0).ok and stable_sum(0, 10, 1.0, 1e9).ok
    assert not stable_sum(0, 10, 0.0, 0.0).ok


@given(n=st.integers(1, 40), data=st.data(), eps=st.floats(1e-6, 1 - 1e-6))
@settings(max_examples=100, deadline=None)
def test_stable_sum_is_the_ratio_of_two_binomial_tails(n, data, eps):
    size, rest = data.draw(st.integers(0, n - 1)), 1 - Fraction(eps)
    exact = sum(Fraction(math.comb(m, size), math.comb(n, size)) / rest ** (n - m) for m in range(size, n))
    evidence = stable_sum(size, n, eps, log_of(exact))
    assert evidence.slack <= evidence.margin  # never more than the truth
    if size < n * eps:
        assert evidence.slack >= -1e-12 * (1 + abs(log_of(exact)))


def test_stable_sums_of_many_rows():
    large = bounds.stable_compression(40, 10**7)
    assert confirmed(large).ok and not confirmed(large, large.value * (1 - 1e-11)).ok


def test_evidence_combines_to_the_weakest():
    both = weakest(Evidence(1.0, 0.5), Evidence(0.1, 0.2))
    assert not both.ok and both.slack == 0.1
    assert weakest(Evidence(1.0, exact=True), Evidence(2.0, exact=True)).level == "exact"
    assert mixture(np.array([0.0, math.log(3)]), math.log(2)).slack == pytest.approx(0.0, abs=1e-15)
    assert error_capital(0.1, 1.0, 10, np.array([1.0]), 1e9).ok


@pytest.mark.parametrize(("n", "d"), [(10, 0), (10, 3), (10, 10), (40, 12)])
def test_labelings_are_counted_independently(n, d):
    for form in ("sauer", "power", "euler", "cover"):
        assert log_labelings(n, d, form) == pytest.approx(bounds.log_growth(n, d, form), abs=1e-9)
