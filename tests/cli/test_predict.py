"""``surefit predict`` and ``surefit verify``: the numbers of the model, for files as they come."""

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import surefit
from surefit.cli.main import app

runner = CliRunner()


def run(*words):
    return runner.invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("predict")
    rng = np.random.default_rng(0)
    zip_code, x = rng.choice(["0101", "0202", "0303"], size=90), rng.normal(size=90)
    frame = polars.DataFrame(
        {"id": [f"P{i}" for i in range(90)], "x": x, "zip": zip_code, "y": 3 * x + (zip_code == "0202") + 10}
    )
    frame.write_csv(path / "train.csv")
    frame.with_columns(
        y=polars.when(polars.col("y") > 10).then(polars.lit("high")).otherwise(polars.lit("low"))
    ).write_csv(path / "kinds.csv")
    for name, data in (("m", "train.csv"), ("k", "kinds.csv")):
        words = [
            "fit",
            path / data,
            "--models",
            "linear",
            "--no-report",
            "--out",
            path / f"{name}.surefit",
            "--certificate",
            path / f"{name}.json",
        ]
        assert run(*words).exit_code == 0
    return path


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def write(text, name="new.csv"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def rows_of(text):
    return polars.read_csv(text.encode())


def test_numbers_of_the_model_with_identifiers_and_intervals():
    write("x,zip,id,extra\n1,0202,A1,q\n-1,0101,A2,q\n")
    found = rows_of(run("predict", "m.surefit", "new.csv", "--interval", "0.9").stdout)
    model = surefit.load("m.surefit")
    expected = model.predict(polars.read_csv("new.csv", infer_schema=False))
    assert found.columns == ["id", "prediction", "lower", "upper"]
    assert found["id"].to_list() == ["A1", "A2"] and found["prediction"].to_numpy() == pytest.approx(expected)
    half = (found["upper"] - found["lower"]) / 2
    assert half.to_numpy() == pytest.approx(model.threshold(0.9))


def test_classes_with_probabilities_and_sets():
    write("x,zip,id\n3,0202,A1\n-3,0101,A2\n0,0303,A3\n")
    found = rows_of(run("predict", "k.surefit", "new.csv", "--interval", "0.9").stdout)
    assert found.columns == ["id", "prediction", "probability of high", "probability of low", "set"]
    assert found["prediction"].to_list()[:2] == ["high", "low"] and found["set"].to_list()[:2] == ["high", "low"]
    assert (found["probability of high"] + found["probability of low"]).to_numpy() == pytest.approx(1)


def test_missing_cells_and_new_categories_are_noted():
    write("x,zip\nNA,0202\n1,9999\n")
    result = run("predict", "m.surefit", "new.csv")
    assert result.exit_code == 0 and rows_of(result.stdout).height == 2
    assert "note: Column 'zip': '9999' (row 3) did not occur when the model was fitted" in result.stderr
    assert "note: Column 'x': 1 cell is missing" in result.stderr
    assert run("predict", "m.surefit", "new.csv", "--quiet").stderr == ""


def test_files_and_standard_input(folder):
    write("x,zip\n1,0202\n")
    assert run("predict", "m.surefit", "new.csv", "--out", "p.csv", "--force").exit_code == 0
    assert run("predict", "m.surefit", "new.csv", "--out", "p.parquet", "--force").exit_code == 0
    assert polars.read_csv("p.csv").equals(polars.read_parquet("p.parquet"))
    assert "p.csv: this file exists already" in run("predict", "m.surefit", "new.csv", "--out", "p.csv").stderr
    result = runner.invoke(app, ["predict", "m.surefit", "-"], input=b"x,zip\n1,0202\n")
    assert rows_of(result.stdout)["prediction"].to_list() == polars.read_csv("p.csv")["prediction"].to_list()


@pytest.mark.parametrize(
    ("content", "words", "sentence"),
    [
        ("x\n1\n", [], "new.csv: there is no column 'zip'"),
        ("x,zip\n1,0202\n", ["--interval", "2"], "--interval must be a number between 0 and 1; got 2."),
        ("x,zip\n1,0202\n", ["--interval", "0.999"], "test rows are too few for intervals of coverage 0.999"),
        ("x,zip\ninf,0202\n", [], "column 'x', row 2 is infinite"),
    ],
)
def test_what_cannot_be_predicted(content, words, sentence):
    write(content)
    result = run("predict", "m.surefit", "new.csv", *words)
    assert result.exit_code == 2 and sentence in result.stderr and result.stdout == ""


def test_other_models_are_pointed_elsewhere():
    surefit.save(surefit.Ridge().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]), "ridge.surefit", overwrite=True)
    assert "contains a Ridge, which takes arrays" in run("predict", "ridge.surefit", "train.csv").stderr
    assert "use surefit verify m.surefit train.csv" in run("certify", "m.surefit", "train.csv", "-t", "y").stderr


def test_verify_re_derives_the_claims_and_refuses_other_data():
    result = run("verify", "m.surefit", "train.csv")
    assert result.exit_code == 0 and "Verified: every claim was re-derived" in result.stdout
    assert run("verify", "m.surefit", "--quiet").stdout == ""
    frame = polars.read_csv("train.csv", infer_schema=False)
    frame.with_columns(x=polars.col("x").reverse()).write_csv("other.csv")
    changed = run("verify", "m.surefit", "other.csv")
    assert changed.exit_code == 1 and "surefit: not verified: " in changed.stderr
