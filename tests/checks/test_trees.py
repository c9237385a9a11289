"""The checker of trees refuses every wrong claim, and agrees with brute force on medians."""

from dataclasses import replace

import numpy as np
import pytest

from surefit import DecisionTreeClassifier, DecisionTreeRegressor
from surefit.checks.trees_impurity import prefix_distances, weighted_median
from surefit.core.errors import CertificateError, Invalidated

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
    numbers = model.certificate_["tree.accounting"].numbers
    wrong = forged(model.certificate_, "tree.accounting", numbers={**numbers, "leaves": numbers["leaves"] * 0.9})
    refuse(wrong, "'tree.accounting' does not hold")
    wrong = forged(model.certificate_, "tree.limits", numbers={"depth": 2, "n_leaves": model.get_n_leaves()})
    refuse(wrong, "'tree.limits' does not hold")
    refuse(forged(model.certificate_, problem={"max_depth": 2}), "'tree.limits' does not hold")
    refuse(forged(model.certificate_, problem={"min_samples_leaf": 50}), "'tree.limits' does not hold")


@pytest.mark.parametrize("options", [{"pruning": "cost_complexity"}, {"ccp_alpha": 0.02}])
def test_a_pruning_that_is_not_best_is_refused(options):
    model = DecisionTreeClassifier(**options).fit(X, Y)
    claim = model.certificate_["tree.pruning"]
    alpha = 1.0  # at this price of a leaf only the root alone is best
    risk = claim.numbers["cost"] - claim.numbers["alpha"] * model.get_n_leaves()
    cost = risk + alpha * model.get_n_leaves()
    wrong = forged(model.certificate_, "tree.pruning", numbers={**claim.numbers, "alpha": alpha, "cost": cost})
    refuse(wrong, "'tree.pruning' does not hold")
    other = claim.witness["whole_threshold"].copy()
    other[0] += 0.1
    wrong = forged(model.certificate_, "tree.pruning", witness={**claim.witness, "whole_threshold": other})
    refuse(wrong, "no pruning of the stated whole tree")


def test_reduced_error_claims_are_refused_when_wrong():
    model = DecisionTreeClassifier(pruning="reduced_error", random_state=0).fit(X, Y)
    claim = model.certificate_["tree.reduced_error"]
    risks = claim.witness["risks"].copy()
    risks[0] *= 1.5
    refuse(forged(model.certificate_, "tree.reduced_error", witness={**claim.witness, "risks": risks}), "reduced_error")
    both = {**claim.witness, "rows": np.arange(120)}
    refuse(forged(model.certificate_, "tree.reduced_error", witness=both), "rows kept apart")


def test_occam_claims_are_refused_when_wrong():
    model = DecisionTreeClassifier(thresholds=[-0.5, 0.0, 0.5], max_depth=2).fit(X, Y)
    claim = model.certificate_["tree.occam"]
    refuse(forged(model.certificate_, "tree.occam", value=claim.value * 0.9), "'tree.occam' does not hold")
    fewer = {**claim.numbers, "bits": claim.numbers["bits"] - 5}
    refuse(forged(model.certificate_, "tree.occam", numbers=fewer), "'tree.occam' does not hold")
    edges = {**claim.witness, "edges": claim.witness["edges"] + 0.01}
    refuse(forged(model.certificate_, "tree.occam", witness=edges), "'tree.occam' does not hold")
    splits = model.certificate_["tree.splits"].witness
    undeclared = {**splits, "edges": splits["edges"] + 0.01}
    refuse(forged(model.certificate_, "tree.splits", witness=undeclared), "was not declared")


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
    found = prefix_distances(y, w)
    for k in range(1, 31):
        assert found[k - 1] == pytest.approx(min(w[:k] @ abs(y[:k] - c) for c in y[:k]))
        assert w[:k] @ abs(y[:k] - weighted_median(y[:k], w[:k])) == pytest.approx(found[k - 1])


def test_rounding_is_enclosed_for_whole_weights_only():
    model = DecisionTreeClassifier(criterion="entropy", pruning="cost_complexity").fit(X, Y)
    found = model.verify(X, Y)
    assert found["tree.splits"].level == found["tree.pruning"].level == "enclosed"
    assert 0 < found["tree.splits"].proved < 1e-12 and 0 < found["tree.pruning"].proved < 1e-9
    weights = RNG.uniform(0.5, 1.5, 120)
    weighted = DecisionTreeClassifier().fit(X, Y, sample_weight=weights)
    assert weighted.verify(X, Y, sample_weight=weights)["tree.splits"].level == "recomputed"
