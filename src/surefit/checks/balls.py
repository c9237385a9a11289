"""Elementwise interval arithmetic: every result encloses the true value, and small integers stay exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed

WHOLE = 2.0**52  # smaller integers are added and multiplied without error
LIBM = 8 * UNIT  # exp, log, sin and tanh are assumed accurate to four units in the last place
SLACK = 1 + 32 * UNIT  # covers the rounding of radii
TINY = 1e-307  # pays for underflow


def ball(mid: np.ndarray, relative: float = 0.0) -> Enclosed:
    """Return numbers known up to a relative error, or exact numbers if it is zero."""
    mid = np.asarray(mid, dtype=np.float64)
    return Enclosed(mid, np.zeros(mid.shape) if relative == 0.0 else np.abs(mid) * relative * SLACK + TINY)


def is_whole(*arrays: np.ndarray) -> bool:
    """Return whether all entries are integers small enough for exact arithmetic."""
    return all(bool(np.all((a == np.rint(a)) & (np.abs(a) < WHOLE))) for a in arrays)


def _exact(mid: np.ndarray, *balls: Enclosed) -> bool:
    return not any(np.any(b.rad) for b in balls) and is_whole(mid, *(b.mid for b in balls))


def add(x: Enclosed, y: Enclosed) -> Enclosed:
    """Enclose x + y."""
    mid = x.mid + y.mid
    if _exact(mid, x, y):
        return ball(mid)
    return Enclosed(mid, (x.rad + y.rad + UNIT * np.abs(mid)) * SLACK + TINY)


def multiply(x: Enclosed, y: Enclosed) -> Enclosed:
    """Enclose x y."""
    mid = x.mid * y.mid
    if _exact(mid, x, y):
        return ball(mid)
    spread = np.abs(x.mid) * y.rad + x.rad * (np.abs(y.mid) + y.rad)
    return Enclosed(mid, (spread + UNIT * np.abs(mid)) * SLACK + TINY)


def scale(x: Enclosed, factor: float, relative: float = 0.0) -> Enclosed:
    """Enclose a multiple; ``relative`` is the error of the factor."""
    return multiply(x, ball(np.asarray(float(factor)), relative))


def power(x: Enclosed, exponent: int) -> Enclosed:
    """Enclose an integer power >= 0."""
    result = ball(np.ones(x.mid.shape))
    for _ in range(exponent):
        result = multiply(result, x)
    return result


def root(x: Enclosed) -> Enclosed:
    """Enclose the square root of numbers >= 0; if zero is possible, the radius is the root of the largest value."""
    mid = np.sqrt(np.maximum(x.mid, 0.0))
    low = np.sqrt(np.maximum(x.mid - x.rad, 0.0))
    spread = np.where(low > 0, x.rad / np.maximum(mid + low, TINY), np.sqrt(np.maximum(x.mid, 0.0) + x.rad))
    return Enclosed(mid, np.where((x.rad == 0) & (mid == 0), 0.0, (spread + 2 * UNIT * mid) * SLACK))


def divide(x: Enclosed, y: Enclosed) -> Enclosed:
    """Enclose x / y for y > 0; the radius is infinite if y may be zero."""
    low = y.mid - y.rad
    with np.errstate(divide="ignore", invalid="ignore"):
        mid = x.mid / y.mid
        spread = (x.rad + np.abs(mid) * y.rad) / low
    sure = low > 0
    return Enclosed(np.where(sure, mid, 0.0), np.where(sure, (spread + UNIT * np.abs(mid)) * SLACK + TINY, np.inf))


def exponential(x: Enclosed) -> Enclosed:
    """Enclose exp(x) by its relative error, or by the largest value if that gives a smaller radius."""
    with np.errstate(over="ignore", invalid="ignore"):
        mid = np.exp(x.mid)
        relative = mid * (np.expm1(x.rad) + LIBM)  # NaN from zero times infinity is ignored below
        largest = np.exp(x.mid + x.rad + 4 * UNIT * (np.abs(x.mid) + x.rad)) * (1 + LIBM)
    rad = np.fmin(relative, largest) * SLACK + TINY
    return Enclosed(mid, np.where((x.mid == 0) & (x.rad == 0), 0.0, rad))


def negative(x: Enclosed) -> Enclosed:
    """Enclose -x."""
    return Enclosed(-x.mid, x.rad)


def smooth(function: Any, x: Enclosed, slope: float | np.ndarray = 1.0) -> Enclosed:
    """Enclose a library function whose derivative is at most ``slope`` in absolute value on the enclosed interval."""
    mid = function(x.mid)
    return Enclosed(mid, (x.rad * slope + LIBM * np.abs(mid)) * SLACK + TINY)
