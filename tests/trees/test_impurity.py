"""Impurities and information: the numbers of the notes, identities, and curves against brute force."""

import math

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from surefit import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ImpurityDisplay,
    InvalidData,
    InvalidParameter,
    SplitCurveDisplay,
    attribute_gains,
    conditional_entropy,
    entropy,
    gini,
    misclassification,
    mutual_information,
    split_curve,
)
from surefit.data import load_movie_grid, load_two_numbers_table

matplotlib.use("Agg")


def test_numbers_of_the_notes():
    assert entropy([0.5, 0.5]) == 1
    assert entropy([0.9, 0.1]) == pytest.approx(0.468996, abs=5e-7)
    assert entropy([7]) == 0
    assert entropy([5, 1]) == pytest.approx(0.650022, abs=5e-7)
    assert gini([5, 1]) == pytest.approx(0.277778, abs=5e-7)
    assert entropy([1, 1, 1, 1]) == 2
    parent, first, second = [400, 400], [[300, 100], [100, 300]], [[200, 400], [200, 0]]
    for split, error, impurity in ((first, 200, 300), (second, 200, 266.67)):
        sizes = np.sum(split, axis=1)
        assert sizes @ misclassification(split) == pytest.approx(error)
        assert sizes @ gini(split) == pytest.approx(impurity, abs=0.005)
    assert 800 * gini(parent) == 400 and 800 * entropy(parent, unit="nats") == pytest.approx(800 * math.log(2))


@settings(deadline=None, max_examples=50)
@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any))
def test_ranges_and_units(counts):
    k = len(counts)
    assert 0 <= entropy(counts) <= math.log2(k) + 1e-12
    assert 0 <= gini(counts) <= 1 - 1 / k + 1e-12
    assert 0 <= misclassification(counts) <= 1 - 1 / k + 1e-12
    assert entropy(counts, unit="nats") == pytest.approx(entropy(counts) * math.log(2))
    assert entropy(np.array(counts) / sum(counts)) == pytest.approx(entropy(counts), abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 30))
def test_information_three_ways(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 4, n), rng.integers(0, 3, n)
    table = np.zeros((4, 3))
    np.add.at(table, (x, y), 1)
    found = mutual_information(x, y)
    assert found == pytest.approx(mutual_information(y, x), abs=1e-12)
    assert found == pytest.approx(mutual_information(table), abs=1e-12)
    joint = entropy(table.ravel())
    assert found == pytest.approx(entropy(table.sum(axis=1)) + entropy(table.sum(axis=0)) - joint, abs=1e-9)
    assert found == pytest.approx(entropy(table.sum(axis=0)) - conditional_entropy(y, given=x), abs=1e-9)
    assert mutual_information(x, y, unit="nats") == pytest.approx(mutual_info_score(x, y), abs=1e-9)
    assert conditional_entropy(table) == pytest.approx(conditional_entropy(y, given=x), abs=1e-12)


def test_weighted_and_unweighted_criterion_disagree():
    curve = split_curve(np.arange(10), [0] * 8 + [1, 0])
    weighted = [1.7778, 1.75, 1.7143, 1.6667, 1.6, 1.5, 1.3333, 1.0, 1.7778]
    unweighted = [0.1975, 0.2188, 0.2449, 0.2778, 0.32, 0.375, 0.4444, 0.5, 0.1975]
    assert curve.impurity == pytest.approx(weighted, abs=5e-5)
    assert curve.unweighted == pytest.approx(unweighted, abs=5e-5)
    assert curve.n_left[curve.best] == 8 and np.argmin(curve.unweighted) == 0


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), criterion=st.sampled_from(["entropy", "gini"]))
def test_the_best_cut_is_a_boundary(seed, criterion):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 12, 30), rng.integers(0, 3, 30)
    curve = split_curve(x, y, criterion=criterion)
    assert curve.gain[curve.boundary].max() == pytest.approx(curve.gain.max(), abs=1e-12)
    assert curve.boundary[curve.best]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_sum_of_squares_curve_is_brute_force(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, 20) / 7, 1e6 + rng.standard_normal(20)
    if len(np.unique(x)) < 2:
        return
    curve = split_curve(x, y, criterion="squared_error")
    sides = [(y[x <= s], y[x > s]) for s in curve.thresholds]
    assert curve.impurity == pytest.approx([len(a) * a.var() + len(b) * b.var() for a, b in sides], rel=1e-8)
    drop = [len(a) * len(b) / 20 * (a.mean() - b.mean()) ** 2 for a, b in sides]
    assert 20 * y.var() - curve.impurity == pytest.approx(drop, rel=1e-6, abs=1e-8)
    labels = rng.integers(0, 2, 20)
    assert split_curve(x, labels).impurity == pytest.approx(
        2 * split_curve(x, labels, criterion="squared_error").impurity
    )


def test_trees_take_the_best_point_of_the_curve():
    X, y = load_two_numbers_table()
    model = DecisionTreeClassifier(criterion="entropy").fit(X, y)
    root = model.node_splits(X, y)
    assert root[0].best_threshold == pytest.approx(0.56) and root[1].best_threshold == pytest.approx(0.84)
    assert root[0].thresholds[root[0].boundary] == pytest.approx([0.225, 0.305, 0.56])
    assert root[0].gain[root[0].boundary] == pytest.approx([0.3113, 0.0488, 0.5488], abs=5e-5)
    left = model.node_splits(X, y, node=1)
    assert left[1].best_threshold == pytest.approx(0.445)
    rng = np.random.default_rng(0)
    z, t = rng.random((40, 1)), rng.standard_normal(40)
    stump = DecisionTreeRegressor(max_depth=1).fit(z, t)
    assert stump.tree_.threshold[0] == split_curve(z, t, criterion="squared_error").best_threshold


def test_gains_of_attributes():
    X, y = load_movie_grid()
    assert attribute_gains(X, y, categorical_features=[0, 1, 2, 3]) == pytest.approx(
        [0, 0.0817, 0.0817, 0.0817], abs=5e-5
    )
    for criterion in ("gini", "misclassification"):
        assert attribute_gains(X, y, criterion=criterion, categorical_features=[0])[0] == pytest.approx(0, abs=1e-12)
    numbers = attribute_gains(X, y, criterion="squared_error", categorical_features=[0])
    assert numbers[1] == pytest.approx(y.var() - split_curve(X[:, 1], y, criterion="squared_error").impurity[0] / 24)
    weights = np.arange(1.0, 25.0)
    doubled = attribute_gains(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)))
    assert attribute_gains(X, y, sample_weight=weights) == pytest.approx(doubled)


def test_errors():
    for wrong in ([], [-1, 2], [0, 0], [np.nan, 1]):
        with pytest.raises(InvalidData, match="probabilities or counts"):
            entropy(wrong)
    with pytest.raises(InvalidParameter, match="unit"):
        entropy([1, 1], unit="digits")
    with pytest.raises(InvalidData, match="same length"):
        mutual_information([1, 2], [1])
    with pytest.raises(InvalidData, match="constant"):
        split_curve([1, 1], [0, 1])
    with pytest.raises(InvalidParameter, match="criterion"):
        split_curve([1, 2], [0, 1], criterion="no")
    with pytest.raises(InvalidData, match="finite"):
        split_curve([[1, 2], [3, 4]], [0, 1])


def test_plots():
    display = ImpurityDisplay(unit="nats").plot()
    assert display.lines_["entropy"].get_ydata().max() == pytest.approx(math.log(2))
    curve = split_curve(np.arange(10), [0] * 8 + [1, 0])
    shown = SplitCurveDisplay(curve).plot()
    assert shown.weighted_line_.get_ydata().max() == 1
