"""The command that compiles ahead of time."""

import os
import subprocess
import sys

SUREFIT = [sys.executable, "-m", "surefit"]


def warmup(*names, **environment):
    kept = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
    return subprocess.run([*SUREFIT, "warmup", *names], capture_output=True, text=True, env={**kept, **environment})


def test_the_second_run_finds_everything_compiled(tmp_path):
    first = warmup("Perceptron", "PCA", NUMBA_CACHE_DIR=str(tmp_path))
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0].startswith("Perceptron") and lines[0].endswith(" s")
    assert "functions compiled; 2 estimators in" in lines[-1] and list(tmp_path.rglob("*.nbi"))
    second = warmup("Perceptron", "PCA", NUMBA_CACHE_DIR=str(tmp_path))
    assert second.stdout.startswith("everything was compiled already; 2 estimators in"), second.stdout + second.stderr
    assert warmup("PCA", "--quiet", NUMBA_CACHE_DIR=str(tmp_path)).stdout == ""


def test_an_unknown_name_is_said(tmp_path):
    result = warmup("Ridgeless", NUMBA_CACHE_DIR=str(tmp_path))
    assert result.returncode == 2
    assert result.stderr.startswith("surefit: Ridgeless is not an estimator of surefit; choose from ")
    assert "Lasso" in result.stderr and "Traceback" not in result.stderr


def test_every_estimator_is_fitted_and_runs_as_plain_python_too():
    result = warmup(NUMBA_DISABLE_JIT="1")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("compilation is switched off by NUMBA_DISABLE_JIT; ")
