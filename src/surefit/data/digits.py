"""Images of digits: scikit-learn's digits on a 16 x 16 grid, and larger collections from local files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData

SIDE = 16


class Images(NamedTuple):
    """Images as rows of gray values from -1 (paper) to 1 (ink), with their labels, split into training and test rows.

    Examples
    --------
    >>> from surefit.data import load_small_digits
    >>> images = load_small_digits()
    >>> images.X_train.shape, images.side
    ((320, 256), 16)
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    side: int

    def pair(self, first: int, second: int) -> Images:
        """Return the rows of two labels, for a problem with two classes.

        Examples
        --------
        >>> from surefit.data import load_small_digits
        >>> task = load_small_digits().pair(3, 5)
        >>> sorted(set(task.y_train.tolist()))
        [3, 5]
        """
        train, test = (np.isin(y, (first, second)) for y in (self.y_train, self.y_test))
        return Images(self.X_train[train], self.y_train[train], self.X_test[test], self.y_test[test], self.side)

    def picture(self, row: int) -> np.ndarray:
        """Return a training row as a square image."""
        return self.X_train[row].reshape(self.side, self.side)


def load_small_digits(n_train: int = 320, n_test: int = 160, *, shift: int = 0, random_state: int = 0) -> Images:
    """Return scikit-learn's 8 x 8 digits, resized to a 16 x 16 grid by linear interpolation.

    Training and test rows are drawn without overlap; the default sizes are those of the ZIP-code experiment. The digits are centered.
    With ``shift``, each image is shifted by up to that many pixels in both directions. Networks with local receptive
    fields have an advantage only on shifted digits.

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
    squares = spread @ (found.images[order] / 8.0 - 1.0) @ spread.T
    if shift:
        squares = _moved(squares, random.integers(-shift, shift + 1, size=(len(order), 2)))
    X, y = squares.reshape(len(order), -1), found.target[order]
    return Images(X[:n_train], y[:n_train], X[n_train:], y[n_train:], SIDE)


def load_usps(train: str | Path, test: str | Path) -> Images:
    r"""Read the USPS digits from two local text files; each line is a label and 256 gray values from -1 to 1.

    Files may be compressed (``.gz``). Nothing is downloaded; all rows of the files are read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surefit.data import load_usps
    >>> line = " ".join(["7", *["-1.0"] * 256])
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("train", "test"):
    ...         _ = Path(folder, name).write_text(line + "\n" + line + "\n")
    ...     images = load_usps(Path(folder, "train"), Path(folder, "test"))
    >>> images.X_train.shape, images.y_test
    ((2, 256), array([7, 7]))
    """
    parts = [_usps_part(Path(name)) for name in (train, test)]
    return Images(*parts[0], *parts[1], SIDE)


def load_idx_images(folder: str | Path) -> Images:
    """Read images in the IDX format (MNIST, Fashion-MNIST) from a local folder with the four usual files.

    The files are ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-images-idx3-ubyte`` and
    ``t10k-labels-idx1-ubyte``, plain or with ``.gz``.

    Examples
    --------
    >>> from surefit import InvalidData
    >>> from surefit.data import load_idx_images
    >>> try:
    ...     load_idx_images("no such folder")
    ... except InvalidData as error:
    ...     print(str(error).split(";")[0])
    no such folder/train-images-idx3-ubyte does not exist
    """
    arrays = []
    for part in ("train", "t10k"):
        images, labels = (
            _idx(_find(Path(folder), f"{part}-{what}")) for what in ("images-idx3-ubyte", "labels-idx1-ubyte")
        )
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise InvalidData(
                f"load_idx_images: {part} has images of shape {images.shape} but labels of shape {labels.shape}."
            )
        arrays += [images.reshape(len(images), -1) / 127.5 - 1.0, labels.astype(np.int64)]
        side = images.shape[1]
    return Images(arrays[0], arrays[1], arrays[2], arrays[3], side)


def _interpolation(few: int, many: int) -> np.ndarray:
    """Return the matrix that evaluates, at ``many`` cell centers, the piecewise linear function through values at ``few`` cell centers."""
    at = np.clip((np.arange(many) + 0.5) * few / many - 0.5, 0, few - 1)
    low = np.minimum(at.astype(int), few - 2)
    matrix = np.zeros((many, few))
    matrix[np.arange(many), low] = 1 - (at - low)
    matrix[np.arange(many), low + 1] = at - low
    return matrix


def _moved(images: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Shift each image down and to the right by the given number of pixels, and fill with the background."""
    room = int(np.max(np.abs(by)))
    side = images.shape[1]
    wide = np.full((len(images), side + 2 * room, side + 2 * room), -1.0)
    wide[:, room : room + side, room : room + side] = images
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
            f"load_usps: {file} must have 257 numbers per line (label and 256 pixels); got {table.shape[1]}."
        )
    return table[:, 1:].copy(), table[:, 0].astype(np.int64)


def _find(folder: Path, name: str) -> Path:
    packed = folder / f"{name}.gz"
    return packed if packed.exists() else folder / name


def _idx(file: Path) -> np.ndarray:
    _require(file)
    raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    if len(raw) < 4 or raw[:3] != b"\0\0\x08":
        raise InvalidData(f"load_idx_images: {file} is not an IDX file of bytes.")
    shape = tuple(int(v) for v in np.frombuffer(raw, ">u4", count=raw[3], offset=4))
    cells = np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3])
    if len(cells) != int(np.prod(shape)):
        raise InvalidData(
            f"load_idx_images: {file} must have shape {shape}; got {len(cells)} cells. The file is truncated."
        )
    return cells.reshape(shape)


def _require(file: Path) -> None:
    if not file.exists():
        raise InvalidData(
            f"{file} does not exist; surefit downloads nothing. Get the file, or use load_small_digits, which needs none."
        )
