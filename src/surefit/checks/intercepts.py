r"""Bounds on the optimal intercept from scores that are known up to a radius.

For a convex loss the derivative of the objective in the intercept, :math:`\sum_i c_i \phi'(f_i + b)`, increases with b
and with every score. If it is negative at the largest possible scores, b is below every optimal intercept; if it is
positive at the smallest possible ones, b is above (theory: ``audit``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, upper_sum
from surefit.checks.gap.rows import slopes

FARTHEST = 1e300
HALVINGS = 120


def offset_interval(loss: Any, y: np.ndarray, c: np.ndarray, f: np.ndarray, radius: np.ndarray) -> tuple[float, float]:
    """Return an interval that contains every optimal intercept, if scores without it are within ``radius`` of ``f``."""
    used = c > 0
    y, c, f, radius = y[used], c[used], f[used], radius[used]
    if not np.all(np.isfinite(radius)):
        return -math.inf, math.inf
    return _end(loss, y, c, f + radius, -1.0), _end(loss, y, c, f - radius, 1.0)


def _end(loss: Any, y: np.ndarray, c: np.ndarray, f: np.ndarray, side: float) -> float:
    """Return the nearest number found that provably lies below (``side`` -1) or above (1) every optimal intercept."""

    def outside(b: float) -> bool:
        z = f + b
        z = z - side * (4 * UNIT * (np.abs(f) + abs(b)) + np.finfo(np.float64).tiny)
        terms = c * slopes(loss, y, z, 0.0)[0]
        return side * math.fsum(terms) > 32 * UNIT * upper_sum(np.abs(terms))

    step = 1.0
    while not outside(side * step):
        step *= 4
        if step > FARTHEST:
            return side * math.inf
    far, near = side * step, -side
    while outside(near):
        far, near = near, 4 * near
        if abs(near) > FARTHEST:
            return far
    for _ in range(HALVINGS):
        middle = 0.5 * (far + near)
        if middle in (far, near):
            break
        far, near = (middle, near) if outside(middle) else (far, middle)
    return far
