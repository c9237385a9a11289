"""Problems of a linear model over rows in partitions, in the form of the gap theorem."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.gap import Dense, Penalty, Piecewise, Point, loss_of, penalty_of
from surefit.checks.gap import rows as row_loops
from surefit.checks.gap.dual_points import given_rows
from surefit.checks.gap.losses import has_kinks
from surefit.checks.gap.operators import with_constant
from surefit.checks.gap.partitioned import prove_partitioned
from surefit.checks.gap.passes import How, Proved, uncertain
from surefit.checks.judge import shared
from surefit.checks.linear.targets import ROUNDING, constant_objective, constant_sums, rounded, row_targets
from surefit.core.centering import center, moved_intercept
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import Data, read_target

CONSTANTS = 8  # passes that search for the best constant
GRID = 65  # number of constants compared in one pass


class Column(NamedTuple):
    """One target or class, with the data that a partition needs to rebuild its rows of the problem."""

    problem: dict[str, Any]
    place: int  # index of the target or class
    total: float  # weight of all rows
    loss: Any
    w: np.ndarray
    b: float  # of the shifted columns and targets
    intercept: bool
    shift: np.ndarray | None  # subtracted from the columns
    level: float  # subtracted from the targets

    def here(self, part: Part) -> tuple[Dense, Point]:
        """Return the operator and the point of a partition."""
        y, c = self.rows(part)
        X = with_constant(part.X) if self.problem.get("penalize_intercept") else part.X
        moved = self.shift is not None or self.level != 0.0
        return Dense(X, self.shift), Point(
            y, c, self.w, self.b, self.intercept, 2 * UNIT * abs(self.b) if moved else 0.0
        )

    def rows(self, part: Part) -> tuple[np.ndarray, np.ndarray]:
        """Return the targets and weights of a partition."""
        assert part.y is not None
        targets, weights = row_targets(self.problem, len(part.X), read_target(part.y), part.weights, self.total)
        y = targets[self.place]
        return (y - self.level if self.level else y), weights * self.problem["strength"]


def columns_of(certificate: Certificate, rows: PartitionedRows) -> tuple[list[Column], list[Penalty]]:
    """Return the problems of a certificate and their penalties."""
    problem, loss, d = certificate.problem, loss_of(certificate.problem), rows.shape[1]
    W = np.asarray(certificate.model["coef_"], dtype=np.float64).reshape(-1, d)
    b = np.broadcast_to(np.asarray(certificate.model["intercept_"], dtype=np.float64).ravel(), (len(W),))
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
        raise ValueError("a coefficient is not a finite number")
    free, own, factors = bool(problem["fit_intercept"]), problem["penalty"], problem["penalty"]["factors"]
    if not free and np.any(b):
        raise ValueError("the model has an intercept, but its problem has none")
    shift = center(rows.sample[:, :d]) if free and not problem.get("penalize_intercept") else None
    if problem.get("penalize_intercept"):
        W, b, free, d = np.column_stack([W, b]), np.zeros(len(W)), False, d + 1
        factors = None if factors is None else [*factors, 1.0]
    if own.get("ball") is not None:
        raise ValueError("a ball over all targets is proved in memory only")
    targets = _count(problem, rows)
    if len(W) != targets:
        raise ValueError(f"{targets} targets need {targets} rows of coefficients; there are {len(W)}")
    columns = []
    for k, (w, offset) in enumerate(zip(W, b, strict=True)):
        level = None
        if free and isinstance(loss, Piecewise) and not loss.margin and problem["classes"] is None:
            level = center(rows.sample[:, [rows.shape[1] + k]])
        middle = np.append(np.zeros(len(w)) if shift is None else shift, 0.0 if level is None else -level[0])
        moved = (
            float(offset)
            if shift is None and level is None
            else moved_intercept(float(offset), middle, np.append(w, 1.0))
        )
        columns.append(
            Column(
                problem, k, rows.total_weight, loss, w, moved, free, shift, 0.0 if level is None else float(level[0])
            )
        )
    base = penalty_of(own, d, factors)
    alphas = own["alphas"] if "alphas" in own else [1.0] * targets
    return columns, [base if a == 1.0 else base.scaled(a) for a in alphas]


def _count(problem: dict[str, Any], rows: PartitionedRows) -> int:
    if problem["classes"] is not None:
        return 1 if len(problem["classes"]) == 2 else len(problem["classes"])
    assert rows.target_shape is not None
    return 1 if len(rows.target_shape) == 1 else rows.target_shape[1]


@shared
def proved(certificate: Certificate, data: Data) -> list[tuple[Column, Penalty, Proved, Any]]:
    """Return the proved bounds for every problem, with the problem, its penalty and its witness."""
    witness = next((claim.witness for claim in certificate.claims if claim.name == "linear.gap"), {})
    found = []
    for k, (column, penalty) in enumerate(zip(*columns_of(certificate, data.X), strict=True)):
        dual, at = witness.get(f"dual_{k}"), witness.get(f"point_{k}")
        if dual is not None and np.shape(dual) != (data.X.shape[0],):
            raise ValueError(f"the dual point must have {data.X.shape[0]} numbers, one per row")
        width = float(witness["widths"][k]) if "widths" in witness else 0.0
        how = How(None if at is None else _other(column, at), max(width, 0.0))
        if f"step_{k}" in witness and has_kinks(column.loss):
            how = how._replace(step=_other(column, witness[f"step_{k}"], 0.0), barrier=float(witness["barriers"][k]))
            how = how._replace(given=given_rows(witness, k))
        found.append((column, penalty, prove_partitioned(data.X, column, penalty, how, dual), dual))
    return found


def _other(column: Column, given: Any, level: float | None = None) -> tuple[np.ndarray, float]:
    """Return another point, or a step, in shifted coordinates; ``level`` is the shift of the targets unless given."""
    at = np.asarray(given, dtype=np.float64)
    if at.shape != (len(column.w) + 1,) or not np.all(np.isfinite(at)):
        raise ValueError(f"another point must have {len(column.w) + 1} finite numbers")
    middle = np.append(
        np.zeros(len(column.w)) if column.shift is None else column.shift, -(column.level if level is None else level)
    )
    return at[:-1], moved_intercept(float(at[-1]), middle, np.append(at[:-1], 1.0))


def uncertain_labels(certificate: Certificate, data: Data) -> list[int]:
    """Count the rows whose label is not certain, for this gap and for that of another evaluation."""
    ((column, _, one, dual),) = proved(certificate, data)
    sliced = () if dual is None else (dual,)
    return [
        data.X.map_reduce(uncertain, column, one, one.gap.value + times * one.gap.spread, more, sliced=sliced)
        for times, more in ((0, 0.0), (3, 4 * UNIT))
    ]


def smallest_weight(certificate: Certificate, data: Data) -> float:
    """Return the smallest positive weight of a row."""
    columns, _ = columns_of(certificate, data.X)
    return float(data.X.map_reduce(_smallest, columns[0], combine=min))


def _smallest(part: Part, column: Column) -> float:
    c = column.rows(part)[1]
    return float(np.min(c[c > 0], initial=np.inf))


def null_objective(certificate: Certificate, data: Data) -> tuple[float, ...]:
    """Return the objective of the best constants, its rounding, and the effect of rounding of the scores."""
    found = [_null_of(data.X, column) for column in columns_of(certificate, data.X)[0]]
    return tuple(sum(column) for column in zip(*found, strict=True))


def _null_of(rows: PartitionedRows, column: Column) -> tuple[float, float, float]:
    problem = column.problem
    if problem["classes"] is not None:  # labels with the same score have the same loss, so their weights are sufficient
        assert rows.counts is not None
        own = np.arange(len(rows.counts)) == (1 if len(rows.counts) == 2 else column.place)
        weights = rows.counts * np.asarray(problem["class_weights"]) / (rows.total_weight if problem["mean"] else 1.0)
        c = problem["strength"] * np.array([weights[~own].sum(), weights[own].sum()])
        other = 0.0 if problem.get("indicators") else -1.0
        return constant_objective(column.loss, np.array([other, 1.0]), c, column.intercept)
    offset, doubt = _best_constant(rows, column) if column.intercept else (0.0, 0.0)
    size = ROUNDING * (1 + max(abs(rows.smallest_target - column.level), abs(rows.largest_target - column.level)))
    total, rounding, floor = rounded(rows.map_reduce(_constant_sums, column, offset, size), offset)
    return total, rounding + doubt + len(rows.lengths) * UNIT * total, floor


def _best_constant(rows: PartitionedRows, column: Column) -> tuple[float, float]:
    """Return a constant at which the derivatives nearly sum to zero, and a bound on its excess over the minimum."""
    low, high, grid = -np.inf, np.inf, np.zeros(1)
    for _ in range(CONSTANTS):
        totals, sizes, bends = rows.map_reduce(_constant_slopes, column, grid)
        k = int(np.argmin(np.abs(totals)))
        if abs(totals[k]) <= (8 + len(rows.lengths)) * UNIT * sizes[k]:  # the remainder is rounding of the sum
            return float(grid[k]), 0.0
        low, high = max(low, np.max(grid[totals < 0], initial=low)), min(high, np.min(grid[totals > 0], initial=high))
        new = grid[k] - totals[k] / bends[k] if bends[k] > 0 else np.nan
        if low < new < high and not has_kinks(column.loss):
            if new == grid[k]:
                break
            grid = np.array([new])
            continue
        reach = 1.0 + max(abs(rows.smallest_target - column.level), abs(rows.largest_target - column.level))
        ends = low if np.isfinite(low) else -reach, high if np.isfinite(high) else reach
        finer = np.unique(np.linspace(*ends, GRID))
        if len(finer) <= 3:
            break
        grid = finer
    return float(grid[k]), float(abs(totals[k]) * (high - low)) if np.isfinite(high - low) else 0.0


def _constant_slopes(part: Part, column: Column, offsets: np.ndarray) -> np.ndarray:
    y, c = column.rows(part)
    found = []
    for offset in offsets:
        g, h = row_loops.slopes(column.loss, y, np.full(len(y), offset), 0.0)
        found.append((float(np.sum(c * g)), float(np.sum(c * np.abs(g))), float(np.sum(c * h))))
    return np.array(found).T


def _constant_sums(part: Part, column: Column, offset: float, size: float) -> np.ndarray:
    return constant_sums(column.loss, *column.rows(part), offset, size)
