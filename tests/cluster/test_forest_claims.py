"""Claims of forests on partitions: splits are the best that their nodes drew, by exact arithmetic, and forgeries are refused."""

from dataclasses import replace
from fractions import Fraction

import dask
import numpy as np
import pytest
from sklearn.base import clone
from tests.cluster.test_boosted_trees import chunked, spread
from tests.cluster.test_forests import CASES
from tests.cluster.test_trees import COUNTS, LABELS, THREE, S, X, Y

from surefit import (
    Certified,
    ExtraTreesClassifier,
    GridSearchCV,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
    save,
)
from surefit.cluster import rows_of
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError, DataWarning, InvalidParameter
from surefit.core.partitioned import Part
from surefit.solvers.trees.node_draws import child_states, column_orders, cut_shares, root_state
from surefit.solvers.trees.sampling import line_of


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def drawn_counts(model, weights=None):
    """Return how often each tree drew each row."""
    rows = rows_of("test", chunked(X, 1), None, chunked(weights, 1))
    return line_of(rows, model.certificate_.problem["draws"]).counts(Part(X, None, weights, 0, ""), model.tree_seeds_)


def impurity(counts):
    """Return the total Gini impurity of class counts."""
    total = sum(counts)
    return Fraction(0) if not total else sum(Fraction(c * (total - c), total) for c in counts)


def nodes_of(tree, seed, rows):
    """Yield each inner node with its rows and its random state."""
    waiting = [(0, np.asarray(rows), root_state(seed))]
    while waiting:
        node, own, state = waiting.pop()
        if tree.left[node] < 0:
            continue
        yield node, own, state
        goes_left = X[own, tree.feature[node]] <= tree.threshold[node]
        left, right = child_states([state])[0].tolist()
        waiting += [(tree.left[node], own[goes_left], left), (tree.right[node], own[~goes_left], right)]


def by_class(rows, counts, codes):
    return [int(counts[rows][codes[rows] == k].sum()) for k in range(3)]


def exact_shortfall(model, codes, random):
    """Return the largest difference between the best cut that a node drew and its split, as a share of the root's impurity."""
    worst = Fraction(0)
    for tree, seed, counts in zip(model.trees_, model.tree_seeds_.tolist(), drawn_counts(model), strict=True):
        rows, counts = np.flatnonzero(counts), counts.astype(np.int64)
        root = impurity(by_class(rows, counts, codes))
        for node, own, state in nodes_of(tree, seed, rows):
            order = [j for j in column_orders([state], 4)[0] if len(np.unique(X[own, j])) > 1][:2]
            assert tree.feature[node] in order
            inside = []
            for j in order:
                values, every = np.unique(X[own, j]), np.unique(X[:, j])
                if random:  # one cut, at a share of the range of the bins
                    low, high = np.searchsorted(every, values[[0, -1]])
                    edges = every[:-1] / 2 + every[1:] / 2
                    centers = [edges[0], *(edges[:-1] / 2 + edges[1:] / 2), edges[-1]]
                    cut = centers[low] + cut_shares([state], 4)[0, j] * (centers[high] - centers[low])
                    values = every[[max(k for k in range(low, high) if centers[k] <= cut)]]
                for value in values[:1] if random else values[:-1]:
                    sides = own[X[own, j] <= value], own[X[own, j] > value]
                    inside.append(sum(impurity(by_class(side, counts, codes)) for side in sides))
            split = (
                own[X[own, tree.feature[node]] <= tree.threshold[node]],
                own[X[own, tree.feature[node]] > tree.threshold[node]],
            )
            worst = max(worst, (sum(impurity(by_class(side, counts, codes)) for side in split) - min(inside)) / root)
    return worst


@pytest.mark.parametrize("random", [False, True])
def test_splits_are_the_best_that_nodes_drew_by_exact_arithmetic(random):
    cls = ExtraTreesClassifier if random else RandomForestClassifier
    model = spread(cls(3, bootstrap=True, max_features=2, min_samples_leaf=1, max_depth=6, random_state=2), X, THREE, 3)
    claim = model.certificate_["forest.candidate_splits"]
    assert claim.numbers["compared"] == claim.numbers["splits"] and claim.numbers["random"] == random
    assert exact_shortfall(model, THREE, random) <= Fraction(claim.value) < Fraction(1, 10**10)
    limits = model.certificate_["forest.limits"]
    counts = drawn_counts(model)
    leaves = model.apply(X)
    sizes = [
        np.count_nonzero((leaves[:, t] == leaf) & (counts[t] > 0)) for t in range(3) for leaf in np.unique(leaves[:, t])
    ]
    assert limits.value == 0 and limits.numbers["smallest"] == min(size for size in sizes if size)
    assert limits.numbers["depth"] == 6 and limits.numbers["leaves"] == sum(tree.n_leaves for tree in model.trees_)


def test_grades_and_sentences():
    model = spread(CASES["random cuts"][0], X, THREE, 3)
    assert model.certificate_.grade == "C"  # nothing compares the forest with others
    sentence = model.certificate_["forest.candidate_splits"].statement
    assert "no other random cut of the 2 columns that a node draws" in sentence
    monotone = spread(CASES["pruned"][0], X, Y + X[:, 0], 3)
    assert monotone.certificate_["tree.constrained_splits"].kind == "no_claim"


def forged(certificate, **changes):
    return replace(certificate, seal="", subject=None, **changes)


def refused_by(certificate, name, y, weights=None):
    for parts in (None, 4):
        data = (X, y, weights) if parts is None else tuple(chunked(a, parts) for a in (X, y, weights))
        with pytest.raises(CertificateError, match=name):
            certificate.verify(*data[:2], sample_weight=data[2])


def only(certificate, name):
    return tuple(claim for claim in certificate.claims if claim.name == name)


def test_other_columns_worse_splits_and_fewer_candidates_are_refused():
    model = spread(RandomForestClassifier(3, max_depth=3, random_state=1), X, LABELS, 3)
    certificate, name = model.certificate_, "forest.candidate_splits"
    state, claims = certificate.model, only(certificate, name)
    seeds = forged(certificate, claims=claims, model={**state, "tree_seeds_": state["tree_seeds_"][::-1]})
    refused_by(seeds, name, LABELS)
    root = model.trees_[0].threshold[0]
    moved = np.where(state["tree_threshold_"] == root, root + 0.2, state["tree_threshold_"])
    refused_by(forged(certificate, claims=claims, model={**state, "tree_threshold_": moved}), name, LABELS)
    (claim,) = claims
    for witness in (
        {"edges": claim.witness["edges"][:0], "edge_counts": np.zeros(4, dtype=np.int64)},
        {"random_cuts": np.array(True)},
    ):
        changed = replace(claim, witness={**claim.witness, **witness})
        refused_by(forged(certificate, claims=(changed,)), name, LABELS)
    for numbers in ({"drawn": 4}, {"trees": 4}, {"splits": claim.numbers["splits"] + 1}):
        refused_by(forged(certificate, claims=(replace(claim, numbers={**claim.numbers, **numbers}),)), name, LABELS)


def test_limits_that_are_broken_are_counted():
    model = spread(RandomForestRegressor(2, max_depth=4, min_samples_leaf=4, random_state=1), X, Y, 3)
    certificate = model.certificate_
    (claim,) = only(certificate, "forest.limits")
    assert claim.numbers["smallest"] >= 4
    for params, problem in (({"max_depth": 3}, {"max_depth": 3}), ({"min_samples_leaf": 30}, {"min_samples_leaf": 30})):
        stopping = {**certificate.problem["stopping"], **problem}
        changed = forged(
            certificate,
            claims=(claim,),
            params={**certificate.params, **params},
            problem={**certificate.problem, "stopping": stopping},
        )
        refused_by(changed, r"forest\.limits", Y)
    refused_by(forged(certificate, claims=(replace(claim, numbers={**claim.numbers, "smallest": 9}),)), "smallest", Y)


@pytest.mark.parametrize("case", ["classes", "squared", "poisson"])
def test_required_gains_are_measured(case):
    options = {"max_depth": 5, "min_impurity_decrease": 0.004, "min_weight_fraction_leaf": 0.01, "random_state": 0}
    model, y = {
        "classes": (RandomForestClassifier(3, **options), THREE),
        "squared": (RandomForestRegressor(3, **options), Y),
        "poisson": (RandomForestRegressor(3, criterion="poisson", **options), COUNTS),
    }[case]
    ours = spread(model, X, y, 3)
    certificate = ours.certificate_
    (claim,) = only(certificate, "forest.limits")
    assert 0 < claim.numbers["missing"] < 1e-9
    gains = np.concatenate([(tree.gain * tree.weight / tree.weight[0])[tree.kind != 0] for tree in ours.trees_])
    assert gains.min() >= 0.004
    stopping = {**certificate.problem["stopping"], "min_impurity_decrease": float(gains.min()) * 1.001}
    more = {"min_impurity_decrease": stopping["min_impurity_decrease"]}
    problem = {**certificate.problem, "stopping": stopping}
    refused_by(
        forged(certificate, claims=(claim,), params={**certificate.params, **more}, problem=problem), "missing", y
    )


@pytest.mark.filterwarnings("ignore:.*drawn by every tree")
def test_out_of_bag_errors_are_those_of_the_rows_that_trees_left_out():
    for model, y, weights in (
        (RandomForestClassifier(12, oob_score=True, random_state=0), THREE, None),
        (RandomForestClassifier(12, oob_score=True, random_state=0), LABELS, S),
        (RandomForestRegressor(12, oob_score=True, random_state=0), Y, S),
    ):
        fits = [spread(model, X, y, parts, weights) for parts in (1, 3, 7)]
        ours = fits[1]
        assert len({fit.oob_score_ for fit in fits}) == 1 and not hasattr(ours, "oob_prediction_")
        left = drawn_counts(ours, weights) == 0
        leaves = ours.apply(X)
        sums = sum(np.where(left[t][:, None], tree.values[leaves[:, t]], 0.0) for t, tree in enumerate(ours.trees_))
        used = left.any(axis=0) & (True if weights is None else weights > 0)
        means, w = sums[used] / left.sum(axis=0)[used, None], np.ones(300)[used] if weights is None else weights[used]
        claim = ours.certificate_["forest.out_of_bag"]
        if hasattr(ours, "classes_"):
            error = np.average(ours.classes_[means.argmax(axis=1)] != y[used], weights=w)
            assert ours.oob_score_ == pytest.approx(1 - error, rel=1e-12)
        else:
            error = np.average((means[:, 0] - y[used]) ** 2, weights=w)
            spread_ = np.average((y[used] - np.average(y[used], weights=w)) ** 2, weights=w)
            assert ours.oob_score_ == pytest.approx(1 - error / spread_, rel=1e-12)
        assert claim.value == pytest.approx(error, rel=1e-12) and claim.numbers["rows"] == np.count_nonzero(used)
        assert all(finding.ok for finding in ours.verify(X, y, weights))
        assert all(finding.ok for finding in ours.verify(chunked(X, 5), chunked(y, 5), chunked(weights, 5)))
        wrong = replace(claim, value=claim.value * 0.999)
        refused_by(forged(ours.certificate_, claims=(wrong,)), r"forest\.out_of_bag", y, weights)


@pytest.mark.filterwarnings("ignore:.*drawn by every tree")
def test_bounds_of_the_vote():
    labels = np.where(X[:, 0] + 0.3 * X[:, 2] > 0, "up", "down")
    model = spread(RandomForestClassifier(8, max_depth=4, oob_score=True, random_state=0), X, labels, 3)
    left = drawn_counts(model) == 0
    codes = np.array([model.classes_[tree.values.argmax(axis=1)] for tree in model.trees_], dtype=object)
    wrong = np.array([codes[t][model.apply(X)[:, t]] != labels for t in range(8)]) & left
    first, tandem = (model.certificate_[f"forest.vote_{name}"] for name in ("first_order", "tandem"))
    assert first.numbers["n"] == left.sum(axis=1).min()
    assert first.numbers["empirical"] == pytest.approx(np.mean(wrong.sum(axis=1) / left.sum(axis=1)))
    pairs = left.astype(int) @ left.T
    assert tandem.numbers["n"] == pairs.min()
    assert tandem.numbers["empirical"] == pytest.approx(np.mean((wrong.astype(int) @ wrong.T) / pairs))
    assert first.value < 0.5
    for claim, wrong_numbers in ((first, {"n": 300}), (tandem, {"empirical": 0.0})):
        lower = replace(claim, value=claim.value * 0.99)
        other = replace(claim, numbers={**claim.numbers, **wrong_numbers})
        for changed in (lower, other):
            refused_by(forged(model.certificate_, claims=(changed,)), claim.name.replace(".", r"\."), labels)
    weighted = spread(clone(model), X, labels, 3, S)
    assert all("vote" not in claim.name for claim in weighted.certificate_.claims)


def test_out_of_bag_options():
    with pytest.raises(InvalidParameter, match="a function needs all predictions"):
        spread(RandomForestClassifier(oob_score=lambda y, p: 0.0), X, LABELS, 3)
    with pytest.raises(InvalidParameter, match="no row is out of bag"):
        spread(ExtraTreesClassifier(oob_score=True), X, LABELS, 3)
    with pytest.warns(DataWarning, match=r"rows were drawn by every tree"):
        model = spread(RandomForestRegressor(2, max_depth=2, oob_score=True, random_state=0), X, Y, 3)
    model.set_params(oob_score=False).fit(chunked(X, 3), chunked(Y, 3))
    assert not hasattr(model, "oob_score_")


def test_files_and_extreme_rows(tmp_path):
    model = spread(ExtraTreesClassifier(3, random_state=0), X, THREE, 3)
    save(model, tmp_path / "forest.surefit")
    load(tmp_path / "forest.surefit").verify(chunked(X, 4), chunked(THREE, 4))
    Certificate.from_json(model.certificate_.to_json()).verify(X, THREE)
    heavy = np.where(np.arange(300) == 7, 1e6, 1e-3)  # one row has nearly all weight
    far = Y * 1e6 + 1e9
    for rows, y, weights in (
        (X, Y, heavy),
        (X.astype(np.float32), far, None),
        (np.zeros((5, 2)), np.arange(5.0), None),
    ):
        ours = spread(RandomForestRegressor(2, max_features=1, random_state=0), rows, y, 2, weights)
        ours.verify(rows, y, weights)
        ours.verify(chunked(rows, 3), chunked(y, 3), chunked(weights, 3))


def test_other_estimators_take_forests_on_partitions():
    risk = Certified(RandomForestClassifier(3, random_state=0), by="holdout", random_state=0)
    risk = risk.fit(chunked(X, 3), chunked(LABELS, 3))
    risk.verify(chunked(X, 4), chunked(LABELS, 4))
    search = GridSearchCV(RandomForestRegressor(3, random_state=0), {"max_depth": [2, 5]}, cv=2)
    search = search.fit(chunked(X, 3), chunked(Y, 3))
    assert search.best_estimator_.drawn_by_index_ and search.best_params_ == {"max_depth": 5}
