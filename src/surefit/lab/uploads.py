"""Conversion of an uploaded table to points: choice of columns and target, scaling, subsampling and projection."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.text import counted
from surefit.decomposition.pca import PCA
from surefit.lab.limits import MOST_BYTES, MOST_COLUMNS, MOST_POINTS, MOST_ROWS
from surefit.lab.palette import MOST_CLASSES
from surefit.lab.scene import Points

FIRST, SECOND = "principal component 1", "principal component 2"


class Upload(NamedTuple):
    """A table that was read: its numeric columns, and all columns that can be a target."""

    name: str
    numbers: dict[str, np.ndarray]
    targets: dict[str, np.ndarray]

    def choices(self) -> list[str]:
        """Return the possible axes: the numeric columns, and principal components if there are more than two."""
        return [*self.numbers, *([FIRST, SECOND] if len(self.numbers) > 2 else [])]


def read_upload(content: bytes, name: str) -> Upload:
    """Read a CSV file; an error is one sentence that contains the name of the file, never its path."""
    from surefit.tables import interpret, read_table

    name = Path(str(name)).name[:80] or "upload.csv"
    if len(content) > MOST_BYTES:
        raise InvalidData(
            f"{name}: the file has {len(content) / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are read."
        )
    if content[:2] == b"\x1f\x8b" or content[:4] in (b"PAR1", b"PK\x03\x04"):
        raise InvalidData(f"{name}: this is a compressed or binary file; upload a plain CSV file.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "upload.csv"
        path.write_bytes(content)
        try:
            frame = interpret(read_table(path)).frame
        except InvalidData as error:
            raise InvalidData(str(error).replace(str(path), name)) from None
    if frame.height > MOST_ROWS or frame.width > MOST_COLUMNS:
        shape = f"{frame.height} rows and {frame.width} columns"
        raise InvalidData(
            f"{name}: the table has {shape}; at most {MOST_ROWS} rows and {MOST_COLUMNS} columns are read."
        )
    numbers = {c: frame[c].to_numpy().astype(float) for c in frame.columns if frame[c].dtype.is_numeric()}
    numbers = {c: values for c, values in numbers.items() if np.isfinite(values).any() and np.nanstd(values) > 0}
    if len(numbers) < 2:
        raise InvalidData(f"{name}: two columns of numbers that vary are needed; there are {len(numbers)}.")
    return Upload(name, numbers, {c: frame[c].cast(str).fill_null("missing").to_numpy() for c in frame.columns})


def uploaded_points(upload: Upload, across: str, up: str, target: str | None) -> tuple[Points, str]:
    """Return the points of the chosen columns, and a text that describes the conversion."""
    said = []
    columns = {c: values for c, values in upload.numbers.items() if c != target}
    keep = np.ones(len(next(iter(upload.numbers.values()))), dtype=bool)
    projected = {across, up} & {FIRST, SECOND}
    needed = set(columns) if projected else {across, up}
    for c in needed & set(upload.numbers):
        keep &= np.isfinite(upload.numbers[c])
    if keep.sum() < 3:
        raise InvalidData(f"{upload.name}: fewer than three rows have all numbers; choose other columns.")
    if not keep.all():
        said.append(f"{counted(int((~keep).sum()), 'row')} with missing numbers left out.")
    scores = {c: _scaled(upload.numbers[c][keep]) for c in needed & set(upload.numbers)}
    if projected:
        table = np.column_stack([scores[c] for c in columns])
        components = PCA(2).fit_transform(table)
        scores[FIRST], scores[SECOND] = _scaled(components[:, 0]), _scaled(components[:, 1])
        said.append(f"{len(columns)} columns are projected on two principal components.")
    labels, words = _classes(upload.targets[target][keep]) if target else (np.zeros(int(keep.sum()), dtype=int), "")
    xy = np.column_stack([scores[across], scores[up]])
    rows = np.arange(len(xy)) if labels.min() >= 0 else np.flatnonzero(labels >= 0)
    if len(rows) > MOST_POINTS:
        said.append(f"{MOST_POINTS} of {len(rows)} rows were drawn at random.")
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False))
    said += [words] if words else []
    said.append("Columns are scaled to mean 0 and standard deviation 1.")
    return Points.of(xy[rows], labels[rows]), " ".join(said)


def _scaled(values: np.ndarray) -> np.ndarray:
    spread = float(np.std(values))
    return (values - np.mean(values)) / (spread if spread > 0 else 1.0)


def _classes(target: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the codes of the most frequent values (-1 for other values), and a note about omitted rows."""
    values, counts = np.unique(target, return_counts=True)
    if len(values) > 20:
        raise InvalidData(f"the target has {len(values)} different values; choose a column with few of them, or none.")
    kept = np.sort(values[np.argsort(-counts, kind="stable")[:MOST_CLASSES]])
    codes = np.full(len(target), -1)
    for code, value in enumerate(kept):
        codes[target == value] = code
    names = ", ".join(f"{code} = {value}" for code, value in enumerate(kept))
    left = f" Rows of {len(values) - len(kept)} other classes were left out." if len(values) > len(kept) else ""
    return codes, f"Classes: {names}.{left}"
