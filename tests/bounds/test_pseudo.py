"""Pseudo-dimension: the errata of the notes, witnesses, vector spaces, and the regression bound."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    common_threshold_dimension,
    linear_pseudo_dimension,
    pseudo_dimension,
    pseudo_dimension_deviation,
    pseudo_shatters,
    squared_loss_pseudo_dimension,
    vc_dimension_of,
    vector_space_pseudo_dimension,
)
from surefit.core.errors import InvalidData, InvalidParameter

CHAIN = np.array([[10 * k + bit for bit in bits] for k, bits in enumerate(itertools.product([0, 1], repeat=3))], float)
tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=9)


def subgraph_dimension(values: np.ndarray) -> int:
    """VC dimension of {(x, t) : g(x) > t} by exhaustive search over points with their own thresholds."""
    columns = []
    for j in range(values.shape[1]):
        levels = np.unique(values[:, j])
        columns += [values[:, j] > cut for cut in (levels[1:] + levels[:-1]) / 2]
    return vc_dimension_of(np.array(columns).T).dimension if columns else 0


@pytest.mark.parametrize(
    ("values", "pseudo", "common"),
    [
        (np.array([[0.0, 1.0, 2.0]]), 0, 1),  # one function
        (np.array([[a, 10 + b] for a in (0, 1) for b in (0, 1)], float), 2, 1),
        (CHAIN, 1, 3),
    ],
)
def test_common_threshold_is_another_number(values, pseudo, common):
    assert pseudo_dimension(values).dimension == pseudo
    assert common_threshold_dimension(values) == common


def test_the_two_agree_when_constants_may_be_added():
    base = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1]], float)
    closed = np.vstack([base + shift for shift in range(-3, 4)])
    assert pseudo_dimension(closed).dimension == common_threshold_dimension(closed)


@given(table=tables)
@settings(max_examples=60, deadline=None)
def test_dimension_is_the_vc_dimension_of_subgraphs(table):
    values = np.array(table, float)
    found = pseudo_dimension(values)
    assert found.dimension == subgraph_dimension(values)
    for number, member in enumerate(found.members):
        above = [values[member, p] > t for p, t in zip(found.points, found.thresholds, strict=True)]
        assert sum(bit << (found.dimension - 1 - i) for i, bit in enumerate(above)) == number
    for cut in (0.5, 1.5, 2.5):  # a fixed threshold cannot do better
        assert vc_dimension_of(values > cut).dimension <= found.dimension


@given(table=tables)
@settings(max_examples=40, deadline=None)
def test_invariance(table):
    values = np.array(table, float)
    dimension = pseudo_dimension(values).dimension
    assert pseudo_dimension(values + np.array([3.0, -1.0, 7.0])).dimension == dimension
    assert pseudo_dimension(np.exp(values)).dimension == dimension


def test_linear_functions_have_their_dimension():
    assert linear_pseudo_dimension(4) == 5 and linear_pseudo_dimension(4, intercept=False) == 4
    # witness 0, e_1..e_N with thresholds 0: any signs are reached by solving for w and b
    points = np.vstack([np.zeros(3), np.eye(3)])
    design = np.hstack([points, np.ones((4, 1))])
    functions = np.array([design @ np.linalg.solve(design, s) for s in itertools.product([-1.0, 1.0], repeat=4)])
    assert pseudo_shatters(functions, range(4)) is not None
    assert vector_space_pseudo_dimension(design) == 4
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    monomials = np.column_stack([x**i * y**j for i in range(4) for j in range(4 - i)])
    assert vector_space_pseudo_dimension(monomials) == math.comb(2 + 3, 3)


def test_squared_losses():
    assert [squared_loss_pseudo_dimension(d) for d in (1, 2, 3)] == [2, 5, 9]
    assert squared_loss_pseudo_dimension(1000) == 9328  # floor(9.3288 D)
    for d in (1, 5, 20, 400):
        k = squared_loss_pseudo_dimension(d)
        if k < d * (d + 3) // 2:
            assert (
                k * math.log(2) <= 2 * d * (1 + math.log(k / d)) < (k + 1) * math.log(2) + 2 * d * math.log((k + 1) / k)
            )
    # constants (D = 1) against a target: (h - c)^2 on three points never has more than Pdim 2
    target, levels = np.array([0.0, 1.0, 3.0]), np.linspace(-4, 6, 21)
    assert pseudo_dimension((levels[:, None] - target) ** 2).dimension <= 2


def test_bound_of_the_notes():
    bound = pseudo_dimension_deviation(3, n=10_000, delta=0.05)
    assert bound.radius == pytest.approx(0.14787883 + 0.01223873, abs=1e-8)
    assert pseudo_dimension_deviation(3, n=10_000, delta=0.05, form="sauer").radius < bound.radius
    assert pseudo_dimension_deviation(3, n=10_000, delta=0.05, loss_bound=4.0).radius == pytest.approx(4 * bound.radius)
    assert pseudo_dimension_deviation(3, n=10, delta=0.05).vacuous
    assert pseudo_dimension_deviation(3, n=10_000, radius=bound.radius).delta == pytest.approx(0.05, rel=1e-9)
    assert pseudo_dimension_deviation(3, radius=bound.radius, delta=0.05).n == 10_000
    assert bound.risk(0.2).value == pytest.approx(0.36011756)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: pseudo_dimension([[np.inf]]), InvalidData, "finite"),
        (lambda: linear_pseudo_dimension(0), InvalidParameter, "n_features"),
        (lambda: vector_space_pseudo_dimension([1.0]), InvalidData, "table"),
        (lambda: squared_loss_pseudo_dimension(0), InvalidParameter, "dimension"),
        (lambda: pseudo_dimension_deviation(0, n=5, delta=0.1), InvalidParameter, "dimension"),
        (lambda: pseudo_dimension_deviation(1, n=5, delta=0.1, loss_bound=0.0), InvalidParameter, "loss_bound"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
