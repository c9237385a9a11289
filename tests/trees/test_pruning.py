"""Prunings are the best of all, by enumeration; the exclusive or needs them; validation rows drive reduced-error pruning."""

import itertools

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier as Theirs
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from surefit import DecisionTreeClassifier, DecisionTreeRegressor
from surefit.data import make_xor
from surefit.solvers.trees import collapse
from surefit.solvers.trees.flat import LEAF
from surefit.solvers.trees.pruning import weakest_links


def all_prunings(tree, node=0):
    """Sets of leaves of every pruning of the subtree at ``node``."""
    found = [{node}]
    children = tree.children(node)
    if len(children):
        for parts in itertools.product(*(all_prunings(tree, int(c)) for c in children)):
            found.append(set().union(*parts))
    return found


def n_prunings(tree, node=0):
    children = tree.children(node)
    return 1 + (int(np.prod([n_prunings(tree, int(c)) for c in children])) if len(children) else 0)


def noisy(seed, n=60, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0) * 1 + (classes == 3) * (X[:, 1] > 0)
    return X, np.where(rng.random(n) < 0.2, rng.integers(0, classes, n), y)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("classes", [2, 3])
def test_weakest_links_are_the_best_of_all_prunings(seed, classes):
    X, y = noisy(seed, classes=classes)
    tree = DecisionTreeClassifier(max_depth=4).fit(X, y).tree_
    risk = tree.weight * (1 - tree.values.max(axis=1)) / len(y)
    prunings = all_prunings(tree)
    assert len(prunings) == n_prunings(tree)
    path = weakest_links(tree, risk)
    assert np.all(np.diff(path.alphas) > 0) and np.all(np.diff(path.n_leaves) < 0)
    for alpha in [*path.alphas, *(path.alphas[1:] * 0.999), 0.003, 1.0]:
        costs = [(round(sum(risk[t] for t in leaves) + alpha * len(leaves), 12), len(leaves)) for leaves in prunings]
        pruned = collapse(tree, path.collapse_at <= alpha)
        mine = pruned.kind == LEAF
        errors = (pruned.weight * (1 - pruned.values.max(axis=1)))[mine].sum() / len(y)
        assert errors + alpha * mine.sum() == pytest.approx(min(costs)[0])
        assert mine.sum() == min(costs)[1]  # the smallest minimiser


def test_least_cost_is_concave_in_alpha():
    X, y = noisy(3, n=200)
    tree = DecisionTreeClassifier().fit(X, y).tree_
    path = weakest_links(tree, tree.weight * (1 - tree.values.max(axis=1)) / len(y))
    alphas = np.linspace(0, path.alphas[-1] * 1.2, 40)
    place = np.searchsorted(path.alphas, alphas, side="right") - 1
    costs = path.risks[place] + alphas * path.n_leaves[place]
    assert np.all(np.diff(costs, 2) <= 1e-12) and np.all(np.diff(costs) >= -1e-12)


def test_ccp_alpha_prunes_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32).astype(float)
    y = (X[:, 0] + 0.7 * rng.normal(size=300) > 0).astype(int)
    real = X[:, 0] + rng.normal(size=300)
    for mine, theirs, target in (
        (DecisionTreeClassifier(max_depth=5), Theirs(max_depth=5, random_state=0), y),
        (DecisionTreeRegressor(max_depth=5), TheirRegressor(max_depth=5, random_state=0), real),
    ):
        ours, reference = (m.cost_complexity_pruning_path(X, target) for m in (mine, theirs))
        assert ours.ccp_alphas[1:] == pytest.approx(np.unique(reference.ccp_alphas.round(14))[1:])
        assert ours.impurities[-1] == pytest.approx(reference.impurities[-1])
        for alpha in (0.003, 0.01, 0.05):
            pruned = mine.set_params(ccp_alpha=alpha).fit(X, target)
            other = theirs.set_params(ccp_alpha=alpha).fit(X, target)
            assert pruned.get_n_leaves() == other.get_n_leaves()
            assert pruned.predict(X) == pytest.approx(other.predict(X))
            pruned.verify(X, target)
        mine.set_params(ccp_alpha=0.0)
        theirs.set_params(ccp_alpha=0.0)


def test_exclusive_or_is_learned_by_growing_and_pruning_but_not_by_stopping_early():
    X, y, _ = make_xor(1000, random_state=0)
    new, truth, _ = make_xor(2000, random_state=1)
    stopped = DecisionTreeClassifier(min_gain=0.01).fit(X, y)
    assert stopped.get_n_leaves() == 1 and abs(stopped.score(new, truth) - 0.5) < 0.05
    assert set(stopped.leaf_reasons().values()) == {"gain too small"}
    pruned = DecisionTreeClassifier(pruning="cost_complexity").fit(X, y)
    assert pruned.score(new, truth) > 0.97 and pruned.get_n_leaves() < 12


def test_pure_nodes_split_on_purpose_are_pruned_to_the_smallest_optimum():
    # Random cuts give far more leaves than needed; at alpha = 0 the smallest pruning without errors is found.
    X, y, _ = make_xor(300, random_state=2)
    model = DecisionTreeClassifier(splitter="random", random_state=0, pruning="cost_complexity", standard_errors=0.0)
    model.fit(X, y)
    path = model.pruning_
    assert (path.risks[0] == 0.0 and path.chosen == 0) or path.cv_risks[path.chosen] == path.cv_risks.min()
    assert model.get_n_leaves() == path.n_leaves[path.chosen]
    model.verify(X, y)


def test_corners_of_the_exclusive_or():
    X, y, _ = make_xor()
    model = DecisionTreeClassifier().fit(X, y)  # the first split gains nothing
    assert model.gain_audit()["gain"] == pytest.approx([0, 0.5, 0.5]) and model.score(X, y) == 1.0
    assert model.get_n_leaves() == 4
    assert DecisionTreeClassifier(min_gain=1e-9).fit(X, y).get_n_leaves() == 1


def test_cross_validation_is_that_of_the_definition():
    X, y = noisy(1, n=90)
    model = DecisionTreeClassifier(pruning="cost_complexity", cv=5, standard_errors=0.0).fit(X, y)
    record = model.pruning_
    middles = np.sqrt(record.alphas * np.append(record.alphas[1:], 1e9))
    fold = np.empty(90, dtype=int)
    fold[np.argsort(y, kind="stable")] = np.arange(90) % 5
    errors = np.zeros(len(middles))
    for k in range(5):
        part = DecisionTreeClassifier().fit(X[fold != k], y[fold != k]).tree_
        risk = part.weight * (1 - part.values.max(axis=1)) / part.weight[0]
        own = weakest_links(part, risk)
        for i, alpha in enumerate(middles):
            pruned = collapse(part, own.collapse_at <= alpha)
            other = DecisionTreeClassifier().fit(X[fold != k], y[fold != k])
            other.tree_ = pruned
            errors[i] += np.sum(other.predict(X[fold == k]) != y[fold == k])
    assert record.cv_risks == pytest.approx(errors / 90)
    assert record.cv_errors == pytest.approx(np.sqrt(record.cv_risks * (1 - record.cv_risks) / 90))
    one = DecisionTreeClassifier(pruning="cost_complexity", cv=5).fit(X, y).pruning_
    limit = record.cv_risks.min() + record.cv_errors[record.chosen]
    assert one.chosen == np.flatnonzero(record.cv_risks <= limit)[-1] >= record.chosen


def test_reduced_error_trace():
    X, y = noisy(2, n=300)
    model = DecisionTreeClassifier(pruning="reduced_error", random_state=0).fit(X, y)
    record = model.pruning_
    assert np.all(np.diff(record.risks) < 0) and np.all(np.diff(record.n_leaves) < 0)
    held = record.validation_rows
    assert np.mean(model.predict(X[held]) != y[held]) == pytest.approx(record.risks[-1])
    rest = np.setdiff1d(np.arange(300), held)
    whole = DecisionTreeClassifier().fit(X[rest], y[rest])
    assert np.mean(whole.predict(X[held]) != y[held]) == pytest.approx(record.risks[0])
    model.verify(X, y)
    small = DecisionTreeClassifier(pruning="reduced_error", random_state=0, allow_zero_gain=True).fit(X, y)
    assert small.get_n_leaves() <= model.get_n_leaves() and small.pruning_.risks[-1] <= record.risks[-1] + 1e-12
    # bottom-up with zero-gain prunes: the least validation error of all prunings, with the fewest leaves
    best = smallest_validation_error(whole, X[held], y[held])
    assert (small.pruning_.risks[-1] * len(held), small.get_n_leaves()) == pytest.approx(best)


def smallest_validation_error(model, X, y):
    tree, reach = model.tree_, np.asarray(model.decision_path(X).todense()).astype(bool)
    wrong = [np.sum(y[reach[:, t]] != model.classes_[tree.values[t].argmax()]) for t in range(tree.node_count)]

    def best(t):
        below = [best(int(c)) for c in tree.children(t)]
        leaf = (int(wrong[t]), 1)
        return min(leaf, (sum(b[0] for b in below), sum(b[1] for b in below))) if below else leaf

    return best(0)


def test_regression_by_both_prunings():
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(300, 2))
    y = np.where(X[:, 0] > 0.5, 2.0, 0.0) + 0.5 * rng.normal(size=300)
    full = DecisionTreeRegressor().fit(X, y).get_n_leaves()
    for pruning in ("cost_complexity", "reduced_error"):
        model = DecisionTreeRegressor(pruning=pruning, random_state=0).fit(X, y)
        assert model.get_n_leaves() < full / 3
        model.verify(X, y)
    assert DecisionTreeRegressor(pruning="cost_complexity").fit(X, y).get_n_leaves() == 2
