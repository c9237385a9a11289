"""The leaderboard of the command line on Parquet files."""

import json

import dask
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import surefit
from surefit.cli.main import app
from surefit.cluster.board import compare


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    score = X @ [1.0, -2.0, 0.5]
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=score + 0.1 * rng.normal(size=600))
    for i in range(3):
        table[200 * i : 200 * i + 200].to_parquet(tmp_path / f"{i}.parquet")
    return tmp_path, table


def test_the_command_writes_a_model_that_verifies(folder):
    path, table = folder
    command = [
        "fit",
        str(path / "*.parquet"),
        "--target",
        "y",
        "--cluster",
        "threads",
        "--out",
        str(path / "m.surefit"),
        "--json",
    ]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["task"] == "regression" and found["rows"] == 600 and found["partitions"] == 3
    scores = [line["score"] for line in found["leaderboard"]]
    assert scores == sorted(scores) and scores[0] < 0.12
    gaps = {line["model"]: line["gap"] for line in found["leaderboard"]}
    assert gaps.keys() == {
        "RidgeCV", "LassoCV", "NystroemRidge", "RandomForestRegressor", "HistGradientBoostingRegressor", "LinearSVR", "QuantileRegressor",
    }  # fmt: skip
    assert gaps["RandomForestRegressor"] is None and 0 <= gaps["RidgeCV"] < 1e-6
    model = surefit.load(path / "m.surefit")
    assert type(model).__name__ == found["model"]
    assert model.verify(table[["a", "b", "c"]], table["y"])["linear.gap"].ok


def test_labels_are_classified(folder, tmp_path):
    _, table = folder
    (tmp_path / "labels").mkdir()
    table.assign(y=np.where(table["y"] > 0, "up", "down")).to_parquet(tmp_path / "labels" / "all.parquet")
    with dask.config.set(scheduler="synchronous"):
        found = compare(str(tmp_path / "labels"), "y", max_time=60.0)
    assert found.task == "classification" and {type(line.model).__name__ for line in found.lines} == {
        "GaussianNB", "LinearDiscriminantAnalysis", "RidgeClassifier", "LogisticRegression", "NystroemLogisticRegression",
        "RandomForestClassifier", "HistGradientBoostingClassifier", "LinearSVC",
    }  # fmt: skip
    assert found.lines[0].score < 0.05 and found.model.classes_.tolist() == ["down", "up"]


def test_a_curved_target_is_fitted_by_trees_or_kernels(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.uniform(-2, 2, size=(1500, 2)), columns=["a", "b"])
    table["y"] = (table["a"] * table["b"] > 0).astype(int)
    for i in range(3):
        table[500 * i : 500 * i + 500].to_parquet(tmp_path / f"{i}.parquet")
    with dask.config.set(scheduler="synchronous"):
        found = compare(str(tmp_path), "y", max_time=60.0)
    errors = {type(line.model).__name__: line.score for line in found.lines}
    assert max(errors[name] for name in ("HistGradientBoostingClassifier", "RandomForestClassifier")) < 0.05
    assert errors["NystroemLogisticRegression"] < 0.1 < 0.3 < errors["LogisticRegression"]
    assert found.model.verify(table[["a", "b"]], table["y"]) and found.lines[0].note == ""


def test_other_files_are_refused(tmp_path):
    result = CliRunner().invoke(
        app, ["fit", "table.csv", "-t", "y", "--cluster", "threads", "--out", str(tmp_path / "m.surefit")]
    )
    assert result.exit_code != 0
    assert "--cluster reads Parquet" in str(result.exception) + result.output
