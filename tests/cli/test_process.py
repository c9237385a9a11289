"""The command as a process: exit codes, streams, and never a traceback."""

import subprocess
import sys

import pytest

import surefit

SUREFIT = [sys.executable, "-m", "surefit"]


def run(*words, folder):
    return subprocess.run([*SUREFIT, *words], capture_output=True, text=True, cwd=folder, timeout=300)


def test_fit_and_predict(tmp_path):
    fitted = run("fit", "--models", "linear", folder=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    assert "Traceback" not in fitted.stderr
    header = "age,sex,body_mass_index,blood_pressure,total_cholesterol,ldl,hdl,cholesterol_ratio,log_triglycerides,blood_sugar"
    (tmp_path / "new.csv").write_text(f"{header}\n50,code 1,26,94,189,115,49,4,4.6,91\n")
    predicted = run("predict", "model.surefit", "new.csv", folder=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    lines = predicted.stdout.splitlines()
    assert lines[0] == "prediction" and 25 < float(lines[1]) < 346


def test_greeting_names_three_commands(tmp_path):
    greeting = run(folder=tmp_path)
    assert greeting.returncode == 0
    assert [word in greeting.stdout for word in ("surefit fit", "surefit predict", "surefit verify")] == [True] * 3


def test_bad_input(tmp_path):
    result = run("fit", "missing.csv", folder=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "surefit: missing.csv: there is no such file; check the name and the folder.\n"
    assert result.stdout == ""


def test_version_and_help(tmp_path):
    version = run("--version", folder=tmp_path)
    assert (version.returncode, version.stdout) == (0, f"surefit {surefit.__version__}\n")
    help_ = run("fit", "--help", folder=tmp_path)
    assert help_.returncode == 0 and "--target" in help_.stdout and "Ctrl-C" in help_.stdout


@pytest.mark.parametrize(
    "words", [["fit", "--nonsense"], ["predict"], ["fit", "--max-time", "one"], ["no-such-command"]]
)
def test_wrong_use(tmp_path, words):
    result = run(*words, folder=tmp_path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr and "--help" in result.stderr


def test_help_does_not_load_the_library(tmp_path):
    heavy = ("numpy", "sklearn", "numba", "polars", "matplotlib", "skops")
    code = f"import sys, surefit.cli.main; print(*[m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert result.stdout.split() == []
