"""Full disks and homes that cannot be written, for real: limits of the operating system in a process of its own."""

import os
import subprocess
import sys

import pytest

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing beyond the limit is an error, as on a full disk
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
sys.argv[0] = "surefit"
from surefit.cli import run
run()
"""
FIT = ["fit", "iris", "--models", "bayes", "--max-time", "30", "--out", "model.surefit", "--force", "--quiet"]
QUIET = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python itself leaves half of a file behind
OLD = ("model.surefit", "certificate.json", "report.html")


def surefit(folder, *words, limit=None, **environment):
    program = ["-m", "surefit"] if limit is None else ["-c", LIMITED, str(limit)]
    return subprocess.run(
        [sys.executable, *program, *words],
        cwd=folder,
        env={**os.environ, **QUIET, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


# The model is about 20 kB and the report 100 kB: first no file fits, then the report alone does not.
@pytest.mark.parametrize(("limit", "first"), [(4_000, "model.surefit"), (60_000, "report.html")])
def test_a_full_disk_keeps_all_old_files_and_leaves_no_rubbish(tmp_path, limit, first):
    for name in OLD:
        (tmp_path / name).write_bytes(b"precious")
    done = surefit(tmp_path, *FIT, limit=limit)
    assert done.returncode == 2, done.stderr
    said = done.stderr.strip().splitlines()[-1]
    assert said == f"surefit: {first}: could not be written (File too large); nothing was changed."
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(OLD)
    assert all((tmp_path / name).read_bytes() == b"precious" for name in OLD)


def test_output_to_a_full_disk_ends_in_one_sentence(tmp_path):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "surefit", "data"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode != 0
    assert "No space left on device" in done.stderr and "Traceback" not in done.stderr


def test_a_home_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    nowhere = str(file / "folder")  # nothing can be written below a file, even by an administrator
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR"), nowhere)
    work = tmp_path / "work"
    work.mkdir()
    done = surefit(work, *FIT, **places)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in work.iterdir()) == sorted(OLD)
    again = surefit(work, "verify", "model.surefit", "iris", **places)
    assert again.returncode == 0, again.stderr


COMPILED_ON_A_FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from surefit.core.loops import ascending
    order = ascending(np.array([3.0, 1.0, 2.0]))
print(order.tolist(), *(w.message for w in said if w.category.__name__ == "SlowStart"))
"""


def test_machine_code_that_does_not_fit_on_the_disk_costs_time_only(tmp_path):
    environment = {**os.environ, **QUIET, "NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", COMPILED_ON_A_FULL_DISK], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[1, 2, 0] surefit: compiled code cannot be cached on disk"), done.stdout
