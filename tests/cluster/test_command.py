"""``surefit fit --cluster`` on processes of this machine, and on a scheduler at an address; both listen on the loopback only."""

import json

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from sklearn.base import clone
from typer.testing import CliRunner

import surefit
from surefit import HistGradientBoostingClassifier, LogisticRegression, RandomForestClassifier
from surefit.cli.main import app
from surefit.core.errors import InvalidData
from surefit.core.partitioned import ClusterLost

FEW = [
    LogisticRegression(),
    RandomForestClassifier(3, max_depth=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, random_state=0),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("parts")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    score = table.to_numpy() @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=600)
    table["y"] = np.where(score > 0.7, "high", np.where(score < -0.7, "low", "middle"))
    for i in range(3):
        table[200 * i : 200 * i + 200].to_parquet(path / f"{i}.parquet")
    return path, table


def run(path, cluster, out):
    command = ["fit", str(path / "*.parquet"), "-t", "y", "--cluster", cluster, "--out", str(out), "--json"]
    return CliRunner().invoke(app, command)


@pytest.mark.filterwarnings("ignore")  # of processes that end
def test_processes_and_a_scheduler_give_the_bits_of_threads(folder, tmp_path, monkeypatch):
    path, table = folder
    monkeypatch.setattr("surefit.cluster.board.candidates", lambda task: [clone(model) for model in FEW])
    found, options = (
        {},
        {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"},
    )
    with LocalCluster(**options) as workers:
        assert workers.scheduler_address.startswith("tcp://127.0.0.1:")
        for cluster in ("threads", "local", workers.scheduler_address):
            out = tmp_path / str(len(found)) / "model.surefit"
            out.parent.mkdir()
            result = run(path, cluster, out)
            assert result.exit_code == 0, result.output
            found[cluster] = json.loads(result.stdout), surefit.load(out)
    (said, model), *others = found.values()
    assert said["task"] == "classification" and said["rows"] == 600 and said["partitions"] == 3
    assert {line["model"] for line in said["leaderboard"]} == {type(candidate).__name__ for candidate in FEW}
    assert said["leaderboard"][0]["score"] < 0.2 and model.classes_.tolist() == ["high", "low", "middle"]
    for other, same in others:
        assert other["model"] == said["model"] and same.coef_.tobytes() == model.coef_.tobytes()
        assert other["cluster"] == said["cluster"]
        assert [line["score"] for line in other["leaderboard"]] == [line["score"] for line in said["leaderboard"]]
    assert model.verify(table[["a", "b", "c"]], table["y"])["linear.gap"].ok


def test_a_bad_partition_is_named_by_file_and_row(folder, tmp_path):
    _, table = folder
    (tmp_path / "bad").mkdir()
    for i in range(3):
        part = table[200 * i : 200 * i + 200].reset_index(drop=True)
        part.loc[7, "b"] = np.nan if i == 1 else 0.0
        part.to_parquet(tmp_path / "bad" / f"{i}.parquet")
    result = run(tmp_path / "bad", "threads", tmp_path / "m.surefit")
    said = str(result.exception) + result.output
    assert result.exit_code != 0 and isinstance(result.exception, (InvalidData, SystemExit))
    assert "NaN at row 7 of" in said and "1.parquet, column 1 ('b')" in said


def test_an_address_without_a_scheduler_is_named(folder, tmp_path):
    result = run(folder[0], "tcp://127.0.0.1:9", tmp_path / "m.surefit")
    said = str(result.exception) + result.output
    assert result.exit_code != 0 and isinstance(result.exception, (ClusterLost, SystemExit))
    assert "tcp://127.0.0.1:9: no scheduler answers at this address" in said
