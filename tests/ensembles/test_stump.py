"""Stumps: the best of all, by brute force, by hand, and by an independent checker."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from surefit import Certificate, CertificateError, DecisionStump
from surefit.solvers.boosting import stumps


def brute_force(X, y, w):
    """Least weighted error over every column, every value as a cut, and every two labels."""
    best = min(np.sum(w[y != a]) for a in np.unique(y))
    for j in range(X.shape[1]):
        for s in np.unique(X[:, j]):
            for a in np.unique(y):
                for b in np.unique(y):
                    best = min(best, np.sum(w[np.where(X[:, j] <= s, a, b) != y]))
    return best / np.sum(w)


tables = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(st.integers(0, 4), min_size=d, max_size=d), st.integers(0, 2), st.integers(0, 3)),
        min_size=2,
        max_size=12,
    )
)


@settings(max_examples=80)
@given(tables)
def test_no_stump_is_better(table):
    X = np.array([row for row, _, _ in table], dtype=float)
    y, w = np.array([label for _, label, _ in table]), np.array([float(weight) for _, _, weight in table])
    if not w.any():
        w[0] = 1.0
    model = DecisionStump().fit(X, y, sample_weight=w)
    assert model.error_ == pytest.approx(brute_force(X, y, w), abs=1e-12)
    assert model.error_ == pytest.approx(np.sum(w[model.predict(X) != y]) / np.sum(w), abs=1e-15)
    assert model.verify(X, y, sample_weight=w)["stump.optimal"].level == "exact"


def test_a_tree_grown_by_gini_is_another_stump():
    y = np.repeat([0, 1], 400)
    X = np.column_stack([np.repeat([0, 1, 0, 1], [300, 100, 100, 300]), np.repeat([0, 1, 0], [205, 195, 400])])
    gini = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    assert gini.tree_.feature[0] == 1
    assert np.count_nonzero(gini.predict(X) != y) == 205
    model = DecisionStump().fit(X, y)
    assert model.feature_ == 0
    assert 800 * model.error_ == 200


def test_error_of_two_classes_is_at_most_one_half_and_flips_with_the_labels():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.integers(2, size=40)
    model, flipped = DecisionStump().fit(X, y), DecisionStump().fit(X, 1 - y)
    assert model.error_ == flipped.error_ <= 0.5
    np.testing.assert_array_equal(model.predict(X), 1 - flipped.predict(X))


def test_ties_go_to_the_lowest_column_then_cut_then_to_plus_above():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    model = DecisionStump().fit(X, [0, 1])
    assert (model.feature_, model.threshold_, model.left_, model.right_) == (0, 0.5, 0, 1)
    # On x = 1..6 with labels ++--++ three stumps misclassify two rows; the constant has the lowest cut.
    model = DecisionStump().fit(np.arange(1.0, 7.0)[:, None], [1, 1, -1, -1, 1, 1])
    assert (model.threshold_, model.right_, model.error_) == (-np.inf, 1, 1 / 3)


def test_integer_weights_repeat_rows_and_zero_takes_them_away():
    rng = np.random.default_rng(1)
    X, y, w = rng.standard_normal((30, 3)), rng.integers(2, size=30), rng.integers(0, 3, size=30)
    weighted = DecisionStump().fit(X, y, sample_weight=w)
    repeated = DecisionStump().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert (weighted.feature_, weighted.threshold_) == (repeated.feature_, repeated.threshold_)
    assert weighted.error_ == pytest.approx(repeated.error_, abs=1e-15)


def test_a_cut_separates_neighbors_in_floating_point():
    low = 1.0
    high = np.nextafter(low, 2.0)
    model = DecisionStump().fit([[low], [high]], ["a", "b"])
    assert model.predict([[low], [high]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_change_nothing(monkeypatch, n_classes):
    monkeypatch.setattr(stumps, "ENTRIES", 500)
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((100, 19)), rng.integers(n_classes, size=100)
    w = rng.random(100)
    found = [DecisionStump(n_jobs=threads).fit(X, y, sample_weight=w) for threads in (1, 2, 3)]
    one, two, three = ((s.feature_, s.threshold_, s.left_, s.right_, s.error_) for s in found)
    assert one == two == three


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    y = (X[:, 1] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    w = rng.random(60)
    return DecisionStump().fit(X, y, sample_weight=w), X, y, w


def test_certificate_survives_json_and_states_rounding(fitted):
    model, X, y, w = fitted
    found = Certificate.from_json(model.certificate_.to_json()).verify(X, y, sample_weight=w)
    assert {finding.level for finding in found.findings} == {"enclosed", "stated"}


@pytest.mark.parametrize("changes", [{"threshold_": 2.0}, {"feature_": 0}, {"left_": 1, "right_": 0}])
def test_another_stump_is_refused(fitted, changes):
    model, X, y, w = fitted
    other = {**model.certificate_.model, **{name: np.asarray(value) for name, value in changes.items()}}
    forged = replace(model.certificate_, subject=None, seal="", model=other)
    with pytest.raises(CertificateError, match=r"stump\.optimal"):
        forged.verify(X, y, sample_weight=w)


def test_a_smaller_error_than_the_true_one_is_refused(fitted):
    model, X, y, w = fitted
    smaller = {"error": model.error_ - 1e-9}
    claims = tuple(
        replace(claim, numbers=smaller) if claim.name == "stump.optimal" else claim
        for claim in model.certificate_.claims
    )
    with pytest.raises(CertificateError, match="error is"):
        replace(model.certificate_, subject=None, seal="", claims=claims).verify(X, y, sample_weight=w)


def test_a_threshold_between_two_neighbors_in_single_precision_is_verified():
    X = np.array([[99999992, 1e8], [1e8, 99999992], [99999976, 1e8], [1e8, 1e8], [1e8, 1e8]], dtype=np.float32)
    y = ["c1", "c1", "c1", "c0", "c0"]
    stump = DecisionStump().fit(X, y)
    assert stump.error_ == 0.2
    assert np.mean(stump.predict(X) != y) == 0.2
    assert np.array_equal(stump.predict(X), stump.predict(X.astype(np.float64)))
    stump.verify(X, y)


@pytest.mark.parametrize("kind", ["continuous", "few values", "constant"])
@pytest.mark.parametrize(("n", "d"), [(3, 1), (257, 4), (700, 6), (2000, 9)])
def test_the_largest_edge_is_that_of_all_cuts(n, d, kind):
    """Only blocks of rows that may have it are scanned; equal values are not separated, and ties go to the first cut."""
    rng = np.random.default_rng(n + d)
    X = (
        rng.standard_normal((n, d))
        if kind == "continuous"
        else rng.integers(0, 5 if kind == "few values" else 1, (n, d)) * 1.0
    )
    order = stumps.sorted_columns(np.asfortranarray(X))
    for equal in (True, False):
        weights = np.ones(n, dtype=np.int64) if equal else rng.integers(1, 9, n)  # sums are exact
        signed = np.where(X[:, 0] + 2 * rng.standard_normal(n) > 0, weights, -weights)
        total = int(signed.sum())
        best, answer = abs(total), (0, -1, total >= 0)
        for j in range(d):
            rows = np.argsort(X[:, j], kind="stable")
            edges = total - 2 * np.cumsum(signed[rows])
            edges[np.append(X[rows[1:], j] == X[rows[:-1], j], True)] = 0  # no cut between equal values
            k = int(np.argmax(np.abs(edges)))
            if abs(edges[k]) > best:
                best, answer = abs(edges[k]), (j, k, edges[k] >= 0)
        for n_jobs in (1, 2):
            assert stumps.best_edge(order, signed.astype(float), float(weights.sum()), n_jobs) == answer
