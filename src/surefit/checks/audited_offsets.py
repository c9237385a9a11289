r"""Bounds the free offset of an exact optimum from scores that are known up to a reach.

For a convex loss the slope of the objective in the offset, :math:`\sum_i c_i \phi'(f_i + b)`, grows with b and with every score: an optimal
offset of scores within :math:`\rho` of :math:`f` lies between a root for :math:`f + \rho` and one for :math:`f - \rho` (theory: ``audit``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.audited_svm import offsets
from surefit.checks.score_losses import dual_numbers
from surefit.checks.svm import Machine

KINKED = ("hinge", "epsilon_insensitive")
ROUNDING = 1e-9


def offset_interval(
    problem: dict, y: np.ndarray, c: np.ndarray, f: np.ndarray, reach: np.ndarray
) -> tuple[float, float]:
    """Return an interval that holds every optimal offset, if each score without it is within its reach of ``f``."""
    used = c > 0
    y, c, f, reach = y[used], c[used], f[used], reach[used]
    if problem["loss"] in KINKED:
        tube = problem["loss"] != "hinge"
        low = -c if tube else np.where(y > 0, 0.0, -c)
        high = c if tube else np.where(y > 0, c, 0.0)
        epsilon = float(problem["epsilon"]) if tube else 0.0
        return offsets(Machine(np.arange(len(y)), y, low, high, epsilon, np.zeros(len(y)), 0.0, True), f, reach)
    smooth = {**problem, "width": 0.0}
    noise = ROUNDING * math.fsum(c * np.abs(dual_numbers(smooth, y, f)))
    return _end(smooth, y, c, f + reach, noise), -_end(smooth, y, c, f - reach, noise, sign=-1.0)


def _end(problem: dict, y: np.ndarray, c: np.ndarray, f: np.ndarray, noise: float, sign: float = 1.0) -> float:
    """Return a number surely below (with the sign turned: above) every offset at which the slope vanishes."""

    def falls(b: float) -> bool:  # whether the objective still falls, moving from the outside
        return sign * float(np.sum(c * dual_numbers(problem, y, f + sign * b))) > noise

    step = 1.0
    while not falls(-step) and step < 1e12:
        step *= 4
    if step >= 1e12:
        return -math.inf
    outside, inside = -step, step
    while falls(inside) and inside < 1e12:
        outside, inside = inside, 4 * inside
    for _ in range(100):
        middle = 0.5 * (outside + inside)
        if middle in (outside, inside):
            break
        outside, inside = (middle, inside) if falls(middle) else (outside, middle)
    return outside
