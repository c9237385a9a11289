"""Validation of labeled data for separability: any two labels, dense or sparse rows, column names kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from surefit.core.errors import InvalidData
from surefit.core.sample import Data, read
from surefit.core.validation import read_data
from surefit.problems.separation import named_labels


class Labeled(NamedTuple):
    """Rows with labels -1 and +1."""

    X: Any  # float64 or float32, dense or CSR
    t: np.ndarray
    classes: tuple[Any, ...]  # (negative, positive) as passed by the user; one entry if there is only one class
    named: tuple[Any, ...]  # the classes as JSON values
    names: list[str] | None  # names of the columns, if X had any
    raw: Data  # the data in the format of the checker

    def with_columns(self, columns) -> Labeled:
        """Return the same rows restricted to some columns."""
        return self._replace(X=self.X[:, columns])


def read_labeled(who: str, X, y) -> Labeled:
    """Validate data with one or two classes for ``who``; otherwise raise an error that states what to pass."""
    reader = type(who, (BaseEstimator,), {})()  # provides the name for messages and keeps the column names
    read_data(reader, X, y, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32])
    names = getattr(reader, "feature_names_in_", None)
    raw = read(X, y)
    labels = named_labels(raw.y)
    kinds, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    if len(kinds) > 2:
        shown = ", ".join(repr(kind.item()) for kind in kinds[:3]) + (", ..." if len(kinds) > 3 else "")
        raise InvalidData(
            f"{who}: y must have two classes; got {len(kinds)} ({shown}). To test one class against the others, "
            f"pass y == {kinds[0].item()!r} in place of y."
        )
    t = np.where(codes == len(kinds) - 1, 1.0, -1.0)
    if len(kinds) == 1 and labels.dtype.kind == "f" and kinds[0] <= 0:
        t = -t  # a single class 0 or -1 is the negative class
    original = np.asarray(y).ravel()[first]
    return Labeled(
        X=_rows(raw.X),
        t=t,
        classes=tuple(getattr(label, "item", lambda label=label: label)() for label in original),
        named=tuple(kind.item() for kind in kinds),
        names=None if names is None else [str(name) for name in names],
        raw=raw,
    )


def _rows(X):
    if not sparse.issparse(X):
        return X
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
