"""Claims about splits, prunings and monotone trees against rational numbers: all cuts, all prunings and all cells of small trees."""

from fractions import Fraction
from itertools import product

import dask.array as da
import numpy as np
import pytest
from tests.exact_geometry import rational
from tests.forging import proved

from surefit import DecisionTreeClassifier, DecisionTreeRegressor

N = 12
SHAPES = {
    "plain": ([1.0, 1.0], [0.0, 0.0], 0.0),
    "large and small": ([1e6, 1e-6], [0.0, 1.0], 0.0),
    "far targets": ([1.0, 1.0], [1e6, 0.0], 1e6),
    "tiny": ([1e-150, 1e-300], [0.0, 0.0], 0.0),
}


def sample(shape, seed=0):
    """Rows with ties, a target, three classes and weights of several sizes."""
    rng = np.random.default_rng(seed)
    scale, shift, offset = SHAPES[shape]
    X = np.round(rng.normal(size=(N, 2)), 1)
    y = X[:, 0] + 0.7 * (X[:, 1] > 0) + 0.3 * rng.normal(size=N)
    labels = np.digitize(y + 0.4 * rng.normal(size=N), [-0.5, 0.6])
    weights = 10.0 ** rng.integers(-3, 3, size=N) * rng.uniform(0.5, 2, size=N)
    weights[3] = 0.0
    return X * scale + shift, y + offset, labels, weights


def squares(y, w):
    """Weighted sum of squares about the mean."""
    total = sum(w)
    middle = sum(a * b for a, b in zip(w, y, strict=True)) / total
    return sum(a * (b - middle) ** 2 for a, b in zip(w, y, strict=True))


def gini(y, w):
    """Total weight times the Gini index."""
    total = sum(w)
    return total - sum(sum(a for a, b in zip(w, y, strict=True) if b == k) ** 2 for k in set(y)) / total


def errors(y, w):
    """Weight of the rows that are not of the heaviest class."""
    return sum(w) - max(sum(a for a, b in zip(w, y, strict=True) if b == k) for k in set(y))


def of(function, rows, y, w):
    rows = [i for i in rows if w[i] > 0]
    return function([y[i] for i in rows], [w[i] for i in rows]) if rows else Fraction(0)


def sent_down(X, tree, rows):
    """The rows of each node of a tree with thresholds; ``tree`` has feature, threshold, left and right."""
    feature, threshold, left, right = tree
    found = {0: list(rows)}
    for node in range(len(left)):
        if left[node] >= 0:
            goes = [i for i in found[node] if X[i, feature[node]] <= threshold[node]]
            found[int(left[node])], found[int(right[node])] = goes, [i for i in found[node] if i not in goes]
    return found


def fitted_nodes(model):
    tree = model.tree_
    return tree.feature, tree.threshold, tree.left, tree.right


def grown_nodes(witness):
    return tuple(witness[f"whole_{name}"] for name in ("feature", "threshold", "left", "right"))


def shortfall(X, nodes, edges, impurity, t, w):
    """By how much the best allowed cut of a node lowers the impurity more than its split, at most."""
    left, right = nodes[2:]
    rows, worst = sent_down(X, nodes, [i for i in range(N) if w[i] > 0]), Fraction(0)
    for node in np.flatnonzero(np.asarray(left) >= 0).tolist():
        own = rows[node]
        cuts = [[i for i in own if X[i, j] <= cut] for j in range(2) for cut in edges[j]]
        pairs = [(goes, [i for i in own if i not in goes]) for goes in cuts if 2 <= len(goes) <= len(own) - 2]
        best = min(of(impurity, a, t, w) + of(impurity, b, t, w) for a, b in pairs)
        chosen = sum(of(impurity, rows[int(child[node])], t, w) for child in (left, right))
        worst = max(worst, chosen - best)
    return worst


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")  # partitions of five rows may have one label
@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [False, True])
def test_splits_at_candidate_thresholds(shape, weighted, classes):
    X, y, labels, weights = sample(shape)
    target, impurity = (labels, gini) if classes else (y, squares)
    model = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(max_depth=3, min_samples_leaf=2)
    parts = {"sample_weight": da.from_array(weights, chunks=5)} if weighted else {}
    model.fit(da.from_array(X, chunks=(5, 2)), da.from_array(target, chunks=5), **parts)
    claim, t, w = (
        model.certificate_["tree.candidate_splits"],
        rational(target),
        rational(weights if weighted else np.ones(N)),
    )
    counts = claim.witness["edge_counts"].tolist()
    edges = np.split(claim.witness["edges"], np.cumsum(counts)[:-1])
    worst = shortfall(X, fitted_nodes(model), edges, impurity, t, w)
    splits = int(np.count_nonzero(model.tree_.left >= 0))
    used = [i for i in range(N) if w[i] > 0]
    complete = sum(
        len({np.searchsorted(edges[j], X[i, j]) for i in used}) == len({X[i, j] for i in used}) for j in range(2)
    )
    assert splits >= 2 and claim.numbers == {
        "splits": splits, "compared": splits, "candidates": sum(counts), "complete": complete, "columns": 2}  # fmt: skip
    unit = of(impurity, used, t, w)
    assert worst / unit <= Fraction(claim.value) <= Fraction(1, 10**9)
    stump = model.set_params(max_depth=1).fit(da.from_array(X, chunks=(5, 2)), da.from_array(target, chunks=5), **parts)
    feature, threshold, left, right = fitted_nodes(stump)
    for cut in edges[feature[0]]:
        wrong = np.where(left >= 0, cut, threshold)
        share = shortfall(X, (feature, wrong, left, right), edges, impurity, t, w) / unit
        goes = sum(X[i, feature[0]] <= cut for i in used)
        if 2 <= goes <= len(used) - 2:
            value = Fraction(
                proved(
                    stump, "tree.candidate_splits", X, target, weights if weighted else None, node_threshold_=wrong
                ).value
            )
            assert share <= value <= share + Fraction(1, 10**9)


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model", [DecisionTreeRegressor(monotonic_cst=[1, -1]), DecisionTreeClassifier(monotonic_cst=[1, 0])]
)
def test_monotone_in_every_cell(shape, weighted, model):
    X, y, labels, weights = sample(shape, 3)
    target = (labels > 0).astype(int) if isinstance(model, DecisionTreeClassifier) else y
    model.fit(X, target, sample_weight=weights if weighted else None)
    claim, tree, signs = model.certificate_["tree.monotone"], model.tree_, model.monotonic_cst
    assert claim.value == 0 and claim.numbers["columns"] == sum(s != 0 for s in signs) and (tree.left >= 0).sum() >= 2
    cuts = [sorted(set(tree.threshold[(tree.left >= 0) & (tree.feature == j)])) for j in range(2)]
    sides = [[*line, np.inf] for line in cuts]  # one point of each cell
    points = np.array(list(product(*sides)))
    leaf = {i: node for node, rows in sent_down(points, fitted_nodes(model), range(len(points))).items()
            if tree.left[node] < 0 for i in rows}  # fmt: skip
    said = {tuple(map(float, point)): Fraction(float(tree.values[leaf[i], -1])) for i, point in enumerate(points)}
    for point, value in said.items():
        for j, sign in enumerate(signs):
            higher = [c for c in sides[j] if c > point[j]]
            if sign and higher:
                other = said[tuple(float(higher[0]) if k == j else v for k, v in enumerate(point))]
                assert sign * (other - value) >= 0


def prunings(tree, node=0):
    """The sets of leaves of all prunings of a tree."""
    _, _, left, right = tree
    yield [node]
    if left[node] >= 0:
        for a in prunings(tree, int(left[node])):
            yield from ([*a, *b] for b in prunings(tree, int(right[node])))


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("classes", "options"),
    [(False, {"ccp_alpha": 0.03}), (True, {"ccp_alpha": 0.02}), (True, {"pruning": "cost_complexity", "cv": 3})],
)
def test_no_pruning_is_cheaper(shape, weighted, classes, options):
    X, y, labels, weights = sample(shape, 1)
    if weighted and "cv" in options:
        weights = np.where(weights > 0, 0.5 + np.arange(N) % 3, 0.0)
    model = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(max_depth=3, **options)
    model.fit(X, labels if classes else y, sample_weight=weights if weighted else None)
    claim = model.certificate_["tree.pruning"]
    t, w = rational(labels if classes else y), rational(weights if weighted else np.ones(N))
    risk = squares if not classes else gini if "ccp_alpha" in options else errors
    tree, alpha = grown_nodes(claim.witness), Fraction(claim.numbers["alpha"])
    assert alpha == Fraction(options["ccp_alpha"]) if "ccp_alpha" in options else alpha >= 0
    rows = sent_down(X, tree, range(N))
    costs = {tuple(sorted(leaves)): sum(of(risk, rows[node], t, w) for node in leaves) / sum(w) + alpha * len(leaves)
             for leaves in prunings(tree)}  # fmt: skip
    leaf_rows = sent_down(X, fitted_nodes(model), range(N))
    leaves = [leaf_rows[node] for node, left in enumerate(model.tree_.left) if left < 0]
    own = sum(of(risk, part, t, w) for part in leaves) / sum(w) + alpha * len(leaves)
    assert claim.numbers["grown"] == sum(left < 0 for left in tree[2]) and claim.numbers["n_leaves"] == len(leaves)
    assert own <= Fraction(claim.numbers["cost"]) <= own * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)
    assert own - min(costs.values()) <= Fraction(claim.value) <= Fraction(1, 10**9)
    least = min(
        sum(of(risk, rows[node], t, w) for node in leaves) / sum(w) + 5 * len(leaves) for leaves in prunings(tree)
    )
    cost = own + (5 - alpha) * len(leaves)  # for a larger alpha this pruning is not the cheapest
    proof = proved(model, "tree.pruning", X, labels if classes else y, weights if weighted else None, {"alpha": 5.0})
    assert cost - least <= Fraction(proof.value) <= (cost - least) * (1 + Fraction(1, 10**6)) + Fraction(1, 10**6)
    assert len(leaves) == 1 or cost - least > 1


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [False, True])
def test_reduced_error(shape, weighted, classes):
    X, y, labels, weights = sample(shape, 2)
    target = labels if classes else y
    model = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(pruning="reduced_error", random_state=0)
    model.fit(X, target, sample_weight=weights if weighted else None)
    claim, t, w = (
        model.certificate_["tree.reduced_error"],
        rational(target),
        rational(weights if weighted else np.ones(N)),
    )
    own, held = claim.witness["rows"].tolist(), claim.witness["validation_rows"].tolist()
    tree, values = grown_nodes(claim.witness), claim.witness["whole_value"]
    trained, tested = sent_down(X, tree, own), sent_down(X, tree, held)

    def lost(node):
        """The loss of the validation rows of a node, if it is a leaf."""
        if not classes:
            said = Fraction(float(values[node, 0]))
            return sum(w[i] * (t[i] - said) ** 2 for i in tested[node])
        heavy = [sum(w[i] for i in trained[node] if t[i] == k) for k in range(3)]
        return sum(w[i] for i in tested[node] if t[i] != heavy.index(max(heavy)))

    kept = _leaves_in(tree, fitted_nodes(model))
    total = sum(w[i] for i in held)
    after = sum(lost(node) for node in kept) / total
    before = sum(lost(node) for node, left in enumerate(tree[2]) if left < 0) / total
    single = [sum(lost(n) for n in kept if n in _below(tree, node)) - lost(node) for node in _inner(tree, kept)]
    gain = max([Fraction(0), *single]) / total
    assert claim.numbers["validation"] == len(held) and sorted(own + held) == [i for i in range(N) if w[i] > 0]
    assert after <= Fraction(claim.value) <= after * (1 + Fraction(1, 10**9))
    assert before * (1 - Fraction(1, 10**9)) <= Fraction(claim.numbers["before"]) <= before
    assert gain <= Fraction(claim.numbers["gain"]) <= gain + Fraction(1, 10**9) * max(map(lost, tested)) / total


def _below(tree, node):
    """The node and all nodes below it."""
    _, _, left, right = tree
    return [node] if left[node] < 0 else [node, *_below(tree, int(left[node])), *_below(tree, int(right[node]))]


def _leaves_in(tree, pruned, node=0, other=0):
    """The nodes of a grown tree that are the leaves of a pruning."""
    if pruned[2][other] < 0:
        return [node]
    assert tree[0][node] == pruned[0][other] and tree[1][node] == pruned[1][other]
    return [
        leaf for side in (2, 3) for leaf in _leaves_in(tree, pruned, int(tree[side][node]), int(pruned[side][other]))
    ]


def _inner(tree, kept):
    """The nodes of a pruning that are no leaves of it."""
    return [
        node for node in range(len(tree[2])) if node not in kept and any(leaf in _below(tree, node) for leaf in kept)
    ]
