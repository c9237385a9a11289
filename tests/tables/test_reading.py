"""Files as people have them: what is read, and the one sentence about what cannot be."""

import gzip
from datetime import datetime

import numpy as np
import polars
import pytest

from surefit.core.errors import InvalidData
from surefit.tables import builtin_table, read_table, split_table


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
    assert table.frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "y"]}


def test_rows_are_counted_as_people_see_them(written):
    assert read_table(written("a,b\n1,2\n3,4\n")).rows.tolist() == [2, 3]


def test_rows_of_parquet_have_no_header(tmp_path):
    polars.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").rows.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2.5", "-3e2"], [1.0, 2.5, -300.0]),
        (["+1", " .5", "5. "], [1.0, 0.5, 5.0]),
        (["1", "NA", "nan", "?"], [1.0, None, None, None]),
        (["true", "false"], [True, False]),
        (["2020-01-02", "2021-03-04"], [datetime(2020, 1, 2), datetime(2021, 3, 4)]),
        (
            ["2020-01-02 10:30", "2020-01-02T11:00:00.5Z"],
            [datetime(2020, 1, 2, 10, 30), datetime(2020, 1, 2, 11, 0, 0, 500000)],
        ),
        (["1", "two"], ["1", "two"]),
        (["NA", "US"], ["NA", "US"]),  # Namibia: in a column of texts, NA is a text
        (["02/01/2020", "14/01/2020"], ["02/01/2020", "14/01/2020"]),  # ambiguous, so not read as dates
    ],
)
def test_columns_are_settled_as_a_whole(written, cells, expected):
    table = read_table(written("a,b\n" + "".join(f"{cell},0\n" for cell in cells)))
    assert table.frame["a"].to_list() == expected


def test_infinities_are_read_to_be_refused_later(written):
    assert read_table(written("a,b\n1,1\ninf,2\n-Infinity,3\n")).frame["a"].to_list() == [1.0, np.inf, -np.inf]


def test_text_columns_keep_their_zeros(written):
    path = written("zip,b\n0123,1\n0045,2\n")
    assert read_table(path).frame["zip"].to_list() == [123, 45]
    assert read_table(path, text_columns=("zip",)).frame["zip"].to_list() == ["0123", "0045"]


def test_quotes_byte_order_mark_and_blanks_around_names(written):
    table = read_table(written('\ufeffa, b ,"c, d"\n1,"x, y",3\n'))
    assert table.frame.columns == ["a", "b", "c, d"]
    assert table.frame["b"].to_list() == ["x, y"]


def test_windows_line_ends_and_gzip(written):
    assert read_table(written("a,b\r\n1,2\r\n")).frame["b"].to_list() == [2]
    assert read_table(written(gzip.compress(b"a,b\n1,2\n"), "data.csv.gz")).frame["b"].to_list() == [2]


def test_blank_rows_are_left_out_and_the_others_keep_their_numbers(written):
    table = read_table(written("a,b\n1,2\n\n3,4\n\n\n"))
    assert table.rows.tolist() == [2, 4]
    assert table.remarks == ("1 blank rows were left out, the first is row 3.",)


def test_row_counter_without_name_is_left_out(written):
    table = read_table(written(",a\n0,5\n1,6\n"))
    assert table.frame.columns == ["a"]
    assert "only counts the rows" in table.remarks[0]


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
        (b"a,b\n1,2\n1,\xe9\n", r"row 3 contains the byte 0xE9, which is not UTF-8"),
        (b"\xff\xfea\x00", r"row 1 contains the byte 0xFF"),
        (b"PK\x03\x04....", r"spreadsheet or an archive"),
        ('a,b\n1,"2\n3,4\n', r"row 2 has 2 cells|not a readable CSV file"),
    ],
)
def test_bad_csv_is_refused_with_its_place(written, content, sentence):
    with pytest.raises(InvalidData, match=sentence) as error:
        read_table(written(content))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"PAR1", b"hello", b"PAR1" + bytes(100)])
def test_unreadable_parquet_is_refused(written, content):
    with pytest.raises(InvalidData, match="not a readable Parquet file"):
        read_table(written(content, "t.parquet"))


def test_missing_file_suggests_a_similar_one(written, tmp_path):
    written("a,b\n1,2\n", "houses.csv")
    with pytest.raises(InvalidData, match=r"no such file; did you mean .*houses\.csv\?"):
        read_table(tmp_path / "house.csv")
    with pytest.raises(InvalidData, match="check the name and the folder"):
        read_table(tmp_path / "nowhere" / "x.csv")


def test_folder_is_refused(tmp_path):
    with pytest.raises(InvalidData, match="this is a folder"):
        read_table(tmp_path)


# --- built-in data and splitting ----------------------------------------------------------------------------------------


def test_builtin_table_is_complete():
    table = builtin_table()
    assert table.frame.shape == (442, 11)
    assert table.frame.null_count().sum_horizontal().item() == 0


def test_split_is_a_partition_fixed_by_the_seed():
    table = builtin_table()
    train, test = split_table(table, 0.2, seed=3)
    assert len(test.rows) == 89  # 442 / 5, rounded up
    assert sorted([*train.rows, *test.rows]) == table.rows.tolist()
    again, _ = split_table(table, 0.2, seed=3)
    other, _ = split_table(table, 0.2, seed=4)
    assert np.array_equal(train.rows, again.rows)
    assert not np.array_equal(train.rows, other.rows)
    assert train.frame["age"].to_list() == table.frame["age"][train.rows - 1].to_list()


def test_split_keeps_a_training_row_and_can_be_empty():
    frame = polars.DataFrame({"a": [1, 2]})
    assert [len(part.rows) for part in split_table(frame, 0.99)] == [1, 1]
    assert [len(part.rows) for part in split_table(frame, 0.0)] == [2, 0]
