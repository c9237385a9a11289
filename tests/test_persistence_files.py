"""Writing files: whole or not at all, and never over another one unless asked to."""

import os
import random
import subprocess
import sys
import time

import pytest
from sklearn.datasets import load_diabetes

import surefit
from surefit.core.errors import PersistenceError
from surefit.persistence import write_file

X, y = load_diabetes(return_X_y=True)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.surefit"


def test_existing_file_is_kept_unless_asked(file):
    file.write_bytes(b"precious")
    with pytest.raises(PersistenceError, match="exists already"):
        surefit.save(surefit.Lasso().fit(X, y), file)
    assert file.read_bytes() == b"precious"
    surefit.save(surefit.Lasso().fit(X, y), file, overwrite=True)
    surefit.load(file).verify(X, y)


def test_failed_write_leaves_the_old_file_and_no_rubbish(file, monkeypatch):
    file.write_bytes(b"precious")

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(PersistenceError, match="No space left on device"):
        write_file(file, b"new", overwrite=True)
    assert file.read_bytes() == b"precious"
    assert list(file.parent.iterdir()) == [file]


def test_interrupted_write_leaves_the_old_file_and_no_rubbish(file, monkeypatch):
    file.write_bytes(b"precious")

    def ctrl_c(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        write_file(file, b"new", overwrite=True)
    assert file.read_bytes() == b"precious"
    assert list(file.parent.iterdir()) == [file]


def test_file_that_appears_meanwhile_is_not_overwritten(file, monkeypatch):
    real = os.fsync

    def slow(descriptor):
        file.write_bytes(b"somebody else's")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(PersistenceError, match="exists already"):
        write_file(file, b"ours")
    assert file.read_bytes() == b"somebody else's"


def test_file_system_without_links(file, monkeypatch):
    def no_links(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    write_file(file, b"ours")
    assert file.read_bytes() == b"ours"


def test_link_stays_a_link(file, tmp_path):
    real = tmp_path / "real"
    real.write_bytes(b"old")
    file.symlink_to(real)
    write_file(file, b"new", overwrite=True)
    assert file.is_symlink() and real.read_bytes() == b"new"


def test_permissions_follow_the_user_s_mask(file):
    previous = os.umask(0o027)
    try:
        write_file(file, b"x")
    finally:
        os.umask(previous)
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("nowhere/x", "there is no folder"), (".", "this is a folder"), ("/dev/null", "not a regular file")],
)
def test_impossible_places_are_refused(tmp_path, name, sentence):
    with pytest.raises(PersistenceError, match=sentence):
        write_file(tmp_path / name, b"x", overwrite=True)


WRITER = """
import sys
from surefit.persistence import write_file
print("ready", flush=True)
while True:
    for letter in (b"a", b"b"):
        write_file(sys.argv[1], letter * 4_000_000, overwrite=True)
"""


def test_killed_process_leaves_the_old_file_or_the_new_one(file):
    file.write_bytes(b"a" * 4_000_000)
    draw = random.Random(0)
    process = None
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(draw.uniform(0.0, 0.1))
        process.kill()
        process.communicate()
        assert file.read_bytes() in (b"a" * 4_000_000, b"b" * 4_000_000)


LIMITED = """
import resource, signal, sys
from surefit.core.errors import PersistenceError
from surefit.persistence import write_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_file(sys.argv[1], bytes(5000), overwrite=True)
except PersistenceError as error:
    print(error)
"""


def test_a_file_that_does_not_fit_on_the_disk_leaves_the_old_one(file):
    file.write_bytes(b"precious")
    result = subprocess.run([sys.executable, "-c", LIMITED, str(file)], capture_output=True, text=True, timeout=300)
    assert "could not be written (File too large); nothing was changed." in result.stdout, result.stderr
    assert file.read_bytes() == b"precious" and list(file.parent.iterdir()) == [file]
