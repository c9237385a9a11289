"""``surefit fit``: what it writes, prints and returns."""

import io
import json

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

import surefit
from surefit.cli import fit as fit_module
from surefit.cli.main import app
from surefit.cli.show import show_study
from surefit.studies import verify
from surefit.tables import read_table

runner = CliRunner()
QUICK = ("--models", "linear", "--max-time", "20")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def run(*words):
    return runner.invoke(app, [str(word) for word in words], catch_exceptions=False)


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def houses(folder):
    rng = np.random.default_rng(0)
    area, year = rng.uniform(40, 200, size=120).round(1), rng.integers(1950, 2020, size=120)
    town = rng.choice(["Delft", "Ghent", "Oslo"], size=120)
    price = 2 * area + 0.5 * (year - 1950) + 30 * (town == "Oslo") + rng.normal(size=120)
    path = folder / "houses.csv"
    polars.DataFrame({"no": range(120), "area": area, "year": year, "town": town, "price": price}).write_csv(path)
    return path


# --- the main job -------------------------------------------------------------------------------------------------------


def test_on_a_file(houses, folder):
    result = run("fit", houses, "--target", "price", *QUICK)
    assert result.exit_code == 0, result.stderr
    text = flat(result.stdout)
    assert "regression: price takes 120 different numbers" in text
    assert "96 rows to compare and fit, 24 to test (at random by rows, seed 0)" in text
    assert "identifier no counts the rows" in text and "category town 3 levels" in text
    assert "'no' names rows and was left out; --column no:category or --column no:number keeps it." in text
    assert "* penalized linear regression" in text and "Written: model.surefit, certificate.json, report.html" in text
    model = surefit.load("model.surefit")
    assert model.record_["command"] == f"surefit fit {houses} --target price --models linear --max-time 20.0"
    assert len(model.record_["sha256"]) == 64
    assert all(finding.ok for finding in verify(model, read_table(houses)))
    certificates = json.loads((folder / "certificate.json").read_text())
    assert set(certificates) == {"fit", "risk", "intervals"}
    assert [c["name"] for c in certificates["intervals"]["claims"]] == ["conformal.coverage", "conformal.conditional"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "surefit verify model.surefit" in page and "http" not in page


def test_without_arguments_and_by_name_on_built_in_data(folder):
    assert "built-in data set 'diabetes': regression of progression" in run("fit", *QUICK).stdout
    result = run("fit", "iris", *QUICK, "--force")
    assert "built-in data set 'iris': classification of species" in result.stdout
    assert run("verify", "model.surefit").exit_code == 0


@pytest.mark.parametrize("family", ["tree", "boosting"])
def test_trees_of_a_file_with_text_are_verified_from_the_file(houses, family):
    result = run("fit", houses, "-t", "price", "--models", family, "--max-time", "20", "--no-report")
    assert result.exit_code == 0 and run("verify", "model.surefit", houses).exit_code == 0
    assert run("verify", "model.surefit").exit_code == 0
    polars.read_csv(houses).with_columns(town=polars.lit("Oslo")).write_csv("other.csv")
    assert run("verify", "model.surefit", "other.csv").exit_code == 1


def test_parquet_gives_the_same_model(houses):
    polars.read_csv(houses).write_parquet("houses.parquet")
    run("fit", houses, "-t", "price", *QUICK, "--no-report")
    run("fit", "houses.parquet", "-t", "price", *QUICK, "--no-report", "--force", "--out", "b.surefit")
    a, b = surefit.load("model.surefit"), surefit.load("b.surefit")
    assert a.certificate_.data == b.certificate_.data
    assert np.array_equal(a.predictor_.estimator_.coef_, b.predictor_.estimator_.coef_)


def test_options_reach_the_study_and_the_command_is_repeatable(houses):
    words = [
        "--metric",
        "mae",
        "--select",
        "1se",
        "--test-size",
        "0.5",
        "--seed",
        "7",
        "--column",
        "year:category",
        "--column",
        "no:number",
    ]
    result = run("fit", houses, "-t", "price", *QUICK, *words, "--no-report")
    assert result.exit_code == 0, result.stderr
    model = surefit.load("model.surefit")
    assert model.record_["rows"] == 60 and model.record_["metric"] == "mae"
    assert model.encoder_.recipes_["year"]["kind"] == "category" and "no" in model.encoder_.recipes_
    command = model.record_["command"].split()
    assert run(*command[1:], "--no-report", "--out", "again.surefit", "--force").exit_code == 0
    assert surefit.load("again.surefit").certificate_.data == model.certificate_.data


def test_json_holds_everything(houses):
    result = run("fit", houses, "-t", "price", *QUICK, "--json")
    found = json.loads(result.stdout)
    assert found["task"] == "regression" and found["winner"]["family"] == "linear"
    assert found["files"]["out"] == "model.surefit" and len(found["leaderboard"]) == 2
    assert [row["taken for"] for row in found["columns"]] == ["identifier", "number", "number", "category", "target"]


def test_quiet_prints_nothing(houses):
    result = run("fit", houses, "-t", "price", *QUICK, "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_progress_is_plain_lines_where_there_is_no_terminal(houses):
    lines = run("fit", houses, "-t", "price", *QUICK, "--no-report").stderr.splitlines()
    assert lines[0].startswith("constant: ") and "1 of 1 settings" in lines[0] and lines[0].endswith("s left")
    assert lines[1].startswith("penalized linear regression: ") and ", gap " in lines[1]


def test_spelling_options(folder):
    rng = np.random.default_rng(1)
    rows = [
        f"{i % 28 + 1:02d}/{i % 12 + 1:02d}/2020;{x:.2f};-9;{'A' if x > 0 else 'B'}".replace(".", ",")
        for i, x in enumerate(rng.normal(size=60))
    ]
    (folder / "d.csv").write_text("when;x;gap;kind\n" + "\n".join(rows[:12]) + "\n")
    assert "--dates dmy or --dates mdy" in run("fit", "d.csv", "-t", "kind", *QUICK).stderr
    (folder / "d.csv").write_text("when;x;gap;kind\n" + "\n".join(rows) + "\n")
    result = run("fit", "d.csv", "-t", "kind", *QUICK, "--na", "-9")
    text = flat(result.stdout)
    assert "date when dates, day first" in text and "number x numbers, decimal comma" in text
    assert "empty gap every cell is missing" in text


# --- files are not overwritten --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "option"), [("model.surefit", "--out"), ("report.html", "--report"), ("certificate.json", "--certificate")]
)
def test_existing_files_are_kept_unless_forced(folder, name, option):
    (folder / name).write_text("precious")
    result = run("fit", "iris", *QUICK)
    assert result.exit_code == 2
    assert (
        f"{name}: this file exists already; overwrite it with --force, or name another with {option}" in result.stderr
    )
    assert (folder / name).read_text() == "precious"
    assert sorted(path.name for path in folder.iterdir()) == [name]
    assert run("fit", "iris", *QUICK, "--force").exit_code == 0
    assert (folder / name).read_bytes()[:8] != b"precious"


def test_impossible_places_are_refused_before_the_fit(monkeypatch):
    monkeypatch.setattr(fit_module, "_studied", lambda *_: pytest.fail("the fit was started"))
    assert "there is no folder 'nowhere'" in run("fit", "--out", "nowhere/m.surefit").stderr
    assert "cannot be the same file" in run("fit", "--out", "x", "--report", "./x").stderr


# --- wrong options ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--models", "forrest"], "--models forrest: there is no such family; did you mean forest?"),
        (["--metric", "accuracy"], "--metric accuracy: expected one of error, log-loss"),
        (["--metric", "rmse"], "--metric rmse is for regression, but the task is classification"),
        (["--column", "sepal_length"], "--column sepal_length: expected NAME:KIND"),
        (["--class-weight", "much"], "--class-weight much: expected balanced, or CLASS=WEIGHT"),
        (["--max-time", "0"], "--max-time must be a finite number > 0; got 0.0."),
        (["--test-size", "1.5"], "--test-size must be a number from 0 up to, but not including, 1; got 1.5."),
        (["--target", "specie"], "no column 'specie'; did you mean 'species'?"),
        (["--group", "nobody"], "there is no column 'nobody'"),
        (["--select", "bound", "--time", "sepal_length"], "--select must be best or 1se with time"),
    ],
)
def test_wrong_options_are_refused_in_the_words_of_the_command_line(words, sentence, folder):
    result = run("fit", "iris", *words)
    assert result.exit_code == 2 and sentence in result.stderr and result.stderr.count("\n") == 1
    assert list(folder.iterdir()) == []


# --- bugs, interruptions and missing packages ---------------------------------------------------------------------------


def test_ctrl_c_while_reading_is_one_line(houses, monkeypatch, folder):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefit.tables.read_table", interrupted)
    result = run("fit", houses, "-t", "price")
    assert result.exit_code == 130
    assert result.stderr == "surefit: interrupted; no file was left half-written.\n"
    assert not (folder / "model.surefit").exists()


def test_bug_is_one_line_too(houses, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("surefit.tables.read_table", broken)
    result = run("fit", houses, "-t", "price")
    assert result.exit_code == 1
    assert (
        result.stderr
        == "surefit: unexpected ZeroDivisionError: oh no. This is a bug; SUREFIT_DEBUG=1 shows where it is.\n"
    )
    monkeypatch.setenv("SUREFIT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("fit", houses, "-t", "price")


def test_missing_package_is_named_before_the_fit(monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "skops" else real(name, *a))
    result = run("fit")
    assert result.exit_code == 2
    assert "skops must be installed for this: pip install 'surefit[all]'" in result.stderr


def test_names_with_spaces_are_quoted_and_roles_are_noted(folder):
    rng = np.random.default_rng(0)
    rows = {"order id": [f"B{i:03d}" for i in range(60)], "site": np.arange(60) // 3, "x": rng.normal(size=60)}
    polars.DataFrame({**rows, "y": rng.normal(size=60)}).write_csv("orders.csv")
    text = flat(run("fit", "orders.csv", "--group", "site", *QUICK, "--no-report").stdout)
    assert "'order id' names rows and was left out; --column 'order id:category'" in text
    assert "'site' groups the rows and is not a predictor" in text


def test_narrow_terminals():
    """Notes about a family stand below the leaderboard, where they do not break it."""
    study = surefit.study("iris", models=("linear",), max_time=20)
    next(row for row in study.rows if row["winner"])["state"] = "2 of 5 settings; stopped early for lack of time"
    console = Console(width=80, file=io.StringIO())
    show_study(study, console)
    lines = console.file.getvalue().splitlines()
    assert "  logistic regression: 2 of 5 settings; stopped early for lack of time" in lines
    assert max(map(len, lines)) <= 80
    assert {"holds", "proved"} <= {finding.verdict for finding in study.findings}
