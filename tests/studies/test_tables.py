"""Thirty tables through the whole command, three seconds each; on known sets not worse than scikit-learn's defaults."""

import json
import warnings

import numpy as np
import pytest
from sklearn import ensemble, linear_model
from tests.studies.shapes import SHAPES
from typer.testing import CliRunner

import surefit
from surefit.cli.main import app
from surefit.studies import verify
from surefit.studies.metrics import METRICS
from surefit.tables import read_table

runner = CliRunner()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_the_command_on_a_shape(shape, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = shape()
    (tmp_path / made.name).write_bytes(made.content)
    report = () if shape.__name__ in ("churn", "housing", "spam", "dated") else ("--no-report",)
    result = runner.invoke(
        app, ["fit", made.name, *made.words, "--max-time", "3", "--json", *report], catch_exceptions=False
    )
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["task"] == made.task and found["verified"]
    kinds = {row["column"]: row["taken for"] for row in found["columns"]}
    assert {name: kinds[name] for name in made.kinds} == made.kinds
    metric = METRICS[found["metric"]]
    score, baseline = found["test"][found["metric"]]["score"], found["baseline"]
    if made.learnable:
        assert found["winner"]["family"] not in ("constant", *made.odd)
        assert metric.loss(score) < metric.loss(baseline)
    model = surefit.load("model.surefit")
    table = read_table(made.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # levels that only occur in the test part
        assert len(model.predict(table)) == table.frame.height
    if table.frame.height < 5000:
        assert all(finding.ok for finding in verify(model, table))


@pytest.mark.parametrize("name", ["tumors", "iris", "wine", "diabetes"])
def test_winner_is_not_worse_than_scikit_learn_within_a_standard_error(name):
    found = surefit.study(name, max_time=20)
    part, error = found.part, found.test_scores[found.metric.name][1]
    if found.task == "classification":
        peers = [
            ensemble.HistGradientBoostingClassifier(random_state=0), ensemble.RandomForestClassifier(random_state=0),
            linear_model.LogisticRegression(max_iter=2000),
        ]  # fmt: skip
        scores = [np.mean(peer.fit(part.X, part.y).predict(part.X_held) != part.y_held) for peer in peers]
        # No error at all has no spread: the standard error of one error in n rows is the least that can be resolved.
        error = max(error, 1 / len(part.y_held))
    else:
        peers = [
            ensemble.HistGradientBoostingRegressor(random_state=0), ensemble.RandomForestRegressor(random_state=0),
            linear_model.Ridge(),
        ]  # fmt: skip
        scores = [
            np.sqrt(np.mean((peer.fit(part.X, part.y).predict(part.X_held) - part.y_held) ** 2)) for peer in peers
        ]
    assert found.test_scores[found.metric.name][0] <= min(scores) + error
