"""Files as people have them: what is read, and the one sentence about what cannot be."""

import gzip
import io
import sys

import polars
import pytest

from surefit.core.errors import InvalidData
from surefit.tables import BUILTINS, builtin_table, describe, read_table


@pytest.fixture
def written(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# --- what is read -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_found(written, separator):
    table = read_table(written("a,b\n1,x\n2,y\n".replace(",", separator)))
    assert table.frame.to_dict(as_series=False) == {"a": ["1", "2"], "b": ["x", "y"]}
    assert table.separator == separator and table.rows.tolist() == [2, 3]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings_are_found(written, encoding):
    table = read_table(written("town,n\nZürich,1\nGöteborg,2\n".encode(encoding)))
    assert table.frame["town"].to_list() == ["Zürich", "Göteborg"] and table.notes == ()


def test_latin_1_is_read_with_a_note_and_without_one_if_named(written):
    path = written("town,n\nA,1\nZürich,2\n".encode("latin-1"))
    table = read_table(path)
    assert table.frame["town"][1] == "Zürich"
    assert table.notes == (
        "The file is not UTF-8 (row 3); it was read as Windows-1252 (Latin-1 with the euro sign). If letters look wrong, give --encoding.",
    )
    assert read_table(path, encoding="latin-1").notes == ()


def test_euro_signs_of_windows_files_are_currency(written):
    rows = "".join(f"{k}.216,{k % 10}4 €;Köln\n" for k in range(1, 60))
    table = read_table(written(("umsatz;stadt\n" + rows).encode("cp1252")))
    assert describe(table)[0].kind == "number"
    assert "€" in table.frame["umsatz"][0]
    odd = read_table(written(("a\nZürich \x81" + " and more text" * 9 + "\n").encode("latin-1")))  # no letter in 1252
    assert odd.frame["a"][0].startswith("Zürich")


def test_parquet_arrow_gzip_and_standard_input(tmp_path, written, monkeypatch):
    frame = polars.DataFrame({"a": [1, 2]})
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.arrow")
    for name in ("t.parquet", "t.arrow"):
        table = read_table(tmp_path / name)
        assert table.frame["a"].to_list() == [1, 2] and table.rows.tolist() == [1, 2]
    assert read_table(written(gzip.compress(b"a,b\n1,2\n"), "data.csv.gz")).frame["b"].to_list() == ["2"]
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(b"a,b\n1,2\n")}))
    table = read_table("-")
    assert table.frame["b"].to_list() == ["2"] and table.source == "standard input"


def test_libsvm(written):
    table = read_table(written("+1 1:0.5 3:-2\n-1 2:1e-1 # comment\n", "data.txt"))
    assert table.frame.to_dict(as_series=False) == {
        "target": [1.0, -1.0],
        "x1": [0.5, 0],
        "x2": [0, 0.1],
        "x3": [-2.0, 0],
    }
    assert "labels are the column 'target'" in table.notes[0]


def test_quotes_byte_order_mark_and_blanks_around_names(written):
    table = read_table(written('\ufeffa, b ,"c, d"\n1,"x, y",3\n'))
    assert table.frame.columns == ["a", "b", "c, d"]
    assert table.frame["b"].to_list() == ["x, y"]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends(written, end):
    assert read_table(written(f"a,b{end}1,2{end}3,4{end}")).frame["b"].to_list() == ["2", "4"]


def test_blank_rows_are_left_out_and_the_others_keep_their_numbers(written):
    table = read_table(written("a,b\n1,2\n\n3,4\n\n\n"))
    assert table.rows.tolist() == [2, 4]
    assert table.notes == ("1 blank row was left out, the first is row 3.",)


def test_row_counter_without_name_is_left_out(written):
    table = read_table(written(",a\n0,5\n1,6\n"))
    assert table.frame.columns == ["a"]
    assert "only counts the rows" in table.notes[0]


def test_file_name_with_pattern_characters(written):
    assert read_table(written("a,b\n1,2\n", "data[1]*.csv")).frame.shape == (1, 2)


# --- what is refused, and how -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", r"the file is empty"),
        ("\n\n", r"the file is empty"),
        ("a,b\n", r"no rows of data below the header"),
        ("a,b\n\n\n", r"no rows of data below the header"),
        ("a,b\n1,2\n1,2,3\n", r"row 3 has 3 cells, but the header \(row 1\) has 2; cells are separated by commas"),
        ("a;b\n1;2\n1\n", r"row 3 has 1 cells, but the header \(row 1\) has 2; cells are separated by semicolons"),
        ("a,b\n1\n", r"row 2 has 1 cells"),
        ("a,b\n\n1,2\n3\n", r"row 4 has 1 cells"),
        ("a,b,a\n1,2,3\n", r"'a' occurs twice \(columns 1 and 3\)"),
        ("a,,b\n1,2,3\n", r"column 2 has no name"),
        (",a\n7,1\n9,2\n", r"column 1 has no name"),
        (bytes(range(256)) * 8, r"this is a binary file"),
        (b"\x89PNG\r\n\x1a\n\x80\x81\x82\x83\x84\x85\x86\x87", r"this is a binary file"),
        (b"PK\x03\x04....", r"spreadsheet or an archive"),
        (b"\x1f\x8b\x08\x00 cut off", r"not a readable gzip file"),
        (b"PAR1" + bytes(100), r"not a readable Parquet file"),
        (b"ARROW1" + bytes(100), r"not a readable Arrow file"),
        ('a,b\n1,"2\n3,4\n', r"row 2 has 2 cells|not a readable CSV file"),
    ],
)
def test_bad_files_are_refused_with_their_place(written, content, sentence):
    with pytest.raises(InvalidData, match=sentence) as error:
        read_table(written(content))
    assert "\n" not in str(error.value)


def test_panic_of_the_reader_is_a_refusal(written, monkeypatch):
    def panics(_):
        raise polars.exceptions.PanicException("range end index 18446744073709551321 out of range")

    buffer = io.BytesIO()
    polars.DataFrame({"a": [1.0, 2.0]}).write_parquet(buffer)
    monkeypatch.setattr(polars, "read_parquet", panics)
    with pytest.raises(InvalidData, match="not a readable Parquet file .range end index"):
        read_table(written(buffer.getvalue()))


def test_wrong_encoding_is_named(written):
    path = written("a\nZürich\n".encode("latin-1"))
    with pytest.raises(InvalidData, match="row 2 contains the byte 0xFC, which is not utf-8 text"):
        read_table(path, encoding="utf-8")
    with pytest.raises(InvalidData, match="encoding 'klingon' is not known"):
        read_table(path, encoding="klingon")


def test_missing_file_suggests_a_similar_one(written, tmp_path):
    written("a,b\n1,2\n", "houses.csv")
    with pytest.raises(InvalidData, match=r"no such file; did you mean .*houses\.csv\?"):
        read_table(tmp_path / "house.csv")
    with pytest.raises(InvalidData, match="check the name and the folder"):
        read_table(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InvalidData, match="this is a folder"):
        read_table(tmp_path)


@pytest.mark.parametrize("name", BUILTINS)
def test_builtin_tables_are_complete(name):
    frame = builtin_table(name).frame
    assert BUILTINS[name].target in frame.columns
    assert frame.null_count().sum_horizontal().item() == 0


def test_unknown_builtin_table():
    with pytest.raises(InvalidData, match="no built-in data set 'irish'; did you mean 'iris'"):
        builtin_table("irish")
