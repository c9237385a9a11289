"""Bad input: one sentence on standard error (what, where, what to do), exit code 2, nothing written."""

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from surefit.cli.main import app

BAD_TABLES = {
    "empty file": ("", [], "d.csv: the file is empty"),
    "header only": ("a,y\n", [], "no rows of data below the header"),
    "one row": ("a,y\n1,2\n", [], "there is one row only"),
    "ragged, too long": ("a,y\n1,2\n1,2,3\n", [], "row 3 has 3 cells, but the header (row 1) has 2"),
    "ragged, too short": ("a,b,y\n1,2,3\n1,2\n", [], "row 3 has 2 cells, but the header (row 1) has 3"),
    "duplicate names": ("a,a,y\n1,2,3\n", [], "the column name 'a' occurs twice (columns 1 and 2)"),
    "NaN": ("a,y\n1,2\nNaN,3\n4,5\n", [], "column 'a', row 3 is missing (NaN)"),
    "blank cell": ("a,b,y\n1,2,2\n1,,3\n4,5,6\n", [], "column 'b', row 3 is missing"),
    "blank target": ("a,y\n1,2\n1,\n4,5\n", [], "column 'y', row 3 is missing"),
    "infinity": ("a,y\n1,2\n3,4\n-inf,5\n", [], "column 'a', row 4 is infinite"),
    "infinite target": ("a,y\n1,inf\n3,4\n5,5\n", [], "column 'y', row 2 is infinite"),
    "text in the target": ("a,y\n1,2\n3,four\n5,6\n", [], "column 'y', row 3: expected a number, got 'four'"),
    "decimal commas": ("a;y\n1;2,5\n3;4,5\n", [], "got '2,5' (write numbers with a decimal point)"),
    "dates as target": ("a,y\n1,2020-01-01\n3,2020-01-02\n", [], "the target 'y' holds date cells; expected numbers"),
    "no such target": ("area,price\n1,2\n3,4\n", ["-t", "prize"], "no column 'prize'; did you mean 'price'?"),
    "no target named": ("area,price\n1,2\n3,4\n", [], "Say --target NAME; the columns are 'area', 'price'"),
    "only the target": ("y\n1\n2\n3\n", [], "no column besides the target 'y'"),
    "unknown column dropped": ("a,y\n1,2\n3,4\n", ["--drop", "b"], "there is no column 'b'"),
    "not UTF-8": (b"a,y\n1,2\n\xe9,3\n", [], "row 3 contains the byte 0xE9, which is not UTF-8"),
    "a spreadsheet": (b"PK\x03\x04", [], "spreadsheet or an archive; export the table as CSV or Parquet"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00", [], "not UTF-8"),
    "too few rows to cross-validate": ("a,y\n1,2\n3,4\n", [], "cross-validation needs at least 2 training rows"),
    "negative alpha": ("a,y\n1,2\n3,4\n", ["--alpha", "-1"], "alpha must be None, or a finite number >= 0"),
    "test size of one": ("a,y\n1,2\n3,4\n", ["--test-size", "1"], "test_size must be a number from 0 up to"),
    "negative seed": ("a,y\n1,2\n3,4\n", ["--seed", "-3"], "seed must be an integer from 0"),
    "no time": ("a,y\n1,2\n3,4\n", ["--max-time", "0"], "max_time must be None, or a finite number > 0"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*words, folder=None):
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


def test_missing_file(folder):
    assert "nothing.csv: there is no such file" in refused("fit", "nothing.csv")


def test_folder_instead_of_a_file(folder):
    assert "this is a folder" in refused("fit", str(folder))


@pytest.mark.parametrize("content", [b"PAR1 and nothing else", b""])
def test_unreadable_parquet(folder, content):
    (folder / "d.parquet").write_bytes(content)
    assert "not a readable Parquet file" in refused("fit", "d.parquet")


def test_nested_columns(folder):
    polars.DataFrame({"a": [[1], [2], [3]], "b": [1, 2, 3], "y": [1.0, 2.0, 3.0]}).write_parquet("d.parquet")
    assert "column 'a' holds list(int64) values; expected numbers" in refused("fit", "d.parquet", "--alpha", "1")


def test_rows_of_parquet_are_counted_from_one(folder):
    polars.DataFrame({"a": [1.0, np.nan, 3.0], "y": [1.0, 2.0, 3.0]}).write_parquet("d.parquet")
    assert "column 'a', row 2 is missing" in refused("fit", "d.parquet", "--alpha", "1")


def test_squares_that_overflow(folder):
    (folder / "d.csv").write_text("a,y\n1,1e200\n2,-1e200\n3,1e201\n4,5\n5,7\n")
    assert "overflow" in refused("fit", "d.csv", "--alpha", "1")
