"""Trees of classes: identities, repetitions, missing values, categories, rules, boxes, scikit-learn's methods."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier as Theirs

from surefit import Certificate, DecisionTreeClassifier
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.solvers.trees.flat import LEAF

IRIS = load_iris()
X, y = IRIS.data.astype(np.float32).astype(float), IRIS.target


def table(seed=0, n=200, missing=0.0):
    """Two numeric columns and a categorical one (code 3 to 9), three classes."""
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.normal(size=n), rng.normal(size=n), rng.integers(3, 10, n)])
    labels = np.where(np.isin(Z[:, 2], [4, 7]), 2, Z[:, 0] > 0).astype(int)
    Z[rng.random(Z.shape) < missing] = np.nan
    return Z, labels


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_gains_telescope(criterion):
    model = DecisionTreeClassifier(criterion=criterion, max_depth=3).fit(X, y)
    tree = model.tree_
    leaf, share = tree.kind == LEAF, tree.weight / tree.weight[0]
    assert share @ tree.gain + share[leaf] @ tree.impurity[leaf] == pytest.approx(tree.impurity[0])
    errors = tree.weight[leaf] @ (1 - tree.values[leaf].max(axis=1))
    assert errors == pytest.approx(np.sum(model.predict(X) != y))
    assert model.certificate_.holds
    model.verify(X, y)


def test_consistent_data_are_fitted_without_errors():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(100, 2)), rng.integers(0, 4, 100)
    assert DecisionTreeClassifier().fit(rows, labels).score(rows, labels) == 1.0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["gini", "entropy", "misclassification"]))
def test_weights_are_repetitions_and_zero_weight_deletes(seed, criterion):
    rng = np.random.default_rng(seed)
    rows, labels, counts = rng.integers(0, 4, (25, 2)).astype(float), rng.integers(0, 2, 25), rng.integers(0, 4, 25)
    counts[:2], labels[:2] = 1, [0, 1]
    weighted = DecisionTreeClassifier(criterion=criterion).fit(rows, labels, sample_weight=counts)
    repeated = DecisionTreeClassifier(criterion=criterion).fit(
        np.repeat(rows, counts, axis=0), np.repeat(labels, counts)
    )
    assert np.array_equal(weighted.tree_.feature, repeated.tree_.feature)
    assert np.array_equal(weighted.tree_.threshold, repeated.tree_.threshold, equal_nan=True)
    assert weighted.tree_.values == pytest.approx(repeated.tree_.values)
    scaled = DecisionTreeClassifier(criterion=criterion).fit(rows, labels, sample_weight=counts * 8.0)
    assert np.array_equal(weighted.tree_.feature, scaled.tree_.feature)
    weighted.verify(rows, labels, sample_weight=counts)


def test_methods_agree_with_scikit_learn():
    # depth 2: no ties between columns in Fisher's flowers, except at the root between petal length and width
    columns = [0, 1, 3]
    mine = DecisionTreeClassifier(max_depth=3).fit(X[:, columns], y)
    theirs = Theirs(max_depth=3, random_state=0).fit(X[:, columns], y)
    assert np.array_equal(mine.tree_.feature, theirs.tree_.feature)
    assert np.array_equal(mine.apply(X[:, columns]), theirs.apply(X[:, columns]))
    assert mine.predict_proba(X[:, columns]) == pytest.approx(theirs.predict_proba(X[:, columns]))
    assert mine.feature_importances_ == pytest.approx(theirs.feature_importances_)
    assert (mine.get_depth(), mine.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())
    assert (mine.decision_path(X[:, columns]) != theirs.decision_path(X[:, columns])).nnz == 0
    assert np.array_equal(mine.tree_.children_left, theirs.tree_.children_left)
    assert np.array_equal(mine.tree_.n_node_samples, theirs.tree_.n_node_samples)


def test_missing_values_go_where_they_lower_the_impurity_most():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2)).astype(np.float32).astype(float)
    labels = (rows[:, 0] > 0).astype(int)
    rows[(labels == 1) & (rng.random(200) < 0.4), 0] = np.nan
    mine, theirs = (
        m(max_depth=2, **k).fit(rows, labels) for m, k in ((DecisionTreeClassifier, {}), (Theirs, {"random_state": 0}))
    )
    assert not mine.tree_.missing_left[0] and mine.score(rows, labels) == 1.0
    assert np.array_equal(mine.apply(rows), theirs.apply(rows))
    mine.verify(rows, labels)
    only = DecisionTreeClassifier().fit([[np.nan], [np.nan], [1.0], [2.0]], [0, 0, 1, 1])
    assert only.tree_.threshold[0] == np.inf and only.predict([[5.0], [np.nan]]).tolist() == [1, 0]
    whole = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], [0, 0, 1])  # missing later: where most rows go
    assert whole.predict([[np.nan]]).tolist() == [0]


@pytest.mark.parametrize("split", ["subset", "multiway"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_rules_and_boxes_are_the_tree(split, missing):
    Z, labels = table(missing=missing)
    model = DecisionTreeClassifier(categorical_features=[2], categorical_split=split, max_depth=4).fit(Z, labels)
    model.verify(Z, labels)
    fired = np.array([clause.holds(Z) for clause in model.clauses()])
    assert np.all(fired.sum(axis=0) == 1)
    leaves = np.array([clause.leaf for clause in model.clauses()])
    assert np.array_equal(leaves[fired.argmax(axis=0)], model.apply(Z))
    said = np.array([clause.prediction for clause in model.clauses()])
    assert np.array_equal(said[fired.argmax(axis=0)], model.predict(Z))


def test_boxes_hold_the_rows_of_their_leaves():
    model = DecisionTreeClassifier().fit(X, y)
    boxes = model.leaf_boxes()
    grid = np.random.default_rng(0).uniform(0, 8, (500, 4))
    on_edges = np.where(np.random.default_rng(1).random(grid.shape) < 0.3, model.tree_.threshold[0], grid)
    for rows in (X, grid, on_edges):
        assert np.array_equal(boxes.find(rows), model.apply(rows))
        inside = (boxes.lower[None] < rows[:, None]) & (rows[:, None] <= boxes.upper[None])
        assert np.all(inside.all(axis=2).sum(axis=1) == 1)


def test_unseen_category_keeps_the_label_of_the_node():
    Z, labels = table()
    for split in ("subset", "multiway"):
        model = DecisionTreeClassifier(categorical_features=[2], categorical_split=split).fit(Z, labels)
        assert model.tree_.feature[0] == 2
        new = np.array([[0.0, 0.0, 77.0], [0.0, 0.0, 3.5], [0.0, 0.0, np.nan]])
        assert model.apply(new).tolist() == [0, 0, 0]
        assert set(model.predict(new)) == {model.classes_[model.tree_.values[0].argmax()]}


def test_categories_by_name_mask_and_type():
    Z, labels = table()
    frame = pd.DataFrame(Z, columns=["a", "b", "kind"])
    typed = frame.astype({"kind": "category"})
    reference = DecisionTreeClassifier(categorical_features=[2]).fit(Z, labels)
    for listed, rows in ((["kind"], frame), ([False, False, True], frame), ("from_dtype", typed), ([-1], frame)):
        model = DecisionTreeClassifier(categorical_features=listed).fit(rows, labels)
        assert np.array_equal(model.tree_.feature, reference.tree_.feature) and list(model.categories_) == [2]
    assert "kind in {4, 7}" in model.export_text() or "kind in {3, 5, 6, 8, 9}" in model.export_text()
    with pytest.raises(InvalidParameter, match="names of columns of X"):
        DecisionTreeClassifier(categorical_features=["no"]).fit(frame, labels)


def test_binned_cuts_are_exact_for_few_values_and_certified():
    rows = np.round(X)
    exact, binned = DecisionTreeClassifier().fit(rows, y), DecisionTreeClassifier(max_bins=255).fit(rows, y)
    assert np.array_equal(exact.tree_.feature, binned.tree_.feature)
    assert np.array_equal(exact.tree_.threshold, binned.tree_.threshold, equal_nan=True)
    rough = DecisionTreeClassifier(max_bins=5).fit(X, y)
    assert all(len(np.unique(rough.tree_.threshold[rough.tree_.feature == j])) <= 4 for j in range(4))
    rough.verify(X, y)


def test_occam_bound_of_declared_thresholds():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(2000, 3))
    labels = (rows[:, 0] > 0.5) ^ (rng.random(2000) < 0.05)
    model = DecisionTreeClassifier(thresholds=np.linspace(0, 1, 33)[1:-1], pruning="cost_complexity").fit(rows, labels)
    claim = model.certificate_["tree.occam"]
    assert 0.05 < claim.value < 0.12 and claim.confidence == 0.95
    model.verify(rows, labels)
    weighted = DecisionTreeClassifier(thresholds=[0.5]).fit(rows, labels, sample_weight=np.full(2000, 2.0))
    assert weighted.certificate_["tree.occam_unclaimed"].kind == "no_claim"


def test_stopping_rules_and_reasons():
    rules = {"max_depth": 3, "min_samples_leaf": 0.05, "min_samples_split": 30, "max_leaf_nodes": 5}
    model = DecisionTreeClassifier(**rules, min_impurity_decrease=0.001).fit(X, y)
    assert model.get_depth() <= 3 and model.get_n_leaves() <= 5 and model.tree_.n_rows.min() >= 8
    assert set(model.leaf_reasons()) == set(np.flatnonzero(model.tree_.kind == LEAF))
    model.verify(X, y)
    assert set(DecisionTreeClassifier(max_depth=1).fit(X, y).leaf_reasons().values()) == {"pure", "max_depth"}
    same = DecisionTreeClassifier().fit([[1.0], [1.0]], [0, 1])
    assert set(same.leaf_reasons().values()) == {"no admissible cut"} and same.predict([[1.0]]).tolist() == [0]


def test_class_weights_labels_and_sparse_rows():
    names = np.array(["a", "b", "c"])[y]
    balanced = DecisionTreeClassifier(class_weight={"a": 1, "b": 2, "c": 0.5}, max_depth=3).fit(X, names)
    by_hand = DecisionTreeClassifier(max_depth=3).fit(X, names, sample_weight=np.array([1, 2, 0.5])[y])
    assert balanced.predict_proba(X) == pytest.approx(by_hand.predict_proba(X))
    balanced.verify(X, names)
    stored = sparse.csr_matrix(np.where(X > 2, X, 0))
    model = DecisionTreeClassifier(max_depth=3).fit(stored, y)
    assert np.array_equal(model.apply(stored), model.apply(stored.toarray()))
    model.verify(stored, y)


def test_random_choices_depend_on_the_seed():
    one, same, other = (DecisionTreeClassifier(max_features="sqrt", random_state=s).fit(X, y) for s in (0, 0, 1))
    assert np.array_equal(one.tree_.feature, same.tree_.feature)
    assert not np.array_equal(one.tree_.feature, other.tree_.feature)
    assert one.certificate_["tree.random_splits"].kind == "no_claim"
    one.verify(X, y)
    assert DecisionTreeClassifier(splitter="random", random_state=0).fit(X, y).score(X, y) == 1.0


def test_monotone_probabilities():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(300, 2))
    labels = rng.random(300) < 0.2 + 0.6 * rows[:, 0]
    model = DecisionTreeClassifier(monotonic_cst=[1, 0], max_depth=6).fit(rows, labels)
    line = np.column_stack([np.linspace(0, 1, 200), np.full(200, 0.5)])
    assert np.all(np.diff(model.predict_proba(line)[:, 1]) >= 0)
    model.verify(rows, labels)
    with pytest.raises(InvalidParameter, match="monotonic_cst must be None for more than two classes"):
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, y)


def test_certificate_survives_json():
    model = DecisionTreeClassifier(pruning="cost_complexity", cv=5).fit(X, y)
    again = Certificate.from_json(model.certificate_.to_json())
    assert again.verify(X, y)["tree.pruning"].ok


def test_errors_say_what_to_do():
    with pytest.raises(InvalidParameter, match="max_depth must be None, or an integer >= 1; got 0"):
        DecisionTreeClassifier(max_depth=0).fit(X, y)
    with pytest.raises(InvalidParameter, match="thresholds must be None, a list of numbers"):
        DecisionTreeClassifier(thresholds=[[0.5], ["a"]]).fit(X[:, :2], y)
    with pytest.raises(InvalidParameter, match="monotonic_cst must be one of -1, 0, 1"):
        DecisionTreeClassifier(monotonic_cst=[2, 0, 0, 0]).fit(X[:100], y[:100])
    with pytest.raises(InvalidData, match="300 categories, more than 255"):
        DecisionTreeClassifier(categorical_features=[0]).fit(np.arange(300.0)[:, None], np.arange(300) % 2)
