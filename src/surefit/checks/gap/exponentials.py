r"""Losses with derivative :math:`e^{bz} - y e^{-az}`, :math:`a + b = 1`, evaluated for all rows at once.

These are the Poisson (:math:`a = 0`), gamma (:math:`b = 0`) and Tweedie deviances. One call evaluates the exponentials of all
rows. Near the optimum, Taylor bounds on the Fenchel-Young terms need no logarithms. For :math:`a, b > 0` the loss is
:math:`\tfrac1a y e^{-az} + \tfrac1b e^{bz} - \tfrac1{ab} y^b`. If a row is too far from the optimum, the functions return None,
and the caller uses the compiled loops for general losses.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, block_sum, upper_sum
from surefit.checks.gap.terms import near_entropy_term
from surefit.core.jit import compiled

LEAST_RATE = 0.01  # smallest nonzero rate that is a divisor; powers with smaller rates use the loops for general losses
SUM_BLOCK = 256  # number of rows per partial sum


def parts(rates: Any, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the falling and the rising exponentials, ``y exp(-a z)`` and ``exp(b z)``."""
    with np.errstate(over="ignore", invalid="ignore"):
        return quiet_parts(rates[0], rates[1], y, z)


def quiet_parts(a: float, b: float, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the result of :func:`parts`; the caller ignores overflow, which it tests for itself."""
    fall = y * np.exp(-a * z) if a > 0.0 else y
    return fall, np.exp(b * z) if b > 0.0 else np.ones(len(y))


def slopes(rates: Any, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and second derivatives of the loss at the scores."""
    fall, rise = parts(rates, y, z)
    with np.errstate(over="ignore", invalid="ignore"):
        return rise - fall, rates[0] * fall + rates[1] * rise


def slope_moves(rates: Any, y: np.ndarray, z: np.ndarray, moves: np.ndarray) -> np.ndarray | None:
    """Bound the change of the derivatives if scores change by at most ``moves``, including rounding."""
    if not np.max(moves, initial=0.0) < 0.01:
        return None
    a, b = rates
    fall, rise = parts(rates, y, z)
    with np.errstate(over="ignore", invalid="ignore"):
        return (2.0 * a * fall + 2.0 * b * rise) * moves + 16.0 * UNIT * (fall + rise)


def best_offset(rates: Any, y: np.ndarray, c: np.ndarray, z: np.ndarray) -> float | None:
    """Return the offset of the scores at which the weighted derivatives sum to zero."""
    fall, rise = parts(rates, y, z)
    with np.errstate(over="ignore", invalid="ignore"):
        falling, rising, size = float(c @ fall), float(c @ rise), float(c @ np.abs(rise - fall))
    if not (0.0 < falling < math.inf and 0.0 < rising < math.inf):
        return None
    if abs(rising - falling) <= (8.0 + len(y) / SUM_BLOCK) * UNIT * size:  # the remainder is rounding error of the sum
        return 0.0
    return math.log(falling / rising)


def row_sums(rates: Any, y: Any, c: Any, z: Any, z_rad: Any, g: Any, g_rad: Any, z_slip: Any, g_slip: Any) -> Any:
    """Return the sum of the Fenchel-Young terms, an upper bound including rounding, and one that also covers another evaluation.

    A dual variable is split between the exponentials by their curvatures; every split gives a valid bound.
    """
    means = parts(rates, y, z)
    share, split = _split(rates, y, g, *means)
    dz, none = z_rad + 4.0 * UNIT * np.abs(z), np.zeros(len(y))
    plain = _bound(rates, means, split, share, none, none)
    upper = _bound(rates, means, split, share, dz, g_rad)
    other = _bound(rates, means, split, share, dz + z_slip, g_rad + g_slip)
    if not np.isfinite(other).all():
        return None
    return tuple(upper_sum(c * terms) for terms in (plain, upper, other))


def constant_sums(rates: Any, y: Any, c: Any, z: Any, size: float) -> Any:
    """Return :func:`loss_sums` at exact scores (plain and rounded up), and the terms of their derivatives for changes by ``size``."""
    (a, b), (fall, rise), logs = rates, parts(rates, y, z), logarithms(y)
    sums = _constant_sums(a, b, c, y, logs, powers(a, b, y, logs), fall, rise, z)
    dz, up = sums[4] * 4.0 * UNIT + size, 1.0 + 2.0 * (SUM_BLOCK + len(y) // SUM_BLOCK + 8) * UNIT
    if not (dz < 0.01 and np.isfinite(sums).all()):
        return None
    steep = sum(total for rate, total in zip(rates, sums[2:4], strict=True) if rate > 0.0)
    upper = sums[0] + 16.0 * UNIT * sums[1] + 8.0 * UNIT * sums[4] * steep
    terms = ((rate, total) for rate, total in zip(rates, sums[2:4], strict=True) if rate > 0.0)
    # Taylor bounds: an exponential changes by a relative amount of at most 2 rate dz
    other = sum(
        0.5 * total * (2.0 * rate * dz + 32.0 * UNIT) ** 2 / rate / (1.0 - 2.0 * rate * dz) for rate, total in terms
    )
    return float(sums[0]), float(upper * up), float(other * up * (1.0 + 64.0 * UNIT))


@compiled
def _constant_sums(a: Any, b: Any, c: Any, y: Any, logs: Any, powers: Any, fall: Any, rise: Any, z: Any) -> np.ndarray:
    """Return the sums of the losses, of their sizes and of both exponentials, and the largest absolute score."""
    sums, part, farthest = np.zeros(5), np.empty(4), 0.0
    for start in range(0, len(y), SUM_BLOCK):
        part[:] = 0.0
        for i in range(start, min(start + SUM_BLOCK, len(y))):
            value, size = loss_of_row(a, b, y[i], z[i], logs[i], powers[i], fall[i], rise[i])
            part[0] += c[i] * max(value, 0.0)
            part[1] += c[i] * size
            part[2] += c[i] * fall[i]
            part[3] += c[i] * rise[i]
            farthest = max(farthest, abs(z[i]))
        sums[:4] += part
    sums[4] = farthest
    return sums


def _split(rates: Any, y: Any, g: Any, fall: Any, rise: Any) -> tuple[Any, Any]:
    """Return the share of the falling exponential, and the parts of the dual variables."""
    a, b = rates
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if a > 0.0 and b > 0.0:
            share = a * fall
            share = share / (share + b * rise)
            m = np.maximum(fall - share * (g - (rise - fall)), 0.0)
        else:
            share, m = (0.0, y) if a == 0.0 else (1.0, 1.0 - g)
    return share, (m, g + m)


def _bound(rates: Any, means: Any, split: Any, share: Any, dz: np.ndarray, dg: np.ndarray) -> np.ndarray:
    total = np.zeros(len(dz))
    for rate, mean, m, own in zip(rates, means, split, (share, 1.0 - share), strict=True):
        if rate > 0.0:
            _add_near_terms(1.0 / rate, m, own * dg, mean, rate * dz, total)
    return total


@compiled
def _add_near_terms(factor: Any, m: Any, dm: Any, mu: Any, dz: Any, total: Any) -> None:
    """Add ``factor`` times :func:`near_entropy_term` to each row; a row with two zeros is unchanged."""
    for i in range(len(m)):
        term = near_entropy_term(m[i], dm[i], mu[i], dz[i]) * factor * (1.0 + 8.0 * UNIT)
        total[i] += 0.0 if mu[i] == 0.0 and m[i] == 0.0 else term  # NaN, where both exponentials underflow, stays


def loss_sums(rates: Any, y: Any, c: Any, z: Any, z_rad: Any, z_slip: Any) -> Any:
    """Return the sum of the losses, an upper bound including rounding, and one that also covers another evaluation."""
    (a, b), (fall, rise) = rates, parts(rates, y, z)
    logs = logarithms(y)
    plain, upper, other = terms = np.empty((3, len(y)))
    widest = _losses(a, b, c, y, logs, powers(a, b, y, logs), fall, rise, z, z_rad, z_slip, plain, upper, other)
    if not (widest < 0.01 and np.isfinite(terms).all()):
        return None
    return block_sum(plain), upper_sum(upper) * (1.0 + 8.0 * UNIT), upper_sum(other) * (1.0 + 8.0 * UNIT)


def logarithms(y: np.ndarray) -> np.ndarray:
    """Return the logarithms of the targets; that of zero is finite, because it is multiplied by zero."""
    return np.log(np.maximum(y, np.finfo(np.float64).tiny))


def powers(a: float, b: float, y: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return ``y^b`` if both rates are positive, otherwise ``y``, which is not used."""
    return np.exp(b * logs) * (y > 0.0) if a > 0.0 and b > 0.0 else y


@compiled
def loss_of_row(a: Any, b: Any, y: Any, z: Any, log: Any, power: Any, fall: Any, rise: Any) -> tuple[Any, Any]:
    """Return the loss, and the size of its terms, of which its rounding error is a multiple."""
    if a == 0.0:
        return rise - y + y * (log - z), rise + y * (1.0 + abs(log) + abs(z))
    if b == 0.0:
        return fall - 1.0 + (z - log), fall + 1.0 + abs(z) + abs(log)
    parts = fall / a + rise / b
    return parts - power / (a * b), parts + power / (a * b) * (1.0 + abs(log))


@compiled
def _losses(
    a: Any, b: Any, c: Any, y: Any, logs: Any, powers: Any, fall: Any, rise: Any, z: Any, z_rad: Any, z_slip: Any,
    plain: Any, upper: Any, other: Any,
) -> Any:  # fmt: skip
    """Store the weighted losses and their upper bounds; return the largest change of a score."""
    for i in range(len(y)):
        value, size = loss_of_row(a, b, y[i], z[i], logs[i], powers[i], fall[i], rise[i])
        steep = 2.0 * (fall[i] + rise[i])  # exponentials change by a relative amount of at most 2 dz
        own = 16.0 * UNIT * size + steep * (z_rad[i] + 4.0 * UNIT * abs(z[i]))
        plain[i] = c[i] * max(value, 0.0)
        upper[i] = c[i] * (max(value, 0.0) + own)
        other[i] = c[i] * (max(value, 0.0) + own + steep * z_slip[i])
    widest = 0.0
    for i in range(len(y)):
        widest = max(widest, z_rad[i] + z_slip[i] + 4.0 * UNIT * abs(z[i]))
    return widest
