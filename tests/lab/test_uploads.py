"""Uploaded tables: scaled, thinned out, projected, and each of it said."""

import numpy as np
import pytest

from surefit import InvalidData
from surefit.lab.limits import MOST_BYTES, MOST_POINTS, MOST_ROWS
from surefit.lab.uploads import FIRST, SECOND, read_upload, uploaded_points


def table(n: int, columns: int = 3, classes: int = 2) -> bytes:
    rng = np.random.default_rng(0)
    rows = rng.normal(5.0, 3.0, (n, columns))
    head = ",".join([*(f"c{k}" for k in range(columns)), "kind"])
    lines = [",".join([*(repr(v) for v in row), f"k{i % classes}"]) for i, row in enumerate(rows.tolist())]
    return "\n".join([head, *lines]).encode()


def test_two_columns_become_scaled_points_with_classes():
    upload = read_upload(table(50), "t.csv")
    points, said = uploaded_points(upload, "c0", "c2", "kind")
    assert points.xy.mean(axis=0) == pytest.approx([0, 0], abs=1e-4) and points.xy.std(axis=0) == pytest.approx(
        [1, 1], abs=1e-4
    )
    assert points.labels.tolist() == [i % 2 for i in range(50)]
    assert "0 = k0, 1 = k1" in said and "mean 0 and standard deviation 1" in said


def test_many_columns_are_projected_and_said_so():
    points, said = uploaded_points(read_upload(table(60, 6), "t.csv"), FIRST, SECOND, None)
    assert "6 columns are projected on two principal components" in said
    assert abs(np.corrcoef(points.xy.T)[0, 1]) < 1e-3  # components are uncorrelated


def test_many_rows_and_classes_are_thinned_out_and_said_so():
    points, said = uploaded_points(read_upload(table(3000, 2, 6), "t.csv"), "c0", "c1", "kind")
    assert len(points.xy) == MOST_POINTS and set(points.labels) == {0, 1, 2, 3}
    assert f"{MOST_POINTS} of 2000 rows" in said and "2 other classes were left out" in said


def test_missing_numbers_are_left_out_and_said_so():
    upload = read_upload(b"a,b\n1,2\n,3\n4,5\n6,9\n", "t.csv")
    points, said = uploaded_points(upload, "a", "b", None)
    assert len(points.xy) == 3 and "1 row with missing numbers left out" in said


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "t.csv"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n1,2\n", "two columns of numbers that vary"),
        (b"\x1f\x8bxxxx", "plain CSV"),
        (b"PAR1xxxx", "plain CSV"),
        (b"a,a\n1,2\n", "t.csv"),
        (b"x" * (MOST_BYTES + 1), "at most 5 MB"),
    ],
)
def test_unusable_files_get_a_sentence_without_a_path(content, sentence):
    with pytest.raises(InvalidData) as caught:
        read_upload(content, "../../t.csv")
    assert sentence in str(caught.value) and "/tmp" not in str(caught.value) and "../" not in str(caught.value)


def test_too_many_rows_are_refused():
    with pytest.raises(InvalidData, match=f"at most {MOST_ROWS} rows"):
        read_upload(b"a,b\n" + b"1,2\n" * (MOST_ROWS + 1), "t.csv")


def test_a_target_with_many_values_is_refused():
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(30))
    with pytest.raises(InvalidData, match="30 different values"):
        uploaded_points(read_upload(content, "t.csv"), "a", "b", "b")
