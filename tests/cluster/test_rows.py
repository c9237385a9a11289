"""Partitioned rows: the same fingerprints and bits whatever runs the passes; partitions that no model can use are named."""

import re

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from surefit.cluster import rows_of
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.fingerprint import data_fingerprint
from surefit.core.partitioned import Part

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=200)
S = RNG.uniform(0.5, 2.0, size=200)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


def gram(part: Part, scale):
    return {"gram": scale * part.X.T @ part.X, "rows": len(part.X), "text": None}


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_fingerprints_are_those_of_the_rows_in_memory(parts):
    rows = rows_of("test", chunked(X, parts), chunked(Y, parts), chunked(S, parts))
    assert rows.fingerprints() == data_fingerprint(X, Y, S)
    assert len(rows.lengths) == parts
    assert rows.outline[0].shape == (200,)
    labels = np.where(Y > 0, "up", "down")
    rows = rows_of("test", chunked(X.astype(np.float32), parts), chunked(labels, parts))
    assert rows.fingerprints() == data_fingerprint(X.astype(np.float32), labels)
    assert rows.labels.tolist() == ["down", "up"]
    assert rows.counts.tolist() == [np.sum(labels == "down"), np.sum(labels == "up")]


def test_sums_have_the_same_bits_for_any_scheduler():
    rows = rows_of("test", chunked(X, 7))
    found = rows.map_reduce(gram, 2.0)
    assert found["rows"] == 200 and found["text"] is None
    np.testing.assert_allclose(found["gram"], 2 * X.T @ X, rtol=1e-12)
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            assert rows_of("test", chunked(X, 7)).map_reduce(gram, 2.0)["gram"].tobytes() == found["gram"].tobytes()


def test_passes_and_bytes_are_counted():
    rows = rows_of("test", chunked(X, 4))
    before = rows.traffic.as_dict()
    rows.map_reduce(gram, 2.0)
    after = rows.traffic.as_dict()
    assert {name: after[name] - before[name] for name in after} == {
        "passes": 1, "bytes_sent": 4 * 8, "bytes_reduced": 4 * (72 + 8 + 8), "bytes_to_client": 72 + 8 + 8,
    }  # fmt: skip


def advance(part: Part, state):
    return state * 0.5 + part.X.sum(axis=0)


def test_fold_visits_the_partitions_in_order():
    state = np.zeros(3)
    for block in np.array_split(X, 4):
        state = state * 0.5 + block.sum(axis=0)
    assert np.array_equal(rows_of("test", chunked(X, 4)).fold(advance, np.zeros(3)), state)


def test_a_value_that_is_not_finite_is_located():
    bad = X.copy()
    bad[130, 1] = np.nan
    with pytest.raises(InvalidData, match=r"Ridge: X contains NaN at row 30 of partition 2, column 1; remove"):
        rows_of("Ridge", chunked(bad, 4))
    target = Y.copy()
    target[60] = np.inf
    with pytest.raises(InvalidData, match=r"y contains infinity at row 10 of partition 1;"):
        rows_of("Ridge", chunked(X, 4), chunked(target, 4))
    with pytest.raises(InvalidData, match=r"sample_weight is -1.0 at row 0 of partition 0"):
        rows_of("Ridge", chunked(X, 4), chunked(Y, 4), chunked(np.where(np.arange(200) == 0, -1.0, 1.0), 4))


def test_frames_name_columns_and_empty_partitions():
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y, keep=np.arange(200) < 100)
    frame = dd.from_pandas(table, npartitions=4)
    rows = rows_of("test", frame[["a", "b", "c"]], frame["y"])
    assert rows.fingerprints() == data_fingerprint(X, Y)
    assert rows.columns.tolist() == ["a", "b", "c"]
    with pytest.warns(DataWarning, match=r"partition 2 and 1 more has no rows"):
        rows = rows_of("test", frame[frame.keep][["a", "b", "c", "y"]], "y")
    assert rows.fingerprints() == data_fingerprint(X[:100], Y[:100])
    with pytest.raises(InvalidData, match="there is no column 'z'; the columns are a, b"):
        rows_of("test", frame, "z")
    with pytest.raises(InvalidData, match="column 't' must be numbers"):
        rows_of("test", frame.assign(t="text"), "y")


def test_parquet_files_are_partitions(tmp_path):
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
    for i in range(4):
        table[50 * i : 50 * i + 50].to_parquet(tmp_path / f"part-{i}.parquet")
    for path in (tmp_path, tmp_path / "*.parquet"):
        rows = rows_of("test", str(path), "y")
        assert rows.fingerprints() == data_fingerprint(X, Y)
        assert rows.lengths == (50, 50, 50, 50)
    table[:10].drop(columns="b").assign(d=1.0).to_parquet(tmp_path / "part-4.parquet")
    with pytest.raises(
        InvalidData, match=re.escape("part-4.parquet has other columns than the first file ('b' missing; 'd' added)")
    ):
        rows_of("test", str(tmp_path), "y")
    bad = table[:10].copy()
    bad.loc[7, "c"] = np.nan
    bad.to_parquet(tmp_path / "part-4.parquet")
    with pytest.raises(InvalidData, match=r"NaN at row 7 of .*part-4.parquet, column 2 \('c'\)"):
        rows_of("test", str(tmp_path), "y")
    with pytest.raises(InvalidData, match="there is no Parquet file at"):
        rows_of("test", str(tmp_path / "none" / "*.parquet"))


def test_lengths_must_agree():
    with pytest.raises(InvalidData, match="X has 200 rows and y has 100"):
        rows_of("test", chunked(X, 4), chunked(Y[:100], 4))
    with pytest.raises(InvalidData, match="all 1 partitions are empty"):
        rows_of("test", chunked(X[:0], 1))
