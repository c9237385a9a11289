r"""Logistic loss, evaluated for all rows at once.

Derivatives need one exponential per row. Near the optimum, Taylor bounds on the Fenchel-Young terms need no logarithms. Since
:math:`|\phi'''| \le \phi''`, the second derivative changes by a factor of at most :math:`e^m` if a score changes by :math:`m`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, block_sum, upper_sum
from surefit.checks.gap.terms import near_entropy_term
from surefit.core.jit import compiled

SUM_BLOCK = 256  # number of rows per partial sum
NEWTON_STEPS = 60


def slopes(y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and second derivatives of the loss at the scores."""
    e = np.exp(-np.abs(z))
    whole = 1.0 + e
    return -y * np.where(y * z >= 0.0, e, 1.0) / whole, e / (whole * whole)


def slope_moves(g: np.ndarray, moves: np.ndarray) -> np.ndarray | None:
    """Bound the change of the derivatives ``g`` if scores change by at most ``moves``; None if these are too large."""
    if not np.max(moves, initial=0.0) < 0.01:
        return None
    p = np.abs(g)
    return 1.02 * moves * (p * (1.0 - p) + 16.0 * UNIT) + 16.0 * UNIT * p


def best_offset(y: np.ndarray, c: np.ndarray, z: np.ndarray) -> float | None:
    """Return the offset of the scores at which the weighted derivatives sum to zero; None if Newton's method leaves its bracket."""
    low, high, offset = -math.inf, math.inf, 0.0
    for _ in range(NEWTON_STEPS):
        g, h = slopes(y, z + offset)
        total, size, bend = float(c @ g), float(c @ np.abs(g)), float(c @ h)
        if abs(total) <= (8.0 + len(y) / SUM_BLOCK) * UNIT * size:  # the remainder is rounding of the sum
            break
        low, high = (low, offset) if total > 0.0 else (offset, high)
        new = offset - total / bend if bend > 0.0 else math.nan
        if not low < new < high:
            return None
        offset = new
    return offset


def row_terms(y: Any, c: Any, z: Any, z_rad: Any, g: Any, g_rad: Any, z_slip: Any, g_slip: Any) -> np.ndarray:
    """Return the weighted Fenchel-Young terms: plain, with rounding, and with that of another evaluation.

    A term is infinite if the radii are too large for these bounds.
    """
    terms = np.empty((3, len(y)))
    parts = c, np.exp(-np.abs(z)), y * z >= 0.0, z_rad + 4.0 * UNIT * np.abs(z), np.abs(g), g_rad, z_slip, g_slip
    _near_terms(*parts, terms)
    far = np.flatnonzero(~np.isfinite(terms[2]))
    if len(far):
        again = np.empty((3, len(far)))
        _far_terms(*(part[far] for part in parts), again)
        terms[:, far] = again
    return terms


@compiled
def _near_terms(c: Any, e: Any, right: Any, dz: Any, p: Any, g_rad: Any, z_slip: Any, g_slip: Any, terms: Any) -> None:
    for i in range(len(c)):
        small, large = e[i] / (1.0 + e[i]), 1.0 / (1.0 + e[i])
        other, own = (small, large) if right[i] else (large, small)  # probabilities of the other and of the own label
        m, weight = min(p[i], 1.0), c[i] * (1.0 + 8.0 * UNIT)
        for k in range(3):
            off_z = 0.0 if k == 0 else dz[i] if k == 1 else dz[i] + z_slip[i]
            off_g = 0.0 if k == 0 else g_rad[i] if k == 1 else g_rad[i] + g_slip[i]
            term = near_entropy_term(m, off_g, other, off_z) + near_entropy_term(1.0 - m, off_g, own, off_z)
            terms[k, i] = weight * term if weight > 0.0 else 0.0


@compiled
def _far_terms(c: Any, e: Any, right: Any, dz: Any, p: Any, g_rad: Any, z_slip: Any, g_slip: Any, terms: Any) -> None:
    r"""Write the same with one logarithm per label: :math:`m \ln(m / \mu) - m + \mu`, and its change within the radii.

    The derivative is :math:`\ln(m / \mu)` in m and :math:`\mu - m` in the logarithm of mu; the second derivatives are
    :math:`1 / m`, :math:`\mu` and -1.
    """
    for i in range(len(c)):
        small, large = e[i] / (1.0 + e[i]), 1.0 / (1.0 + e[i])
        other, own = (small, large) if right[i] else (large, small)
        share, weight = min(p[i], 1.0), c[i] * (1.0 + 8.0 * UNIT)
        for k in range(3):
            terms[k, i] = 0.0
        for m, mu in ((share, other), (1.0 - share, own)):
            ratio = np.log(m / mu)
            value = max(m * ratio - m + mu, 0.0) + 32.0 * UNIT * (m * (1.0 + abs(ratio)) + mu)
            for k in range(3):
                off_z = 0.0 if k == 0 else dz[i] if k == 1 else dz[i] + z_slip[i]
                off_g = 0.0 if k == 0 else g_rad[i] if k == 1 else g_rad[i] + g_slip[i]
                if not (off_z < 0.01 and off_g <= 0.01 * m and mu > 0.0):
                    terms[k, i] = math.inf
                change = abs(ratio) * off_g + abs(mu - m) * off_z
                change += off_g * off_g / m + 2.0 * off_g * off_z + mu * off_z * off_z
                terms[k, i] += weight * (value + change * (1.0 + 16.0 * UNIT))


def loss_sums(y: Any, c: Any, z: Any, z_rad: Any, z_slip: Any) -> tuple[float, float, float]:
    """Return the sum of the losses, an upper bound including rounding, and one that also covers another evaluation."""
    loss = np.log1p(np.exp(-np.abs(z))) + np.maximum(-y * z, 0.0)
    dz = z_rad + 4.0 * UNIT * np.abs(z)  # the derivative is at most 1
    upper, other = (upper_sum(c * (loss + off)) * (1.0 + 32.0 * UNIT) for off in (dz, dz + z_slip))
    return block_sum(c * loss), upper, other
