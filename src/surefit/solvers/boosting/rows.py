"""Reading of the rows of a partition for gradient boosting: targets, weights, held-out rows and binned columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, row_draws, weights_in
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes
from surefit.solvers.boosting.binning import Bins, encode


class Reading(NamedTuple):
    """Settings by which a partition reads its rows: classes and their weights, and the fraction of rows held out."""

    classes: list[Any] | None
    class_weights: list[float] | None
    signed: bool  # labels -1 and 1
    seed: int
    share: float  # 0: no row is held out

    def targets(self, part: Part) -> tuple[np.ndarray, np.ndarray]:
        """Return targets and weights, with class weights."""
        assert part.y is not None
        y, s = read_target(part.y), weights_in(part)
        if self.classes is None:
            return np.asarray(y, dtype=np.float64), s
        codes = class_codes(y, self.classes)
        if self.class_weights is not None:
            s = s * np.asarray(self.class_weights)[codes]
        return 2.0 * codes - 1.0 if self.signed else codes.astype(np.float64), s

    def split(self, part: Part, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the training rows and the held-out rows; the split does not depend on how the rows are divided."""
        used = s > 0
        held = used & (row_draws(part.start, len(s), self.seed)[:, 0] < self.share) if self.share else ~used & used
        return np.flatnonzero(used & ~held), np.flatnonzero(held)


class Rows(NamedTuple):
    """Binned rows with targets and weights."""

    words: np.ndarray
    by_row: np.ndarray
    y: np.ndarray
    s: np.ndarray


class Binned(NamedTuple):
    """The training rows and the held-out rows of a partition."""

    learn: Rows
    held: Rows


def bin_rows(part: Part, reading: Reading, bins: Bins) -> Binned:
    """Return the binned rows of a partition."""
    y, s = reading.targets(part)

    def chosen(rows: np.ndarray) -> Rows:
        words = encode(part.X if len(rows) == len(s) else part.X[rows], bins, 1)
        return Rows(words, np.ascontiguousarray(words.T), y[rows], s[rows])

    return Binned(*map(chosen, reading.split(part, s)))


def join_rows(*parts: Binned) -> Binned:
    """Return the binned rows of adjacent partitions as one."""

    def together(rows: tuple[Rows, ...]) -> Rows:
        words, by_row, y, s = zip(*rows, strict=True)
        return Rows(np.concatenate(words, axis=1), *map(np.concatenate, (by_row, y, s)))

    return Binned(*map(together, zip(*parts, strict=True)))


def targets(binned: Binned) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return targets and weights of the rows of a partition; all are in one group."""
    rows = binned.learn
    return rows.y, rows.s, np.zeros(len(rows.y), dtype=np.int64)
