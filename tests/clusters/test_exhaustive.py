"""The best of all partitions: exact numbers, a list of all partitions as oracle, and what happens when time is up."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from surefit import ExhaustiveClustering, InvalidData, KMeans, partition_count


def criteria(X, labels):
    """Inertia and within scatter in rational arithmetic."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    inertia = within = Fraction(0)
    for c in set(labels):
        mine = [row for row, label in zip(rows, labels, strict=True) if label == c]
        mean = [sum(column) / len(mine) for column in zip(*mine, strict=True)]
        part = sum((v - m) ** 2 for row in mine for v, m in zip(row, mean, strict=True))
        inertia, within = inertia + part, within + len(mine) * part
    return {"inertia": inertia, "scatter": within}


def best_of_all(X, k, criterion):
    return min(criteria(X, labels)[criterion] for labels in product(range(k), repeat=len(X)))


@pytest.mark.parametrize(
    ("criterion", "labels", "value"), [("inertia", [0, 0, 0, 1], 2.0), ("scatter", [0, 0, 1, 1], 5.0)]
)
def test_the_two_criteria_differ(criterion, labels, value):
    X = [[0.0], [1.0], [2.0], [4.0]]
    model = ExhaustiveClustering(criterion=criterion).fit(X)
    assert model.labels_.tolist() == labels
    assert model.objective_ == value
    assert model.n_partitions_ == partition_count(4, 2) == 7
    assert model.verify(X)["partition.gap"].level == "enclosed"


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 7),
    k=st.integers(1, 3),
    criterion=st.sampled_from(["inertia", "scatter"]),
)
def test_nothing_is_better(seed, n, k, criterion):
    X = np.random.default_rng(seed).integers(-4, 5, (n, 2)).astype(float)
    model = ExhaustiveClustering(min(k, n), criterion=criterion).fit(X)
    assert model.objective_ == pytest.approx(float(best_of_all(X, min(k, n), criterion)), rel=1e-12, abs=1e-12)
    assert model.objective_ == pytest.approx(
        float(criteria(X, model.labels_.tolist())[criterion]), rel=1e-12, abs=1e-12
    )
    model.verify(X)


def test_weight_is_repetition():
    rng = np.random.default_rng(3)
    X, weights = rng.standard_normal((9, 2)), rng.integers(0, 3, 9)
    for criterion in ("inertia", "scatter"):
        one = ExhaustiveClustering(3, criterion=criterion).fit(X, sample_weight=weights)
        many = ExhaustiveClustering(3, criterion=criterion).fit(X.repeat(weights, axis=0))
        assert one.objective_ == pytest.approx(many.objective_, rel=1e-12)
        assert np.array_equal(one.labels_.repeat(weights), many.labels_)
        one.verify(X, sample_weight=weights)


def test_edges():
    X = np.array([[0.0], [1.0], [5.0]])
    assert ExhaustiveClustering(3).fit(X).objective_ == 0.0
    assert ExhaustiveClustering(1).fit(X).objective_ == pytest.approx(14.0)
    same = ExhaustiveClustering(2).fit(np.ones((4, 2)))
    assert same.objective_ == 0.0 and len(same.cluster_centers_) == 1


def test_k_means_is_never_better():
    X = np.random.default_rng(1).standard_normal((12, 3))
    best = ExhaustiveClustering(4).fit(X)
    assert best.objective_ <= KMeans(4, n_init=5, random_state=0).fit(X).inertia_ * (1 + 1e-12)
    assert ExhaustiveClustering(4).fit(sparse.csr_array(X)).objective_ == pytest.approx(best.objective_)


def test_giving_up_leaves_a_partition_and_a_proved_gap():
    X = np.random.default_rng(0).random((40, 5))
    with pytest.warns(ConvergenceWarning, match="stopped after 2000 partial partitions"):
        model = ExhaustiveClustering(3, max_partitions=2000).fit(X)
    claim = model.certificate_["partition.gap"]
    assert claim.holds is False and 0 < claim.numbers["lower_bound"] < model.objective_
    model.verify(X)


def test_says_what_it_wants():
    with pytest.raises(InvalidData, match="n_samples=1 should be >= n_clusters=2"):
        ExhaustiveClustering().fit([[0.0]])
    with pytest.raises(InvalidData, match="at most 4096 distinct rows"):
        ExhaustiveClustering().fit(np.arange(5000.0).reshape(-1, 1))
    with pytest.raises(InvalidData, match="squares of X overflow"):
        ExhaustiveClustering().fit([[0.0], [1e200], [2e200]])


@pytest.mark.parametrize("criterion", ["inertia", "scatter"])
@pytest.mark.parametrize(
    ("scale", "shift"), [(1.0, 0.0), (1e6, 0.0), (1e-6, 1.0), (1.0, 1e8), (1e-150, 0.0), (1e-160, 0.0)]
)
def test_the_stated_criterion_is_that_of_the_labels(criterion, scale, shift):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(8, 2)) * [scale, 1.0 if scale > 1e-9 else scale] + shift
    X[3] = X[2]
    for weights in (None, np.array([1.0, 0.0, 2.5, 1e-3, 1e3, 0.7, 1.0, 1 / 3])):
        model = ExhaustiveClustering(3, criterion=criterion).fit(X, sample_weight=weights)
        rows = [[Fraction(float(v)) for v in row] for row in X]
        s, truth = [Fraction(float(w)) for w in (np.ones(8) if weights is None else weights)], Fraction(0)
        for c in set(model.labels_.tolist()):
            mine = [i for i in range(8) if model.labels_[i] == c and s[i]]
            mass = sum(s[i] for i in mine)
            middle = [sum(s[i] * rows[i][j] for i in mine) / mass for j in range(2)] if mine else []
            part = sum(s[i] * (v - m) ** 2 for i in mine for v, m in zip(rows[i], middle, strict=True))
            truth += part * (mass if criterion == "scatter" else 1)
        claim = model.certificate_["partition.objective"]
        assert claim.numbers["objective"] == model.objective_
        assert abs(Fraction(model.objective_) - truth) <= Fraction(claim.value)
        size = float(np.max(np.abs(X))) ** 2 * float(sum(s)) ** (2 if criterion == "scatter" else 1)
        assert claim.value <= 1e-9 * float(truth) + 1e-20 * size + 1e-300
