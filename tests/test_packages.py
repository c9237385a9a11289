"""The wheel and the source distribution, built and used offline in an environment that contains nothing else of surefit."""

import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from zipfile import ZipFile

import numpy
import pytest

ROOT = Path(__file__).parent.parent
BUILD = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"
DEPENDENCIES = Path(numpy.__file__).parents[1]
#: Runs at the start of every process of the environment.
OFFLINE = """
import socket
def refuse(*args, **options):
    raise OSError("this environment is offline")
socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
"""


def run(*command, folder):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_DISABLE_JIT")}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(kind, source, folder):
    return folder / run(sys.executable, "-c", BUILD, f"build_{kind}", folder, folder=source).split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built("sdist", ROOT, folder)) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A new environment with the wheel; dependencies are those that are installed, and nothing can be downloaded."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder).strip())
    (site / "dependencies.pth").write_text(f"{DEPENDENCIES}\n", encoding="utf-8")
    (site / "sitecustomize.py").write_text(OFFLINE, encoding="utf-8")
    options = ("--no-index", "--no-deps", "--disable-pip-version-check", "--quiet")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel, folder=folder)
    return python, site


def contents(wheel):
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_source_distribution_builds_the_same_wheel(wheel, source, tmp_path):
    assert contents(built("wheel", source, tmp_path)) == contents(wheel)


def test_the_wheel_fits_verifies_and_explains_in_an_empty_environment(environment, tmp_path):
    python, site = environment
    imported = run(python, "-c", "import surefit; print(surefit.__file__)", folder=tmp_path).strip()
    assert Path(imported).is_relative_to(site)
    command = next(python.parent.glob("surefit*"))
    run(command, "fit", "iris", "--models", "bayes", "--max-time", "30", "--out", "m.surefit", folder=tmp_path)
    assert {"m.surefit", "certificate.json", "report.html"} <= {path.name for path in tmp_path.iterdir()}
    run(command, "verify", "m.surefit", "iris", folder=tmp_path)
    assert list((site / "surefit" / "lab" / "theory_pages").glob("*.rst"))


def test_the_tests_of_the_source_distribution_pass_with_the_wheel(environment, source):
    python, _ = environment
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/core/test_certificate.py", folder=source)
