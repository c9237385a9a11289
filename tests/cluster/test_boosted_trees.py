"""Gradient boosting on Dask collections: the trees of one machine, the same bits for any scheduler, claims that passes re-derive."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from surefit import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from surefit.cluster import DaskRows, rows_of
from surefit.core.errors import CertificateError, ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.partitioned import ClusterLost, row_draws
from surefit.losses import Huber
from surefit.solvers.boosting.losses import weighted_quantile
from surefit.solvers.boosting.quantiles import quantiles
from surefit.solvers.boosting.rows import Binned, Rows, targets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * RNG.normal(size=400)
S = RNG.uniform(0.5, 2.0, size=400)
LABELS = np.where(Y > 0.2, "up", "down")
THREE = np.digitize(Y, [-0.5, 0.5])
SMALL = {"max_iter": 3, "max_leaf_nodes": 7, "learning_rate": 0.5}
CASES = {
    "squared": (HistGradientBoostingRegressor(**SMALL), Y),
    "absolute": (HistGradientBoostingRegressor("absolute_error", **SMALL), Y),
    "quantile": (HistGradientBoostingRegressor("quantile", quantile=0.8, **SMALL), Y),
    "huber": (HistGradientBoostingRegressor(Huber(0.5), **SMALL), Y),
    "poisson": (HistGradientBoostingRegressor("poisson", **SMALL), np.floor(np.exp(Y))),
    "gamma": (HistGradientBoostingRegressor("gamma", **SMALL), np.exp(Y)),
    "monotone": (HistGradientBoostingRegressor(monotonic_cst=[1, 0, -1, 0, 0], **SMALL), Y),
    "drawn columns": (HistGradientBoostingRegressor(max_features=0.5, random_state=3, **SMALL), Y),
    "interactions": (HistGradientBoostingRegressor(interaction_cst="pairwise", **SMALL), Y),
    "two classes": (HistGradientBoostingClassifier(**SMALL), LABELS),
    "three classes": (HistGradientBoostingClassifier(class_weight={0: 2.0, 1: 1.0, 2: 0.5}, **SMALL), THREE),
    "exponential": (HistGradientBoostingClassifier("exponential", **SMALL), LABELS),
}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setattr("surefit.cluster.training.boosted_trees.CELLS", 0)  # partitions are not joined
    with dask.config.set(scheduler="synchronous"):
        yield


def join_partitions(monkeypatch, cells=2**24):
    monkeypatch.setattr("surefit.cluster.training.boosted_trees.CELLS", cells)


def chunked(array, parts):
    return None if array is None else da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


def spread(model, X, y, parts, weights=None):
    return clone(model).fit(chunked(X, parts), chunked(y, parts), sample_weight=chunked(weights, parts))


def assert_same_trees(ours, theirs):
    inner = theirs.tree_feature_ >= 0
    assert np.array_equal(ours.tree_feature_, theirs.tree_feature_)
    for name in ("bin", "left", "right", "missing_left", "subset"):
        assert np.array_equal(getattr(ours, f"tree_{name}_")[inner], getattr(theirs, f"tree_{name}_")[inner])
    np.testing.assert_allclose(ours.tree_value_, theirs.tree_value_, rtol=1e-11, atol=1e-13)
    assert np.array_equal(ours.bin_cuts_, theirs.bin_cuts_)
    np.testing.assert_allclose(ours.training_losses_, theirs.training_losses_, rtol=1e-12)


@pytest.mark.parametrize(
    ("case", "parts"),
    [(case, 3) for case in CASES] + [(c, p) for c in ("squared", "quantile", "three classes") for p in (1, 7)],
)
def test_trees_are_those_of_one_machine_and_certificates_verify_both_ways(case, parts):
    model, y = CASES[case]
    weights = S if parts == 3 else None
    ours, memory = spread(model, X, y, parts, weights), clone(model).fit(X, y, sample_weight=weights)
    assert_same_trees(ours, memory)
    for fitted in (ours, memory):
        in_memory = fitted.verify(X, y, weights)
        in_parts = fitted.verify(chunked(X, 5), chunked(y, 5), chunked(weights, 5))
        for name in ("boosted_trees.leaves", "boosted_trees.loss"):
            assert in_memory[name].ok and in_parts[name].ok
        assert in_parts["boosted_trees.leaves"].proved < 1e-10
    claims = [(c.name, c.numbers.keys()) for c in ours.certificate_.claims]
    assert claims == [(c.name, c.numbers.keys()) for c in memory.certificate_.claims]
    assert np.array_equal(ours.predict(chunked(X, 4)).compute(), ours.predict(X))


@pytest.mark.parametrize("case", CASES)
def test_partitions_that_are_joined_need_one_pass_for_several_rounds(case, monkeypatch):
    join_partitions(monkeypatch)
    model, y = CASES[case]
    memory, first = clone(model).fit(X, y, sample_weight=S), None
    for parts, span, passes in ((1, 0.0, 3), (3, 1e9, 2), (7, 1e9, 2)):
        monkeypatch.setattr("surefit.solvers.boosting.partitioned.SPAN", span)
        ours = spread(model, X, y, parts, S)
        first = first or ours
        assert_same_trees(ours, memory)
        assert ours.training_losses_.tobytes() == first.training_losses_.tobytes()
        assert ours.tree_value_.tobytes() == first.tree_value_.tobytes()  # for any partitions
        assert ours.baseline_.tobytes() == first.baseline_.tobytes()
        quantiles = 6 * (case in ("absolute", "quantile", "huber"))
        assert ours.cluster_["passes"] == 5 + quantiles + (3 if case == "drawn columns" else passes)
    ours.verify(X, y, S)
    ours.verify(chunked(X, 5), chunked(y, 5), chunked(S, 5))


def test_early_stopping_and_more_rounds_of_joined_partitions(monkeypatch):
    options = {**SMALL, "early_stopping": True, "n_iter_no_change": 2, "validation_fraction": 0.25, "random_state": 5}
    model = HistGradientBoostingClassifier(**{**options, "max_iter": 12, "max_features": 0.5})
    alone = spread(model, X, LABELS, 7)
    join_partitions(monkeypatch)
    monkeypatch.setattr("surefit.solvers.boosting.partitioned.SPAN", 1e9)
    ours = spread(model, X, LABELS, 7)
    assert ours.n_iter_ == alone.n_iter_ < 12
    np.testing.assert_allclose(ours.validation_score_, alone.validation_score_, rtol=1e-12)
    assert_same_trees(ours, alone)
    every = clone(model).set_params(max_features=1.0)  # the last pass runs rounds that early stopping discards
    ahead = spread(every, X, LABELS, 7)
    monkeypatch.setattr("surefit.solvers.boosting.partitioned.SPAN", 0.0)
    alone = spread(every, X, LABELS, 7)
    assert ahead.n_iter_ == alone.n_iter_ < 12
    assert ahead.tree_value_.tobytes() == alone.tree_value_.tobytes()
    assert ahead.training_losses_.tobytes() == alone.training_losses_.tobytes()
    short = HistGradientBoostingRegressor(**{**SMALL, "max_iter": 1}, warm_start=True)
    short.fit(chunked(X, 3), chunked(Y, 3)).set_params(max_iter=3).fit(chunked(X, 3), chunked(Y, 3))
    assert short.tree_value_.tobytes() == spread(CASES["squared"][0], X, Y, 3).tree_value_.tobytes()


def test_some_partitions_are_joined(monkeypatch):
    model, y = CASES["three classes"]
    alone = spread(model, X, y, 7)
    join_partitions(monkeypatch, 5 * 130)  # 58 rows per partition: groups of two
    ours = spread(model, X, y, 7)
    assert_same_trees(ours, alone)
    assert ours.cluster_["bytes_reduced"] < alone.cluster_["bytes_reduced"]


@pytest.mark.parametrize("case", ["squared", "quantile", "three classes"])
def test_the_bits_do_not_depend_on_the_number_of_threads(case):
    model, y = CASES[case]
    first = spread(model, X, y, 7, S)
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            again = spread(model, X, y, 7, S)
        assert again.tree_value_.tobytes() == first.tree_value_.tobytes()
        assert again.baseline_.tobytes() == first.baseline_.tobytes()
        assert repr(again.certificate_.claims) == repr(first.certificate_.claims)


def test_leaves_without_limit_missing_values_and_categories():
    table = X.copy()
    table[RNG.random(table.shape) < 0.1] = np.nan
    table[:, 4] = RNG.integers(6, size=400)
    y = Y + np.where(np.isnan(table[:, 0]), 2.0, 0.0) + (table[:, 4] % 3)
    for options in ({"max_leaf_nodes": 12}, {"max_leaf_nodes": None, "max_depth": 4, "min_samples_leaf": 5}):
        model = HistGradientBoostingRegressor(max_iter=2, categorical_features=[4], **options)
        ours, memory = spread(model, table, y, 3), clone(model).fit(table, y)
        np.testing.assert_allclose(ours.predict(table), memory.predict(table), rtol=1e-12)
        assert np.array_equal(ours.is_categorical_, memory.is_categorical_)
        assert np.any(ours.tree_bin_[ours.tree_feature_ == 4] == -1)
        ours.verify(table, y)
        ours.verify(chunked(table, 4), chunked(y, 4))
    with pytest.raises(InvalidData, match="column 4 has 6 categories, more than max_bins=5"):
        spread(HistGradientBoostingRegressor(max_bins=5, categorical_features=[4]), table, y, 3)
    table[7, 1] = np.inf
    with pytest.raises(InvalidData, match="infinity at row 7 of partition 0, column 1"):
        spread(HistGradientBoostingRegressor(), table, y, 3)


def test_cuts_come_from_the_same_sample(monkeypatch):
    for module in ("binning", "outline"):
        monkeypatch.setattr(f"surefit.solvers.boosting.{module}.SAMPLE", 64)
    weights = np.where(np.arange(400) % 11 == 3, 0.0, S)  # rows of weight zero are not counted
    model = HistGradientBoostingRegressor(max_bins=16, **SMALL)
    for given in (None, weights):
        memory = clone(model).fit(X, Y, sample_weight=given)
        for parts in (1, 3, 7):
            assert np.array_equal(spread(model, X, Y, parts, given).bin_cuts_, memory.bin_cuts_)


def test_rows_held_out_belong_to_their_index():
    options = {**SMALL, "max_iter": 12, "early_stopping": True, "n_iter_no_change": 2, "validation_fraction": 0.25}
    model = HistGradientBoostingClassifier(random_state=5, **options)
    ours = spread(model, X, LABELS, 7)
    seed, share = ours.certificate_["boosted_trees.leaves"].witness["held_out"]
    held = row_draws(0, 400, int(seed))[:, 0] < share
    assert share == 0.25 and 60 < np.count_nonzero(held) < 140
    memory = clone(model).fit(X[~held], LABELS[~held], X_val=X[held], y_val=LABELS[held])
    assert ours.n_iter_ == memory.n_iter_ < 12 and ours.do_early_stopping_
    np.testing.assert_allclose(ours.validation_score_, memory.validation_score_, rtol=1e-12)
    np.testing.assert_allclose(ours.train_score_, memory.train_score_, rtol=1e-12)
    assert_same_trees(ours, memory)
    again = spread(model, X, LABELS, 3)
    np.testing.assert_allclose(again.tree_value_, ours.tree_value_, rtol=1e-11)
    assert ours.certificate_["boosted_trees.loss"].numbers["rows"] == np.count_nonzero(~held)
    ours.verify(X, LABELS)
    clone(model).fit(X, LABELS).verify(chunked(X, 3), chunked(LABELS, 3))  # a mask of rows, issued in memory


def test_monitoring_the_training_rows_and_more_rounds():
    options = {**SMALL, "early_stopping": True, "validation_fraction": None, "tol": 0.02, "n_iter_no_change": 2}
    model = HistGradientBoostingRegressor(**{**options, "max_iter": 10})
    ours, memory = spread(model, X, Y, 3), clone(model).fit(X, Y)
    assert ours.n_iter_ == memory.n_iter_
    np.testing.assert_allclose(ours.train_score_, memory.train_score_, rtol=1e-12)
    short = HistGradientBoostingRegressor(**{**SMALL, "max_iter": 1}, warm_start=True)
    short.fit(chunked(X, 3), chunked(Y, 3)).set_params(max_iter=3).fit(chunked(X, 3), chunked(Y, 3))
    assert short.tree_value_.tobytes() == spread(CASES["squared"][0], X, Y, 3).tree_value_.tobytes()
    short.verify(chunked(X, 3), chunked(Y, 3))


@pytest.mark.parametrize("change", ["value", "cut", "data", "claim", "seed"])
def test_verify_refuses_what_was_changed(change):
    model = spread(CASES["absolute" if change == "value" else "squared"][0], X, Y, 3)
    rows, certificate = X.copy(), model.certificate_
    if change == "seed":
        options = {**SMALL, "early_stopping": True, "random_state": 0}
        certificate = spread(HistGradientBoostingRegressor(**options), X, Y, 3).certificate_
        claims = tuple(
            replace(c, witness={"held_out": c.witness["held_out"] + [1, 0]}) if c.witness else c
            for c in certificate.claims
        )
        certificate = replace(certificate, claims=claims, seal="", subject=None)
    elif change == "claim":
        claims = tuple(
            replace(c, value=c.value - 1e-6) if c.name == "boosted_trees.loss" else c for c in certificate.claims
        )
        certificate = replace(certificate, claims=claims, seal="", subject=None)
    elif change == "data":
        rows[333, 1] += 1e-9
    else:
        name = "tree_value_" if change == "value" else "tree_bin_"
        altered = certificate.model[name].copy()
        altered[-1 if change == "value" else 0] += 1e-9 if change == "value" else 1
        certificate = replace(certificate, model={**certificate.model, name: altered}, seal="", subject=None)
    with pytest.raises(CertificateError):
        certificate.verify(chunked(rows, 4), chunked(Y, 4))


def test_quantiles_are_found_bit_by_bit():
    values = np.concatenate([np.round(RNG.normal(size=300), 1), [-0.0, 0.0, 1e300, -1e300, 5e-324]])
    weights = RNG.integers(1, 4, size=len(values)).astype(float)
    rows = rows_of("test", chunked(values[:, None], 4), chunked(values, 4), chunked(weights, 4))
    binned = rows.derive(_as_rows, size=0)
    for q in (0.0, 0.1, 0.5, 0.77, 1.0):
        assert quantiles(binned, targets, 1, q)[0] == weighted_quantile(values, weights, q)


def _as_rows(part):
    rows = Rows(np.zeros((0, 0)), np.zeros((0, 0)), part.y, part.weights)
    return Binned(rows, rows)


def test_rows_that_do_not_fit_are_binned_again_in_each_pass(monkeypatch):
    model, y = CASES["three classes"]
    kept = spread(model, X, y, 3)
    monkeypatch.setattr("surefit.cluster.rows.KEPT_LOCALLY", 1000)
    read = spread(model, X, y, 3)
    assert read.tree_value_.tobytes() == kept.tree_value_.tobytes()


def test_parquet_files_and_traffic(tmp_path):
    import pandas as pd

    for i in range(2):
        table = pd.DataFrame(X[200 * i : 200 * i + 200], columns=list("abcde"))
        table.assign(y=Y[200 * i : 200 * i + 200]).to_parquet(tmp_path / f"{i}.parquet")
    model = clone(CASES["squared"][0]).set_params(monotonic_cst={"a": 1}).fit(str(tmp_path), "y")
    assert model.feature_names_in_.tolist() == list("abcde") and model.monotone_signs_.tolist() == [1, 0, 0, 0, 0]
    model.verify(str(tmp_path), "y")
    spent = model.cluster_
    assert spent["certificate_passes"] == 1
    assert spent["passes"] <= 6 + 3 * (7 + 4)  # a tree of seven leaves has at most six waves


def test_time_limits_and_lost_clusters(monkeypatch):
    with pytest.warns(ConvergenceWarning, match="stopped after 1 of 3 rounds: max_time"):
        model = clone(CASES["squared"][0]).set_params(max_time=1e-9).fit(chunked(X, 3), chunked(Y, 3))
    model.verify(X, Y)
    pass_over, calls = DaskRows.reduced, []

    def fails(self, *args, **kwargs):
        calls.append(1)
        if len(calls) > 15:
            raise ClusterLost("no worker is left")
        return pass_over(self, *args, **kwargs)

    monkeypatch.setattr(DaskRows, "reduced", fails)
    with pytest.raises(ClusterLost, match="Regressor: no worker is left; the best point so far is in") as caught:
        spread(CASES["squared"][0], X, Y, 3)
    assert 1 <= len(caught.value.best["trees"]) < 3


@pytest.mark.parametrize(
    ("options", "weights", "name"),
    [
        ({"scoring": "accuracy"}, None, "scoring"),
        ({"class_weight": "balanced"}, S, "class_weight"),
        ({"early_stopping": True, "validation_fraction": 400}, None, "validation_fraction"),
    ],
)
def test_options_that_need_rows_in_memory(options, weights, name):
    with pytest.raises(InvalidParameter, match=name):
        spread(HistGradientBoostingClassifier(**options), X, LABELS, 3, weights)


def test_targets_that_no_loss_takes():
    with pytest.raises(InvalidData, match="requires non-negative y"):
        spread(HistGradientBoostingRegressor("poisson"), X, Y, 3)
    with pytest.raises(InvalidParameter, match="'log_loss' for more than two classes"):
        spread(HistGradientBoostingClassifier("exponential"), X, THREE, 3)
    with pytest.raises(InvalidData, match="X_val, y_val must be left out for rows in partitions"):
        HistGradientBoostingRegressor().fit(chunked(X, 3), chunked(Y, 3), X_val=X, y_val=Y)
