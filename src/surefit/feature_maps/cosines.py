r"""Cosines and sines of many angles, without a call of the math library for each.

With an integer :math:`q` for sines and an integer plus one half for cosines, :math:`r = x - q \pi \in [-\pi/2, \pi/2]` gives the value
:math:`\pm \sin r`, by its Taylor polynomial of degree 21, whose remainder is below 2e-18. :math:`\pi` is subtracted in three parts; the
products of :math:`q` with the first two are exact. The error is a few units of :math:`2^{-53}`.
"""

from __future__ import annotations

import math

import numpy as np

from surefit.core.jit import compiled

LARGEST = 1e5  # absolute value of an angle up to which products with the parts of pi are exact
PI_PARTS = (3.1415926534682512, 1.2154201012607932e-10, 4.044532497591901e-21)  # 32, 32 and 53 bits
COEFFICIENTS = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 11))  # of r^3, r^5, ..., r^21


def cosines(angles: np.ndarray, offset: np.ndarray | float = 0.0) -> np.ndarray:
    """Replace the angles, plus one offset per column, by their cosines. Returns the array."""
    angles += offset
    return _replaced(angles, 0.5) if _moderate(angles) else np.cos(angles, out=angles)


def sines(angles: np.ndarray) -> np.ndarray:
    """Replace the angles by their sines. Returns the array."""
    return _replaced(angles, 0.0) if _moderate(angles) else np.sin(angles, out=angles)


def _moderate(angles: np.ndarray) -> bool:
    return bool(angles.max(initial=0.0) <= LARGEST and angles.min(initial=0.0) >= -LARGEST)


def _replaced(angles: np.ndarray, half: float) -> np.ndarray:
    _replace(angles.ravel(order="K"), half, *PI_PARTS)  # a view of an array without gaps
    return angles


@compiled
def _replace(x, half, first, second, third):
    c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 = COEFFICIENTS
    for i in range(len(x)):
        n = np.floor(x[i] * (1.0 / math.pi) + (0.5 - half))
        q = n + half
        r = ((x[i] - q * first) - q * second) - q * third
        s = r * r
        tail = c5 + s * (c6 + s * (c7 + s * (c8 + s * (c9 + s * c10))))
        sine = r + r * (s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * tail)))))
        odd = n - 2.0 * np.floor(0.5 * n)
        sign = 1.0 - 2.0 * odd
        x[i] = -sign * sine if half else sign * sine
