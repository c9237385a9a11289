"""Passes over the rows: dual points from scores, and Fenchel-Young terms of the loss with their rounding.

Losses made of exponentials evaluate them for all rows at once (:mod:`surefit.checks.gap.exponentials`,
:mod:`surefit.checks.gap.logistic`); other losses use compiled loops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, block_sum, upper_sum
from surefit.checks.gap import exponentials, logistic
from surefit.checks.gap.losses import Logistic
from surefit.checks.gap.verbs import curvature, domain, edge_size, excess, largest, slope
from surefit.core.jit import compiled
from surefit.core.threads import PARTS, map_parts, tree_sum

SUM_BLOCK = 256  # number of rows that are summed before they are added to the total
PASSES = 32  # passes over a number that take as long as the terms of a row
NEWTON_STEPS = 60  # steps of the safeguarded search for the best intercept


def slopes(loss: Any, y: Any, z: Any, width: Any) -> tuple[Any, Any]:
    """Return the first and second derivatives of the loss at the scores."""
    if isinstance(loss, Logistic):
        return logistic.slopes(y, z)
    own = getattr(loss, "rates", None)
    return _slopes(loss, y, z, width) if own is None else exponentials.slopes(own, y, z)


@compiled
def _slopes(loss: Any, y: Any, z: Any, width: Any) -> tuple[Any, Any]:
    g, h = np.empty(len(y)), np.empty(len(y))
    for i in range(len(y)):
        low, high = domain(loss, y[i])
        g[i] = min(max(slope(loss, y[i], z[i], width), low), high)
        h[i] = curvature(loss, y[i], z[i])
    return g, h


def slope_moves(loss: Any, y: Any, z: Any, width: Any, g: Any, moves: Any) -> Any:
    """Return by how much the (monotone) derivative can change if its score changes by at most ``moves``."""
    own = getattr(loss, "rates", None)
    found = None if own is None else exponentials.slope_moves(own, y, z, moves)
    found = logistic.slope_moves(g, moves) if isinstance(loss, Logistic) else found
    return _slope_moves(loss, y, z, width, g, moves) if found is None else found


@compiled
def _slope_moves(loss: Any, y: Any, z: Any, width: Any, g: Any, moves: Any) -> np.ndarray:
    out = np.empty(len(y))
    for i in range(len(y)):
        low, high = domain(loss, y[i])
        up = min(max(slope(loss, y[i], z[i] + moves[i], width), low), high)
        down = min(max(slope(loss, y[i], z[i] - moves[i], width), low), high)
        out[i] = max(up - g[i], g[i] - down) + 8.0 * UNIT * abs(g[i])
    return out


@compiled
def clipped(loss: Any, y: Any, g: Any) -> np.ndarray:
    """Return the given dual variables clipped to their domain; NaN becomes a feasible number."""
    out = np.empty(len(y))
    for i in range(len(y)):
        low, high = domain(loss, y[i])
        value = g[i] if g[i] == g[i] else 0.0
        out[i] = min(max(value, low), high)
    return out


@compiled
def room(loss: Any, y: Any, g: Any) -> np.ndarray:
    """Return the distance of each dual variable from the nearer end of its domain."""
    out = np.empty(len(y))
    for i in range(len(y)):
        low, high = domain(loss, y[i])
        out[i] = max(min(g[i] - low, high - g[i]), 0.0)
    return out


def best_offset(loss: Any, y: Any, c: Any, z: Any) -> Any:
    """Return the offset of the scores at which the weighted derivatives sum to zero."""
    own = getattr(loss, "rates", None)
    found = None if own is None else exponentials.best_offset(own, y, c, z)
    found = logistic.best_offset(y, c, z) if isinstance(loss, Logistic) else found
    return _best_offset(loss, y, c, z) if found is None else found


@compiled
def _best_offset(loss: Any, y: Any, c: Any, z: Any) -> Any:
    """Use a safeguarded Newton method."""
    low, high, offset = -math.inf, math.inf, 0.0
    for _ in range(NEWTON_STEPS):
        total, size, bend = 0.0, 0.0, 0.0
        for start in range(0, len(y), SUM_BLOCK):
            part = 0.0
            for i in range(start, min(start + SUM_BLOCK, len(y))):
                g = slope(loss, y[i], z[i] + offset, 0.0)
                part += c[i] * g
                size += c[i] * abs(g)
                bend += c[i] * curvature(loss, y[i], z[i] + offset)
            total += part
        if abs(total) <= (8.0 + len(y) / SUM_BLOCK) * UNIT * size:  # the remainder is rounding of the sum
            break
        if total > 0.0:
            high = offset
        else:
            low = offset
        new = offset - total / bend if bend > 0.0 else math.nan
        if not low < new < high:
            if low > -math.inf and high < math.inf:
                new = 0.5 * (low + high)
            else:
                new = offset + (1.0 if total < 0.0 else -1.0) * max(1.0, 2.0 * abs(offset))
        if new == offset or abs(new) > 1e300:
            break
        offset = new
    return offset


@compiled
def side_sums(values: Any) -> tuple[Any, Any]:
    """Return the sums of the positive and of the negative values, accurate to two units in the last place."""
    sums, rests = np.zeros(2), np.zeros(2)
    for value in values:
        k = 0 if value > 0.0 else 1
        total = sums[k] + value
        if abs(value) > abs(sums[k]):  # the larger one first, so that the lost part is exact
            rests[k] += (value - total) + sums[k]
        else:
            rests[k] += (sums[k] - total) + value
        sums[k] = total
    return sums[0] + rests[0], sums[1] + rests[1]


@compiled
def shares(theta: Any, rad: Any, c: Any) -> tuple[Any, Any]:
    """Return the dual variables ``-theta / c`` of the losses and their radii; zero for rows without weight."""
    g, g_rad = np.zeros(len(c)), np.zeros(len(c))
    for i in range(len(c)):
        if c[i] > 0.0:
            g[i], g_rad[i] = _share(theta[i], rad[i], c[i])
    return g, g_rad


@compiled
def _share(theta: Any, rad: Any, c: Any) -> tuple[Any, Any]:
    g = -theta / c
    return g, rad / c * (1.0 + 4.0 * UNIT) + 8.0 * UNIT * abs(g)


@compiled
def scaled_shares(theta: Any, rad: Any, slip: Any, c: Any, shrink: Any, other: Any, out: Any) -> None:
    """Write :func:`shares` of the scaled dual point, and bounds for another evaluation, which may scale by ``other``.

    The three arrays of ``out`` may be the three of the dual point, which are distinct.
    """
    g, g_rad, moves = out
    more = 2.0 * (1.0 - other / shrink) if other < shrink else 0.0
    for i in range(len(c)):
        if c[i] > 0.0:
            g[i], g_rad[i] = _share(theta[i] * shrink, rad[i] * shrink, c[i])
            moves[i] = slip[i] / c[i] + more * abs(g[i])
        else:
            g[i], g_rad[i], moves[i] = 0.0, 0.0, 0.0


@compiled
def _row(loss: Any, y: Any, z: Any, z_rad: Any, g: Any, g_rad: Any, z_slip: Any, g_slip: Any) -> tuple[Any, Any, Any]:
    dz = z_rad + 4.0 * UNIT * (abs(z) + edge_size(loss, y))
    other = largest(loss, y, z, dz + z_slip, g, g_rad + g_slip)
    if other == 0.0:
        return 0.0, 0.0, 0.0
    return excess(loss, y, z, g), largest(loss, y, z, dz, g, g_rad), other


@compiled
def row_terms(
    loss: Any, y: Any, c: Any, z: Any, z_rad: Any, g: Any, g_rad: Any, z_slip: Any, g_slip: Any
) -> tuple[Any, Any, Any]:
    """Return the loss terms of each row: plain, with rounding, and with the rounding of another evaluation.

    The second includes all rounding errors; the third bounds the result of any other order of summation.
    """
    plain, upper, other = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
    for i in range(len(y)):
        if c[i] > 0.0:
            terms = _row(loss, y[i], z[i], z_rad[i], g[i], g_rad[i], z_slip[i], g_slip[i])
            plain[i], upper[i], other[i] = c[i] * terms[0], c[i] * terms[1], c[i] * terms[2]
    return plain, upper, other


def row_sums(
    loss: Any, y: Any, c: Any, z: Any, z_rad: Any, g: Any, g_rad: Any, z_slip: Any, g_slip: Any
) -> tuple[Any, Any, Any]:
    """Return the sums of :func:`row_terms`; the second and the third are rounded up."""
    own, rest = getattr(loss, "rates", None), (y, c, z, z_rad, g, g_rad, z_slip, g_slip)
    if isinstance(loss, Logistic):
        return _in_parts(lambda *part: _logistic_sums(loss, *part), rest)
    found = None if own is None else exponentials.row_sums(own, *rest)
    return _in_parts(lambda *part: _row_sums(loss, *part), rest) if found is None else found


def _in_parts(sums: Any, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the ``sums`` of non-negative terms over all rows, rounded up; threads share the rows in fixed parts."""
    n = len(arrays[0])
    parts = map_parts(lambda start, stop: sums(*(array[start:stop] for array in arrays)), (n, 1), SUM_BLOCK, PASSES)
    if len(parts) == 1:
        return parts[0]
    return tuple(tree_sum(terms) * (1.0 + 2 * PARTS * UNIT) for terms in zip(*parts, strict=True))


def _logistic_sums(loss: Any, *rows: Any) -> tuple[Any, Any, Any]:
    terms = logistic.row_terms(*rows)
    far = np.flatnonzero(~np.isfinite(terms[2]))
    if len(far):  # far from the optimum, where the terms need logarithms
        terms[:, far] = row_terms(loss, *(part[far] for part in rows))
    return block_sum(terms[0]), upper_sum(terms[1]), upper_sum(terms[2])


@compiled
def _row_sums(
    loss: Any, y: Any, c: Any, z: Any, z_rad: Any, g: Any, g_rad: Any, z_slip: Any, g_slip: Any
) -> tuple[Any, Any, Any]:
    plain, upper, other = 0.0, 0.0, 0.0
    for start in range(0, len(y), SUM_BLOCK):
        a, b, d = 0.0, 0.0, 0.0
        for i in range(start, min(start + SUM_BLOCK, len(y))):
            if c[i] > 0.0:
                terms = _row(loss, y[i], z[i], z_rad[i], g[i], g_rad[i], z_slip[i], g_slip[i])
                a, b, d = a + c[i] * terms[0], b + c[i] * terms[1], d + c[i] * terms[2]
        plain, upper, other = plain + a, upper + b, other + d
    up = 1.0 + 2.0 * (SUM_BLOCK + len(y) // SUM_BLOCK + 4) * UNIT
    return plain, upper * up, other * up


def loss_sums(loss: Any, y: Any, c: Any, z: Any, z_rad: Any, z_slip: Any) -> tuple[Any, Any]:
    """Return the sum of the losses, rounded up, and an upper bound on that of another evaluation."""
    own = getattr(loss, "rates", None)
    found = None if own is None else exponentials.loss_sums(own, y, c, z, z_rad, z_slip)
    found = logistic.loss_sums(y, c, z, z_rad, z_slip) if isinstance(loss, Logistic) else found
    if found is None:
        return _in_parts(lambda *part: _loss_sums(loss, *part), (y, c, z, z_rad, z_slip))
    return found[1], found[2]


def exact_losses(loss: Any, y: Any, c: Any, z: Any) -> tuple[Any, Any]:
    """Return the sum of the losses at exact scores, plain and rounded up."""
    own, zero = getattr(loss, "rates", None), np.zeros(len(y))
    found = None if own is None else exponentials.loss_sums(own, y, c, z, zero, zero)
    found = logistic.loss_sums(y, c, z, zero, zero) if isinstance(loss, Logistic) else found
    plain, upper, _ = _row_sums(loss, y, c, z, zero, zero, zero, zero, zero) if found is None else found
    return plain, upper


def constant_sums(loss: Any, y: Any, c: Any, z: Any, size: float) -> tuple[Any, Any, Any]:
    """Return the losses at exact scores, plain and rounded up, and the terms of their derivatives if scores change by ``size``."""
    own, zero = getattr(loss, "rates", None), np.zeros(len(y))
    found = None if own is None else exponentials.constant_sums(own, y, c, z, size)
    if found is not None:
        return found
    if own is None and not isinstance(loss, Logistic):
        return _constant_sums(loss, y, c, z, size)
    g = slopes(loss, y, z, 0.0)[0]
    return *exact_losses(loss, y, c, z), row_sums(loss, y, c, z, zero, g, zero, zero + size, zero)[2]


@compiled
def _constant_sums(loss: Any, y: Any, c: Any, z: Any, size: Any) -> tuple[Any, Any, Any]:
    plain, upper, other = 0.0, 0.0, 0.0
    for start in range(0, len(y), SUM_BLOCK):
        a, b, d = 0.0, 0.0, 0.0
        for i in range(start, min(start + SUM_BLOCK, len(y))):
            if c[i] > 0.0:
                low, high = domain(loss, y[i])
                g = min(max(slope(loss, y[i], z[i], 0.0), low), high)
                terms = _row(loss, y[i], z[i], 0.0, 0.0, 0.0, 0.0, 0.0)
                a, b = a + c[i] * terms[0], b + c[i] * terms[1]
                d += c[i] * _row(loss, y[i], z[i], 0.0, g, 0.0, size, 0.0)[2]
        plain, upper, other = plain + a, upper + b, other + d
    up = 1.0 + 2.0 * (SUM_BLOCK + len(y) // SUM_BLOCK + 4) * UNIT
    return plain, upper * up, other * up


@compiled
def _loss_sums(loss: Any, y: Any, c: Any, z: Any, z_rad: Any, z_slip: Any) -> tuple[Any, Any]:
    upper, other = 0.0, 0.0
    for start in range(0, len(y), SUM_BLOCK):
        a, b = 0.0, 0.0
        for i in range(start, min(start + SUM_BLOCK, len(y))):
            if c[i] > 0.0:
                dz = z_rad[i] + 4.0 * UNIT * (abs(z[i]) + edge_size(loss, y[i]))
                a += c[i] * largest(loss, y[i], z[i], dz, 0.0, 0.0)
                b += c[i] * largest(loss, y[i], z[i], dz + z_slip[i], 0.0, 0.0)
        upper, other = upper + a, other + b
    up = 1.0 + 2.0 * (SUM_BLOCK + len(y) // SUM_BLOCK + 4) * UNIT
    return upper * up, other * up
