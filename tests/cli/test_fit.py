"""``surefit fit``: what it writes, prints and returns."""

import os
import signal

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

import surefit
from surefit.cli import fit as fit_module
from surefit.cli.main import app
from surefit.tables import builtin_table, read_table, training_part

runner = CliRunner()


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
    polars.DataFrame({"area": area, "year": year, "town": town, "price": price}).write_csv(path)
    return path


# --- the main job -------------------------------------------------------------------------------------------------------


def test_without_arguments_on_the_built_in_data(folder):
    result = run("fit")
    assert result.exit_code == 0
    assert "built-in data set 'diabetes'" in result.stdout
    assert "Written: model.surefit and report.html" in result.stdout
    model = surefit.load(folder / "model.surefit")
    model.verify(training_part(model, builtin_table()))
    assert "verified" in (folder / "report.html").read_text(encoding="utf-8")


def test_on_a_file_with_groups(houses, folder):
    result = run("fit", houses, "--target", "price")
    assert result.exit_code == 0, result.stderr
    text = flat(result.stdout)
    assert "3 in use (2 number, 1 text), 5 features" in text
    assert "96 to fit, 24 to test (seed 0)" in text
    model = surefit.load("model.surefit")
    by_feature = {c.feature: c.value for c in model.coefficients}
    assert by_feature["area"] == pytest.approx(2.0, abs=0.05)
    assert by_feature["town=Oslo"] - by_feature["town=Delft"] == pytest.approx(30, abs=2)
    assert model.record_["command"] == f"surefit fit {houses} --target price"
    assert len(model.record_["sha256"]) == 64
    model.verify(training_part(model, read_table(houses)))


def test_printed_numbers_are_those_of_the_model(houses):
    result = run("fit", houses, "-t", "price", "--alpha", "0.5", "--no-report")
    model = surefit.load("model.surefit")
    assert "alpha = 0.5 (given)" in result.stdout
    for c in model.coefficients:
        if c.value:
            assert f"{c.value:.5g}" in result.stdout
    claim = model.certificate_["penalised_squares.gap"]
    assert claim.statement in flat(result.stdout)
    assert "holds" in result.stdout


def test_parquet_gives_the_same_model(houses, folder):
    polars.read_csv(houses).write_parquet("houses.parquet")
    run("fit", houses, "-t", "price", "--alpha", "0.5", "--no-report", "--out", "a.surefit")
    run("fit", "houses.parquet", "-t", "price", "--alpha", "0.5", "--no-report", "--out", "b.surefit")
    a, b = surefit.load("a.surefit"), surefit.load("b.surefit")
    assert a.coefficients == b.coefficients
    assert a.certificate_.data == b.certificate_.data


def test_options_reach_the_model(houses):
    words = ["--model", "elastic_net", "--l1-ratio", "0.25", "--alpha", "0.1", "--test-size", "0.5", "--seed", "7"]
    result = run("fit", houses, "-t", "price", *words, "--no-standardise", "--drop", "year", "--no-report")
    assert result.exit_code == 0, result.stderr
    model = surefit.load("model.surefit")
    assert model.certificate_.problem["alpha"] == pytest.approx(0.025)
    assert model.certificate_.data["n_rows"] == 60
    assert "year" not in model.encoder_.kinds_ and not model.encoder_.standardise
    command = model.record_["command"].split()
    assert run(*command[1:], "--no-report", "--out", "again.surefit").exit_code == 0
    assert surefit.load("again.surefit").certificate_.data == model.certificate_.data
    assert surefit.load("again.surefit").coefficients == model.coefficients


def test_quiet_prints_nothing(houses):
    result = run("fit", houses, "-t", "price", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_no_report(houses, folder):
    run("fit", houses, "-t", "price", "--no-report")
    assert not (folder / "report.html").exists()


def test_remarks_are_printed(folder):
    x = np.arange(20.0)
    polars.DataFrame({"x": x, "one": np.ones(20), "y": x * 2}).write_csv("d.csv")
    result = run("fit", "d.csv", "--alpha", "0.1")
    assert "remark: Feature 'one' is constant over the training rows" in flat(result.stdout)


def test_missing_cells_can_be_left_out(folder):
    (folder / "d.csv").write_text("x,y\n1,2\n,3\n3,5\n4,9\n5,9\n")
    assert run("fit", "d.csv", "--alpha", "0.1").exit_code == 2
    result = run("fit", "d.csv", "--alpha", "0.1", "--drop-missing")
    assert result.exit_code == 0
    assert "1 of 5 rows have missing cells" in result.stdout


def test_max_time_keeps_what_was_reached(houses):
    result = run("fit", houses, "-t", "price", "--alpha", "1e-9", "--max-time", "60")
    assert result.exit_code == 0


# --- files are not overwritten --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "option"), [("model.surefit", "--out"), ("report.html", "--report")])
def test_existing_files_are_kept_unless_forced(folder, name, option):
    (folder / name).write_text("precious")
    result = run("fit", "--alpha", "1")
    assert result.exit_code == 2
    assert (
        f"{name}: this file exists already; overwrite it with --force, or name another with {option}" in result.stderr
    )
    assert (folder / name).read_text() == "precious"
    assert sorted(path.name for path in folder.iterdir()) == [name]
    assert run("fit", "--alpha", "1", "--force").exit_code == 0
    assert (folder / name).read_bytes()[:8] != b"precious"


def test_impossible_places_are_refused_before_the_fit(folder, monkeypatch):
    monkeypatch.setattr(fit_module, "_studied", lambda *_: pytest.fail("the fit was started"))
    assert "there is no folder 'nowhere'" in run("fit", "--out", "nowhere/m.surefit").stderr
    assert "cannot be the same file" in run("fit", "--out", "x", "--report", "./x").stderr


# --- Ctrl-C -------------------------------------------------------------------------------------------------------------


class CtrlC:
    """A callback that presses Ctrl-C once, at the first sign of progress."""

    max_propagation_depth = 1
    pressed = False

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)
        return False

    def teardown(self, estimator, context):
        pass


@pytest.fixture
def hard(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 80)) + rng.normal(size=(60, 1))
    polars.DataFrame({f"x{j}": X[:, j] for j in range(80)} | {"y": X @ rng.normal(size=80)}).write_csv("hard.csv")
    return folder / "hard.csv"


def test_ctrl_c_during_the_fit_saves_the_model_with_its_gap(hard, folder, monkeypatch):
    monkeypatch.setattr(fit_module, "progress", lambda quiet: [CtrlC()])
    result = run("fit", hard, "--alpha", "1e-4")
    assert result.exit_code == 130
    assert "surefit: interrupted; the best model so far was saved, with its gap." in result.stderr
    model = surefit.load("model.surefit")
    assert model.certificate_["penalised_squares.gap"].holds is False
    model.verify(training_part(model, read_table(hard)))
    assert "stopped early" in (folder / "report.html").read_text(encoding="utf-8")


def test_ctrl_c_before_any_comparison_leaves_nothing(hard, folder, monkeypatch):
    monkeypatch.setattr(fit_module, "progress", lambda quiet: [CtrlC()])
    result = run("fit", hard)
    assert result.exit_code == 130
    assert result.stderr.strip() == "surefit: interrupted; no file was left half-written."
    assert [path.name for path in folder.iterdir()] == ["hard.csv"]


def test_ctrl_c_elsewhere_is_one_line(houses, monkeypatch, folder):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefit.tables.read_table", interrupted)
    result = run("fit", houses, "-t", "price")
    assert result.exit_code == 130
    assert result.stderr == "surefit: interrupted; no file was left half-written.\n"
    assert not (folder / "model.surefit").exists()


# --- bugs and missing packages --------------------------------------------------------------------------------------------


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
