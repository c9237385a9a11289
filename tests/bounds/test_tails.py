"""Tail inequalities: the numbers of the notes, agreement of the three forms, and domination of exact tails."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefit.bounds import (
    bernstein,
    chebyshev,
    dkw,
    empirical_bernstein,
    gaussian_approximation,
    hoeffding,
    markov,
    mean_by_tails,
    relative_entropy,
    sub_gaussian,
)
from surefit.core.errors import InvalidData, InvalidParameter

samples = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=30)


def exact_two_sided(n: int, p: float, radius: float) -> float:
    """P(|k/n - p| >= radius), ties included."""
    counts = np.arange(n + 1)
    return float(stats.binom.pmf(counts[np.abs(counts / n - p) >= radius - 1e-12], n, p).sum())


@pytest.mark.parametrize(
    ("radius", "exact", "clt", "cheb", "hoeff"),
    [(0.1, 0.0568879, 0.0455003, 0.25, 0.2706706), (0.2, 7.85e-5, 6.33e-5, 0.0625, 6.709e-4)],
)
def test_hundred_fair_coins(radius, exact, clt, cheb, hoeff):
    assert exact_two_sided(100, 0.5, radius) == pytest.approx(exact, rel=1e-3)
    assert gaussian_approximation(0.5, 100, radius) == pytest.approx(clt, rel=1e-3)
    assert chebyshev(0.25, n=100, radius=radius).delta == pytest.approx(cheb, rel=1e-12)
    assert hoeffding(n=100, radius=radius).delta == pytest.approx(hoeff, rel=1e-4)
    assert gaussian_approximation(0.5, 100, radius) < exact_two_sided(100, 0.5, radius)  # an approximation is no bound


@pytest.mark.parametrize(("n", "radius"), [(160, 0.1074), (1000, 0.0429), (10_000, 0.0136)])
def test_hoeffding_radii_of_the_notes(n, radius):
    assert hoeffding(n=n, delta=0.05).radius == pytest.approx(radius, abs=6e-5)


def test_hoeffding_numbers():
    assert hoeffding(n=1000, delta=0.05).radius == pytest.approx(0.04295, abs=5e-6)
    assert hoeffding(radius=0.1, delta=0.05).n == math.ceil(math.log(40) / 0.02) == 185
    # [-1, 1] variables at eps / 4: 2 exp(-n eps^2 / 32), the last link of the symmetrisation chain
    assert hoeffding(n=640, radius=0.8 / 4, loss_bound=2.0).delta == pytest.approx(
        2 * math.exp(-640 * 0.64 / 32), rel=1e-12
    )
    # D08: loss in [0, B], best of k candidates on the dev set is finite_class; one model:
    assert hoeffding(n=500, delta=0.05, loss_bound=4.0).radius == pytest.approx(
        4 * math.sqrt(math.log(40) / 1000), rel=1e-12
    )


def test_unequal_ranges():
    widths = [1.0, 2.0, 3.0]
    expected = 2 * math.exp(-2 * 9 * 2.25 / (1 + 4 + 9))
    assert hoeffding(n=3, radius=1.5, loss_bound=widths).delta == pytest.approx(expected, rel=1e-12)
    assert (
        hoeffding(n=3, radius=1.5, loss_bound=[2.0, 2.0, 2.0]).delta == hoeffding(n=3, radius=1.5, loss_bound=2.0).delta
    )


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5])
@pytest.mark.parametrize("n", [5, 50])
def test_exact_binomial_tails_are_dominated(n, p):
    for radius in np.linspace(0.02, 1, 25):
        exact = exact_two_sided(n, p, radius)
        assert exact <= hoeffding(n=n, radius=radius).delta + 1e-12
        assert exact <= chebyshev(p * (1 - p), n=n, radius=radius).delta + 1e-12
        assert exact <= bernstein(p * (1 - p), n=n, radius=radius, sides=2).delta + 1e-12


TAILS = {
    "hoeffding": lambda **k: hoeffding(**k),
    "hoeffding_one_sided": lambda **k: hoeffding(sides=1, loss_bound=3.0, **k),
    "chebyshev": lambda **k: chebyshev(0.3, **k),
    "sub_gaussian": lambda **k: sub_gaussian(0.7, **k),
    "bernstein": lambda **k: bernstein(0.01, **k),
}


@pytest.mark.parametrize("name", TAILS)
@given(n=st.integers(1, 10**9), log10_delta=st.floats(-300, -0.31))
@settings(max_examples=40, deadline=None)
def test_three_forms_agree(name, n, log10_delta):
    tail, delta = TAILS[name], 10.0**log10_delta
    radius = tail(n=n, delta=delta).radius
    assert tail(n=n, radius=radius).log_delta == pytest.approx(math.log(delta), rel=1e-9)
    assert radius > tail(n=n + 1 + n // 2, delta=delta).radius
    if name != "chebyshev" or radius < 1e150:
        size = tail(radius=radius * (1 + 1e-9), delta=delta).n
        assert size <= n and tail(n=size, delta=delta).radius <= radius * (1 + 1e-9)


@pytest.mark.parametrize("name", TAILS)
def test_size_is_the_least(name):
    found = TAILS[name](radius=0.05, delta=0.01)
    assert TAILS[name](n=found.n, delta=0.01).radius <= 0.05 < TAILS[name](n=found.n - 1, delta=0.01).radius


def test_hoeffding_is_sub_gaussian_and_bernstein_wins_for_small_variance():
    assert hoeffding(n=70, delta=0.1).radius == pytest.approx(sub_gaussian(0.5, n=70, delta=0.1).radius, rel=1e-12)
    gaussian = stats.norm.sf(0.3 * math.sqrt(50)) * 2
    assert gaussian <= sub_gaussian(1.0, n=50, radius=0.3).delta
    assert bernstein(0.001, n=1000, delta=0.05).radius < hoeffding(n=1000, delta=0.05, sides=1).radius / 5


@given(sample=samples, level=st.floats(1e-3, 1e6))
@settings(max_examples=100, deadline=None)
def test_markov_and_chebyshev_hold_exactly_for_any_sample(sample, level):
    x = np.abs(np.array(sample))
    assert np.mean(x >= level) <= markov(float(x.mean()), threshold=level).delta + 1e-12
    variance = float(np.mean((x - x.mean()) ** 2))  # centered form; E[X^2] - (E X)^2 cancels
    assert np.mean(np.abs(x - x.mean()) >= level) <= chebyshev(variance, n=1, radius=level).delta + 1e-9


def test_markov_is_tight_and_has_two_forms():
    x = np.array([0.0, 0.0, 0.0, 5.0])
    assert np.mean(x >= 5.0) == pytest.approx(markov(x.mean(), threshold=5.0).delta, rel=1e-12)
    assert markov(3.0, delta=0.2).radius == pytest.approx(15.0)
    assert markov(3.0, threshold=1.0).delta == 1.0 and markov(3.0, threshold=1.0).vacuous
    assert markov(0.0, threshold=1.0).delta == 0.0


def test_vacuous_is_said():
    assert hoeffding(n=1, delta=0.05).vacuous and "vacuous" in hoeffding(n=1, delta=0.05).statement
    assert not hoeffding(n=100, delta=0.05).vacuous
    assert hoeffding(n=2, radius=0.1).delta == 1.0 and hoeffding(n=2, radius=0.1).vacuous


def test_risk_of_a_deviation():
    deviation = hoeffding(n=1000, delta=0.05, sides=1)
    bound = deviation.risk(0.2)
    assert bound.value == pytest.approx(0.2 + math.sqrt(math.log(20) / 2000)) and bound.delta == pytest.approx(0.05)
    assert "rows_untouched" in bound.assumptions and "rows_untouched" not in deviation.assumptions
    assert deviation.risk(0.99).value == 1.0 and deviation.risk(0.99).vacuous
    assert hoeffding(n=10**6, delta=1e-300).log_delta == pytest.approx(math.log(1e-300))
    with pytest.raises(InvalidParameter, match="empirical must be a number from 0 to 1"):
        deviation.risk(1.5)
    for other in (markov(1.0, threshold=2.0), dkw(n=9, delta=0.1), relative_entropy(0.5, n=9, delta=0.1)):
        with pytest.raises(InvalidParameter, match="bound on a mean loss"):
            other.risk(0.1)
    with pytest.raises(InvalidParameter, match="sides must be 2"):
        deviation.erm_excess()


def test_empirical_bernstein_formula():
    x = np.random.default_rng(0).beta(2, 20, size=400)
    log_term = math.log(2 / 0.05)
    expected = x.mean() + math.sqrt(2 * x.var(ddof=1) * log_term / 400) + 7 * log_term / (3 * 399)
    assert empirical_bernstein(x, 0.05).value == pytest.approx(expected, rel=1e-8)
    assert empirical_bernstein([0.0, 1.0]).vacuous


@given(sample=samples)
@settings(max_examples=100, deadline=None)
def test_mean_is_the_area_under_the_tails(sample):
    assert mean_by_tails(sample) == pytest.approx(np.mean(sample), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hoeffding(n=10), InvalidParameter, "two given and one left out"),
        (lambda: hoeffding(n=0, delta=0.1), InvalidParameter, "hoeffding: n must be an integer >= 1; got 0"),
        (lambda: hoeffding(n=10, delta=1.0), InvalidParameter, "delta must be"),
        (lambda: hoeffding(n=10, radius=-1.0), InvalidParameter, "radius must be a number > 0"),
        (lambda: hoeffding(n=2, delta=0.1, loss_bound=[1.0, 1.0, 1.0]), InvalidParameter, "each of the n = 2"),
        (lambda: hoeffding(n=2, delta=0.1, loss_bound=0.0), InvalidParameter, "loss_bound"),
        (lambda: hoeffding(n=2, delta=0.1, sides=0), InvalidParameter, "sides must be 1 or 2"),
        (lambda: chebyshev(-1.0, n=2, delta=0.1), InvalidParameter, "variance"),
        (lambda: bernstein(0.1, n=2, delta=0.1, loss_bound=-1.0), InvalidParameter, "loss_bound"),
        (lambda: markov(-1.0, threshold=1.0), InvalidParameter, "mean"),
        (lambda: empirical_bernstein([0.5]), InvalidParameter, "at least two"),
        (lambda: mean_by_tails([]), InvalidData, "non-empty"),
        (lambda: hoeffding(radius=1e-12, delta=0.5), InvalidParameter, "attainable"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
