"""Split of the rows into training rows, folds for the comparison, and the test part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.studies.options import Options
from surefit.studies.prepare import Prepared

LEAST_TEST_ROWS = 1


class Split(NamedTuple):
    """Rows of the test part, of the rest, and the folds of the rest as (fitted rows, held-out rows)."""

    train: np.ndarray
    test: np.ndarray
    folds: tuple[tuple[np.ndarray, np.ndarray], ...]
    words: str


def split_rows(prepared: Prepared, options: Options) -> Split:
    """Split whole units: at random, or by time with the last rows as test part.

    The test part is drawn without using the target, so that its errors are those of independent draws. Folds are
    stratified by class, unless models are chosen by a bound.
    """
    n = len(prepared.target.y)
    if prepared.times is not None:
        return _by_time(prepared, options, n)
    units = prepared.units
    total = int(units.max()) + 1
    rng = np.random.RandomState(options.seed)  # the generator whose stream NumPy keeps stable
    order = rng.permutation(total)
    n_test = min(round(options.test_size * total), total - 2) if options.test_size > 0 else 0
    if options.test_size > 0:
        n_test = max(n_test, LEAST_TEST_ROWS)
    if total < 4:
        raise InvalidData(
            f"{prepared.table.source}: {total} different {'groups' if prepared.grouped else 'rows'}; at least 4 are needed to "
            "train, compare and test."
        )
    place = np.empty(total, dtype=np.int64)
    place[order] = np.arange(total)
    of_row = place[units]
    train, test = np.flatnonzero(of_row >= n_test), np.flatnonzero(of_row < n_test)
    train = train[
        np.argsort(of_row[train], kind="stable")
    ]  # random order, so that a sorted file does not give sorted folds
    folds = _folds(prepared, options, train, of_row)
    what = "groups" if prepared.grouped else "rows"
    return Split(train, test, folds, f"at random by {what}")


def n_folds(n: int) -> int:
    """Return the number of folds, which decreases with the number of rows."""
    return 5 if n <= 10_000 else 3 if n <= 30_000 else 1


def _folds(prepared: Prepared, options: Options, train: np.ndarray, place: np.ndarray) -> tuple:
    codes = np.unique(place[train], return_inverse=True)[1]  # units in random order
    total = int(codes.max()) + 1
    count = min(n_folds(len(train)), total)
    strata = np.zeros(total, dtype=np.int64)
    if prepared.target.task == "classification" and options.select != "bound":
        strata[codes] = prepared.target.y[train]  # the class of a unit (of its last row, for groups)
    ranks = np.argsort(np.argsort(strata, kind="stable"), kind="stable")
    if count == 1:  # one held-out fifth
        held = ranks % 5 == 0
        return ((train[~held[codes]], train[held[codes]]),)
    fold = ranks % count
    return tuple((train[fold[codes] != k], train[fold[codes] == k]) for k in range(count))


def _by_time(prepared: Prepared, options: Options, n: int) -> Split:
    """Split by time: the last rows are the test part, and each held-out block is predicted from all earlier rows."""
    assert prepared.times is not None
    order = np.argsort(prepared.times, kind="stable")
    n_test = min(max(round(options.test_size * n), LEAST_TEST_ROWS), n - 3) if options.test_size > 0 else 0
    train, test = order[: n - n_test], order[n - n_test :]
    blocks = 3 if len(train) >= 40 else 1
    edges = np.linspace(len(train) // 2, len(train), blocks + 1).round().astype(int)
    folds = tuple((train[: edges[b]], train[edges[b] : edges[b + 1]]) for b in range(blocks))
    return Split(train, test, folds, "by time, the last rows as test part")
