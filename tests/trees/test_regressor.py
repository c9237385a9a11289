"""Trees of real targets: the decrease of a cut, medians, counts, and large offsets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor as Theirs

from surefit import DecisionTreeRegressor
from surefit.core.errors import CertificateError, InvalidData
from surefit.solvers.trees.flat import LEAF

X, y = load_diabetes(return_X_y=True)
X = X.astype(np.float32).astype(float)


def test_decrease_of_the_best_cut_by_all_cuts():
    rng = np.random.default_rng(0)
    x, t = rng.uniform(size=40), rng.normal(size=40)
    tree = DecisionTreeRegressor(max_depth=1).fit(x[:, None], t).tree_
    total = np.sum((t - t.mean()) ** 2)
    Q = {s: sum(np.sum((t[m] - t[m].mean()) ** 2) for m in (x <= s, x > s)) for s in np.sort(x)[:-1]}
    best = min(Q, key=Q.get)
    assert tree.n_rows[1] == np.sum(x <= best) and 40 * tree.gain[0] == pytest.approx(total - Q[best])
    left = x <= best
    n1, n2 = left.sum(), (~left).sum()
    assert total - Q[best] == pytest.approx(n1 * n2 / 40 * (t[left].mean() - t[~left].mean()) ** 2)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_agrees_with_scikit_learn_and_is_certified(criterion):
    mine = DecisionTreeRegressor(criterion=criterion, max_depth=4).fit(X, y)
    theirs = Theirs(criterion=criterion, max_depth=4, random_state=0).fit(X, y)
    leaf, other = mine.tree_.kind == LEAF, theirs.tree_.children_left < 0
    ours = mine.tree_.weight[leaf] @ mine.tree_.impurity[leaf]
    reference = theirs.tree_.weighted_n_node_samples[other] @ theirs.tree_.impurity[other]
    assert ours == pytest.approx(reference, rel=0.01)  # ties may be broken otherwise
    assert mine.tree_.feature[0] == theirs.tree_.feature[0]
    assert mine.tree_.threshold[0] == pytest.approx(theirs.tree_.threshold[0])
    mine.verify(X, y)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["squared_error", "absolute_error", "poisson"]))
def test_weights_are_repetitions(seed, criterion):
    rng = np.random.default_rng(seed)
    rows, t, counts = rng.integers(0, 5, (20, 2)).astype(float), rng.integers(0, 6, 20) + 0.0, rng.integers(0, 4, 20)
    counts[0], t[0] = 1, 3.0
    weighted = DecisionTreeRegressor(criterion=criterion).fit(rows, t, sample_weight=counts)
    repeated = DecisionTreeRegressor(criterion=criterion).fit(np.repeat(rows, counts, axis=0), np.repeat(t, counts))
    assert np.array_equal(weighted.tree_.feature, repeated.tree_.feature)
    assert weighted.tree_.values == pytest.approx(repeated.tree_.values)
    weighted.verify(rows, t, sample_weight=counts)


def test_a_large_offset_changes_no_split():
    plain, far = DecisionTreeRegressor(max_depth=5).fit(X, y), DecisionTreeRegressor(max_depth=5).fit(X, y + 2.0**30)
    assert np.array_equal(plain.tree_.feature, far.tree_.feature)
    assert far.predict(X) - 2.0**30 == pytest.approx(plain.predict(X), abs=1e-5)


def test_tiny_targets_are_split():
    tiny = DecisionTreeRegressor().fit(X[:50], y[:50] * 1e-12)
    assert tiny.predict(X[:50]) == pytest.approx(y[:50] * 1e-12)
    tiny.verify(X[:50], y[:50] * 1e-12)


def test_leaves_predict_means_and_medians():
    rows, t = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 5.0, 2.0, 4.0])
    assert DecisionTreeRegressor().fit(rows, t).predict([[0.0], [1.0]]) == pytest.approx([2, 3])
    median = DecisionTreeRegressor(criterion="absolute_error").fit(rows, t)
    assert median.predict([[0.0], [1.0]]) == pytest.approx([1, 3])
    median.verify(rows, t)


def test_categories_missing_values_and_bins():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 6, 300), rng.normal(size=300)]).astype(float)
    t = np.isin(rows[:, 0], [1, 4]) * 3.0 + rows[:, 1] + 0.1 * rng.normal(size=300)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    for options in ({}, {"max_bins": 16}, {"criterion": "absolute_error"}, {"categorical_split": "multiway"}):
        model = DecisionTreeRegressor(max_depth=3, categorical_features=[0], **options).fit(rows, t)
        assert model.tree_.feature[0] == 0 and model.score(rows, t) > 0.6
        model.verify(rows, t)


def test_monotone_means():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(200, 1))
    t = rows[:, 0] + rng.normal(size=200)
    line = np.linspace(0, 1, 200)[:, None]
    model = DecisionTreeRegressor(monotonic_cst=[1]).fit(rows, t)
    assert np.all(np.diff(model.predict(line)) >= 0)


def test_poisson_needs_counts():
    with pytest.raises(InvalidData, match="needs y >= 0 with a positive sum; the least is -1"):
        DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], [-1.0, 2.0])


def test_targets_far_from_zero_are_checked_to_their_last_digit():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(60) + 1e12
    model = DecisionTreeRegressor(random_state=0).fit(X, y)
    assert model.verify(X, y)["tree.splits"].ok


@pytest.mark.parametrize("count", [-3, 2])
def test_another_number_of_columns_is_refused(count):
    X = np.arange(12.0).reshape(4, 3)
    model = DecisionTreeRegressor().fit(X, X[:, 0])
    certificate = model.certificate_
    model.n_features_in_ = count
    with pytest.raises(CertificateError):
        certificate.verify(X, X[:, 0])
