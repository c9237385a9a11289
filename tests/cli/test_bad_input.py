"""Bad input: one sentence on standard error (what, where, what to do), exit code 2, nothing written."""

import os

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from surefit.cli.main import app

ROWS = "".join(f"{i},{i % 7}\n" for i in range(20))
BAD_TABLES = {
    "empty file": ("", [], "d.csv: the file is empty"),
    "header only": ("a,y\n", [], "no rows of data below the header"),
    "one row": ("a,y\n1,2.5\n", [], "1 usable row; a model needs at least 5"),
    "ragged, too long": ("a,y\n1,2\n1,2,3\n", [], "row 3 has 3 cells, but the header (row 1) has 2"),
    "ragged, too short": ("a,b,y\n1,2,3\n1,2\n", [], "row 3 has 2 cells, but the header (row 1) has 3"),
    "duplicate names": ("a,a,y\n1,2,3\n", [], "the column name 'a' occurs twice (columns 1 and 2)"),
    "infinity": (f"a,y\n{ROWS}-inf,5\n", [], "column 'a', row 22 is infinite"),
    "infinite target": (f"a,y\n{ROWS}3,inf\n9,1.5\n", ["--task", "regression"], "column 'y', row 22 is infinite"),
    "dates as target": (
        "a,y\n1,2020-01-01\n3,2020-01-02\n",
        [],
        "the target 'y' holds dates; expected numbers or classes",
    ),
    "no such target": ("area,price\n1,2\n3,4\n", ["-t", "prize"], "no column 'prize'; did you mean 'price'?"),
    "no target named": ("area,price\n1,2\n3,4\n", [], "--target NAME; the columns are 'area', 'price'"),
    "only the target": ("y\n1\n2\n3\n", [], "no column besides the target 'y'"),
    "everything dropped": (
        f"a,y\n{ROWS}",
        ["-c", "a:drop"],
        "no column besides the target 'y' to predict it from; left out were 'a'",
    ),
    "one class": ("a,y\n1,x\n2,x\n3,x\n", [], "'y' is 'x' in every row; there is nothing to predict"),
    "ten thousand classes": (
        "a,y\n" + "".join(f"{i},c{i}\n" for i in range(10_000)),
        [],
        "'y' has 10000 classes; expected at most 100",
    ),
    "all cells of the target missing": ("a,y\n1,NA\n2,\n", [], "every cell of the target 'y' is missing"),
    "nothing varies": (
        "a,b,y\n" + "".join(f"1,x,{i}.5\n" for i in range(20)),
        [],
        "no column varies over the training rows",
    ),
    "missing cell, refused": ("a,y\n" + ROWS + ",3\n", ["--missing", "refuse"], "column 'a', row 22 is missing"),
    "binary": (bytes(range(256)) * 20, [], "this is a binary file, not a table"),
    "spreadsheet": (b"PK\x03\x04" + bytes(50), [], "spreadsheet or an archive"),
    "text regression": ("a,y\n1,x\n2,y\n", ["--task", "regression"], "holds texts, which no regression can predict"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*words):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    assert result.stdout == ""
    assert result.stderr.startswith("surefit: ") and result.stderr.count("\n") == 1 and result.stderr.endswith("\n")
    return result.stderr


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_table_is_refused_in_one_sentence(folder, name):
    content, options, sentence = BAD_TABLES[name]
    (folder / "d.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert sentence in refused("fit", "d.csv", *options)
    assert [path.name for path in folder.iterdir()] == ["d.csv"]


def test_missing_file_folder_and_damaged_parquet(folder):
    assert "nothing.csv: there is no such file" in refused("fit", "nothing.csv")
    assert "this is a folder" in refused("fit", str(folder))
    (folder / "d.parquet").write_bytes(b"PAR1 and nothing else")
    assert "not a readable Parquet file" in refused("fit", "d.parquet")


def test_file_without_permission(folder):
    (folder / "d.csv").write_text("a,y\n1,2\n")
    os.chmod("d.csv", 0)
    try:
        readable = os.access("d.csv", os.R_OK)  # root may read everything
        said = refused("fit", "d.csv")
    finally:
        os.chmod("d.csv", 0o600)
    assert readable or "cannot be read (Permission denied)" in said


def test_nested_columns(folder):
    polars.DataFrame({"a": [[1], [2], [3]], "b": [1, 2, 3], "y": [1.0, 2.0, 3.0]}).write_parquet("d.parquet")
    assert "column 'a' holds list(int64) values; expected numbers" in refused("fit", "d.parquet")


def test_rows_of_parquet_are_counted_from_one(folder):
    polars.DataFrame({"a": [1.0, np.nan, 3.0], "y": [1.0, 2.0, 3.0]}).write_parquet("d.parquet")
    assert "column 'a', row 2 is missing" in refused("fit", "d.parquet", "--missing", "refuse")
