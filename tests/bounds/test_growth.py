"""Sauer's lemma, the catalog of classes, and the VC inequality: exact counts, errata, tables of the notes."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    NoBound,
    finite_class,
    log_choose,
    log_growth,
    sauer,
    set_class,
    vc,
    vc_consistent,
    vc_dimension,
)
from surefit.core.errors import InvalidParameter

ALPHA = 0.05


def test_sauer_starts_at_zero():
    assert [sauer(n, 2) for n in range(1, 7)] == [2, 4, 7, 11, 16, 22]
    assert all(sauer(n, 2) >= 2 * n for n in range(1, 50))  # stumps; a sum from 1 would give 3 < 4 at n = 2
    assert sauer(5, 0) == 1 and sauer(0, 5) == 1 and sauer(5, 2) == 16 <= 6**2


@given(n=st.integers(1, 60), d=st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_recursion_and_chain(n, d):
    assert sauer(n, d) == sauer(n - 1, d) + sauer(n - 1, d - 1)
    assert sauer(n, d) <= min(2**n, (n + 1) ** d)
    if n >= d:
        middle = (1 + Fraction(d, n)) ** n
        assert Fraction(d, n) ** d * sauer(n, d) <= middle <= Fraction(math.e) ** d * (1 + Fraction(1, 10**12))
    assert log_growth(n, d) == pytest.approx(math.log(sauer(n, d)), rel=1e-12, abs=1e-12)


def test_euler_form_fails_below_the_dimension_and_is_capped():
    assert (math.e * 1 / 2) ** 2 == pytest.approx(1.847, abs=5e-4)  # < 2 labelings of one point
    assert log_growth(1, 2, "euler") == math.log(2)
    assert log_growth(20, 3, "euler") == pytest.approx(3 * math.log(math.e * 20 / 3))


@pytest.mark.parametrize(("n", "k"), [(100, 3), (1000, 400), (10**6, 70), (10**6, 5 * 10**5)])
def test_log_choose_against_exact_integers(n, k):
    exact = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) if k > 2000 else math.log(math.comb(n, k))
    assert log_choose(n, k) == pytest.approx(exact, rel=1e-11 if k > 2000 else 1e-14)
    assert log_choose(n, n - k) == log_choose(n, k)


def test_growth_at_a_billion():
    n = 10**9
    assert log_growth(n, 2) == pytest.approx(math.log(1 + n + n * (n - 1) // 2), rel=1e-14)
    assert log_growth(n, 10**5) <= log_growth(n, 10**5, "euler") <= log_growth(n, 10**5, "power")
    assert log_growth(n, n - 1) == pytest.approx(n * math.log(2)) and log_growth(n, n) == n * math.log(2)
    assert log_growth(1000, 600) == pytest.approx(math.log(sauer(1000, 600)), rel=1e-13)


def test_catalog_numbers_of_the_notes():
    counts = {
        ("stumps", 1): [2, 4, 6, 8, 10, 12],
        ("rays", 1): [2, 3, 4, 5, 6, 7],
        ("intervals", 1): [2, 4, 7, 11, 16, 22],
        ("half_spaces", 2): [2, 4, 8, 14, 22, 32],
        ("all_sets", 1): [2, 4, 8, 16, 32, 64],
    }
    for (name, d), expected in counts.items():
        entry = set_class(name, d=d)
        assert [entry.growth(n) for n in range(1, 7)] == expected
        assert all(math.log(entry.growth(n)) <= log_growth(n, entry.dimension) + 1e-12 for n in range(1, 40))
        assert all(entry.log_growth(n) == pytest.approx(math.log(entry.growth(n)), rel=1e-12) for n in range(1, 40))
    dimensions = {"rays": 1, "stumps": 2, "intervals": 2, "all_sets": math.inf, "sines": math.inf}
    assert {name: vc_dimension(name) for name in dimensions} == dimensions
    assert vc_dimension("half_spaces", d=2) == 3 and vc_dimension("rectangles", d=2) == 4
    assert vc_dimension("homogeneous_half_spaces", d=7) == 7 and vc_dimension("balls", d=3) == 4
    assert vc_dimension("polynomial_thresholds", d=2, k=2) == 6 and vc_dimension("unions_of_intervals", k=3) == 6
    assert vc_dimension("convex_polygons", d=2) == math.inf
    assert [vc_dimension("finite", k=k) for k in (1, 2, 3, 4, 1000)] == [0, 1, 1, 2, 9]


def test_dimension_is_where_the_growth_leaves_the_powers_of_two():
    for name, d, k in [("stumps", 1, 1), ("intervals", 1, 1), ("half_spaces", 3, 1), ("unions_of_intervals", 1, 2)]:
        entry = set_class(name, d=d, k=k)
        v = int(entry.dimension)
        assert entry.growth(v) == 2**v and entry.growth(v + 1) < 2 ** (v + 1)


@pytest.mark.parametrize(("n", "radius"), [(10**3, 0.6369), (10**4, 0.2189), (10**5, 0.07436), (10**6, 0.02503)])
def test_stumps_with_their_exact_growth(n, radius):
    assert vc(set_class("stumps"), n=n, delta=ALPHA).radius == pytest.approx(radius, rel=3e-4)


def test_stumps_with_growth_bounds():
    assert vc(2, n=1000, delta=ALPHA, form="euler").radius == pytest.approx(0.7900, abs=5e-5)
    assert vc(2, n=1000, delta=ALPHA, form="power").radius == pytest.approx(0.7775, abs=5e-5)
    # Example 2 of the notes prints 8n exp(...); with s = 2n it is 16n exp(...)
    assert vc(set_class("stumps"), n=10**6, radius=0.05).delta == pytest.approx(16e6 * math.exp(-(10**6) * 0.0025 / 32))


TABLE = {
    1: (350, 1594, 50923, 222569),
    2: (569, 2670, 89192, 394851),
    3: (805, 3817, 129227, 574173),
    4: (1054, 5012, 170431, 758140),
    11: (2979, 14102, 476450, 2115700),
    58: (18388, 84908, 2769462, 12177280),
}


@pytest.mark.parametrize("v", TABLE)
def test_sample_sizes_of_the_notes(v):
    found = tuple(vc(v, radius=r, delta=ALPHA, form="power").n for r in (1.0, 0.5, 0.1, 0.05))
    assert found == TABLE[v]


@pytest.mark.parametrize(("n", "radius"), [(10**3, 0.9087), (10**4, 0.3235), (10**6, 0.0386)])
def test_radii_of_the_notes(n, radius):
    assert vc(3, n=n, delta=ALPHA, form="power").radius == pytest.approx(radius, abs=5e-5)


def test_oracle_inequality_has_the_factor_two():
    deviation = vc(3, n=10**4, delta=ALPHA, form="power")
    assert deviation.erm_excess().radius == 2 * deviation.radius


def test_useless_for_all_sets():
    assert isinstance(vc(set_class("all_sets"), n=1000, delta=ALPHA), NoBound)
    assert isinstance(vc(math.inf, n=1000, delta=ALPHA), NoBound)
    refusal = vc(math.inf, n=1000, delta=ALPHA).risk(0.1)
    assert refusal.vacuous and "no bound" in str(refusal)
    assert math.sqrt(32 * math.log(2)) == pytest.approx(4.71, abs=5e-3)


def test_other_theorems():
    n, v = 50_000, 11
    double = vc(v, n=n, delta=ALPHA, theorem="double_sample", form="euler").radius
    expected = math.sqrt(8 / n * (v * math.log(2 * math.e * n / v) + math.log(4 / ALPHA)))
    assert double == pytest.approx(expected, rel=1e-12)
    rademacher = vc(v, n=n, delta=ALPHA, theorem="rademacher", form="euler").radius
    expected = math.sqrt(2 * v * math.log(math.e * n / v) / n) + math.sqrt(math.log(1 / ALPHA) / (2 * n))
    assert rademacher == pytest.approx(expected, rel=1e-12)
    assert rademacher < double < vc(v, n=n, delta=ALPHA).radius
    consistent = vc_consistent(v, n=n, delta=ALPHA, form="euler").radius
    assert consistent == pytest.approx(2 / n * (v * math.log2(2 * math.e * n / v) + math.log2(2 / ALPHA)), rel=1e-12)
    assert consistent < rademacher
    assert vc_consistent(v, radius=consistent, delta=ALPHA, form="euler").n == n
    assert vc_consistent(v, n=n, radius=consistent, form="euler").delta == pytest.approx(ALPHA, rel=1e-9)


@pytest.mark.parametrize("theorem", ["symmetrized", "double_sample", "rademacher"])
@given(v=st.integers(1, 50), n=st.integers(60, 10**9), log_delta=st.floats(-600, -0.7))
@settings(max_examples=25, deadline=None)
def test_forms_agree_and_are_monotone(theorem, v, n, log_delta):
    delta = math.exp(log_delta)
    deviation = vc(v, n=n, delta=delta, theorem=theorem)
    assert vc(v, n=n, radius=deviation.radius, theorem=theorem).log_delta == pytest.approx(log_delta, rel=1e-6)
    assert deviation.radius <= vc(v + 1, n=n, delta=delta, theorem=theorem).radius
    assert deviation.radius >= vc(v, n=2 * n, delta=delta, theorem=theorem).radius
    assert vc(v, radius=deviation.radius * (1 + 1e-9), delta=delta, theorem=theorem).n <= n


def test_side_condition_of_the_symmetrized_theorem_holds_by_itself():
    # the proof needs n eps^2 >= 2; a radius at any delta < 1 has 32 (ln s + ln 8/delta) > 66
    for n in (1, 10, 10**6):
        deviation = vc(1, n=n, delta=0.999)
        assert n * deviation.radius**2 >= 2


def test_vacuous_and_infinite_are_said():
    assert vc(11, n=100, delta=ALPHA).vacuous and vc(11, n=100, delta=ALPHA).risk(0.0).vacuous
    assert vc(0, n=10**4, delta=ALPHA).radius == pytest.approx(math.sqrt(32 / 10**4 * math.log(8 / ALPHA)))
    assert vc(3, n=10**5, delta=ALPHA, theorem="rademacher").radius > finite_class(1, n=10**5, delta=ALPHA).radius


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc(-1, n=10, delta=0.1), "dimension must be an integer >= 0, inf, or a SetClass"),
        (lambda: vc(1.5, n=10, delta=0.1), "dimension"),
        (lambda: vc(2, n=10, delta=0.1, theorem="magic"), "theorem"),
        (lambda: vc(2, n=10, delta=0.1, form="magic"), "form"),
        (lambda: set_class("spirals"), "set_class: name must be one of 'all_sets'"),
        (lambda: set_class("balls", d=0), "d must be an integer >= 1"),
        (lambda: sauer(-1, 2), "n must be an integer >= 0"),
        (lambda: log_growth(5, 2, "none"), "form"),
        (lambda: log_choose(3, 4), "k must be an integer from 0 to n = 3"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
