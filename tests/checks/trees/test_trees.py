"""The checker of trees accepts honest trees on hard data, refuses every wrong claim, and agrees with brute force."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.forging import accepted_forgeries, changed_values, resealed_model, verified_strictly
from tests.hard_data import hard_data

from surefit import DecisionTreeClassifier, DecisionTreeRegressor
from surefit.checks.trees.cuts import Limits, Node, best_cuts
from surefit.checks.trees.impurity import of_counts, prefix_distances, weighted_median
from surefit.checks.trees.nodes import Rows, children_of
from surefit.checks.trees.splits import grown, largest_shortfall
from surefit.core.catalog import entry
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, Invalidated
from surefit.core.sample import read

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.where(RNG.random(120) < 0.15, RNG.integers(0, 2, 120), X[:, 0] > 0).astype(int)


def forged(certificate, name=None, model=None, problem=None, **changes):
    """A certificate with another claim, model or problem, sealed afresh."""
    claims = tuple(replace(c, **changes) if c.name == name else c for c in certificate.claims)
    return replace(
        certificate,
        claims=claims,
        model={**certificate.model, **(model or {})},
        problem={**certificate.problem, **(problem or {})},
        subject=None,
        seal="",
    )


def refuse(certificate, match, X=X, y=Y):
    with pytest.raises(CertificateError, match=match):
        certificate.verify(X, y)


def test_a_worse_split_is_refused():
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    threshold = model.node_threshold_.copy()
    threshold[0] += 0.5
    refuse(forged(model.certificate_, model={"node_threshold_": threshold}), "'tree.splits' does not hold")


def test_a_tie_is_not_refused():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1])
    model = DecisionTreeClassifier().fit(X, y)
    feature = model.node_feature_.copy()
    feature[0] = 1  # as good as column 0
    forged(model.certificate_, model={"node_feature_": feature}).verify(X, y)


def test_wrong_leaf_values_are_refused():
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    refuse(forged(model.certificate_, model={"node_value_": model.node_value_[:, ::-1]}), "'tree.leaves' does not hold")
    real = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0])
    refuse(forged(real.certificate_, model={"node_value_": real.node_value_ + 1e-3}), "'tree.leaves'", y=X[:, 0])


def test_wrong_numbers_are_refused():
    model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    claim = model.certificate_["tree.accounting"]
    refuse(forged(model.certificate_, "tree.accounting", value=claim.value * 0.9), "'tree.accounting' does not hold")
    wrong = forged(model.certificate_, "tree.accounting", numbers={"root": claim.numbers["root"] * 1.1})
    refuse(wrong, "'tree.accounting' does not hold")
    numbers = model.certificate_["tree.limits"].numbers
    refuse(forged(model.certificate_, "tree.limits", numbers={**numbers, "depth": 2}), "'tree.limits' does not hold")
    refuse(forged(model.certificate_, problem={"max_depth": 2}), "does not follow from the parameters")


@pytest.mark.parametrize("options", [{"pruning": "cost_complexity"}, {"ccp_alpha": 0.02}])
def test_a_pruning_that_is_not_best_is_refused(options):
    model = DecisionTreeClassifier(**options).fit(X, Y)
    claim = model.certificate_["tree.pruning"]
    other = claim.witness["whole_threshold"].copy()
    other[0] += 0.1
    wrong = forged(model.certificate_, "tree.pruning", witness={**claim.witness, "whole_threshold": other})
    refuse(wrong, "not a pruning of the grown tree")
    chosen = {"pruning_alpha_": np.array(1.0)}  # with this penalty only the root alone is best
    cost = {**claim.numbers, "alpha": 1.0, "cost": claim.numbers["cost"] + model.get_n_leaves()}
    if options == {"pruning": "cost_complexity"}:
        wrong = forged(model.certificate_, "tree.pruning", chosen, {"alpha": 1.0}, numbers=cost)
        refuse(wrong, "'tree.pruning' does not hold")


def test_reduced_error_claims_are_refused_when_wrong():
    model = DecisionTreeClassifier(pruning="reduced_error", random_state=0).fit(X, Y)
    claim = model.certificate_["tree.reduced_error"]
    wrong = {**claim.numbers, "before": claim.numbers["before"] * 1.5 + 1}
    refuse(forged(model.certificate_, "tree.reduced_error", numbers=wrong), "reduced_error")
    both = {**claim.witness, "rows": np.arange(120)}
    refuse(forged(model.certificate_, "tree.reduced_error", witness=both), "does not hold")


def test_occam_claims_are_refused_when_wrong():
    model = DecisionTreeClassifier(thresholds=[-0.5, 0.0, 0.5], max_depth=2).fit(X, Y)
    claim = model.certificate_["tree.occam"]
    refuse(forged(model.certificate_, "tree.occam", value=claim.value * 0.9), "'tree.occam' does not hold")
    fewer = {**claim.numbers, "bits": claim.numbers["bits"] - 5}
    refuse(forged(model.certificate_, "tree.occam", numbers=fewer), "'tree.occam' does not hold")
    moved = {"node_threshold_": model.node_threshold_ + 0.01}
    refuse(forged(model.certificate_, model=moved), "not among the allowed ones")


def test_other_data_and_edited_models_are_noticed():
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    with pytest.raises(Invalidated, match="X differ"):
        model.verify(X + 1, Y)
    model.tree_ = model.tree_._replace(threshold=model.tree_.threshold + 1)
    with pytest.raises(Invalidated, match="node_threshold_ was changed"):
        model.verify(X, Y)
    backwards = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    left = backwards.node_left_.copy()
    left[0] = 0
    refuse(forged(backwards.certificate_, model={"node_left_": left}), "not in order")


@pytest.mark.parametrize("seed", range(5))
def test_prefix_distances_are_distances_from_medians(seed):
    rng = np.random.default_rng(seed)
    y, w = rng.integers(0, 8, 30).astype(float), rng.integers(1, 4, 30).astype(float)
    found, _ = prefix_distances(y, w)
    for k in range(1, 31):
        assert found[k - 1] == pytest.approx(min(w[:k] @ abs(y[:k] - c) for c in y[:k]))
        assert w[:k] @ abs(y[:k] - weighted_median(y[:k], w[:k])) == pytest.approx(found[k - 1])


def test_rounding_is_enclosed():
    model = DecisionTreeClassifier(criterion="entropy", pruning="cost_complexity").fit(X, Y)
    found = model.verify(X, Y)
    assert found["tree.splits"].level == found["tree.pruning"].level == "enclosed"
    assert 0 < found["tree.splits"].proved < 1e-12 and 0 < found["tree.pruning"].proved < 1e-9
    weights = RNG.uniform(0.5, 1.5, 120)
    weighted = DecisionTreeClassifier().fit(X, Y, sample_weight=weights)
    assert weighted.verify(X, Y, sample_weight=weights)["tree.splits"].proved < 1e-9


OPTIONS = [
    {},
    {"criterion": 2, "pruning": "cost_complexity"},
    {"criterion": 1, "pruning": "reduced_error", "random_state": 0},
    {"criterion": 1, "max_bins": 8, "min_gain": 1e-3},
    {"thresholds": [-1.0, 0.0, 1.0], "min_weight_fraction_leaf": 0.1},
]
CRITERIA = {
    DecisionTreeClassifier: ("gini", "entropy", "misclassification"),
    DecisionTreeRegressor: ("squared_error", "poisson", "absolute_error"),
}


@pytest.mark.parametrize("kind", CRITERIA, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("hard", hard_data(24), ids=lambda hard: hard.name)
def test_honest_trees_of_hard_data_verify_strictly(kind, hard):
    for options in OPTIONS:
        criterion = CRITERIA[kind][options.get("criterion", 0)]
        y = hard.labels if kind is DecisionTreeClassifier else np.abs(hard.y) if criterion == "poisson" else hard.y
        model = kind(**{**options, "criterion": criterion}).fit(hard.X, y, sample_weight=hard.weights)
        verified_strictly(model, hard.X, y, hard.weights)


def test_targets_far_from_zero_are_no_reason_to_refuse():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        U, v = rng.normal(size=(40, 2)), rng.normal(size=40) + 10.0 ** rng.uniform(4, 9)
        model = DecisionTreeRegressor(max_depth=3).fit(U, v)
        assert verified_strictly(model, U, v)["tree.splits"].proved < 1e-6


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3, class_weight="balanced"),
        DecisionTreeClassifier(thresholds=[-0.5, 0.5], max_depth=2),
        DecisionTreeClassifier(ccp_alpha=0.005),
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0], max_depth=3),
        DecisionTreeRegressor(max_depth=2, max_bins=8),
        DecisionTreeRegressor(pruning="reduced_error", random_state=0, max_depth=3),
    ],
    ids=str,
)
def test_no_change_of_a_certificate_is_accepted(model):
    model.fit(X, Y)
    # Unused fields of leaves mean nothing, another split of equal gain is as good, and a lower alpha may have the same best pruning.
    free = (
        "model node_feature_ one entry",
        "model node_left_ one entry",
        "model node_right_ one entry",
        "model node_threshold_ one entry",
        "model node_right_ zero",
        "model node_missing_left_",
        "model node_start_",
        "model node_words_",
        "model node_branches_",
    )
    assert (
        accepted_forgeries(
            model.certificate_, X, Y, but=(*free, "model n_codes_", "model is_categorical_", "model pruning_alpha_")
        )
        == []
    )


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=3), DecisionTreeRegressor(max_depth=3)], ids=str)
def test_no_change_of_a_model_is_accepted(model):
    model.fit(X, Y)
    expected = model.predict(X)
    changes = [("classes_", other) for _, other in changed_values(model.classes_)] if hasattr(model, "classes_") else []
    for name in ("feature", "threshold", "left", "right", "values", "kind"):
        changes += [("tree_", model.tree_._replace(**{name: v})) for _, v in changed_values(getattr(model.tree_, name))]
    for name, value in changes:
        other = resealed_model(model, name, value)
        try:
            other.verify(X, Y)
        except CertificateError:
            continue
        np.testing.assert_array_equal(other.predict(X), expected)


def test_hostile_trees_end_in_a_sentence():
    model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    m = len(model.node_kind_)
    cyclic = {"node_left_": np.zeros(m, dtype=np.int32)}
    refuse(forged(model.certificate_, model=cyclic), "not in order")
    refuse(forged(model.certificate_, model={"node_feature_": np.full(m, 99)}), "does not exist")
    refuse(forged(model.certificate_, model={"node_value_": np.full((m, 2), np.nan)}), "not a number")
    refuse(forged(model.certificate_, model={"node_kind_": np.full(m, 2)}), "does not exist|not stored|not in order")
    refuse(forged(model.certificate_, model={"node_threshold_": np.zeros(3)}), "one entry per node")


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_shortfalls_agree_with_brute_force(criterion):
    rng = np.random.default_rng(1)
    for _ in range(20):
        U, v = rng.normal(size=(9, 2)).round(1), rng.integers(0, 5, 9) + 0.5
        model = DecisionTreeRegressor(max_depth=1, criterion=criterion).fit(U, v)
        feature, threshold = int(rng.integers(2)), float(np.sort(U[:, 0])[4])

        def total(part):
            center = np.median(part) if criterion == "absolute_error" else np.mean(part)
            if criterion == "absolute_error":
                return np.sum(np.abs(part - center))
            return (
                np.sum((part - center) ** 2) if criterion == "squared_error" else np.sum(part * np.log(part / center))
            )

        def inside(mask, v=v):
            return total(v[mask]) + total(v[~mask])

        cuts = [(j, t) for j in range(2) for t in np.unique(U[:, j])[:-1]]
        best = min(inside(U[:, j] <= t) for j, t in cuts)
        mask = U[:, feature] <= threshold
        if mask.all() or not mask.any():
            continue
        tree = model.tree_._replace(
            feature=np.array([feature, -2, -2], dtype=np.int32), threshold=np.array([threshold, np.nan, np.nan])
        )
        other = resealed_model(model, "tree_", tree)
        short = (inside(mask) - best) / total(v)
        claim = entry("tree.splits").check(other.certificate_, Claim("tree.splits"), read(U, v))
        assert claim.value == pytest.approx(short, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_one_pass_over_all_nodes_agrees_with_brute_force(criterion):
    """Every node has its own rows, missing values included; the largest gain is that of the best of all cuts."""
    rng = np.random.default_rng(2)
    U, codes, w = (
        rng.integers(0, 4, (60, 3)).astype(float),
        rng.integers(0, 3, 60),
        rng.integers(1, 4, 60).astype(float),
    )
    U[rng.random(U.shape) < 0.1] = np.nan
    sample = Rows(U, codes, w, 3, np.arange(60))
    parts = [np.sort(rng.choice(60, size, replace=False)) for size in (60, 25, 7, 2)]
    nodes = [Node(sample, mine, criterion, True) for mine in parts]
    found = best_cuts(nodes, U[np.concatenate(parts)], [0, 1, 2], Limits(2, 0.0, None))

    def worth(mine):
        return -of_counts(np.bincount(codes[mine], weights=w[mine], minlength=3)[:, None], criterion)[0]

    for best, mine in zip(found, parts, strict=True):
        gains = [-np.inf]
        for j, first in product(range(3), (True, False)):
            x = U[mine, j]
            for cut in (-np.inf, *np.unique(x[x == x])):
                left = (x <= cut) | (np.isnan(x) & first)
                if 2 <= left.sum() <= len(mine) - 2 and not (cut == -np.inf and not first):
                    gains.append(worth(mine[left]) + worth(mine[~left]))
        assert best == pytest.approx(max(gains), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_errors_of_all_nodes_at_once_are_those_of_each_node(weighted):
    Z, y = np.round(X, 1), X[:, 0] + RNG.normal(size=len(X)) + 1e3
    w = 10.0 ** RNG.uniform(-3, 3, len(X)) if weighted else None
    model = DecisionTreeRegressor(max_depth=5).fit(Z, y, sample_weight=w)
    certificate, limits = model.certificate_, Limits(1, 0.0, None)
    shape = grown(certificate, read(Z, y, w))
    nodes = np.flatnonzero(shape.tree.kind != 0)
    mine = [shape.of(node) for node in nodes]
    rows = [Node(shape.sample, each, "squared_error") for each in mine]
    best = best_cuts(rows, shape.sample.X[np.concatenate(mine)], [0, 1, 2], limits)
    sides = [
        [np.isin(own, shape.of(child)).nonzero()[0] for child in children_of(shape, node)]
        for own, node in zip(mine, nodes, strict=True)
    ]
    low, high = np.array([node.gain(own) for node, own in zip(rows, sides, strict=True)]).T
    doubts = np.array([node.doubt for node in rows])
    worst, doubt = largest_shortfall(shape, nodes, certificate.problem, limits)
    scale = 1e-12 * float(np.sum(shape.sample.w * (y - y.mean()) ** 2))
    assert worst == pytest.approx((np.maximum(best - low, 0.0) + doubts).max(), rel=0.1, abs=scale)
    assert doubt == pytest.approx((2 * (high - low) + 2 * doubts).max(), rel=0.1, abs=scale)


@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_blocks_of_columns_prove_the_same_numbers(Tree, monkeypatch):
    generator = np.random.default_rng(3)
    X = generator.normal(size=(400, 9))
    y = (X[:, 0] + X[:, 4] + generator.normal(size=400) > 0).astype(int)
    X[::7, 2] = np.nan
    whole = Tree(max_depth=4).fit(X, y).certificate_
    monkeypatch.setattr("surefit.checks.trees.splits.SHARED", 1)
    monkeypatch.setattr("surefit.checks.trees.splits.blas_threads", lambda: 3)
    shared = Tree(max_depth=4).fit(X, y).certificate_
    assert [(claim.name, claim.value) for claim in shared.claims] == [
        (claim.name, claim.value) for claim in whole.claims
    ]
    shared.verify(X, y)
