"""Targets and weights of a problem for rows in partitions: each partition derives its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes


class RowTarget(NamedTuple):
    """One target, or one class against the rest, of a problem of ``surefit.problems.linear``."""

    problem: dict[str, Any]
    positive: int  # class whose label is 1
    scale: float  # weight of a row whose sample weight and class weight are 1

    def rows(self, part: Part) -> tuple[np.ndarray, np.ndarray]:
        """Return the targets and the weights of a partition."""
        assert part.y is not None
        y = read_target(part.y)
        c = np.full(len(y), self.scale) if part.weights is None else part.weights * self.scale
        if self.problem["classes"] is None:
            return np.asarray(y, dtype=np.float64), c
        codes = class_codes(y, self.problem["classes"])
        return np.where(codes == self.positive, 1.0, -1.0), c * np.asarray(self.problem["class_weights"])[codes]

    def outline(self, rows: PartitionedRows) -> tuple[np.ndarray, np.ndarray]:
        """Return a few targets and weights that represent all rows for constant scores: two rows for labels, a sample for numbers."""
        if self.problem["classes"] is None:
            y = rows.sample[:, rows.shape[1]]
            return y, np.full(len(y), self.scale * rows.total_weight / len(y))
        assert rows.counts is not None
        own = np.arange(len(rows.counts)) == self.positive
        weights = self.scale * rows.counts * np.asarray(self.problem["class_weights"])
        return np.array([-1.0, 1.0]), np.array([weights[~own].sum(), weights[own].sum()])


def row_targets(problem: dict[str, Any], rows: PartitionedRows) -> list[RowTarget]:
    """Return the targets of all problems: one, or one per class if there are more than two."""
    scale = problem["strength"] / (rows.total_weight if problem["mean"] else 1.0)
    classes = problem["classes"]
    positives = [1] if classes is None or len(classes) == 2 else range(len(classes))
    return [RowTarget(problem, k, scale) for k in positives]
