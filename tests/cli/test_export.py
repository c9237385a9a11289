"""``surefit export``: onnxruntime evaluates what the command wrote, and finds the predictions of the model."""

import numpy as np
import pytest
from onnxruntime import InferenceSession
from typer.testing import CliRunner

import surefit
from surefit.cli.main import app
from surefit.tables import builtin_table

runner = CliRunner()


def run(*words, code=0):
    result = runner.invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == code, result.stderr
    return result


def features(model, table):
    """Features before standardization, as the graph expects them."""
    encoder = model.encoder_
    return (model.encode(table) * encoder.scales_ + encoder.means_).astype(np.float32)


def evaluate(path, rows):
    session = InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: rows})


@pytest.mark.parametrize("family", ["linear", "tree"])
def test_a_classification_with_calibrated_probabilities(tmp_path, family):
    model = surefit.study("iris", max_time=5, models=(family,)).model
    surefit.save(model, tmp_path / "model.surefit")
    told = run("export", tmp_path / "model.surefit", tmp_path / "model.onnx").stderr
    assert "petal_width" in told and "model.onnx" in told
    table = builtin_table("iris")
    label, p = evaluate(tmp_path / "model.onnx", features(model, table))
    np.testing.assert_allclose(p, model.predict_proba(table), atol=1e-4)
    assert np.mean(label == model.predict(table)) > 0.99
    again = run("export", tmp_path / "model.surefit", tmp_path / "model.onnx", code=2).stderr
    assert "--force" in again


def test_a_regression_and_a_plain_estimator(tmp_path):
    model = surefit.study("diabetes", max_time=5, models=("linear",)).model
    surefit.save(model, tmp_path / "model.surefit")
    run("export", tmp_path / "model.surefit", tmp_path / "model.onnx")
    table = builtin_table("diabetes")
    found = evaluate(tmp_path / "model.onnx", features(model, table))[0]
    np.testing.assert_allclose(found.ravel(), model.predict(table), rtol=1e-3)
    X = np.arange(6.0)[:, None]
    surefit.save(surefit.Ridge().fit(X, 2 * X[:, 0]), tmp_path / "ridge.surefit")
    run("export", tmp_path / "ridge.surefit", tmp_path / "ridge.onnx")
    line = evaluate(tmp_path / "ridge.onnx", X.astype(np.float32))[0].ravel()
    np.testing.assert_allclose(line, surefit.load(tmp_path / "ridge.surefit").predict(X), rtol=1e-5)
