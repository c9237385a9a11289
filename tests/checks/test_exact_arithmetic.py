"""Exact signs, vanishing combinations and enclosed margins: the arithmetic under the facts about labeled data."""

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from surefit.checks.enclosure import BLOCK, length, rounded_sum
from surefit.checks.separation.combinations import annihilates, prove_combination
from surefit.checks.separation.margins import hull_distance, margin_of, radius_of
from surefit.core import integers

CORNERS = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1.0, -1, -1, 1])
FOUR_POINTS = np.array([[0, 0], [0, 0.5], [1, 0.5], [1, 0]]), np.array([1.0, 1, 1, -1])
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(FLOATS, min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_integers_are_the_floats(values):
    whole, exponent = integers.integers(np.array(values))
    assert [Fraction(m) * Fraction(2) ** exponent for m in whole] == [Fraction(v) for v in values]


WHOLE = st.sampled_from([0.0, 1.0, -1.0, 3.0, -7.0, 2.0**51, -(2.0**51), 2.0**53, 2.0**60])


@given(st.lists(WHOLE, max_size=9) | st.lists(WHOLE | st.floats(-1e300, 1e300), max_size=9))
@settings(max_examples=200, deadline=None)
def test_sums_of_integers_and_of_other_numbers_are_rounded_once(values):
    assert rounded_sum(np.array(values)) == float(sum(map(Fraction, values)))


@pytest.mark.parametrize("size", [1.0, 1e-160, 1e160, 1e-300, 1e300])
@pytest.mark.parametrize("count", [1, 7, 500, BLOCK + 1])
def test_lengths_are_rounded_up(size, count):
    rng = np.random.default_rng(count)
    for vector in (
        rng.standard_normal(count),
        rng.standard_normal((count, 3))[:, 1],
        np.full(count, 0.1),
        np.ones(count),
    ):
        exact = sum(Fraction(x) ** 2 for x in (size * vector).tolist())
        found = Fraction(length(size * vector)) ** 2
        assert exact <= found <= exact * (1 + Fraction(1, 10**11))
    assert length(np.zeros(count)) == 0.0 and length(np.full(count, np.inf)) == np.inf


@given(
    st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=5),
    st.tuples(*[st.integers(-(10**40), 10**40) | st.integers(-3, 3)] * 3),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_signs_are_exact_by_either_way(rows, v, intercept, thin):
    X = np.array(rows)
    direction = list(v) if intercept else list(v[:2])
    exact = [Fraction(a) * v[0] + Fraction(b) * v[1] + (v[2] if intercept else 0) for a, b in rows]
    expected = [(value > 0) - (value < 0) for value in exact]
    design = sparse.csr_array(X) if thin else X
    assert integers.signs(design, direction, intercept)[0].tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integers, "EXACT_CELLS", 0)  # the way of large data: floats first
        assert integers.signs(design, direction, intercept)[0].tolist() == expected
    scores = [Fraction(m) * Fraction(2) ** e for m, e in integers.row_scores(design, direction, intercept)]
    assert scores == exact


def test_levels_of_signs():
    X = np.random.default_rng(0).normal(size=(30_000, 2))
    assert integers.signs(X[:100], [1, 2, 3], True)[1] == "exact"
    assert integers.signs(X, [1, 2, 3], True)[1] == "enclosed"
    assert integers.signs(X, [0, 0, -3], True) == (pytest.approx(np.full(30_000, -1)), "exact")


@given(st.integers(1, 4), st.integers(1, 4), st.data())
@settings(max_examples=100, deadline=None)
def test_rank_modulo_a_prime_never_exceeds_the_rank(m, p, data):
    row = st.lists(st.integers(-3, 3), min_size=p, max_size=p)
    rows = data.draw(st.lists(row, min_size=m, max_size=m))
    assert integers.rank_at_least(rows) == np.linalg.matrix_rank(np.array(rows, dtype=float))


def test_rank_modulo_survives_one_unlucky_prime():
    assert integers.rank_at_least([[integers.PRIMES[0], 0], [0, 1]]) == 2
    assert integers.rank_at_least([[math.prod(integers.PRIMES)]]) == 0  # a lower bound, never too large


def test_weights_of_the_notes_vanish():
    X, t = np.array([[2.0], [-1.0], [1.0], [-2.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    proof = prove_combination(X, t, True, np.arange(4), np.array([1.0, 2.0, 2.0, 1.0]))
    assert proof == (0.0, "exact", 2)
    assert prove_combination(*CORNERS, True, np.arange(4), np.array(["7", "7", "7", "7"])) == (0.0, "exact", 3)


@pytest.mark.parametrize(
    ("rows", "weights"),
    [
        ([0, 1, 2], [1.0, 1, 1, 1]),
        ([0, 1, 2, 3], [1.0, 1, 1, -1]),
        ([0, 1, 2, 3], [0.0, 0, 0, 0]),
        ([0, 0, 2, 3], [1.0] * 4),
        ([0, 1, 2, 4], [1.0] * 4),
        ([-1, 0, 1, 2], [1.0] * 4),
        ([], []),
    ],
)
def test_malformed_combinations_prove_nothing(rows, weights):
    proof = prove_combination(*CORNERS, True, np.array(rows, dtype=np.int64), np.array(weights))
    assert proof.residual == math.inf and proof.spanned == 0


def test_floats_prove_positive_solutions_and_nothing_else():
    rng = np.random.default_rng(2)
    proved = 0
    for _ in range(60):
        X, t = rng.normal(size=(5, 3)), rng.choice([-1.0, 1.0], 5)
        proof = prove_combination(X, t, True, np.arange(5), None)
        A = np.column_stack([X, np.ones(5)]) * t[:, None]
        null = np.linalg.svd(A.T)[2][-1]
        assert (proof.residual == 0) == bool(np.all(null > 0) or np.all(null < 0))
        proved += proof.residual == 0
        assert proof.level == "enclosed" and (proof.residual > 0 or proof.spanned == 4)
    assert proved >= 3
    # Scales of rows and columns do not matter; dependent rows, wrong counts and a weight of zero are not proved.
    X, t = np.array([[3e200], [-1e200], [2e200]]), np.array([1.0, 1.0, -1.0])  # weights 3, 1, 4
    assert prove_combination(X, t, True, np.arange(3), None).residual == 0
    assert prove_combination(np.array([[1.0], [1.0], [1.0]]), t, True, np.arange(3), None).residual == math.inf
    assert prove_combination(*CORNERS, True, np.arange(3), None).residual == math.inf
    touching = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]])
    assert prove_combination(touching, np.ones(3), False, np.arange(3), None).residual == math.inf


def test_idle_directions():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0], [1.0, 0.0, 2.0]])  # x0 + x1 = 1, x2 = 2
    null = np.array([["1", "1", "0", "-1"], ["0", "0", "1", "-2"]])
    assert annihilates(X, null, True) == 2
    assert annihilates(X, null[[0, 0]], True) == 1  # the same direction twice is one
    assert annihilates(X, np.array([["1", "1", "0", "-2"]]), True) == 0
    assert annihilates(X, null[:, :3], True) == 0


def test_enclosures_contain_the_exact_margin():
    X, t = np.array([[0.1, 0.2], [0.3, -0.1]]), np.array([1.0, -1.0])
    for w, b in (([0.3, 0.7], 0.1), ([1e-200, 3e-200], 0.0), ([1e200, 1e199], -1e200)):
        low = margin_of(X, t, np.array(w), b)
        values = [
            s * (sum(Fraction(x) * Fraction(v) for x, v in zip(r, w, strict=True)) + Fraction(b))
            for s, r in zip((1, -1), X.tolist(), strict=True)
        ]
        smallest, square = min(values), sum(Fraction(v) ** 2 for v in w)
        for bound, compare in ((low.down, lambda a, b: a <= b), (low.up, lambda a, b: a >= b)):
            assert compare(Fraction(bound) * abs(Fraction(bound)) * square, smallest * abs(smallest))
        assert low.up - low.down <= 1e-12 * abs(low.up)


def test_margins_below_rounding_are_found_exactly():
    # 0.1 + 0.2 - 0.3 = 2^-54 + ... in exact arithmetic of these floats; floats alone could not bound it away from zero.
    X = np.array([[0.1, 0.2, 0.3]])
    bounds = margin_of(X, np.array([1.0]), np.array([1.0, 1.0, -1.0]), 0.0)
    exact = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert 0 < bounds.down <= float(exact) / math.sqrt(3) <= bounds.up <= 1.0000001 * bounds.down


def test_useless_witnesses_give_useless_bounds():
    X, t = FOUR_POINTS
    assert margin_of(X, t, np.zeros(2), 1.0).down == -math.inf
    assert margin_of(X, t, np.array([np.inf, 1.0]), 0.0).down == -math.inf
    assert hull_distance(X, t, np.array([1.0, 1, 1, 0]), True).up == math.inf
    assert hull_distance(X, t, np.array([1.0, 1, 1, -1]), True).up == math.inf
    big = margin_of(X * 1e300, t, np.array([1.0, 1.0]) * 1e300, 0.0)
    assert big.down <= big.up
    assert radius_of(X * 1e200).up == math.inf and radius_of(sparse.csr_array(X)).up == pytest.approx(math.sqrt(1.25))
