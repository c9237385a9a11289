"""What columns are taken for: numbers, dates and texts as people write them, and what is said about doubtful ones."""

from datetime import datetime

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefit.core.errors import InvalidData
from surefit.tables import Spelling, Table, as_table, describe, typed
from surefit.tables.numbers import parse_numbers

AS_FOUND = Spelling()


def one(cells, spelling=AS_FOUND, separator=",", name="c"):
    """Kind and typed cells of one column of texts."""
    frame = polars.DataFrame({name: cells}, schema={name: polars.String})
    table = Table(frame, np.arange(2, 2 + len(cells)), "d.csv", separator=separator)
    column = describe(table, spelling)[0]
    values = typed(table, [column], spelling.na).frame[name].to_list() if column.used else None
    return column, values


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "2.5", "-3e2"], [1.0, 2.5, -300.0]),
        (["+1", " .5", "5. "], [1.0, 0.5, 5.0]),
        (["1", "NA", "nan", "?", "", "n/a"], [1.0, None, None, None, None, None]),
        (["$1,020.50", "$7", "-$3.25"], [1020.5, 7.0, -3.25]),
        (["1.020,50 €", "7,5 €", "-3,25€"], [1020.5, 7.5, -3.25]),
        (["EUR 12", "EUR 13.5"], [12.0, 13.5]),
        (["12 %", "7.5%"], [12.0, 7.5]),
        (["1 234 567", "12"], [1234567.0, 12.0]),
        (["1'234.5", "12"], [1234.5, 12.0]),
        (["1\u202f234,5", "12,25"], [1234.5, 12.25]),
        (["(1,234)", "5"], [-1234.0, 5.0]),
        (["−4", "5"], [-4.0, 5.0]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1,234,567", "89"], [1234567.0, 89.0]),
    ],
)
def test_numbers_as_people_write_them(cells, values):
    column, found = one(cells)
    assert (column.kind, found) == ("number", values)


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=5), st.sampled_from([".", ","]))
def test_numbers_with_thousands_separators_come_back(values, decimal):
    texts = [f"{value:,.3f}" for value in values]
    if decimal == ",":
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    found = parse_numbers(polars.Series(texts), decimal).to_list()
    assert found == [float(f"{value:.3f}") for value in values]


def test_thousands_or_decimals_are_decided_by_the_rest_of_the_file_and_by_the_option():
    frame = {"a": ["1.234", "5.678"], "b": ["1,5", "2,25"]}
    column = describe(as_table(polars.DataFrame(frame)))[0]
    assert column.decimal == "," and "--decimal" in column.note
    assert one(["1,234", "5,678"])[1] == [1234.0, 5678.0]
    assert one(["1,234", "5,678"], Spelling(decimal=","))[1] == [1.234, 5.678]


def test_a_few_texts_among_numbers_are_missing_and_said():
    column, values = one([str(i * 1.5) for i in range(30)] + ["refused"] * 6)
    assert column.kind == "number" and values[-1] is None
    assert "6 cells are not numbers ('refused') and count as missing; --column c:category keeps them." in column.note


def test_leading_zeros_are_codes():
    column, values = one(["0123", "0045", "0123"] * 10)
    assert column.kind == "category" and values[0] == "0123"


@pytest.mark.parametrize(
    ("cells", "options", "expected"),
    [
        (["2020-01-02", "2021-03-04"], {}, datetime(2021, 3, 4)),
        (["2020-01-02T10:30:00.5Z", "2020-01-02 11:00"], {}, datetime(2020, 1, 2, 11)),
        (["24.12.2020", "1.2.2021"], {}, datetime(2021, 2, 1)),
        (["13/01/2020", "02/03/2020"], {}, datetime(2020, 3, 2)),
        (["01/13/2020", "02/03/2020"], {}, datetime(2020, 2, 3)),
        (["02/03/2020", "04/05/2020"], {"dates": "mdy"}, datetime(2020, 4, 5)),
        (["02/03/2020", "04/05/2020"], {"dates": "dmy"}, datetime(2020, 5, 4)),
        (["3 Apr 2020", "14 May 2021"], {}, datetime(2021, 5, 14)),
        (["1/31/2020 1:30 PM", "2/1/2020 12:15 AM"], {}, datetime(2020, 2, 1, 0, 15)),
    ],
)
def test_dates(cells, options, expected):
    column, values = one(cells, Spelling(**options))
    assert (column.kind, values[-1]) == ("date", expected)


def test_ambiguous_dates_are_asked_for():
    with pytest.raises(
        InvalidData, match="'02/03/2020' written day first or month first\\? Say --dates dmy or --dates mdy"
    ):
        one(["02/03/2020", "04/05/2020"])


@pytest.mark.parametrize("cells", [["yes", "no", "YES"], ["true", "False", "NA"], ["t", "f", "t"]])
def test_booleans(cells):
    column, values = one(cells)
    assert column.kind == "boolean" and values[:2] == [1.0, 0.0]


def test_texts_become_categories_prose_or_identifiers():
    assert one(["red", "blue", "red"] * 5)[0].kind == "category"
    assert one([f"this is sentence number {i} of them" for i in range(30)])[0].kind == "text"
    column, _ = one([f"AB-{i}" for i in range(30)])
    assert column.kind == "identifier" and "--column c:category" in column.note
    assert one([str(i) for i in range(1, 31)])[0].kind == "identifier"
    assert one([str(7 * i % 1009) for i in range(1, 31)], name="customer_id")[0].kind == "identifier"
    assert one([str(7 * i % 1009) for i in range(1, 31)], name="area")[0].kind == "number"


def test_missing_spellings_hold_in_every_kind_of_column_and_can_be_replaced():
    assert one(["red", "NA", "blue"])[1] == ["red", None, "blue"]
    assert one(["red", "NA", "blue"], Spelling(na=("none",)))[1] == ["red", "NA", "blue"]
    assert one(["1", "-9", "3"], Spelling(na=("-9",)))[1] == [1.0, None, 3.0]
    assert one(["NA", "", "?"])[0].kind == "empty"


def test_kinds_can_be_asked_for():
    assert one(["1", "2", "1"], Spelling(kinds={"c": "category"}))[1] == ["1", "2", "1"]
    assert one(["1", "2", "1"], Spelling(kinds={"c": "drop"}))[0].kind == "drop"
    with pytest.raises(InvalidData, match="'c' was to be a number, but holds 'x'"):
        one(["x", "y"], Spelling(kinds={"c": "number"}))
    with pytest.raises(InvalidData, match="no column 'd'"):
        one(["x", "y"], Spelling(kinds={"d": "number"}))


def test_types_of_parquet_files_are_kept():
    frame = polars.DataFrame({"b": [True, False, None], "n": [1.5, float("nan"), 2.0], "d": [datetime(2020, 1, 1)] * 3})
    columns = describe(as_table(frame))
    assert [column.kind for column in columns] == ["boolean", "number", "date"]
    found = typed(as_table(frame), columns).frame
    assert found["b"].to_list() == [1.0, 0.0, None] and found["n"].to_list() == [1.5, None, 2.0]
    with pytest.raises(InvalidData, match="column 'a' holds list"):
        describe(as_table(polars.DataFrame({"a": [[1], [2]]})))


def test_new_cells_that_do_not_fit_become_missing_with_a_note():
    train = as_table(polars.DataFrame({"x": ["1", "2", "3"]}))
    fresh = as_table(polars.DataFrame({"x": ["4", "five"]}))
    found = typed(fresh, describe(train))
    assert found.frame["x"].to_list() == [4.0, None]
    assert found.notes == ("Column 'x': 1 cell is not a number; missing values instead.",)
