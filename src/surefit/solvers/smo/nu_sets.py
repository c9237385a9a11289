"""Working sets for nu-SVMs: float32 kernel rows from a cache, and steps on pairs of one sign inside each set."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.solvers.smo.inner import TINY, subtract_rows
from surefit.solvers.smo.rows import RowCache

SIZE = 1024  # variables per set
INNER = 0.3  # fraction of its initial violation to which a set is solved
SET_STEPS = 40 * SIZE  # largest number of steps per set
FLOAT32 = 6e-8
IDLE = 50  # sets without a smaller violation before a round ends


class Signed(NamedTuple):
    """Variables of the dual, those of positive sign first."""

    rows: np.ndarray
    high: np.ndarray
    n_up: int  # number of positive signs


def run_sets(
    cache: RowCache,
    variables: Signed,
    a: np.ndarray,
    beta: np.ndarray,
    v: np.ndarray,
    judge: Callable[[np.ndarray, np.ndarray], tuple[float, bool]],
    budget: Budget,
    steps: int,
    most: int,
) -> tuple[int, Reason | None]:
    """Improve ``a`` and ``beta`` in place, from the exact gradient ``v``, until the gap is small or the precision of float32 is reached.

    ``judge(beta, v)`` returns the gap and whether it is small enough. Return the number of steps, which exceeds ``most``
    by at most one set, and the reason if the budget is spent.
    """
    rows, high, n_up = variables
    up, down = np.empty(len(a)), np.empty(len(a))
    scale = float(np.max(np.abs(cache.gram.diagonal))) or 1.0
    signs = np.where(np.arange(len(a)) < n_up, 1.0, -1.0)
    did, noise, smallest, since = 0, 0.0, math.inf, 0
    for block in count(1):
        least_up, most_up, least_down, most_down = _slopes(v, a, high, rows, n_up, up, down)
        violation = max(most_up - least_up, most_down - least_down)
        smallest, since = (violation, block) if violation < 0.99 * smallest else (smallest, since)
        if violation <= 4.0 * math.sqrt(noise) or block - since > IDLE or did >= most:
            return did, None
        gap, met = judge(beta, v)
        if met:
            return did, None
        reason = budget.spent(steps + did, gap)
        if reason is not None:
            return did, reason
        first = _choose(up[:n_up], down[:n_up], least_up, most_up)
        second = n_up + _choose(up[n_up:], down[n_up:], least_down, most_down)
        chosen = np.concatenate([first, second])
        members = rows[chosen]
        cache.fetch(np.unique(members))
        slots = cache.slot[members]
        limit = SET_STEPS if budget.max_iter is None else max(1, min(SET_STEPS, budget.max_iter - steps - did))
        part, K = a[chosen], _among(cache.rows, slots, members)
        did += move_pairs(K, v[members], part, high[chosen], len(first), INNER * violation, limit, TINY * scale)
        change = signs[chosen] * (part - a[chosen])
        moved = np.flatnonzero(change)
        if len(moved) == 0:
            return did, None
        subtract_rows(cache.rows, slots[moved], -change[moved], v, 0, len(v))
        a[chosen] = part
        beta += np.bincount(members, weights=change, minlength=len(beta))
        noise += (FLOAT32 * scale) ** 2 * float(change @ change)
    raise AssertionError


def _choose(up: np.ndarray, down: np.ndarray, least: float, most: float) -> np.ndarray:
    """Return the variables of one sign with the smallest slopes to raise and the largest to lower, among those that violate optimality."""
    most_each = SIZE // 4
    rise, fall = np.flatnonzero(up < most), np.flatnonzero(down > least)
    if len(rise) > most_each:
        rise = rise[np.argpartition(up[rise], most_each - 1)[:most_each]]
    if len(fall) > most_each:
        fall = fall[np.argpartition(-down[fall], most_each - 1)[:most_each]]
    return np.union1d(rise, fall)


@compiled
def _slopes(v, a, high, rows, n_up, up, down):
    """Compute the slopes of variables that can be raised (``up``) and lowered (``down``), infinite otherwise.

    Return the smallest ``up`` and the largest ``down`` of each sign: a sign is optimal if the latter does not exceed the former.
    """
    limits = np.array([np.inf, -np.inf, np.inf, -np.inf])
    for p in range(len(a)):
        side = 0 if p < n_up else 2
        slope = v[rows[p]] if p < n_up else -v[rows[p]]
        up[p] = slope if a[p] < high[p] else np.inf
        down[p] = slope if a[p] > 0.0 else -np.inf
        limits[side] = min(limits[side], up[p])
        limits[side + 1] = max(limits[side + 1], down[p])
    return limits[0], limits[1], limits[2], limits[3]


@compiled
def _among(rows, slots, columns):
    """Return ``rows[slots][:, columns]``."""
    block = np.empty((len(slots), len(columns)), dtype=rows.dtype)
    for i in range(len(slots)):
        row = rows[slots[i]]
        for k in range(len(columns)):
            block[i, k] = row[columns[k]]
    return block


@compiled(relaxed=True)
def move_pairs(K, v, a, high, n_up, tolerance, max_steps, floor):
    """Move weight between pairs of equal sign until no pair violates optimality by more than ``tolerance``; return the steps.

    The variables are the rows of ``K``, the first ``n_up`` of positive sign. A step takes the sign with the larger
    violation. Minima and maxima are found before their positions, because these loops are vectorized.
    """
    q = len(a)
    diagonal, gains, raised, lowered = np.empty(q), np.empty(q), np.empty(q), np.empty(q)
    for p in range(q):
        diagonal[p] = K[p, p]
        raised[p] = 0.0 if a[p] < high[p] else np.inf
        lowered[p] = 0.0 if a[p] > 0.0 else -np.inf
    for step in range(max_steps):
        worst, first, last, sign, least = tolerance, 0, 0, 1.0, 0.0
        for side in range(2):
            begin, end, t = (0, n_up, 1.0) if side == 0 else (n_up, q, -1.0)
            low, top = np.inf, -np.inf
            for p in range(begin, end):
                low = min(low, t * v[p] + raised[p])
                top = max(top, t * v[p] + lowered[p])
            if top - low > worst:
                worst, first, last, sign, least = top - low, begin, end, t, low
        if last == 0:
            return step
        i = first
        while i < last - 1 and sign * v[i] + raised[i] != least:
            i += 1
        row, own, most = K[i], diagonal[i], 0.0
        for p in range(first, last):
            fall = max(sign * v[p] + lowered[p] - least, 0.0)
            gains[p] = fall * fall / max(own + diagonal[p] - 2.0 * row[p], floor)
            most = max(most, gains[p])
        j = first
        while j < last - 1 and gains[j] != most:
            j += 1
        size = sign * (v[j] - v[i]) / max(own + diagonal[j] - 2.0 * row[j], floor)
        room_i, room_j = high[i] - a[i], a[j]
        size = min(size, room_i, room_j)
        a[i] = high[i] if size == room_i else a[i] + size
        a[j] = 0.0 if size == room_j else a[j] - size
        raised[i], lowered[i] = 0.0 if a[i] < high[i] else np.inf, 0.0 if a[i] > 0.0 else -np.inf
        raised[j], lowered[j] = 0.0 if a[j] < high[j] else np.inf, 0.0 if a[j] > 0.0 else -np.inf
        other, size = K[j], sign * size
        for p in range(q):
            v[p] += size * (row[p] - other[p])
    return max_steps
