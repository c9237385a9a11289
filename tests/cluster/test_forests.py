"""Forests on Dask collections: draws belong to the indices of rows and to the paths of nodes, so the partitions change no bit."""

import signal
from dataclasses import replace

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone
from tests.cluster.test_boosted_trees import chunked, spread
from tests.cluster.test_trees import COUNTS, LABELS, THREE, S, X, Y, assert_same_tree

from surefit import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from surefit.checks.ensembles.index_draws import Places
from surefit.cluster import rows_of
from surefit.cluster import values as values_module
from surefit.core.errors import CertificateError, ConvergenceWarning, InvalidParameter
from surefit.solvers.trees.node_draws import child_states, column_orders, cut_shares, root_state
from surefit.solvers.trees.sampling import line_of, points_between

FIXED = {"bootstrap": False, "max_features": None, "random_state": 0}
CASES = {
    "two classes": (RandomForestClassifier(4, random_state=0), LABELS),
    "three classes": (RandomForestClassifier(4, criterion="entropy", max_depth=4, random_state=1), THREE),
    "class weights": (RandomForestClassifier(3, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, random_state=2), THREE),
    "balanced": (RandomForestClassifier(3, class_weight="balanced", max_leaf_nodes=9, random_state=2), THREE),
    "squared": (RandomForestRegressor(3, min_samples_leaf=3, max_features=2, random_state=3), Y),
    "poisson": (RandomForestRegressor(3, criterion="poisson", max_depth=4, max_samples=0.5, random_state=4), COUNTS),
    "columns of a tree": (RandomForestRegressor(3, max_depth=4, max_features=2, subset="tree", random_state=5), Y),
    "pruned": (RandomForestRegressor(2, ccp_alpha=0.02, monotonic_cst=[1, 0, 0, 0], random_state=6), Y + X[:, 0]),
    "random cuts": (ExtraTreesClassifier(4, random_state=7), THREE),
    "random cuts of draws": (ExtraTreesRegressor(3, bootstrap=True, min_weight_fraction_leaf=0.02, random_state=8), Y),
}
SAME = {
    "two classes": (RandomForestClassifier(2, **FIXED), LABELS),
    "balanced": (RandomForestClassifier(2, class_weight="balanced_subsample", **FIXED), THREE),
    "few leaves": (RandomForestClassifier(2, criterion="entropy", max_leaf_nodes=7, **FIXED), LABELS),
    "squared": (RandomForestRegressor(2, **FIXED), Y),
    "poisson": (RandomForestRegressor(2, criterion="poisson", **FIXED), COUNTS),
    "bins": (RandomForestRegressor(2, max_bins=12, max_depth=5, **FIXED), Y),
    "all cuts": (RandomForestRegressor(2, max_bins=None, **FIXED), Y),
}
MODEL = ("starts", "seeds", "feature", "threshold", "left", "right", "missing_left", "value")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def bits(model):
    return [getattr(model, f"tree_{name}_").tobytes() for name in MODEL]


def counts(parts, weights=None, draws=500, seeds=(3, 4), rows=None):
    rows = rows_of("test", chunked(X if rows is None else rows, parts), None, chunked(weights, parts))
    line = line_of(rows, draws)
    found = [line.counts(part, np.array(seeds)) for part in parts_of(rows)]
    return np.concatenate(found, axis=1).astype(np.int64)


def parts_of(rows):
    return dask.compute(*(rows.part(i) for i in rows.used))


@pytest.mark.parametrize("weights", [None, S])
def test_draws_do_not_depend_on_the_partitions_and_the_checker_repeats_them(weights):
    first = counts(1, weights)
    assert np.array_equal(first.sum(axis=1), [500, 500]) and not np.array_equal(*first)
    rows = rows_of("test", chunked(X, 3), None, chunked(weights, 3))
    line = line_of(rows, 500)
    places = Places(500, line.exponent, tuple(line.before), (*line.before.values(), line.length))
    again = [[places.drawn(part, seed) for part in parts_of(rows)] for seed in (3, 4)]
    assert np.array_equal(first, [np.concatenate(each) for each in again])
    for parts in (3, 7):
        assert np.array_equal(counts(parts, weights), first)
    assert weights is None or not first[:, weights == 0].any()


def test_whole_weights_are_repetitions():
    whole = np.arange(300) % 4.0
    repeated = np.repeat(X, np.arange(300) % 4, axis=0)
    found = counts(3, whole, draws=450)
    again = counts(7, draws=450, rows=repeated)
    assert np.array_equal(
        found, [np.bincount(np.repeat(np.arange(300), np.arange(300) % 4), own, 300) for own in again]
    )
    model = RandomForestRegressor(2, random_state=0)
    one, other = spread(model, X, Y, 3, whole), spread(model, repeated, np.repeat(Y, np.arange(300) % 4), 4)
    assert one.certificate_.problem["draws"] == other.certificate_.problem["draws"] == 450
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-12, atol=1e-14)


def test_draws_are_multinomial():
    n, trees = 200, 400
    found = np.concatenate([counts(3, draws=n, seeds=range(k, k + 100), rows=X[:n]) for k in range(0, trees, 100)])
    assert np.all(found.sum(axis=1) == n)
    # Mean 1 and variance 1 - 1/n per row; the sum of squares over the rows is a chi-square statistic with n - 1 degrees of freedom.
    chi_square = np.sum((found - 1.0) ** 2, axis=1)
    assert abs(chi_square.mean() - (n - 1)) < 4 * np.sqrt(2 * n / trees)
    assert abs(np.mean(found == 0) - (1 - 1 / n) ** n) < 4 * np.sqrt(0.1 / (n * trees)) * 2
    assert abs(np.corrcoef(found[:, :-1].ravel(), found[:, 1:].ravel())[0, 1]) < 0.03
    many = points_between(5, 100_000, 0.0, 1.0)  # 32 pieces
    assert len(many) == 100_000 and np.max(np.abs(np.sort(many) - np.arange(100_000) / 1e5)) < 0.006
    some = points_between(5, 100_000, 0.3, 0.5)
    assert np.array_equal(np.sort(some[(some > 0.3) & (some < 0.5)]), np.sort(many[(many > 0.3) & (many < 0.5)]))
    assert len(some) < 40_000


def test_numbers_of_nodes_are_uniform_and_differ_along_paths():
    states = np.array([root_state(seed) for seed in range(2000)])
    below = child_states(states)
    pairs = np.zeros((5, 5), dtype=int)
    np.add.at(pairs, (column_orders(states, 5)[:, 0], column_orders(below[:, 0], 5)[:, 0]), 1)
    assert np.all(np.abs(pairs - 80) < 4 * np.sqrt(80))
    shares = cut_shares(below.ravel(), 3)
    assert abs(shares.mean() - 0.5) < 0.02 and abs(np.corrcoef(shares.T)[0, 1]) < 0.1
    assert len(np.unique(np.concatenate([states, *below]))) == 6000


@pytest.mark.parametrize("case", SAME)
def test_without_chance_the_trees_are_those_of_one_machine(case):
    model, y = SAME[case]
    many = X + 1e-3 * np.arange(300)[:, None]  # more values than bins
    for table in (X, many) if case in ("two classes", "squared") else (X,):
        ours, memory = spread(model, table, y, 3), clone(model).fit(table, y)
        for one, other in zip(ours.trees_, memory.trees_, strict=True):
            assert_same_tree(one, other)
        assert ours.verify(table, y)["forest.leaves"].ok
        memory.verify(chunked(table, 4), chunked(y, 4))  # without draws, partitions can verify a fit in memory


def test_missing_values():
    table, y = X.copy(), Y.copy()
    table[np.random.default_rng(1).random(table.shape) < 0.15] = np.nan
    y[np.isnan(table[:, 0])] = 5.0
    model = RandomForestRegressor(2, max_depth=5, **FIXED)
    ours, memory = spread(model, table, y, 3, S), clone(model).fit(table, y, sample_weight=S)
    for one, other in zip(ours.trees_, memory.trees_, strict=True):
        assert_same_tree(one, other)
    for model in (RandomForestRegressor(3, random_state=0), ExtraTreesRegressor(3, max_bins=5, random_state=0)):
        drawn = spread(model, table, y, 3, S)
        assert all(finding.ok for finding in drawn.verify(chunked(table, 4), chunked(y, 4), chunked(S, 4)))
        assert drawn.certificate_["forest.candidate_splits"].value < 1e-9


def test_draws_without_a_positive_count():
    rare = np.where(np.arange(300) % 50 == 0, 1.0, 0.0)
    ours = spread(RandomForestRegressor(8, criterion="poisson", max_samples=5, random_state=0), X, rare, 3)
    assert any(not tree.values.any() for tree in ours.trees_)
    assert ours.certificate_["forest.candidate_splits"].value < 1e-9
    ours.verify(X, rare)


@pytest.mark.parametrize("case", CASES)
def test_the_partitions_change_no_bit_and_certificates_verify_both_ways(case):
    model, y = CASES[case]
    weights = S if case in ("three classes", "squared", "random cuts") else None
    fits = [spread(model, X, y, parts, weights) for parts in (1, 3, 7)]
    for ours in fits:
        assert bits(ours) == bits(fits[0])
        assert ours.certificate_.problem == fits[0].certificate_.problem
    ours = fits[1]
    assert all(finding.ok for finding in ours.verify(X, y, weights))
    assert all(finding.ok for finding in ours.verify(chunked(X, 5), chunked(y, 5), chunked(weights, 5)))
    assert ours.certificate_["forest.leaves"].value < 1e-10 and ours.drawn_by_index_
    assert len({tree.values.tobytes() for tree in ours.trees_}) > 1
    assert np.array_equal(ours.predict(chunked(X, 4)).compute(), ours.predict(X))
    if hasattr(ours, "predict_proba"):
        assert np.array_equal(ours.predict_proba(chunked(X, 4)).compute(), ours.predict_proba(X))


def test_the_bits_do_not_depend_on_threads_or_on_what_a_pass_returns(monkeypatch):
    model = ExtraTreesClassifier(5, bootstrap=True, max_features=2, random_state=4)
    first = spread(model, X, THREE, 7, S)
    runs = []
    for workers in (1, 2):
        with dask.config.set(scheduler="threads", num_workers=workers):
            runs.append(spread(model, X, THREE, 7, S))
    monkeypatch.setattr("surefit.cluster.rows.KEPT_LOCALLY", 1000)
    monkeypatch.setattr("surefit.solvers.trees.passes.MOST_BYTES", 20_000)
    runs.append(spread(model, X, THREE, 7, S))
    for again in runs:
        assert bits(again) == bits(first)
        assert repr(again.certificate_.claims) == repr(first.certificate_.claims)
    assert runs[-1].cluster_["passes"] > first.cluster_["passes"] + 10


def test_processes_give_the_bits_of_threads():
    model = RandomForestClassifier(5, random_state=4)
    alone = spread(model, X, LABELS, 3, S)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with dask.config.set(scheduler=None), LocalCluster(**settings) as cluster, Client(cluster):
        model = spread(model, X, LABELS, 3, S)
        model.verify(chunked(X, 2), chunked(LABELS, 2), chunked(S, 2))
    assert bits(model) == bits(alone) and repr(model.certificate_.claims) == repr(alone.certificate_.claims)


def test_many_trees_share_a_pass():
    few, many = (spread(RandomForestClassifier(k, random_state=0), X, LABELS, 3) for k in (2, 40))
    for model in (few, many):
        assert model.cluster_["passes"] <= max(tree.max_depth for tree in model.trees_) + 12
        assert model.cluster_["certificate_passes"] <= 6


def test_the_accuracy_is_that_of_a_forest_in_memory():
    rng = np.random.default_rng(7)
    table, new = rng.normal(size=(1500, 6)), rng.normal(size=(3000, 6))
    labels, truth = (rows[:, 0] * rows[:, 1] + np.sin(2 * rows[:, 2]) > 0 for rows in (table, new))
    labels = labels ^ (rng.random(1500) < 0.1)
    scores = np.zeros((2, 4))
    for seed in range(4):
        model = RandomForestClassifier(20, random_state=seed)
        scores[0, seed] = spread(model, table, labels, 2).score(new, truth)
        scores[1, seed] = model.fit(table, labels).score(new, truth)
    means, errors = scores.mean(axis=1), scores.std(axis=1, ddof=1) / 2
    assert abs(means[0] - means[1]) < 4 * np.hypot(*errors) and means.min() > 0.8


@pytest.mark.parametrize("change", ["value", "threshold", "seeds", "member", "order", "claim", "data", "weights"])
def test_verify_refuses_what_was_changed(change):
    model = spread(RandomForestRegressor(4, max_depth=4, random_state=0), X, Y, 3, S)
    rows, weights, certificate = X.copy(), S.copy(), model.certificate_
    state = {name: np.array(value) for name, value in certificate.model.items()}
    claims = certificate.claims
    if change == "value":
        state["tree_value_"][-1] += 1e-6
    elif change == "threshold":
        state["tree_threshold_"][0] += 0.3
    elif change == "seeds":
        state["tree_seeds_"][2] += 1
    elif change == "member":  # the last tree is left out
        starts = state["tree_starts_"][:-1]
        state = {
            k: v[: starts[-1]] if len(v.shape) and len(v) == model.tree_starts_[-1] else v for k, v in state.items()
        }
        state["tree_starts_"] = starts
    elif change == "order":  # the draws of a fit in memory
        state["drawn_by_index_"] = np.array(False)
    elif change == "data":
        rows[123, 2] += 0.1
    elif change == "weights":
        weights[17] *= 2
    else:
        claims = tuple(replace(c, value=c.value / 100) if c.name == "forest.leaves" else c for c in claims)
    forged = replace(certificate, model=state, claims=claims, seal="", subject=None)
    for parts in (None, 4):
        arrays = (rows, Y, weights) if parts is None else (chunked(a, parts) for a in (rows, Y, weights))
        X_, y_, w_ = arrays
        with pytest.raises(CertificateError):
            forged.verify(X_, y_, sample_weight=w_)


def test_draws_in_memory_are_verified_in_memory():
    memory = RandomForestClassifier(3, random_state=0).fit(X, LABELS)
    with pytest.raises(CertificateError, match="order of all values are repeated with the rows in memory only"):
        memory.verify(chunked(X, 3), chunked(LABELS, 3))
    ours = spread(RandomForestClassifier(3, random_state=0), X, LABELS, 3)
    with pytest.raises(AttributeError, match="estimators_samples_ needs rows in memory"):
        _ = ours.estimators_samples_
    again = ours.fit(X, LABELS)  # nothing is left of the draws by index
    assert not again.drawn_by_index_ and len(again.estimators_samples_) == 3 and bits(again) == bits(memory)
    again.verify(X, LABELS)


def test_a_time_limit_stops_all_trees_where_they_are():
    model = RandomForestRegressor(3, max_time=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="all 3 trees stopped growing at depth 1 or less: max_time was reached"):
        ours = spread(model, X, Y, 3)
    assert [tree.max_depth for tree in ours.trees_] == [1, 1, 1] and ours.certificate_.run["reason"] == "max_time"
    ours.verify(X, Y)
    whole = spread(model.set_params(max_time=None), X, Y, 3)
    for cut, tree in zip(ours.trees_, whole.trees_, strict=True):
        assert cut.threshold[0] == tree.threshold[0] and cut.feature[0] == tree.feature[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupt_stops_all_trees_and_callbacks_see_the_passes(monkeypatch):
    work, passes, seen = values_module.persist_and_compute, [], []

    def interrupted(items, value, budget=None):
        passes.append(value)
        if len(passes) == 4:
            signal.raise_signal(signal.SIGINT)  # Ctrl-C during a pass
        return work(items, value, budget)

    monkeypatch.setattr(values_module, "persist_and_compute", interrupted)
    ours = spread(RandomForestRegressor(3, random_state=0), X, Y, 3)
    monkeypatch.undo()
    assert ours.certificate_.run["reason"] == "interrupted" and 1 < max(tree.max_depth for tree in ours.trees_) < 8
    ours.verify(X, Y)

    class Watch:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context, **kwargs): ...
        def on_fit_task_end(self, estimator, context, *, metadata=None, **kwargs):
            seen.append((metadata or {}).get("n_iter"))
            return seen[-1] == 3

    stopped = RandomForestRegressor(3, random_state=0).set_callbacks(Watch()).fit(chunked(X, 3), chunked(Y, 3))
    assert stopped.certificate_.run["reason"] == "callback" and [n for n in seen if n] == [1, 2, 3]
    assert stopped.certificate_.run["passes"] == 3


def test_options_that_need_rows_in_memory():
    for options in ({"categorical_features": [0]}, {"warm_start": True}):
        with pytest.raises(InvalidParameter, match="for rows in partitions"):
            spread(RandomForestClassifier(**options), X, LABELS, 3)
    with pytest.raises(InvalidParameter, match="medians do not add up"):
        spread(RandomForestRegressor(criterion="absolute_error"), X, Y, 3)
    for model in (
        RandomForestClassifier(class_weight="balanced_subsample"),
        ExtraTreesClassifier(class_weight="balanced"),
    ):
        with pytest.raises(InvalidParameter, match="or a dict for"):
            spread(model, X, LABELS, 3, S)
    with pytest.raises(InvalidParameter, match="None without bootstrap"):
        spread(RandomForestClassifier(bootstrap=False, max_samples=0.5), X, LABELS, 3)
