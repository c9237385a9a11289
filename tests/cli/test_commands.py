"""The other commands: data, report, explain, compare, path, theory; each by numbers that are known otherwise."""

import json
import re
from pathlib import Path

import numpy as np
import polars
import pytest
import typer
from sklearn.linear_model import Lasso
from typer.testing import CliRunner

import surefit
from surefit.cli.main import app
from surefit.studies.theorems import THEOREMS
from surefit.tables import BUILTINS, builtin_table

runner = CliRunner()


def run(*words, code=0):
    result = runner.invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == code, result.stderr
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("commands")
    builtin_table("tumors").frame.write_csv(path / "tumors.csv")
    for name, models in (("a", "linear"), ("b", "tree")):
        files = ["--out", path / f"{name}.surefit", "--certificate", path / f"{name}.json", "--no-report"]
        run("fit", path / "tumors.csv", "-t", "diagnosis", "--models", models, *files)
    return path


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "120")


def test_data_lists_and_writes():
    listed = run("data").stdout
    assert all(name in listed for name in BUILTINS)
    run("data", "iris", "--out", "iris.csv")
    assert polars.read_csv("iris.csv").equals(builtin_table("iris").frame)
    assert polars.read_csv(run("data", "iris").stdout.encode()).height == 150
    assert "iris.csv: this file exists already" in run("data", "iris", "--out", "iris.csv", code=2).stderr
    assert "did you mean 'iris'" in run("data", "irs", code=2).stderr


def test_report_of_a_model_file_is_that_of_the_fit():
    study = surefit.study("tumors.csv", "diagnosis", models=("linear",))
    run("report", "a.surefit", "tumors.csv", "--out", "again.html")
    page = Path("again.html").read_text(encoding="utf-8")
    body = re.sub(r"in [\d.e-]+ s", "", page)
    assert f"{study.test_scores['error'][0]:.4g}" in body and "logistic regression&nbsp;✓" in body
    assert all(finding.statement.split(" <= ")[0] in page for finding in study.findings)


def test_report_refuses_other_data():
    frame = builtin_table("tumors").frame
    frame[:300].write_csv("part.csv")
    said = run("report", "a.surefit", "part.csv", "--out", "x.html", code=2).stderr
    assert "these are not the rows that the model was fitted on" in said


def test_explain_uses_the_test_part_and_names_what_matters():
    found = json.loads(run("explain", "a.surefit", "--json").stdout)
    model = surefit.load("a.surefit")
    weights = {each["feature"]: each["standardized"] for each in found["coefficients"]}
    assert weights == dict(
        zip(model.encoder_.feature_names_, model.predictor_.estimator_.coef_.ravel().tolist(), strict=True)
    )
    assert len(found["importances"]) == 30 and found["importances"][0]["loss"] >= found["importances"][-1]["loss"]
    assert found["worst_rows"][0]["truth"] != found["worst_rows"][0]["prediction"]
    text = run("explain", "b.surefit").stdout
    assert text.startswith("On 114 rows of the test part") and "class: malignant" in text


def test_explain_of_other_rows_uses_all_of_them():
    builtin_table("tumors").frame[:50].write_csv("fifty.csv")
    assert run("explain", "a.surefit", "fifty.csv").stdout.startswith("On 50 rows of this table")


def test_compare_in_pairs():
    text = run("compare", "a.surefit", "b.surefit", "tumors.csv").stdout
    a, b = (surefit.load(name) for name in ("a.surefit", "b.surefit"))
    from surefit.studies.labeled import labeled_rows
    from surefit.tables import read_table

    rows = labeled_rows(a, read_table("tumors.csv"))
    wrong = [np.mean(model.predictor_.predict_codes(rows.X) != rows.y) for model in (a, b)]
    assert f"a.surefit: {wrong[0]:.4g}" in text and f"b.surefit: {wrong[1]:.4g}" in text
    assert f"difference: {wrong[0] - wrong[1]:+.4g}" in text and "McNemar's exact test: p = " in text
    same = run("compare", "a.surefit", "a.surefit", "tumors.csv").stdout
    assert "p = 1; the difference is not significant" in same


def test_path_is_the_lasso():
    run("path", "diabetes", "--points", "5", "--out", "path.csv")
    frame = polars.read_csv("path.csv")
    table = builtin_table().frame
    X = table.drop("progression").with_columns(polars.col("sex") == "code 2").cast(polars.Float64).to_numpy()
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), table["progression"].to_numpy()
    y = (y - y.mean()) / y.std()
    assert frame["alpha"][0] == pytest.approx(np.abs(X.T @ y).max() / len(y))
    oracle = Lasso(alpha=frame["alpha"][2], tol=1e-10).fit(X, y).coef_
    assert frame[:, 2:].to_numpy()[2] == pytest.approx(oracle, abs=1e-5)
    assert "for two classes or numbers" in run("path", "iris", code=2).stderr


@pytest.mark.parametrize("name", THEOREMS)
def test_theory_has_a_number_on_data(name):
    text = run("theory", name, "tumors").stdout
    statement = THEOREMS[name].statement
    assert statement in text and "built-in data set 'tumors': " in text
    assert re.search(r"\d", text.split("built-in data set")[1])


def test_theory_numbers():
    assert f"{np.sqrt(np.log(2 / 0.05) / (2 * 569)):.4g}" in run("theory", "hoeffding", "tumors").stdout
    assert f"{1 - 0.05 ** (1 / 113):.4g}" in run("theory", "clopper-pearson", "tumors").stdout
    assert "did you mean novikoff?" in run("theory", "novikof", code=2).stderr
    assert "two classes" in run("theory", "novikoff", "iris", code=2).stderr
    assert run("theory").stdout.count("\n") == len(THEOREMS)


def test_anchors_of_theorems_exist():
    pages = Path(__file__).parents[2] / "docs" / "theory"
    anchors = {
        line[4:-1].strip()
        for page in pages.glob("*.rst")
        for line in page.read_text().splitlines()
        if line.startswith(".. _")
    }
    assert {theorem.anchor for theorem in THEOREMS.values()} <= anchors


@pytest.mark.parametrize("name", sorted(typer.main.get_command(app).commands))
def test_help_of_every_command_has_an_example(name):
    text = run(name, "--help").stdout
    assert re.search(rf"[Ee]xample:\s+surefit {name}\b", text) and "---- " not in text.replace("-----", "---- ")
