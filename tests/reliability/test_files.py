"""Damaged and hostile files are refused in one sentence; 18 000 of them by ``make reliability``."""

import gzip
import io
import json
import tracemalloc
from zipfile import ZipFile

import numpy as np
import polars
import pytest
from tests.reliability.files import run
from tests.reliability.hostile import packed

import surefit
from surefit.core.errors import CertificateError, InvalidData, PersistenceError
from surefit.persistence import load_external
from surefit.tables import read_table


def test_damaged_files_are_refused_in_a_sentence():
    tried, wrong = run(12, seed=1)
    assert tried == 108 and not wrong


@pytest.fixture
def bomb(tmp_path):
    file = tmp_path / "bomb"
    file.write_bytes(packed([("schema.json", b"{}"), ("surefit.json", b'{"format": 1}'), ("a.npy", bytes(2**29))]))
    assert file.stat().st_size < 2**20
    return file


@pytest.mark.parametrize("reader", [surefit.load, load_external])
def test_archive_that_unpacks_to_too_much_is_not_unpacked(bomb, reader):
    tracemalloc.start()
    with pytest.raises(PersistenceError, match="would unpack to 512 MB"):
        reader(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_archive_inside_of_an_archive_counts(tmp_path):
    file = tmp_path / "bomb"
    file.write_bytes(packed([("surefit.json", b'{"format": 1}'), ("s.npz", packed([("data.npy", bytes(2**29))]))]))
    with pytest.raises(PersistenceError, match="would unpack to 512 MB"):
        surefit.load(file)


def test_tables_that_unpack_to_too_much(tmp_path):
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2**26 + b"1,2\n" * 2**21, compresslevel=9))
    with pytest.raises(InvalidData, match="unpack to more than 256 MB"):
        read_table(file)
    long = polars.DataFrame({"a": polars.repeat(1, 2**26, eager=True)})
    long.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidData, match="unpack to more than 256 MB"):
        read_table(tmp_path / "t.parquet")


def test_members_with_paths_write_nothing(tmp_path):
    model = surefit.Ridge().fit([[0.0], [1.0]], [0.0, 1.0])
    inner = tmp_path / "inner"
    inner.mkdir()
    surefit.save(model, inner / "m")
    with ZipFile(inner / "m") as archive:
        members = [("../" + name if name.endswith(".npy") else name, archive.read(name)) for name in archive.namelist()]
    (inner / "m").write_bytes(packed(members))
    with pytest.raises(PersistenceError):
        surefit.load(inner / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]


def test_certificate_with_a_giant_dtype_allocates_nothing():
    model = surefit.Ridge().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    content = json.loads(model.certificate_.to_json())
    content["model"]["coef_"] = {"dtype": "U500000000", "shape": [1], "cells": ["a"]}
    with pytest.raises(CertificateError, match="too large"):
        surefit.Certificate.from_json(json.dumps(content))
    with pytest.raises(CertificateError, match="not JSON"):
        surefit.Certificate.from_json("1" * 10_000)


@pytest.mark.parametrize("part", ["model", "state"])
def test_certificate_with_a_number_for_a_table_is_refused(part):
    content = json.loads(surefit.Ridge().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]).certificate_.to_json())
    content[part] = {"float": "nan"}
    with pytest.raises(CertificateError, match="wrong form"):
        surefit.Certificate.from_json(json.dumps(content))


def test_nothing_is_unpickled_without_being_asked(tmp_path):
    import joblib

    class Boom:
        def __reduce__(self):
            return (open, (str(tmp_path / "written"), "w"))

    joblib.dump(Boom(), tmp_path / "m.joblib")
    buffer = io.BytesIO()
    np.save(buffer, np.array([Boom()], dtype=object), allow_pickle=True)
    (tmp_path / "m.surefit").write_bytes(packed([("surefit.json", b'{"format": 1}'), ("a.npy", buffer.getvalue())]))
    for reader in (surefit.load, load_external):
        for name in ("m.joblib", "m.surefit"):
            with pytest.raises(PersistenceError):
                reader(tmp_path / name)
    assert not (tmp_path / "written").exists()
