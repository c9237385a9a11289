"""Several targets: impurities are means over the targets, shapes are scikit-learn's, and the checker re-derives every claim."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

import surefit
from surefit import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from surefit.core.errors import CertificateError, InvalidParameter, InvalidType


@pytest.fixture(scope="module")
def table():
    """Numbers without ties, three real targets, two targets with three and two classes, and weights."""
    rng = np.random.RandomState(0)
    X = rng.randn(90, 3)
    Y = np.column_stack([X[:, 0] + rng.randn(90), X[:, 1] ** 2, rng.rand(90)])
    C = np.column_stack([np.digitize(X[:, 0] + 0.5 * rng.randn(90), [-0.5, 0.5]), X[:, 1] > 0.2]).astype(int)
    return X, Y, C, rng.randint(0, 4, 90)


def _impurity(criterion, y, w):
    share = w / w.sum()
    if criterion == "squared_error":
        return share @ (y - share @ y) ** 2
    if criterion == "absolute_error":
        return share @ np.abs(y - np.median(np.repeat(y, w.astype(int))))
    mean = share @ y
    if criterion == "poisson":
        return share @ (y * np.log(y / mean))
    p = np.array([share[y == k].sum() for k in np.unique(y)])
    return 1 - p @ p if criterion == "gini" else -p @ np.log2(p)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini", "entropy"])
def test_impurity_is_the_mean_over_the_targets(table, criterion):
    X, Y, C, w = table
    classes = criterion in ("gini", "entropy")
    y = C if classes else np.abs(Y) + 0.1
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    model = kind(criterion=criterion, max_depth=3).fit(X, y, sample_weight=w)
    path = model.decision_path(X).toarray().astype(bool)
    for node in range(model.tree_.node_count):
        rows = path[:, node] & (w > 0)
        each = [_impurity(criterion, column[rows], w[rows]) for column in y.T]
        assert model.tree_.impurity[node] == pytest.approx(np.mean(each), abs=1e-12)
    inner = model.tree_.children_left >= 0
    left, right = model.tree_.children_left[inner], model.tree_.children_right[inner]
    total = model.tree_.weight * model.tree_.impurity
    fall = (total[inner] - total[left] - total[right]) / model.tree_.weight[inner]
    assert model.tree_.gain[inner] == pytest.approx(fall, abs=1e-12)
    assert model.verify(X, y, sample_weight=w)["tree.splits"].ok


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini", "entropy"])
def test_same_tree_as_scikit_learn(table, criterion):
    X, Y, C, _ = table
    if criterion in ("gini", "entropy"):
        ours, theirs, y = DecisionTreeClassifier, TheirClassifier, C
    else:
        ours, theirs, y = DecisionTreeRegressor, TheirRegressor, np.abs(Y) + 0.1
    model = ours(criterion=criterion, max_depth=2).fit(X, y)
    peer = theirs(criterion=criterion, max_depth=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.tree_.feature, peer.tree_.feature)
    np.testing.assert_allclose(model.tree_.impurity, peer.tree_.impurity, atol=1e-12)
    np.testing.assert_allclose(model.tree_.value, peer.tree_.value, atol=1e-12)
    assert model.n_outputs_ == peer.n_outputs_ and model.tree_.n_outputs == peer.tree_.n_outputs
    np.testing.assert_array_equal(model.tree_.n_classes, peer.tree_.n_classes)
    np.testing.assert_allclose(model.predict(X), peer.predict(X))
    if ours is DecisionTreeClassifier:
        for mine, his in zip(model.predict_proba(X), peer.predict_proba(X), strict=True):
            np.testing.assert_allclose(mine, his)
        assert np.array_equal(np.exp(model.predict_log_proba(X)[1]) > 0, model.predict_proba(X)[1] > 0)
        assert [list(known) for known in model.classes_] == [[0, 1, 2], [0, 1]] and list(model.n_classes_) == [3, 2]
    else:
        assert model.score(X, y) == pytest.approx(peer.score(X, y))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier])
def test_equal_columns_give_the_tree_of_one_target(table, kind):
    X, _, C, _ = table
    options = {} if kind is DecisionTreeClassifier else {"n_estimators": 3, "max_bins": None, "max_features": None}
    twice = kind(random_state=0, **options).fit(X, C[:, [0, 0]])
    once = kind(random_state=0, **options).fit(X, C[:, 0])
    np.testing.assert_array_equal(twice.predict(X), np.column_stack([once.predict(X)] * 2))
    np.testing.assert_allclose(twice.predict_proba(X)[1], once.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_weights_are_repetitions(table, kind, criterion):
    X, Y, _, w = table
    options = {} if kind is DecisionTreeRegressor else {"n_estimators": 3}
    rows = np.repeat(np.arange(len(w)), w)
    weighted = kind(criterion=criterion, random_state=0, **options).fit(X, Y, sample_weight=w)
    repeated = kind(criterion=criterion, random_state=0, **options).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-10)
    weighted.verify(X, Y, sample_weight=w)
    repeated.verify(X[rows], Y[rows])


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_sparse_rows_and_threads_do_not_change_a_bit(table, kind):
    X, Y, _, _ = table
    dense = X * (X > 0)
    table = sparse.csr_matrix(dense)
    first = kind(4, random_state=0).fit(table, Y)
    second = kind(4, random_state=0, n_jobs=2).fit(dense, Y)
    assert np.array_equal(first.predict(table), second.predict(dense))
    assert first.verify(table, Y)["forest.leaves"].ok
    assert first.decision_path(table)[0].shape == (90, first.tree_starts_[-1])
    assert [len(rows) for rows in first.estimators_samples_] == [90] * 4


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", [{0: 1, 1: 2, 2: 3}, {0: 1.5, 1: 2}]])
def test_class_weights_multiply_over_the_targets(table, class_weight):
    X, _, C, _ = table
    forest = RandomForestClassifier(3, class_weight=class_weight, random_state=0).fit(X, C)
    assert forest.verify(X, C)["forest.leaves"].ok
    if class_weight == "balanced_subsample":
        return
    model = DecisionTreeClassifier(class_weight=class_weight, max_depth=3).fit(X, C)
    peer = TheirClassifier(class_weight=class_weight, max_depth=3, random_state=0).fit(X, C)
    np.testing.assert_allclose(model.tree_.weight[0], peer.tree_.weighted_n_node_samples[0])
    np.testing.assert_allclose(model.tree_.value[0], peer.tree_.value[0])
    assert model.verify(X, C)["tree.leaves"].ok


def test_out_of_bag_of_labels_that_occur_together(table):
    X, _, _, _ = table
    labels = (X > 0).astype(int)
    model = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, labels)
    peer = TheirForest(40, oob_score=True, random_state=0).fit(X, labels)
    assert model.oob_decision_function_.shape == peer.oob_decision_function_.shape == (90, 2, 3)
    right = np.all(model.oob_decision_function_.argmax(axis=1) == labels, axis=1)
    assert model.oob_score_ == pytest.approx(right.mean())
    assert model.verify(X, labels)["forest.out_of_bag"].ok
    assert model.vote(X).shape == (90, 3) and model.agreement(X, labels).scores.shape == (40,)
    assert model.score(X, labels) == pytest.approx(np.mean(np.all(model.predict(X) == labels, axis=1)))


@pytest.mark.parametrize("place", [(0, 0), (-1, -1)])
def test_changed_values_are_refused(table, place):
    X, Y, C, _ = table
    tree = DecisionTreeClassifier(max_depth=2).fit(X, C)
    values = tree.tree_.values.copy()
    values[place] += 1e-6
    tree.tree_ = tree.tree_._replace(values=values)
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    forest.trees_[1].values[place] += 1e-6
    for model, y in ((tree, C), (forest, Y)):
        with pytest.raises(CertificateError, match="changed"):
            model.verify(X, y)


def test_a_solver_that_swaps_two_targets_is_caught(table, monkeypatch):
    """The checker does not trust the solver: with values in the wrong columns no claim about leaves is made that holds."""
    from surefit.trees import fit

    X, Y, _, _ = table
    honest = fit.grow_tree
    monkeypatch.setattr(fit, "grow_tree", lambda *args: (lambda t: t._replace(values=t.values[:, ::-1]))(honest(*args)))
    model = DecisionTreeRegressor(max_depth=2).fit(X, Y)
    claim = model.certificate_["tree.leaves"]
    assert claim.holds is False and claim.value > 0.1


def test_labels_of_a_forged_model_are_refused(table):
    X, _, C, _ = table
    model = DecisionTreeClassifier(max_depth=2).fit(X, C)
    model.classes_ = [model.classes_[0][::-1], model.classes_[1]]
    with pytest.raises(CertificateError):
        model.verify(X, C)


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor])
def test_constraints_need_one_target(table, kind):
    X, Y, _, _ = table
    with pytest.raises(InvalidParameter, match="monotonic_cst must be None for several targets"):
        kind(monotonic_cst=[1, 0, 0]).fit(X, Y)
    if kind is DecisionTreeRegressor:
        with pytest.raises(InvalidParameter, match="pruning must be None for several targets"):
            kind(pruning="cost_complexity").fit(X, Y)


def test_pruning_and_bins(table):
    X, Y, C, _ = table
    for model, y in (
        (DecisionTreeRegressor(ccp_alpha=0.02), Y),
        (DecisionTreeClassifier(ccp_alpha=0.02), C),
        (DecisionTreeClassifier(max_bins=8), C),
        (DecisionTreeClassifier(splitter="random", random_state=0), C),
    ):
        model.fit(X, y).verify(X, y)
    path = DecisionTreeRegressor().cost_complexity_pruning_path(X, Y)
    peer = TheirRegressor(random_state=0).cost_complexity_pruning_path(X, Y)
    np.testing.assert_allclose(path.impurities[-1], peer.impurities[-1])


def test_categories_and_missing_values(table):
    X, Y, C, _ = table
    X = X.copy()
    X[:, 2] = np.digitize(X[:, 2], [-1, -0.3, 0.3, 1])
    X[::7, 0] = np.nan
    for model, y in (
        (DecisionTreeRegressor(categorical_features=[2]), Y),
        (DecisionTreeClassifier(categorical_features=[2]), C),
    ):
        model.set_params(max_depth=4).fit(X, y)
        assert 2 in model.tree_.kind
        assert model.verify(X, y)["tree.splits"].ok


def test_twins_text_and_drawings(table):
    X, Y, C, _ = table
    for model, y in (
        (DecisionTreeClassifier(max_depth=2), C),
        (RandomForestClassifier(3, random_state=0), C),
        (DecisionTreeRegressor(max_depth=2), Y),
    ):
        twin = surefit.to_sklearn(model.fit(X, y))
        np.testing.assert_allclose(twin.predict(X.astype(np.float32)), model.predict(X.astype(np.float32)))
    tree = DecisionTreeClassifier(max_depth=1).fit(X, C)
    assert surefit.export_text(tree).splitlines()[1].strip("|- ").startswith("class: [")
    assert "class: [" in tree.export_text() and "[" in tree.export_rules().replace("(", "[")
    assert "value: [" in surefit.export_text(DecisionTreeRegressor(max_depth=1).fit(X, Y))
    assert surefit.export_graphviz(tree).startswith("digraph")
    assert len(surefit.plot_tree(tree)) >= 3


def test_text_labels_of_two_targets():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([["a", "u"], ["a", "v"], ["b", "v"], ["b", "v"]])
    model = DecisionTreeClassifier().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.verify(X, y)["tree.leaves"].ok


@pytest.mark.parametrize(
    "kind", [DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, ExtraTreesRegressor]
)
def test_sparse_targets_are_refused(table, kind):
    X, _, C, _ = table
    with pytest.raises(InvalidType, match=r"y is a sparse table.*Pass y.toarray\(\)"):
        kind().fit(X, sparse.csr_matrix(C))
