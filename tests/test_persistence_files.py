"""Writing files: whole or not at all, and never over another one unless asked to."""

import os

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
