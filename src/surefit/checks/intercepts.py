r"""Bounds on the optimal intercept from scores that are known up to a radius.

For a convex loss the derivative of the objective in the intercept, :math:`\sum_i c_i \phi'(f_i + b)`, increases with b
and with every score. If it is negative at the largest possible scores, b is below every optimal intercept; if it is
positive at the smallest possible ones, b is above (theory: ``audit``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import BLOCK, UNIT, block_sum, gamma, upper_sum
from surefit.checks.gap.rows import slopes

FARTHEST = 1e300
HALVINGS, EVERY = 120, 4  # steps, and steps after which constant derivatives are set aside


def offset_interval(loss: Any, y: np.ndarray, c: np.ndarray, f: np.ndarray, radius: np.ndarray) -> tuple[float, float]:
    """Return an interval that contains every optimal intercept, if scores without it are within ``radius`` of ``f``."""
    used = c > 0
    y, c, f, radius = y[used], c[used], f[used], radius[used]
    if not np.all(np.isfinite(radius)):
        return -math.inf, math.inf
    return _end(loss, y, c, f + radius, -1.0), _end(loss, y, c, f - radius, 1.0)


def _end(loss: Any, y: np.ndarray, c: np.ndarray, f: np.ndarray, side: float) -> float:
    """Return the nearest number found that provably lies below (``side`` -1) or above (1) every optimal intercept."""
    shifted = f - side * (4 * UNIT * np.abs(f) + np.finfo(np.float64).tiny)

    def terms(b: float, rows: Any = slice(None)) -> np.ndarray:
        return c[rows] * slopes(loss, y[rows], shifted[rows] + (b - side * 4 * UNIT * abs(b)), 0.0)[0]

    def outside(b: float) -> bool:
        own = terms(b)
        total, size = side * block_sum(own), upper_sum(np.abs(own))
        if abs(total) <= 2 * gamma(BLOCK) * size:  # the order of summation may decide
            total = side * math.fsum(own)
        return total > 32 * UNIT * size

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
    return _bisected(terms, side, far, near, np.arange(len(f)))


def _bisected(terms: Any, side: float, far: float, near: float, moving: np.ndarray) -> float:
    """Return the nearest number outside, between ``far``, which is outside, and ``near``, which is not proved to be.

    Derivatives increase with b, so those that are equal at both ends are constant in between and are added once.
    """
    total, size = 0.0, 0.0
    for halving in range(HALVINGS):
        middle = 0.5 * (far + near)
        if middle in (far, near):
            break
        if halving % EVERY == 0:
            one, other = terms(near, moving), terms(far, moving)
            still = one == other
            total, size = math.fsum([total, *one[still]]), size + upper_sum(np.abs(one[still]))
            moving = moving[~still]
        own = terms(middle, moving)
        # the total was rounded once per division by ``EVERY`` halvings
        out = side * math.fsum([total, *own]) > 96 * UNIT * (size + upper_sum(np.abs(own)))
        far, near = (middle, near) if out else (far, middle)
    return far
