"""Finite classes, code lengths and structural risk minimization: the notes' numbers and the shares of delta."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    clopper_pearson,
    delta_share,
    finite_class,
    hoeffding,
    occam,
    random_search,
    structural_risk,
    tree_bits,
    vc,
)
from surefit.core.errors import InvalidData, InvalidParameter


def test_numbers_of_the_notes():
    assert finite_class(100, n=1000, delta=0.05).radius == pytest.approx(0.06439740, abs=5e-9)
    assert finite_class(100, n=1000, delta=0.05, sides=1).radius == pytest.approx(0.06164780, abs=5e-9)
    excess = finite_class(100, n=1000, delta=0.05).erm_excess()
    assert excess.radius == pytest.approx(0.1287948, abs=5e-8) and "minimizer" in excess.about
    assert finite_class(100, radius=0.1 / 2, delta=0.05).n == 1659  # 1658.81 rounded up
    assert 2 / 0.01 * math.log(200 / 0.05) == pytest.approx(1658.81, abs=5e-3)


def test_one_member_is_hoeffding_and_the_range_scales():
    assert finite_class(1, n=50, delta=0.1).radius == pytest.approx(hoeffding(n=50, delta=0.1).radius, rel=1e-14)
    assert finite_class(7, n=50, delta=0.1, loss_bound=3.0).radius == pytest.approx(
        3 * finite_class(7, n=50, delta=0.1).radius
    )
    assert finite_class(7, n=50, delta=0.1).radius / finite_class(7, n=100, delta=0.1).radius == pytest.approx(
        math.sqrt(2)
    )


def test_probability_form_has_a_minus_in_the_exponent():
    bound = finite_class(10, n=500, radius=0.1)
    assert bound.delta == pytest.approx(20 * math.exp(-2 * 500 * 0.01), rel=1e-12)
    assert finite_class(10, n=500, radius=0.2).delta < bound.delta


@given(size=st.integers(1, 10**40), n=st.integers(1, 10**9), log_delta=st.floats(-690, -0.7))
@settings(max_examples=60, deadline=None)
def test_forms_agree(size, n, log_delta):
    delta = math.exp(log_delta)
    radius = finite_class(size, n=n, delta=delta).radius
    assert finite_class(size, n=n, radius=radius).log_delta == pytest.approx(log_delta, rel=1e-6, abs=1e-6)
    assert finite_class(size, radius=radius * (1 + 1e-9), delta=delta).n <= n
    assert radius <= finite_class(size + 1, n=n, delta=delta).radius


@given(risks=st.lists(st.floats(0, 1), min_size=2, max_size=6), data=st.data())
@settings(max_examples=60, deadline=None)
def test_excess_of_the_minimizer_is_at_most_twice_the_deviation(risks, data):
    shifts = data.draw(st.lists(st.floats(-0.3, 0.3), min_size=len(risks), max_size=len(risks)))
    empirical = [r + s for r, s in zip(risks, shifts, strict=True)]
    chosen = min(range(len(risks)), key=empirical.__getitem__)
    assert risks[chosen] - min(risks) <= 2 * max(map(abs, shifts)) + 1e-12


def test_huge_classes_need_no_float():
    assert finite_class(2**5000, n=10**6, delta=0.05).radius == pytest.approx(
        math.sqrt((5000 * math.log(2) + math.log(40)) / 2e6), rel=1e-12
    )


def test_random_search():
    assert random_search(n=60, fraction=0.05).confidence == pytest.approx(1 - 0.95**60, rel=1e-12)
    assert round(random_search(n=60, fraction=0.05).confidence, 3) == 0.954
    assert (
        0.95 ** random_search(fraction=0.05, delta=0.05).n
        <= 0.05
        < 0.95 ** (random_search(fraction=0.05, delta=0.05).n - 1)
    )
    assert random_search(n=10, delta=0.05).radius == pytest.approx(1 - 0.05**0.1, rel=1e-12)


def test_occam_is_clopper_pearson_at_the_share_of_the_code():
    assert occam(5, 200, 0.0, 0.05).value == clopper_pearson(5, 200, 0.05)
    assert occam(5, 200, 10.0, 0.05).value == pytest.approx(clopper_pearson(5, 200, 0.05 / 1024), rel=3e-9)
    assert occam(5, 200, 1e5).vacuous  # far below the smallest float, still a number
    assert occam(5, 200, 20).value < occam(5, 200, 21).value < occam(6, 200, 21).value


def test_tree_bits_satisfy_kraft():
    # all trees with at most one split over 2 features and 3 thresholds, two classes
    single, split = 2, 2 * 3 * 4  # leaves: 2 labels; splits: feature, threshold, two labels
    assert single * 2 ** -tree_bits(0, 2, 3) + split * 2 ** -tree_bits(1, 2, 3) <= 1
    assert tree_bits(3, 8, 256) == 7 + 4 + 3 * (3 + 8)


@pytest.mark.parametrize("series", ["telescoping", "basel"])
def test_shares_sum_to_delta(series):
    partial = math.fsum(delta_share(k, 0.05, series) for k in range(1, 20_001))
    assert 0.05 * (1 - 1e-4) < partial <= 0.05


def test_structural_risk_of_the_notes():
    table = structural_risk(
        [0.40, 0.22, 0.20, 0.199], lambda k, d: vc(k + 2, n=10_000, delta=d, form="power"), correction="none"
    )
    assert [round(s, 4) for s in table.sums] == [0.6742, 0.5435, 0.5662, 0.6035] and table.best == 1
    assert "no correction for the choice" in table.bound.about
    assert list(table.radii) == sorted(table.radii)


def test_structural_risk_pays_for_the_choice():
    def deviation(k, delta):
        return finite_class(10 ** (k + 1), n=500, delta=delta)

    for correction in ("union", "telescoping", "basel"):
        table = structural_risk([0.3, 0.1, 0.1], deviation, 0.05, correction)
        assert math.fsum(table.shares) <= 0.05 * (1 + 1e-12)
        assert table.bound.delta == 0.05 and table.bound.inputs["delta_spent"] == table.shares[table.best]
        assert table.bound.value == pytest.approx(table.sums[table.best])
    assert structural_risk([0.1, 0.1], lambda k, d: hoeffding(n=100, delta=0.05)).best == 0  # tie: the smaller class


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: finite_class(0, n=10, delta=0.1), InvalidParameter, "size must be an integer >= 1"),
        (lambda: finite_class(3, n=10, delta=0.1, loss_bound=0.0), InvalidParameter, "loss_bound"),
        (lambda: finite_class(3, n=10, delta=0.1, sides=4), InvalidParameter, "sides"),
        (lambda: occam(1, 10, -1.0), InvalidParameter, "bits"),
        (lambda: tree_bits(-1, 2, 2), InvalidParameter, "n_splits"),
        (lambda: tree_bits(1, 0, 2), InvalidParameter, "n_features"),
        (lambda: delta_share(0, 0.05), InvalidParameter, "k must be"),
        (lambda: delta_share(1, 0.05, "zeta"), InvalidParameter, "series"),
        (lambda: structural_risk([], lambda k, d: None), InvalidData, "at least one entry"),
        (lambda: structural_risk([0.1], lambda k, d: None, correction="all"), InvalidParameter, "correction"),
        (lambda: random_search(n=3, fraction=1.0), InvalidParameter, "fraction"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
