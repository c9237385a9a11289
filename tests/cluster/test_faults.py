"""Faults on a cluster of two processes: workers that die or are late, interrupts, time limits, and a client that must not get the rows."""

import os
import re
import signal
import threading
import time
from io import StringIO

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from rich.console import Console
from sklearn.base import clone

from surefit import (
    GapProgress,
    HistGradientBoostingClassifier,
    LogisticRegression,
    QuantileRegressor,
    RandomForestClassifier,
    Ridge,
)
from surefit.cluster import rows as rows_module
from surefit.cluster import values as values_module
from surefit.core.budget import Budget
from surefit.core.partitioned import ClusterLost, PassStopped

ROWS, COLUMNS, PARTS = 40_000, 8, 8


def block(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS // PARTS, COLUMNS))
    y = X @ np.arange(COLUMNS) + rng.normal(size=len(X))
    return np.column_stack([X, y])


@pytest.fixture(scope="module")
def table():
    blocks = [da.from_delayed(dask.delayed(block)(i), (ROWS // PARTS, COLUMNS + 1), float) for i in range(PARTS)]
    return da.concatenate(blocks)


@pytest.fixture(scope="module")
def client():
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": "127.0.0.1:0",
        "memory_limit": "1GiB",
    }
    with LocalCluster(**options) as cluster, Client(cluster) as found:
        yield found


@pytest.fixture(autouse=True)
def patient(client):
    with dask.config.set({"surefit.patience": 3.0}):
        yield


def test_bits_are_those_of_threads_and_no_rows_reach_the_client(client, table):
    X, y = table[:, :-1], table[:, -1]
    model = Ridge().fit(X, y)
    assert model.cluster_["partitions"] == PARTS
    # Every number that the client got in the fit: far fewer than the rows have.
    assert model.cluster_["bytes_to_client"] < 8 * ROWS / 10
    findings = model.verify(X, y)
    assert findings["linear.gap"].level == "enclosed"
    with dask.config.set(scheduler="threads", num_workers=1):
        alone = Ridge().fit(X, y)
        assert alone.coef_.tobytes() == model.coef_.tobytes()
        assert repr(alone.certificate_.claims) == repr(model.certificate_.claims)
        data = np.asarray(table.compute())
    memory = Ridge().fit(data[:, :-1], data[:, -1])
    np.testing.assert_allclose(model.coef_, memory.coef_, rtol=1e-12)
    assert model.verify(data[:, :-1], data[:, -1])["linear.gap"].ok


def kill_one(client, delay: float) -> threading.Thread:
    process = next(iter(client.run(os.getpid).values()))

    def work():
        time.sleep(delay)
        os.kill(process, signal.SIGKILL)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_during_the_fit_changes_nothing(client, table):
    X, y = table[:, :-1], (table[:, -1] > 0).astype(int)
    undisturbed = LogisticRegression().fit(X, y)
    thread = kill_one(client, 0.3)
    model = LogisticRegression().fit(X, y)
    thread.join()
    assert model.coef_.tobytes() == undisturbed.coef_.tobytes()
    assert model.certificate_["linear.gap"].holds


TREES = {
    "forest": (RandomForestClassifier(4, max_depth=4, random_state=0), 2**24),
    "boosting": (HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=7, early_stopping=False), 0),
    "boosting of joined partitions": (HistGradientBoostingClassifier(max_iter=3, early_stopping=False), 2**24),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", TREES)
def test_trees_survive_the_death_of_a_worker_that_holds_their_rows(client, table, monkeypatch, case):
    model, cells = TREES[case]
    monkeypatch.setattr("surefit.cluster.training.boosted_trees.CELLS", cells)
    monkeypatch.setattr("surefit.solvers.boosting.partitioned.SPAN", 0.0)
    X, y = table[:, :-1], (table[:, -1] > 0).astype(int)
    undisturbed = clone(model).fit(X, y)
    work, passes = values_module.persist_and_compute, []

    def deadly(items, value, budget=None):
        kept, found = work(items, value, budget)
        passes.append(value)
        if len(passes) == 3:  # the state of a partition, on which the next pass depends, is lost
            own = kept[0].dask[kept[0].key]
            (worker,) = client.who_has([own])[own.key]
            (process,) = client.run(os.getpid, workers=[worker]).values()
            os.kill(process, signal.SIGKILL)
        return kept, found

    monkeypatch.setattr(values_module, "persist_and_compute", deadly)
    with dask.config.set({"surefit.patience": 60.0}):  # until a new worker has started
        disturbed = clone(model).fit(X, y)
    assert len(passes) > 3
    for name, values in undisturbed.certificate_.model.items():
        assert np.asarray(values).tobytes() == np.asarray(disturbed.certificate_.model[name]).tobytes()
    assert repr(disturbed.certificate_.claims) == repr(undisturbed.certificate_.claims)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupt_of_the_client_gives_the_best_point_with_its_gap(client, table, monkeypatch):
    compute, passes = rows_module.compute, []

    def interrupted(value, budget=None):
        passes.append(value)
        if len(passes) == 15:
            signal.raise_signal(signal.SIGINT)  # Ctrl-C during a pass
        return compute(value, budget)

    X, y = table[:, :-1], table[:, -1]
    monkeypatch.setattr(rows_module, "compute", interrupted)
    model = QuantileRegressor(alpha=0.01).fit(X, y)
    monkeypatch.undo()
    claim = model.certificate_["linear.gap"]
    assert model.certificate_.run["reason"] == "interrupted" and not claim.holds
    best = QuantileRegressor(alpha=0.01).fit(X, y)
    assert 0 < model.objective_ - best.objective_ <= claim.value < np.inf
    assert model.verify(X, y)["linear.gap"].ok


@pytest.mark.filterwarnings("ignore")
def test_without_workers_the_best_point_is_in_the_error(table, monkeypatch):
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    X, y, compute, passes = table[:, :-1], table[:, -1], rows_module.compute, []
    with LocalCluster(**options) as cluster, Client(cluster) as client:

        def lost(value, budget=None):
            passes.append(value)
            if len(passes) == 15:
                cluster.scale(0)
                while client.scheduler_info()["workers"]:
                    time.sleep(0.05)
            return compute(value, budget)

        monkeypatch.setattr(rows_module, "compute", lost)
        with pytest.raises(
            ClusterLost, match=r"QuantileRegressor: the cluster .*worker.* with a gap of .* Start workers"
        ) as error:
            QuantileRegressor(alpha=0.01).fit(X, y)
    monkeypatch.undo()
    best = error.value.best
    assert best["coef"].shape == (COLUMNS,) and 0 < best["gap"] < np.inf and len(passes) == 15
    with dask.config.set(scheduler="threads"):
        data = np.asarray(table.compute())
        optimum = QuantileRegressor(alpha=0.01).fit(data[:, :-1], data[:, -1]).objective_
    residuals = data[:, -1] - data[:, :-1] @ best["coef"] - best["intercept"]
    objective = np.mean(np.maximum(0.5 * residuals, -0.5 * residuals)) + 0.01 * np.sum(np.abs(best["coef"]))
    assert optimum - 1e-9 <= objective <= optimum + best["gap"] * (1 + 1e-6)


def late(value, seconds):
    time.sleep(seconds)
    return value


def with_a_straggler(monkeypatch, number: int, seconds: float):
    """Let a pass of the fit wait for one task."""
    compute, passes = rows_module.compute, []

    def slow(value, budget=None):
        passes.append(value)
        return compute(dask.delayed(late, pure=False)(value, seconds) if len(passes) == number else value, budget)

    monkeypatch.setattr(rows_module, "compute", slow)


@pytest.mark.filterwarnings("ignore")
def test_a_straggler_does_not_stop_the_progress_bar(client, table, monkeypatch):
    console = Console(file=StringIO(), force_terminal=True, width=120)
    model = LogisticRegression().set_callbacks(GapProgress(console))
    with_a_straggler(monkeypatch, 8, 4.0)
    model.fit(table[:, :-1], (table[:, -1] > 0).astype(int))
    drawn = re.findall(r"pass (\d+).*?(\d:\d\d:\d\d)", console.file.getvalue())
    times: dict[str, set[str]] = {}
    for number, clock in drawn:
        times.setdefault(number, set()).add(clock)
    assert max(map(len, times.values())) >= 3  # the clock went on while a pass waited


@pytest.mark.filterwarnings("ignore")
def test_a_time_limit_ends_a_pass_that_hangs(client):
    began = time.monotonic()
    with pytest.raises(PassStopped, match="max_time"):
        rows_module.compute(dask.delayed(late, pure=False)(1, 30.0), Budget(max_time=1.0))
    assert time.monotonic() - began < 25.0
