"""First pass over partitioned rows: validity of the numbers, labels, and fingerprints."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.centering import ROWS
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.fingerprint import digest_of
from surefit.core.partitioned import BITS, Part, exact_sum
from surefit.core.sample import read_target
from surefit.core.warn import warn

MOST_LABELS = 1000  # number of distinct targets beyond which they are not labels


class Summary(NamedTuple):
    """Result of the first pass; partial results are merged in the order of the rows."""

    trouble: str  # the first reason why the rows are invalid; empty if there is none
    digests: tuple[int, int, int]  # of X, y and the weights
    labels: dict[Any, int] | None  # exact total weight of each label; None if there are too many
    alone: tuple[str, ...]  # partitions with one label
    weights: int  # their exact sum
    targets: tuple[float, float]  # smallest and largest
    target_columns: int | None  # None: a vector
    target_dtype: Any
    sample: np.ndarray

    def joined(self, other: Summary) -> Summary:
        """Merge the summaries of two partitions."""
        labels = None
        if self.labels is not None and other.labels is not None:
            labels = dict(self.labels)
            for label, weight in other.labels.items():
                labels[label] = labels.get(label, 0) + weight
            labels = labels if len(labels) <= MOST_LABELS else None
        trouble = self.trouble or other.trouble
        if self.target_columns != other.target_columns and not trouble:
            trouble = "y has partitions of different shapes"
        dtype = self.target_dtype
        if dtype is not None and dtype.kind in "biuf" and other.target_dtype.kind in "biuf":
            dtype = np.result_type(dtype, other.target_dtype)
        a, b = self.digests, other.digests
        return Summary(
            trouble,
            (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
            labels,
            self.alone + other.alone,
            self.weights + other.weights,
            (min(self.targets[0], other.targets[0]), max(self.targets[1], other.targets[1])),
            self.target_columns,
            dtype,
            np.concatenate([self.sample, other.sample]),
        )


def join(a: Summary, b: Summary) -> Summary:
    """Merge two summaries; see :meth:`Summary.joined`."""
    return a.joined(b)


def summarize(part: Part, columns: Any, n_rows: int, missing: bool = False) -> Summary:
    """Return the summary of a partition; NaN in X is allowed if values may be ``missing``."""
    y = None if part.y is None else read_target(part.y)
    digests = tuple(0 if a is None else digest_of(a, part.start) for a in (part.X, y, part.weights))
    numeric = y is not None and y.dtype.kind == "f"
    labels = None if y is None or y.ndim == 2 else _labels(np.asarray(part.y).ravel(), part.weights)
    kept = slice(-part.start % -(-n_rows // ROWS), None, -(-n_rows // ROWS))
    sample = np.asarray(part.X[kept], dtype=np.float64)
    if numeric and y is not None:
        sample = np.column_stack([sample, y.reshape(len(y), -1)[kept]])
    return Summary(
        _trouble(part, y, columns, missing),
        digests,  # type: ignore[arg-type]
        labels,
        (part.name,) if labels is not None and len(labels) == 1 else (),
        _weight(part.weights, len(part.X)),
        (float(np.min(y)), float(np.max(y))) if numeric and y is not None and y.size else (math.inf, -math.inf),
        None if y is None or y.ndim == 1 else y.shape[1],
        None if part.y is None else np.asarray(part.y).dtype,
        sample,
    )


def _weight(weights: np.ndarray | None, count: int) -> int:
    return count << BITS if weights is None else exact_sum(weights[np.isfinite(weights)])


def _labels(y: np.ndarray, weights: np.ndarray | None) -> dict[Any, int] | None:
    values, codes = np.unique(y, return_inverse=True)
    if len(values) > MOST_LABELS:
        return None
    counts = np.bincount(codes, minlength=len(values))
    return {
        label: _weight(None if weights is None else weights[codes == k], int(counts[k]))
        for k, label in enumerate(values.tolist())
    }


def _trouble(part: Part, y: Any, columns: Any, missing: bool) -> str:
    for label, values in (("X", part.X), ("y", y), ("sample_weight", part.weights)):
        if values is None or values.dtype.kind != "f" or math.isfinite(float(np.sum(values))):
            continue
        table = values.reshape(len(values), -1)
        places = np.argwhere(np.isinf(table) if missing and label == "X" else ~np.isfinite(table))
        if len(places):
            row, column = (int(k) for k in places[0])
            value = table[row, column]
            where = f"row {row} of {part.name}"
            if label == "X":
                where += f", column {column}" + (f" ({columns[column]!r})" if columns is not None else "")
            return (
                f"{label} contains {'NaN' if np.isnan(value) else 'infinity'} at {where}; remove the row, or impute it before "
                "the partitions are created"
            )
    if part.weights is not None and np.any(part.weights < 0):
        row = int(np.argmax(part.weights < 0))
        return f"sample_weight is {float(part.weights[row])!r} at row {row} of {part.name}; weights must be finite and >= 0"
    return ""


def require_usable(who: str, names: tuple[str, ...], lengths: tuple[int, ...], found: Summary) -> None:
    """Raise ``InvalidData`` if the rows are invalid; warn about empty partitions."""
    if found.trouble:
        raise InvalidData(f"{who}: {found.trouble}.")
    if not found.weights > 0:
        raise InvalidData(f"{who}: Sample weights must contain at least one non-zero number; all are zero.")
    empty = [name for name, length in zip(names, lengths, strict=True) if length == 0]
    if empty:
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        warn(f"{who}: {empty[0]}{more} has no rows; the fit continues with the others.", DataWarning)


def name_single_labels(who: str, found: tuple[str, ...], partitions: int) -> None:
    """Warn about partitions with a single label, because sequential fits then depend on the order of the partitions."""
    if found and partitions > 1:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        warn(f"{who}: all rows of {found[0]}{more} have one label; shuffle the rows over the partitions.", DataWarning)
