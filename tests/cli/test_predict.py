"""``surefit predict``: the numbers of the model, for files as they come."""

import numpy as np
import polars
import pytest
from sklearn.datasets import load_diabetes
from typer.testing import CliRunner

import surefit
from surefit.cli.main import app
from surefit.tables import Plan, as_table, study_table

runner = CliRunner()


def run(*words):
    return runner.invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(folder):
    n = 60
    rng = np.random.default_rng(0)
    zip_code = rng.choice(["0101", "0202", "0303"], size=n)
    x = rng.normal(size=n)
    frame = polars.DataFrame({"x": x, "zip": zip_code, "y": 3 * x + (zip_code == "0202") + 10})
    fitted = study_table(as_table(frame), Plan(alpha=0.01)).model
    surefit.save(fitted, "model.surefit")
    return fitted


def write(text, name="new.csv"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def numbers(text):
    lines = text.splitlines()
    assert lines[0] == "prediction"
    return [float(line) for line in lines[1:]]


def test_predictions_are_the_model_s_to_the_last_bit(model):
    write("zip,extra,x\n0202,a,0.5\n0101,b,-1.25\n")
    result = run("predict", "model.surefit", "new.csv")
    assert result.exit_code == 0
    expected = model.predict(polars.DataFrame({"x": [0.5, -1.25], "zip": ["0202", "0101"]}))
    assert numbers(result.stdout) == expected.tolist()
    assert result.stderr == ""


def test_out_file(model, folder):
    write("zip,x\n0202,0.5\n")
    result = run("predict", "model.surefit", "new.csv", "--out", "p.csv")
    assert result.exit_code == 0 and result.stdout == ""
    assert len(numbers((folder / "p.csv").read_text())) == 1
    again = run("predict", "model.surefit", "new.csv", "--out", "p.csv")
    assert again.exit_code == 2
    assert "p.csv: this file exists already; overwrite it with --force" in again.stderr
    assert run("predict", "model.surefit", "new.csv", "--out", "p.csv", "--force", "--quiet").stderr == ""


def test_new_text_counts_as_average_and_is_remarked_on(model):
    write("zip,x\n0909,0.5\n")
    result = run("predict", "model.surefit", "new.csv")
    assert "remark: Column 'zip': '0909' (row 2) did not occur when the model was fitted" in result.stderr
    average = np.mean(
        [model.predict(polars.DataFrame({"x": [0.5], "zip": [z]}))[0] for z in model.encoder_.levels_["zip"]]
    )
    shares = model.encoder_.means_[1:]
    levels = [model.predict(polars.DataFrame({"x": [0.5], "zip": [z]}))[0] for z in model.encoder_.levels_["zip"]]
    assert numbers(result.stdout)[0] == pytest.approx(shares @ levels)
    assert abs(numbers(result.stdout)[0] - average) < 0.5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("zip,X\n0202,1\n", "new.csv: there is no column 'x'; did you mean 'X'?"),
        ("zip,x\n0202,1\n0202,\n", "new.csv: column 'x', row 3 is missing"),
        ("zip,x\n0202,1\n0202,inf\n", "new.csv: column 'x', row 3 is infinite"),
        ("zip,x\n0202,1\n0202,one\n", "new.csv: column 'x', row 3: expected a number, got 'one'"),
        ("zip,x\n,1\n", "new.csv: column 'zip', row 2 is missing"),
        ("zip,x\n", "new.csv: there are no rows of data"),
        ("", "new.csv: the file is empty"),
    ],
)
def test_bad_rows_are_refused_in_one_sentence(model, folder, text, sentence):
    write(text)
    result = run("predict", "model.surefit", "new.csv", "--out", "p.csv")
    assert result.exit_code == 2
    assert sentence in result.stderr and result.stderr.count("\n") == 1
    assert not (folder / "p.csv").exists()


def test_bad_models_are_refused_in_one_sentence(folder):
    write("a,b\n1,2\n")
    for name, content, sentence in [
        ("nothing.surefit", None, "there is no such file"),
        ("text.surefit", b"hello", "damaged or not a model of surefit"),
    ]:
        if content is not None:
            (folder / name).write_bytes(content)
        result = run("predict", name, "new.csv")
        assert result.exit_code == 2 and sentence in result.stderr and result.stderr.count("\n") == 1


def test_model_of_arrays_is_for_python(folder):
    surefit.save(surefit.Lasso().fit(*load_diabetes(return_X_y=True)), "arrays.surefit")
    write("a,b\n1,2\n")
    result = run("predict", "arrays.surefit", "new.csv")
    assert result.exit_code == 2
    assert "holds a Lasso, which takes arrays, not tables" in result.stderr
