"""Pictures of digits: interpolation, shifts, local files and their errors."""

import gzip

import numpy as np
import pytest
from sklearn.datasets import load_digits

from surefit.core.errors import InvalidData
from surefit.data import load_idx_images, load_small_digits, load_usps


def test_small_digits_are_those_of_scikit_learn():
    whole = load_small_digits(1797, 0)
    order = np.random.default_rng(0).permutation(1797)
    assert np.array_equal(whole.y_train, load_digits().target[order])
    assert whole.X_train.min() >= -1 and whole.X_train.max() <= 1
    # Linear interpolation keeps the mean of a picture up to its border.
    means = load_digits().data[order].mean(axis=1) / 8 - 1
    assert np.corrcoef(whole.X_train.mean(axis=1), means)[0, 1] > 0.99


def test_parts_do_not_overlap_and_draws_are_repeatable():
    a, b = load_small_digits(300, 200), load_small_digits(300, 200)
    assert all(np.array_equal(x, y) for x, y in zip(a[:4], b[:4], strict=True))
    assert not {row.tobytes() for row in a.X_train} & {row.tobytes() for row in a.X_test}
    assert a.picture(0).shape == (16, 16)
    with pytest.raises(InvalidData, match="at most 1797 rows"):
        load_small_digits(1700, 98)


def test_a_shift_moves_and_paper_comes_in():
    still, moved = load_small_digits(50, 10), load_small_digits(50, 10, shift=2)
    assert np.array_equal(still.y_train, moved.y_train)
    for row in range(50):
        wide = np.full((20, 20), -1.0)
        wide[2:18, 2:18] = still.picture(row)
        windows = [wide[i : i + 16, j : j + 16] for i in range(5) for j in range(5)]
        assert any(np.array_equal(window, moved.picture(row)) for window in windows)


def test_usps_files(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.column_stack([[3, 5, 3], rng.uniform(-1, 1, (3, 256))])
    np.savetxt(tmp_path / "zip.train.gz", rows)
    np.savetxt(tmp_path / "zip.test", rows[:1])
    found = load_usps(tmp_path / "zip.train.gz", tmp_path / "zip.test")
    assert found.X_train.shape == (3, 256) and found.y_train.tolist() == [3, 5, 3] and found.y_test.tolist() == [3]
    assert found.X_train == pytest.approx(rows[:, 1:])
    assert found.pair(5, 9).y_train.tolist() == [5]
    np.savetxt(tmp_path / "short", rows[:, :9])
    with pytest.raises(InvalidData, match="257 numbers per line"):
        load_usps(tmp_path / "short", tmp_path / "short")
    with pytest.raises(InvalidData, match="surefit downloads nothing"):
        load_usps(tmp_path / "nowhere", tmp_path / "nowhere")
    (tmp_path / "words").write_text("a b c\n")
    with pytest.raises(InvalidData, match="not a table of numbers"):
        load_usps(tmp_path / "words", tmp_path / "words")


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + array.astype(np.uint8).tobytes()


def test_idx_files(tmp_path):
    images = np.arange(2 * 9).reshape(2, 3, 3)
    for part in ("train", "t10k"):
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(idx(images))
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.array([7, 1]))))
    found = load_idx_images(tmp_path)
    assert found.side == 3 and found.y_test.tolist() == [7, 1]
    assert found.X_train[1] == pytest.approx(np.arange(9, 18) / 127.5 - 1)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(images)[:-1])
    with pytest.raises(InvalidData, match="truncated"):
        load_idx_images(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"no")
    with pytest.raises(InvalidData, match="not an IDX file"):
        load_idx_images(tmp_path)
