"""Pictures of digits: those that ship with scikit-learn on a grid of 16 x 16, and local files of larger collections."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData

SIDE = 16


class Pictures(NamedTuple):
    """Pictures as rows of grey values from -1 (paper) to 1 (ink), with their labels, in two parts."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    side: int

    def pair(self, first: int, second: int) -> Pictures:
        """Return the rows of two labels only, for a problem with two classes.

        Examples
        --------
        >>> from surefit.data import load_small_digits
        >>> task = load_small_digits().pair(3, 5)
        >>> sorted(set(task.y_train.tolist()))
        [3, 5]
        """
        train, test = (np.isin(y, (first, second)) for y in (self.y_train, self.y_test))
        return Pictures(self.X_train[train], self.y_train[train], self.X_test[test], self.y_test[test], self.side)

    def picture(self, row: int) -> np.ndarray:
        """Return a training row as a square."""
        return self.X_train[row].reshape(self.side, self.side)


def load_small_digits(n_train: int = 320, n_test: int = 160, *, shift: int = 0, random_state: int = 0) -> Pictures:
    """Return digits of scikit-learn, 8 x 8, drawn on a grid of 16 x 16 by linear interpolation.

    Training and test rows are drawn without overlap; the sizes of the ZIP-code experiment are the default. The digits stand
    in the middle of their pictures. With ``shift`` each is moved by up to so many pixels in both directions, as on an
    envelope; what a network can gain by looking at small windows shows only then.

    Examples
    --------
    >>> from surefit.data import load_small_digits
    >>> digits = load_small_digits()
    >>> digits.X_train.shape, digits.X_test.shape, float(digits.X_train.min()), float(digits.X_train.max())
    ((320, 256), (160, 256), -1.0, 1.0)
    """
    from sklearn import datasets

    found = datasets.load_digits()
    if n_train < 1 or n_test < 0 or n_train + n_test > len(found.target):
        raise InvalidData(
            f"load_small_digits: n_train + n_test must be at most {len(found.target)} rows; got {n_train} + {n_test}."
        )
    spread = _interpolation(8, SIDE)
    random = np.random.default_rng(random_state)
    order = random.permutation(len(found.target))[: n_train + n_test]
    pictures = spread @ (found.images[order] / 8.0 - 1.0) @ spread.T
    if shift:
        pictures = _moved(pictures, random.integers(-shift, shift + 1, size=(len(order), 2)))
    X, y = pictures.reshape(len(order), -1), found.target[order]
    return Pictures(X[:n_train], y[:n_train], X[n_train:], y[n_train:], SIDE)


def load_usps(train: str | Path, test: str | Path) -> Pictures:
    """Read the USPS digits from two local text files: label, then 256 grey values from -1 to 1, a row a line.

    Files may be compressed (``.gz``). Nothing is downloaded, and the number of rows is whatever the files hold.
    """
    parts = [_usps_part(Path(name)) for name in (train, test)]
    return Pictures(*parts[0], *parts[1], SIDE)


def load_idx_pictures(folder: str | Path) -> Pictures:
    """Read pictures in the IDX format (MNIST, Fashion-MNIST) from a local folder with the four usual files.

    ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-images-idx3-ubyte``, ``t10k-labels-idx1-ubyte``, plain or
    with ``.gz``.
    """
    arrays = []
    for part in ("train", "t10k"):
        images, labels = (
            _idx(_find(Path(folder), f"{part}-{what}")) for what in ("images-idx3-ubyte", "labels-idx1-ubyte")
        )
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise InvalidData(f"load_idx_pictures: {part} has pictures {images.shape} and labels {labels.shape}.")
        arrays += [images.reshape(len(images), -1) / 127.5 - 1.0, labels.astype(np.int64)]
        side = images.shape[1]
    return Pictures(arrays[0], arrays[1], arrays[2], arrays[3], side)


def _interpolation(few: int, many: int) -> np.ndarray:
    """Matrix that evaluates, at ``many`` cell centres, the line through values at ``few`` cell centres."""
    at = np.clip((np.arange(many) + 0.5) * few / many - 0.5, 0, few - 1)
    low = np.minimum(at.astype(int), few - 2)
    matrix = np.zeros((many, few))
    matrix[np.arange(many), low] = 1 - (at - low)
    matrix[np.arange(many), low + 1] = at - low
    return matrix


def _moved(pictures: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Move each picture down and to the right by so many pixels; paper comes in at the other side."""
    room = int(np.max(np.abs(by)))
    side = pictures.shape[1]
    wide = np.full((len(pictures), side + 2 * room, side + 2 * room), -1.0)
    wide[:, room : room + side, room : room + side] = pictures
    parts = [
        picture[room - i : room - i + side, room - j : room - j + side]
        for picture, (i, j) in zip(wide, by, strict=True)
    ]
    return np.array(parts)


def _usps_part(file: Path) -> tuple[np.ndarray, np.ndarray]:
    _require(file)
    try:
        table = np.loadtxt(file, ndmin=2)
    except ValueError as error:
        raise InvalidData(f"load_usps: {file} is not a table of numbers ({error}).") from None
    if table.shape[1] != SIDE * SIDE + 1:
        raise InvalidData(
            f"load_usps: {file} must have 257 numbers a line (label and 256 pixels); got {table.shape[1]}."
        )
    return table[:, 1:].copy(), table[:, 0].astype(np.int64)


def _find(folder: Path, name: str) -> Path:
    packed = folder / f"{name}.gz"
    return packed if packed.exists() else folder / name


def _idx(file: Path) -> np.ndarray:
    _require(file)
    raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    if len(raw) < 4 or raw[:3] != b"\0\0\x08":
        raise InvalidData(f"load_idx_pictures: {file} is not an IDX file of bytes.")
    shape = tuple(int(v) for v in np.frombuffer(raw, ">u4", count=raw[3], offset=4))
    cells = np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3])
    if len(cells) != int(np.prod(shape)):
        raise InvalidData(f"load_idx_pictures: {file} promises {shape} and holds {len(cells)} cells; it is cut off.")
    return cells.reshape(shape)


def _require(file: Path) -> None:
    if not file.exists():
        raise InvalidData(
            f"{file} does not exist; surefit downloads nothing. Get the file, or use load_small_digits, which needs none."
        )
