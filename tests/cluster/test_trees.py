"""Decision trees on Dask collections: the trees of one machine where columns have few values, whatever the partitions are."""

from dataclasses import replace

import dask
import numpy as np
import pytest
from sklearn.base import clone
from tests.cluster.test_boosted_trees import chunked, spread

from surefit import DecisionTreeClassifier, DecisionTreeRegressor
from surefit.core.errors import CertificateError, InvalidData, InvalidParameter

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(300, 4)), 1)
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=300)
S = np.where(np.arange(300) % 11 == 3, 0.0, RNG.uniform(0.5, 2.0, size=300))
LABELS = np.where(Y > 0, "up", "down")
THREE = np.digitize(Y, [-0.5, 0.5])
COUNTS = np.floor(np.exp(Y))
CASES = {
    "two classes": (DecisionTreeClassifier(), LABELS),
    "three classes": (DecisionTreeClassifier(criterion="entropy", max_depth=4), THREE),
    "errors": (DecisionTreeClassifier(criterion="misclassification", max_depth=3), THREE),
    "class weights": (DecisionTreeClassifier(max_leaf_nodes=7, class_weight={0: 1.0, 1: 2.0, 2: 0.5}), THREE),
    "squared": (DecisionTreeRegressor(min_samples_leaf=3), Y),
    "few leaves": (DecisionTreeRegressor(max_leaf_nodes=9, min_impurity_decrease=1e-3), Y),
    "pruned": (DecisionTreeRegressor(max_depth=6, ccp_alpha=0.02, min_weight_fraction_leaf=0.02), Y),
    "poisson": (DecisionTreeRegressor(criterion="poisson", max_depth=4), COUNTS),
    "monotone": (DecisionTreeRegressor(max_depth=4, monotonic_cst=[1, 0, -1, 0]), Y + X[:, 0]),
    "bins": (DecisionTreeRegressor(max_depth=4, max_bins=12), Y),
}
SHAPE = ("kind", "feature", "threshold", "left", "right", "missing_left", "n_rows", "reason", "depth")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same_tree(ours, theirs):
    for name in SHAPE:
        assert np.array_equal(getattr(ours, name), getattr(theirs, name), equal_nan=name == "threshold"), name
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.impurity, theirs.impurity, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(ours.gain, theirs.gain, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("case", CASES)
def test_trees_are_those_of_one_machine_and_certificates_verify_both_ways(case):
    model, y = CASES[case]
    weights = S if case in ("three classes", "few leaves", "pruned", "poisson") else None
    memory = clone(model).fit(X, y, sample_weight=weights)
    fits = [spread(model, X, y, parts, weights) for parts in (1, 3, 7)]
    for ours in fits:
        assert_same_tree(ours.tree_, memory.tree_)
        for name in ("values", "impurity", "gain", "weight"):  # sums of integers do not depend on the partitions
            assert getattr(ours.tree_, name).tobytes() == getattr(fits[0].tree_, name).tobytes()
        assert ours.certificate_.problem == memory.certificate_.problem
    ours = fits[1]
    assert all(finding.ok for finding in ours.verify(X, y, weights))
    found = ours.verify(chunked(X, 5), chunked(y, 5), chunked(weights, 5))
    assert all(finding.ok for finding in found)
    if case not in ("monotone",):
        splits = ours.certificate_["tree.candidate_splits"]
        assert splits.value < 1e-9 and splits.numbers["splits"] == np.count_nonzero(memory.tree_.kind)
        assert splits.numbers["compared"] > 0.6 * splits.numbers["splits"]  # large trees are sampled
        assert splits.numbers["complete"] == (0 if case == "bins" else 4)
    assert np.array_equal(ours.predict(chunked(X, 4)).compute(), ours.predict(X))


def test_certificates_of_one_machine_verify_on_partitions_but_for_all_cuts():
    for model, y in (CASES["pruned"], CASES["three classes"]):
        memory = clone(model).fit(X, y)
        with pytest.raises(CertificateError, match=r"tree\.splits.*with the rows in memory only"):
            memory.verify(chunked(X, 3), chunked(y, 3))
        without = replace(
            memory.certificate_,
            claims=tuple(c for c in memory.certificate_.claims if c.name != "tree.splits"),
            seal="",
            subject=None,
        )
        without.verify(chunked(X, 3), chunked(y, 3))


def test_columns_with_many_values_are_cut_at_edges_of_bins():
    many = X + 1e-3 * np.arange(300)[:, None]  # 300 values in each column
    ours = spread(DecisionTreeRegressor(max_depth=4), many, Y, 3)
    assert_same_tree(ours.tree_, DecisionTreeRegressor(max_depth=4, max_bins=255).fit(many, Y).tree_)
    splits = ours.certificate_["tree.candidate_splits"]
    assert splits.numbers["complete"] == 0 and 240 < splits.numbers["candidates"] / 4 < 255
    ours.verify(many, Y)


def test_missing_values_and_equal_targets():
    table, y = X.copy(), Y.copy()
    table[RNG.random(table.shape) < 0.15] = np.nan
    y[np.isnan(table[:, 0])] = 5.0  # equal targets end a branch
    for model, target in ((DecisionTreeRegressor(max_depth=5), y), (DecisionTreeClassifier(max_depth=5), y > 1)):
        ours, memory = spread(model, table, target, 3), clone(model).fit(table, target)
        assert_same_tree(ours.tree_, memory.tree_)
        ours.verify(table, target)
        ours.verify(chunked(table, 4), chunked(target, 4))
    assert np.any(memory.tree_.threshold == np.inf) or np.any(memory.tree_.missing_left)


def test_the_bits_do_not_depend_on_threads_or_on_what_is_kept(monkeypatch):
    model = DecisionTreeRegressor(max_features=2, splitter="random", max_leaf_nodes=12, random_state=4)
    first = spread(model, X, Y, 7, S)
    assert first.certificate_["tree.random_splits"].kind == "no_claim"
    runs = []
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            runs.append(spread(model, X, Y, 7, S))
    monkeypatch.setattr("surefit.cluster.rows.KEPT_LOCALLY", 1000)
    monkeypatch.setattr("surefit.solvers.trees.passes.MOST_BYTES", 1)  # one histogram per pass
    runs.append(spread(model, X, Y, 7, S))
    for again in runs:
        for name in (*SHAPE, "values", "impurity"):
            assert getattr(again.tree_, name).tobytes() == getattr(first.tree_, name).tobytes()
        assert repr(again.certificate_.claims) == repr(first.certificate_.claims)


@pytest.mark.parametrize("change", ["value", "threshold", "edges", "claim", "data"])
def test_verify_refuses_what_was_changed(change):
    model = spread(CASES["few leaves"][0], X, Y, 3)
    rows, certificate = X.copy(), model.certificate_
    if change in ("value", "threshold"):
        name = f"node_{change}_"
        altered = certificate.model[name].copy()
        altered[-1 if change == "value" else 0] += 1e-6 if change == "value" else 0.3
        certificate = replace(certificate, model={**certificate.model, name: altered}, seal="", subject=None)
    elif change == "data":
        rows[123, 2] += 0.1
    else:
        claims = []
        for c in certificate.claims:
            if c.name == "tree.candidate_splits" and change == "edges":  # fewer candidates than stated
                c = replace(c, witness={"edges": c.witness["edges"][:0], "edge_counts": np.zeros(4, dtype=np.int64)})
            if c.name == "tree.accounting" and change == "claim":
                c = replace(c, value=c.value - 1e-6)
            claims.append(c)
        certificate = replace(certificate, claims=tuple(claims), seal="", subject=None)
    for parts in (None, 4):
        with pytest.raises(CertificateError):
            certificate.verify(*(rows, Y) if parts is None else (chunked(rows, parts), chunked(Y, parts)))


def test_a_worse_split_is_measured():
    ours = spread(DecisionTreeRegressor(max_depth=1), X, Y, 3)
    poor = clone(ours).set_params(max_features=1, random_state=0)
    seeds = [spread(poor.set_params(random_state=k), X, Y, 3) for k in range(6)]
    worse = next(model for model in seeds if model.tree_.feature[0] != ours.tree_.feature[0])
    stated = ours.certificate_
    model = {name: worse.certificate_.model.get(name, value) for name, value in stated.model.items()}
    forged = replace(stated, model=model, claims=stated.claims[:1], seal="", subject=None)
    with pytest.raises(CertificateError, match=r"tree\.candidate_splits"):
        forged.verify(chunked(X, 3), chunked(Y, 3))


def test_options_that_need_rows_in_memory():
    for options in ({"categorical_features": [0]}, {"pruning": "cost_complexity"}, {"thresholds": [0.0]}):
        with pytest.raises(InvalidParameter, match="for rows in partitions"):
            spread(DecisionTreeClassifier(**options), X, LABELS, 3)
    with pytest.raises(InvalidParameter, match="medians do not add up"):
        spread(DecisionTreeRegressor(criterion="absolute_error"), X, Y, 3)
    with pytest.raises(InvalidParameter, match="None or a dict for weighted rows"):
        spread(DecisionTreeClassifier(class_weight="balanced"), X, LABELS, 3, S)
    with pytest.raises(InvalidData, match="needs y >= 0 with a positive sum"):
        spread(DecisionTreeRegressor(criterion="poisson"), X, Y, 3)
    with pytest.raises(InvalidData, match="one number per row in partitions"):
        spread(DecisionTreeRegressor(), X, np.column_stack([Y, Y]), 3)


def test_parquet_files(tmp_path):
    import pandas as pd

    for i in range(2):
        table = pd.DataFrame(X[150 * i : 150 * i + 150], columns=list("abcd"))
        table.assign(y=Y[150 * i : 150 * i + 150]).to_parquet(tmp_path / f"{i}.parquet")
    model = DecisionTreeRegressor(max_depth=3).fit(str(tmp_path), "y")
    assert_same_tree(model.tree_, DecisionTreeRegressor(max_depth=3).fit(X, Y).tree_)
    model.verify(str(tmp_path), "y")
    assert model.feature_names_in_.tolist() == list("abcd") and model.cluster_["passes"] <= 4 + 3 + 3
