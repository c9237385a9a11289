"""Exact linear questions: every answer proves itself, in integers."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from surefit.core.budget import Budget
from surefit.separation.exact import Tableau, null_space, primitive, solve_nonnegative

ENTRY = st.integers(-4, 4)


@st.composite
def questions(draw):
    m, k = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    columns = draw(st.lists(st.lists(ENTRY, min_size=m, max_size=m), min_size=k, max_size=k))
    rhs = draw(st.lists(ENTRY, min_size=m, max_size=m))
    return columns, rhs, draw(st.integers(0, min(2, k)))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


@given(questions())
@settings(max_examples=300, deadline=None)
def test_each_answer_is_a_proof(question):
    columns, rhs, free = question
    answer = solve_nonnegative(columns, rhs, free)
    if answer.direction is not None:  # y'c >= 0 for all columns, = 0 for free ones, y'r < 0: no weights can exist
        values = [dot(answer.direction, column) for column in columns]
        assert all(value == 0 for value in values[:free]) and all(value >= 0 for value in values[free:])
        assert dot(answer.direction, rhs) < 0
        return
    assert all(weight >= 0 for weight in answer.weights[free:])
    sums = [dot(answer.weights, row) for row in zip(*columns, strict=True)]
    # Weights are over a common positive denominator, which the right side reveals.
    ratios = {Fraction(s, r) for s, r in zip(sums, rhs, strict=True) if r}
    assert len(ratios) <= 1 and all(ratio > 0 for ratio in ratios)
    assert all(s == 0 for s, r in zip(sums, rhs, strict=True) if not r)


@given(st.integers(1, 4), st.integers(1, 5), st.data())
@settings(max_examples=150, deadline=None)
def test_null_space_has_the_right_vectors_and_as_many(m, p, data):
    rows = data.draw(st.lists(st.lists(ENTRY, min_size=p, max_size=p), min_size=m, max_size=m))
    vectors = null_space(rows, p)
    assert all(dot(row, v) == 0 for row in rows for v in vectors)
    assert len(vectors) == p - np.linalg.matrix_rank(np.array(rows, dtype=float))
    assert not vectors or np.linalg.matrix_rank(np.array(vectors, dtype=float)) == len(vectors)


def test_pivots_solve_the_hilbert_system():
    # Entries of the inverse of the 6 x 6 Hilbert matrix are integers; the first column of it is known.
    n = 6
    hilbert = [[27720 // (i + j + 1) for i in range(n)] for j in range(n)]  # times 27720 = lcm(1..11)
    answer = solve_nonnegative(hilbert, [1] + [0] * (n - 1), free=n)
    assert answer.weights == primitive([36, -630, 3360, -7560, 7560, -2772])


def test_pivoting_twice_returns():
    columns, rhs = [[3, 1], [-2, 5], [4, 7]], [2, 9]
    tableau = Tableau(columns, rhs)
    before = [list(row) for row in tableau.rows]
    tableau.pivot(0, 1)  # on a negative entry: the denominator stays positive
    assert tableau.denominator == 2 and tableau.basic[0] == 1
    tableau.pivot(0, 1)
    assert tableau.denominator == 1 and tableau.rows == before


def test_gives_up_when_told_so():
    columns = [[7, 3, 1], [2, -5, 1], [-3, 4, 1], [1, 1, 1]]
    assert solve_nonnegative(columns, [0, 0, 1], work=1.0) is None
    assert solve_nonnegative(columns, [0, 0, 1], budget=Budget(max_time=1e-9)) is None


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_order_of_columns_does_not_change_the_answer(order):
    columns = [[1, 0, 1], [0, 1, 1], [-1, -2, 1]]
    answer = solve_nonnegative([columns[j] for j in order], [0, 0, 1])
    weights = dict(zip(order, answer.weights, strict=True))
    assert [weights[j] for j in range(3)] == [1, 2, 1]
