"""Shattering: enumerated labelings against the catalog, witnesses that are checked, exact Radon partitions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import (
    empirical_risk_minimum,
    labelings,
    radon_partition,
    sauer,
    search_shattered,
    set_class,
    shatter_coefficient,
    shatters,
    sine_witness,
    vc_dimension_of,
)
from surefit.core.errors import InvalidData, InvalidParameter

DIAMOND = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])


def apply(name: str, member, X: np.ndarray) -> np.ndarray:
    """Labels by the definition of the class, independent of the enumerator."""
    d = X.shape[1]
    if name == "rays":
        return X[:, int(member[0])] <= member[1]
    if name == "stumps":
        axis, a, sign = member
        return sign * (X[:, int(axis)] - a) > 0
    if name in ("intervals", "rectangles"):
        return np.all((X >= member[:d]) & (X <= member[d:]), axis=1)
    if name == "half_spaces":
        return X @ np.array(member[:-1]) + member[-1] > 0
    return X @ np.array(member) > 0


@pytest.mark.parametrize("name", ["rays", "stumps", "intervals", "rectangles", "half_spaces"])
def test_counts_on_a_line_are_the_catalog(name):
    entry = set_class(name, d=1)
    for n in range(1, 7):
        assert len(labelings(np.linspace(-1, 2, n), name)) == entry.growth(n)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_half_spaces_in_general_position(d):
    rng = np.random.default_rng(d)
    for n in range(1, 7):
        X = rng.normal(size=(n, d))
        assert len(labelings(X, "half_spaces")) == set_class("half_spaces", d=d).growth(n)
        if n >= 2:
            assert len(labelings(X, "homogeneous_half_spaces")) == set_class("homogeneous_half_spaces", d=d).growth(n)


@pytest.mark.parametrize("name", ["rays", "stumps", "rectangles", "half_spaces", "homogeneous_half_spaces"])
def test_every_witness_realizes_its_labeling(name):
    X = np.random.default_rng(0).integers(-3, 4, size=(6, 2)).astype(float)
    found = labelings(X, name)
    for labels, member in zip(found.labels, found.members, strict=True):
        assert np.array_equal(apply(name, member, X), labels)


def test_rectangles_by_brute_force():
    X = np.random.default_rng(1).normal(size=(6, 2))
    there = set(map(tuple, labelings(X, "rectangles").labels))
    for labels in itertools.product([False, True], repeat=6):
        inside = X[list(labels)]
        possible = not any(labels) or np.array_equal(
            np.all((X >= inside.min(axis=0)) & (X <= inside.max(axis=0)), axis=1), labels
        )
        assert (labels in there) == possible


def test_pictures_of_the_notes():
    assert shatters(DIAMOND, "rectangles") and not shatters(DIAMOND, "half_spaces")
    assert not shatters(np.vstack([DIAMOND, [[0.1, 0.1]]]), "rectangles")  # the inner point cannot be left out
    assert shatters([[0, 0], [1, 0], [0, 1]], "half_spaces")
    assert not shatters([[0, 0], [1, 1], [2, 2]], "half_spaces")  # collinear, although V = 3
    assert labelings([0.0, 1.0, 2.0], "intervals").missing.tolist() == [[True, False, True]]
    assert [False, True, False] in labelings([0.0, 1.0, 2.0], "stumps").missing.tolist()
    xor = labelings([[0, 0], [1, 1], [0, 1], [1, 0]], "half_spaces").missing
    assert xor.tolist() == [[False, False, True, True], [True, True, False, False]]
    assert len(labelings([1.0, 1.0, 2.0], "stumps")) == 4  # coinciding points count once


def test_linear_classes_have_their_dimension():
    for d in (1, 2, 3):
        basis = np.vstack([np.zeros(d), np.eye(d)])
        assert shatters(basis, "half_spaces")
        assert shatters(np.eye(d), "homogeneous_half_spaces")
        assert not shatters(basis, "homogeneous_half_spaces")  # the origin has score 0
        extra = np.random.default_rng(d).normal(size=(d + 2, d))
        assert not shatters(extra, "half_spaces") and not shatters(extra[: d + 1], "homogeneous_half_spaces")


def test_empirical_risk_minimum_is_exact():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(15, 3)), rng.random(15) < 0.5
    found = labelings(X, "stumps")
    error, index = empirical_risk_minimum(found, y)
    thresholds = [(j, a, s) for j in range(3) for a in [*X[:, j], -9.0] for s in (1, -1)]
    brute = min(np.mean((s * (X[:, j] - a) > 0) != y) for j, a, s in thresholds)
    assert error <= brute and np.mean(found.labels[index] != y) == pytest.approx(error)
    weights = np.where(y, 10.0, 1.0)
    assert empirical_risk_minimum(found, y, weights)[0] <= np.sum(weights[~y]) / np.sum(weights)


def test_search_proves_a_lower_bound_only():
    for d in (1, 2, 3):
        points = search_shattered("half_spaces", d + 1, d=d)
        assert points.shape == (d + 1, d) and shatters(points, "half_spaces")
        assert search_shattered("half_spaces", d + 2, d=d, draws=5) is None
    assert search_shattered("rectangles", 4, d=2, draws=500) is not None


integers = st.integers(-5, 5)


@given(data=st.data(), d=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_radon_partition_is_exact(data, d):
    X = np.array(data.draw(st.lists(st.lists(integers, min_size=d, max_size=d), min_size=d + 2, max_size=d + 4)), float)
    found = radon_partition(X)
    assert set(found.positive).isdisjoint(found.negative) and found.positive and found.negative
    for group in (found.positive, found.negative):
        assert sum(found.weights[i] for i in group) == 1
        combination = [sum(found.weights[i] * Fraction(X[i, j]) for i in group) for j in range(d)]
        assert combination == list(found.point)


def test_radon_partition_names_an_impossible_labeling():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5, 3))
    found = radon_partition(X)
    labels = [i in found.positive for i in range(5)]
    assert labels in labelings(X, "half_spaces").missing.tolist()


def test_tables():
    rays = np.tri(6, 5, -1, dtype=bool)
    assert [shatter_coefficient(rays, n) for n in range(6)] == [1, 2, 3, 4, 5, 6]
    everything = np.array(list(itertools.product([0, 1], repeat=4)))
    assert vc_dimension_of(everything).dimension == 4 == math.log2(len(everything))
    assert vc_dimension_of(np.ones((3, 4), dtype=bool)).dimension == 0


@given(table=st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_dimension_of_a_table_is_witnessed_and_obeys_sauer(table):
    predictions = np.array(table)
    found = vc_dimension_of(predictions)
    assert 2**found.dimension <= len(np.unique(predictions, axis=0))
    for number, member in enumerate(found.members):
        pattern = predictions[member, list(found.points)]
        assert sum(int(bit) << (found.dimension - 1 - i) for i, bit in enumerate(pattern)) == number
    coefficients = [shatter_coefficient(predictions, n) for n in range(6)]
    assert all(coefficients[n] <= sauer(n, found.dimension) for n in range(6))
    assert max(n for n in range(6) if coefficients[n] == 2**n) == found.dimension


@pytest.mark.parametrize("k", [1, 4, 10])
def test_sines_shatter_any_number_of_points(k):
    for labels in itertools.islice(itertools.product([-1, 1], repeat=k), 64):
        a, x = sine_witness(labels)
        assert np.array_equal(np.sign(np.sin(a * x)), labels)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: labelings([0.0], "spirals"), InvalidParameter, "name must be one of"),
        (lambda: labelings([np.nan], "rays"), InvalidData, "finite"),
        (lambda: labelings(np.zeros((3, 2)), "intervals"), InvalidData, "2 coordinates"),
        (lambda: labelings(np.zeros((15, 2)), "half_spaces"), InvalidParameter, "at most 14"),
        (lambda: empirical_risk_minimum(labelings([0.0, 1.0], "rays"), [True]), InvalidData, "2 entries"),
        (lambda: radon_partition(np.zeros((3, 2))), InvalidData, r"d \+ 2"),
        (lambda: vc_dimension_of([[0.5]]), InvalidData, "True and False"),
        (lambda: shatter_coefficient(np.ones((2, 3), bool), 4), InvalidParameter, "n must be"),
        (lambda: shatter_coefficient(np.ones((2, 60), bool), 20), InvalidParameter, "subsets"),
        (lambda: sine_witness([0, 1]), InvalidParameter, "each -1 or 1"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
