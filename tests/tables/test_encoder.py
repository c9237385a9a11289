"""Encoding: numbers by hand, the same bits again, and refusals that name the cell."""

import warnings
from datetime import date, datetime, time

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.errors import DataRemark, InvalidData, InvalidParameter
from surefit.tables import Table, TableEncoder, as_table


def encode(columns, **options):
    frame = polars.DataFrame(columns)
    return TableEncoder(**options).fit(frame), frame


# --- by hand ------------------------------------------------------------------------------------------------------------


def test_each_kind_becomes_its_number():
    columns = {
        "number": [1, 2, 4],
        "truth": [True, False, True],
        "day": [date(1970, 1, 2), date(1970, 1, 1), date(1969, 12, 31)],
        "moment": [datetime(1970, 1, 1, 6), datetime(1970, 1, 1), datetime(1970, 1, 2)],
        "hour": [time(0, 30), time(12), time(23)],
        "group": ["b", "a", "c"],
        "pair": ["no", "yes", "no"],
    }
    with pytest.warns(DataRemark, match="count as"):
        encoder, frame = encode(columns, standardise=False)
    assert encoder.feature_names_ == [
        "number", "truth", "day", "moment", "hour", "group=a", "group=b", "group=c", "pair=yes",
    ]  # fmt: skip
    expected = [
        [1, 1, 1, 0.25, 0.5, 0, 1, 0, 0],
        [2, 0, 0, 0, 12, 1, 0, 0, 1],
        [4, 1, -1, 1, 23, 0, 0, 1, 0],
    ]
    assert encoder.transform(frame).tolist() == expected


def test_standardised_features_have_mean_zero_and_deviation_one():
    encoder, frame = encode({"a": [1.0, 2.0, 6.0], "b": ["x", "y", "y"]})
    X = encoder.transform(frame)
    assert encoder.means_ == pytest.approx([3.0, 2 / 3])
    assert encoder.scales_ == pytest.approx([np.sqrt(14 / 3), np.sqrt(2) / 3])
    assert X.mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-15)
    assert X.std(axis=0) == pytest.approx([1.0, 1.0])


def test_constant_feature_is_shifted_to_zero_and_not_scaled():
    encoder, frame = encode({"a": [0.1, 0.1, 0.1], "b": [1.0, 2.0, 3.0]})
    assert encoder.scales_[0] == 1.0
    assert np.abs(encoder.transform(frame)[:, 0]).max() < 1e-16


def test_new_text_counts_as_average():
    encoder, _ = encode({"g": ["a", "b", "b", "c"], "x": [1.0, 2.0, 3.0, 4.0]}, standardise=False)
    table = Table(polars.DataFrame({"g": ["b", "new"], "x": [0.0, 0.0]}), np.array([2, 3]), "file.csv")
    with pytest.warns(DataRemark, match=r"'g': 'new' \(row 3\) did not occur when the model was fitted; 1 rows"):
        X = encoder.transform(table)
    assert X.tolist() == [[0, 1, 0, 0], [0.25, 0.5, 0.25, 0]]


def test_new_text_contributes_nothing_after_standardising():
    encoder, _ = encode({"g": ["a", "b", "b", "c"], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.warns(DataRemark):
        X = encoder.transform(polars.DataFrame({"g": ["new"], "x": [2.5]}))
    assert X.tolist() == [[0.0, 0.0, 0.0, 0.0]]


def test_codes_that_became_numbers_in_another_file_are_still_codes():
    encoder, _ = encode({"g": ["1", "2", "3+"], "x": [1.0, 2.0, 3.0]}, standardise=False)
    for codes in ([1, 2], [1.0, 2.0]):
        assert encoder.transform(polars.DataFrame({"g": codes, "x": [0.0, 0.0]}))[:, :3].tolist() == [
            [1, 0, 0],
            [0, 1, 0],
        ]


def test_order_of_columns_and_further_columns_do_not_matter():
    encoder, frame = encode({"a": [1.0, 2.0], "b": [5.0, 7.0]})
    other = frame.select("b", polars.lit("ignored").alias("z"), "a")
    assert np.array_equal(encoder.transform(frame), encoder.transform(other))


def test_pandas_frames_are_read():
    import pandas

    encoder, frame = encode({"a": [1.0, 2.0, 3.0], "g": ["x", "y", "z"]})
    same = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "g": ["x", "y", "z"]})
    assert np.array_equal(encoder.transform(same), encoder.transform(frame))


# --- what is left out, and said -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([f"name {i}" for i in range(8)], "has 8 different texts"),
        ([f"{i}/1/2020" for i in range(1, 9)], "8 dates in a form other than YYYY-MM-DD"),
        (["same"] * 8, "the same text in every row"),
        ([None] * 8, "is empty"),
    ],
)
def test_useless_columns_are_left_out_with_a_remark(cells, words):
    with pytest.warns(DataRemark, match=words):
        encoder, _ = encode({"a": cells, "x": list(range(8))}, max_levels=4)
    assert encoder.feature_names_ == ["x"]


# --- refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([1.0, None, 3.0, None], r"file\.csv: column 'a', row 3 is missing \(NaN\) \(2 such cells in this column\)"),
        ([1.0, float("nan"), 3.0, 4.0], r"column 'a', row 3 is missing \(NaN\); fill the cell"),
        ([1.0, 2.0, float("inf"), 4.0], r"column 'a', row 4 is infinite"),
        (["x", "y", None, "z"], r"column 'a', row 4 is missing"),
        ([[1], [2], [3], [4]], r"column 'a' holds list\(int64\) values"),
    ],
)
def test_refused_cells_are_named(cells, sentence):
    table = Table(polars.DataFrame({"a": cells, "b": [1, 2, 3, 5]}), np.arange(2, 6), "file.csv")
    with pytest.raises(InvalidData, match=sentence):
        TableEncoder().fit(table)


def test_text_where_numbers_were_fitted_is_refused():
    encoder, _ = encode({"a": [1.0, 2.0], "b": [1.0, 3.0]})
    table = Table(polars.DataFrame({"a": ["1", "3,5"], "b": [1.0, 2.0]}), np.array([2, 3]), "new.csv")
    with pytest.raises(
        InvalidData, match=r"new.csv: column 'a', row 3: expected a number, got '3,5' \(write numbers with a dec"
    ):
        encoder.transform(table)


def test_missing_column_suggests_a_close_one():
    encoder, _ = encode({"age": [1.0, 2.0], "b": [1.0, 3.0]})
    with pytest.raises(InvalidData, match=r"there is no column 'age'; did you mean 'Age'\?"):
        encoder.transform(polars.DataFrame({"Age": [1.0], "b": [1.0]}))


@pytest.mark.parametrize("spoilt", ["unknown", "3,5"])
def test_spoilt_numbers_are_not_taken_for_groups(spoilt):
    cells = [str(i) for i in range(9)] + [spoilt]
    with pytest.raises(InvalidData, match=rf"column 'a', row 9: expected a number like in most rows, got '{spoilt}'"):
        encode({"a": cells, "b": list(range(10))}, max_levels=5)


def test_decimal_commas_are_recognised():
    cells = [f"{i},5" for i in range(10)]
    with pytest.raises(InvalidData, match="decimal point"):
        encode({"a": cells, "b": list(range(10))}, max_levels=5)


def test_nothing_left_is_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataRemark)
        with pytest.raises(InvalidData, match="no column is left"):
            encode({"a": ["same", "same"]})


def test_parameters_are_checked():
    with pytest.raises(InvalidParameter, match="TableEncoder: max_levels must be an integer >= 1; got 0"):
        encode({"a": [1, 2]}, max_levels=0)


def test_arrays_are_no_tables():
    with pytest.raises(InvalidData, match="named columns"):
        as_table(np.eye(2))


# --- properties ---------------------------------------------------------------------------------------------------------

cell = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0]))


@settings(deadline=None, max_examples=40)
@given(
    numbers=st.lists(cell, min_size=2, max_size=12),
    texts=st.lists(st.text(alphabet="abc ", min_size=1, max_size=3).filter(str.strip), min_size=12, max_size=12),
    rows=st.lists(st.integers(0, 1), min_size=1, max_size=5),
)
def test_a_row_is_encoded_the_same_in_any_company(numbers, texts, rows):
    frame = polars.DataFrame({"x": numbers, "g": texts[: len(numbers)]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataRemark)
        encoder = TableEncoder().fit(frame)
    whole = encoder.transform(frame)
    assert np.array_equal(encoder.transform(frame[rows]), whole[rows])
    assert np.isfinite(whole).all()
    levels = {text.strip() for text in frame["g"]}
    width = {1: 0, 2: 1}.get(len(levels), len(levels))
    assert whole.shape == (len(numbers), 1 + width)
