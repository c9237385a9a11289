"""Encoding: numbers by hand, the same bits again, and what is said about new cells."""

import warnings
from datetime import datetime

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.tables import TableEncoder


def features(columns, **options):
    """Encoded features in their own units, by name."""
    frame = polars.DataFrame(columns)
    encoder = TableEncoder(**options).fit(frame)
    X = encoder.transform(frame) * encoder.scales_ + encoder.means_
    return dict(zip(encoder.feature_names_, X.T.round(12).tolist(), strict=True))


def test_each_kind_becomes_its_number():
    found = features(
        {
            "number": [1.0, 2.0, 4.0],
            "truth": [True, False, True],
            "group": ["b", "a", "c"],
            "pair": ["no", "yes", "no"],
            "moment": [datetime(1970, 1, 1, 6), datetime(1970, 1, 1), datetime(1970, 2, 2)],
        }
    )
    assert found == {
        "number": [1, 2, 4], "truth": [1, 0, 1], "group=a": [0, 1, 0], "group=b": [1, 0, 0], "group=c": [0, 0, 1],
        "pair=yes": [0, 1, 0], "moment": [0.25, 0, 32], "moment month": [1, 1, 2], "moment weekday": [4, 4, 1],
        "moment hour": [6, 0, 0],
    }  # fmt: skip


def test_missing_numbers_become_the_median_with_a_feature_that_says_so():
    assert features({"a": [1.0, None, 2.0, 10.0]}) == {"a": [1, 2, 2, 10], "a is missing": [0, 1, 0, 0]}


def test_missing_categories_are_a_level_and_rare_ones_are_pooled():
    found = features({"g": ["a", "a", "b", "b", "c", None]}, max_levels=2)
    assert found == {
        "g=(missing)": [0, 0, 0, 0, 0, 1], "g=(other)": [0, 0, 0, 0, 1, 0], "g=a": [1, 1, 0, 0, 0, 0], "g=b": [0, 0, 1, 1, 0, 0]
    }  # fmt: skip


def test_texts_become_counts_of_common_words():
    found = features({"t": ["good good film", "bad film", "good plot"]}, kinds={"t": "text"})
    assert found == {
        "t: good": [np.log(3).round(12), 0, np.log(2).round(12)],
        "t: film": pytest.approx([np.log(2), np.log(2), 0]),
    }


def test_features_have_mean_zero_and_deviation_one_and_constant_ones_are_left_out():
    frame = polars.DataFrame({"a": [1.0, 2.0, 6.0], "b": ["x", "y", "y"], "c": [1.0, 1.0, 1.0]})
    encoder = TableEncoder().fit(frame)
    X = encoder.transform(frame)
    assert encoder.feature_names_ == ["a", "b=y"] and encoder.feature_columns_ == ["a", "b"]
    assert X.mean(axis=0) == pytest.approx([0, 0], abs=1e-12) and X.std(axis=0) == pytest.approx([1, 1])
    with pytest.raises(InvalidData, match="no column varies"):
        TableEncoder().fit(polars.DataFrame({"c": [1.0, 1.0]}))


@given(
    st.lists(st.tuples(st.none() | st.floats(-1e6, 1e6), st.none() | st.sampled_from("abc")), min_size=3, max_size=20),
    st.randoms(use_true_random=False),
)
def test_rows_are_encoded_alike_in_any_order(rows, random):
    frame = polars.DataFrame(rows, schema={"x": polars.Float64, "g": polars.String}, orient="row")
    try:
        encoder = TableEncoder().fit(frame)
    except InvalidData:
        return  # nothing varies
    order = random.sample(range(len(rows)), len(rows))
    assert np.array_equal(encoder.transform(frame)[order], encoder.transform(frame[order]))
    assert np.all(np.isfinite(encoder.transform(frame)))


def test_new_levels_and_new_gaps_are_said():
    encoder = TableEncoder().fit(polars.DataFrame({"g": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}))
    with pytest.warns(DataWarning) as said:
        X = encoder.transform(
            polars.DataFrame({"g": ["z"], "x": [None]}, schema={"g": polars.String, "x": polars.Float64})
        )
    texts = [str(warning.message) for warning in said]
    assert "'z' (row 0) did not occur when the model was fitted; 1 row with a new level counts as average" in texts[0]
    assert "1 cell is missing, though none was" in texts[1]
    assert X == pytest.approx(np.zeros((1, 4)))  # average in both columns


def test_infinite_cells_are_refused_with_their_place():
    with pytest.raises(InvalidData, match="column 'x', row 1 is infinite.*--column x:drop"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TableEncoder().fit(polars.DataFrame({"x": [1.0, np.inf, 2.0]}))


def test_parameters_are_checked():
    with pytest.raises(InvalidParameter, match="max_levels must be an integer >= 1"):
        TableEncoder(max_levels=0).fit(polars.DataFrame({"x": [1.0, 2.0]}))
