r"""The checker's Tweedie deviance of :math:`e^z`, a sum of a decreasing and an increasing exponential.

With :math:`a = p - 1`, :math:`b = 2 - p` the derivative is :math:`e^{bz} - y e^{-az}`. The conjugate of a sum is the
infimal convolution of the conjugates: for every split :math:`g = (g + m) - m` the term is at most :math:`\tfrac1a E(m,
y e^{-az}) + \tfrac1b E(g + m, e^{bz})`, :math:`E(m, \mu) = m\ln(m/\mu) - m + \mu`. The best split is found by Newton's
method; any other split proves a valid, larger bound.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.gap.exponentials import LEAST_RATE
from surefit.checks.gap.terms import entropy_term
from surefit.checks.gap.verbs import curvature, domain, edge_size, excess, slope
from surefit.core.jit import compiled

STEPS = 30  # Newton steps for the split


class Tweedie(NamedTuple):
    """Half the Tweedie deviance for a ``power`` from 1 to 2, for which both exponents are exact differences."""

    power: float

    @property
    def rates(self) -> tuple[float, float] | None:
        """Rates (a, b) of the derivative ``exp(b z) - y exp(-a z)``; None if one is too small to divide by."""
        a, b = self.power - 1.0, 2.0 - self.power
        return (a, b) if (a == 0.0 or a >= LEAST_RATE) and (b == 0.0 or b >= LEAST_RATE) else None


@domain.register(Tweedie)
def _(loss: Any, y: Any) -> Any:
    low = 0.0 if y <= 0.0 else (-y if loss.power == 1.0 else -math.inf)
    return low, 1.0 if loss.power == 2.0 else math.inf


@edge_size.register(Tweedie)
def _(loss: Any, y: Any) -> Any:
    return 0.0


@slope.register(Tweedie)
def _(loss: Any, y: Any, z: Any, width: Any) -> Any:
    return np.exp((2.0 - loss.power) * z) - y * np.exp(-(loss.power - 1.0) * z)


@curvature.register(Tweedie)
def _(loss: Any, y: Any, z: Any) -> Any:
    a, b = loss.power - 1.0, 2.0 - loss.power
    return b * np.exp(b * z) + a * y * np.exp(-a * z)


@excess.register(Tweedie)
def _(loss: Any, y: Any, z: Any, g: Any) -> Any:
    a, b = loss.power - 1.0, 2.0 - loss.power
    if b == 0.0:  # gamma
        return entropy_term(1.0 - g, y * np.exp(-z))
    if a == 0.0:  # Poisson
        return entropy_term(g + y, np.exp(z))
    if y <= 0.0:
        return entropy_term(g, np.exp(b * z)) / b * (1.0 + 8.0 * UNIT)
    fall, rise = y * np.exp(-a * z), np.exp(b * z)
    m = _split(a, b, fall, rise, g)
    return (entropy_term(m, fall) / a + entropy_term(g + m, rise) / b) * (1.0 + 8.0 * UNIT)


@compiled
def _split(a: Any, b: Any, fall: Any, rise: Any, g: Any) -> Any:
    """Return the part of the decreasing exponential: the root of ``ln(m / fall) / a + ln((g + m) / rise) / b``."""
    least = max(-g, 0.0)
    m = max(fall, rise - g)
    for _ in range(STEPS):
        if not (m > least and m + g > 0.0 and m < math.inf):
            break
        off = np.log(m / fall) / a + np.log((g + m) / rise) / b
        new = m - off / (1.0 / (a * m) + 1.0 / (b * (g + m)))
        new = new if new > least else 0.5 * (m + least)
        if abs(new - m) <= 1e-16 * m:
            return new
        m = new
    return m
