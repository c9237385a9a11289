r"""Columns that separate the classes: single columns, or else a small set of columns.

Single columns are found by comparing the classes' ranges, exactly. A small set is obtained from the direction of
minimum :math:`\|w\|_1` (columns scaled to the same range) by dropping columns while the rest still separates. The set
need not be the smallest one, but it is proved that its columns separate the classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from surefit.core.budget import Budget
from surefit.separation.decide import decide
from surefit.separation.lifted import lift
from surefit.separation.signed_rows import SignedRows

CELLS = 2_000_000  # no search for a set of columns above this number of entries
WIDTH = 300  # nor above this number of columns
DROPS = 12  # larger sets are reported as found, without trying to drop columns


class Responsible(NamedTuple):
    """Single columns that separate, and a separating set with its integer direction (zero on other columns)."""

    strict: list[int]
    weak: list[int]
    together: list[int]
    direction: list[int] | None


def responsible_columns(rows: SignedRows, strict: bool, budget: Budget) -> Responsible:
    """Return columns that separate strictly (``strict=True``) or at least weakly."""
    alone = single_columns(rows.X, rows.t, rows.intercept)
    sufficient = alone[0] if strict else alone[0] + alone[1]
    n, d = rows.X.shape
    chosen: list[int] = []
    if sufficient:
        chosen = sufficient[:1]
    elif 1 < d <= WIDTH and n * d <= CELLS and budget.spent() is None:
        chosen = _light_columns(rows, strict, budget)
    direction = _proved(rows, chosen, strict, budget) if chosen else None
    if direction is not None and 1 < len(chosen) <= DROPS:
        chosen, direction = _dropped(rows, chosen, direction, strict, budget)
    if direction is None or len(chosen) == d > 1:
        return Responsible(*alone, [], None)
    return Responsible(*alone, sorted(chosen), direction)


def _dropped(rows: SignedRows, chosen: list[int], direction: list[int], strict: bool, budget: Budget):
    """Drop columns, those with the smallest weight first, while the rest still separates."""
    for j in list(reversed(chosen)):
        rest = [k for k in chosen if k != j]
        fewer = _proved(rows, rest, strict, budget) if rest else None
        if fewer is not None:
            chosen, direction = rest, fewer
    return chosen, direction


def _proved(rows: SignedRows, columns: list[int], strict: bool, budget: Budget) -> list[int] | None:
    """Return a direction on these columns that is proved to separate as required, if one is found."""
    if budget.spent() is not None:
        return None
    decision = decide(rows._replace(X=rows.X[:, columns]), budget)
    if decision.status != "strict" and (strict or decision.status != "weak"):
        return None
    v = [0] * rows.dimension
    for j, entry in zip(columns, decision.direction, strict=False):
        v[j] = entry
    if rows.intercept:
        v[-1] = decision.direction[-1]
    return v


def _light_columns(rows: SignedRows, strict: bool, budget: Budget) -> list[int]:
    """Return the columns of a separating direction of minimum l1 norm, sorted by decreasing weight."""
    A = lift(rows.X, rows.t, rows.intercept).A
    A = A.toarray() if sparse.issparse(A) else A
    d = rows.X.shape[1]
    total = A.sum(axis=0)
    working = np.random.default_rng(0).choice(len(A), size=min(len(A), 4 * A.shape[1]), replace=False)
    floor = 1.0 if strict else 0.0
    while budget.spent() is None:
        v = _least_norm(A[working], total, d, strict)
        if v is None:
            break
        scores = A @ v
        lowest = np.argsort(scores, kind="stable")[: max(50, A.shape[1])]
        new = np.setdiff1d(lowest[scores[lowest] < floor - 1e-6 * max(floor, np.abs(v).max())], working)
        if len(new) == 0:
            w = np.abs(v[:d])
            heavy = np.flatnonzero(w > 1e-7 * w.max(initial=0.0))
            return heavy[np.argsort(-w[heavy], kind="stable")].tolist()
        working = np.union1d(working, new)
    return []


def _least_norm(A: np.ndarray, total: np.ndarray, d: int, strict: bool) -> np.ndarray | None:
    """Minimize ``|w|_1`` subject to ``A v >= 1`` (strict), or to ``A v >= 0`` with a positive sum (weak)."""
    free = A[:, d:]
    table = -np.hstack([A[:, :d], -A[:, :d], free])
    limit = -np.ones(len(A)) if strict else np.zeros(len(A))
    extra = {} if strict else {"A_eq": np.concatenate([total[:d], -total[:d], total[d:]])[None, :], "b_eq": [1.0]}
    cost = np.concatenate([np.ones(2 * d), np.zeros(free.shape[1])])
    bounds = [(0, None)] * (2 * d) + [(None, None)] * free.shape[1]
    answer = linprog(cost, A_ub=table, b_ub=limit, bounds=bounds, method="highs-ds", **extra)
    x = answer.x
    return None if x is None else np.concatenate([x[:d] - x[d : 2 * d], x[2 * d :]])


def single_columns(X, t: np.ndarray, intercept: bool) -> tuple[list[int], list[int]]:
    """Return the columns that separate by themselves: strictly, and only weakly. Comparisons of floats are exact.

    With an intercept, a column separates if the ranges of the two classes share at most one value; without an
    intercept, it separates if its sign agrees with the label.
    """
    if intercept:
        ranges = [
            (_extreme(X[t > 0], "min"), _extreme(X[t < 0], "max")),
            (_extreme(X[t < 0], "min"), _extreme(X[t > 0], "max")),
        ]
        varies = _extreme(X, "max") > _extreme(X, "min")
        strict = np.logical_or(*(low > high for low, high in ranges))
        weak = np.logical_or(*(low >= high for low, high in ranges)) & varies & ~strict
    else:
        signed = X.multiply(t[:, None]).tocsc() if hasattr(X, "multiply") else X * t[:, None]
        low, high = _extreme(signed, "min"), _extreme(signed, "max")
        strict = (low > 0) | (high < 0)
        weak = ((low >= 0) | (high <= 0)) & (low != high) & ~strict
    return np.flatnonzero(strict).tolist(), np.flatnonzero(weak).tolist()


def _extreme(X, which: str) -> np.ndarray:
    values = getattr(X, which)(axis=0)
    return values.toarray().ravel() if hasattr(values, "toarray") else np.asarray(values).ravel()
