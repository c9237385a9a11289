"""Fenchel-Young terms of exponentials, which several losses share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.core.jit import compiled


@compiled
def entropy_term(m: Any, mu: Any) -> Any:
    r"""Return an upper bound on :math:`m \ln(m / \mu) - m + \mu`, with ``m`` and ``mu`` known up to 8 units in the last place.

    The second derivative in m is 1 / m, so the term is at most :math:`(m - \mu)^2 / (2 \min(m, \mu))`, a bound without
    cancellation. The direct formula is smaller if the two numbers are far apart.
    """
    if m <= 0.0:
        return mu * (1.0 + 16.0 * UNIT)
    if mu <= 0.0:
        return math.inf
    apart = abs(m - mu) + 16.0 * UNIT * (m + mu)
    taylor = 0.5 * apart * apart / min(m, mu) * (1.0 + 32.0 * UNIT)
    if apart <= 0.01 * min(m, mu):  # then the bound is at most one percent too large
        return taylor
    ratio = np.log(m / mu)
    direct = max(m * ratio - m + mu, 0.0) + 32.0 * UNIT * (m * (1.0 + abs(ratio)) + mu)
    return min(taylor, direct)


@compiled
def near_entropy_term(m: Any, dm: Any, mu: Any, dz: Any) -> Any:
    """Return a bound of the term for ``m`` within ``dm`` and the logarithm of ``mu`` within ``dz``; infinite if they are apart."""
    apart = abs(m - mu) + dm + 2.0 * dz * mu + 16.0 * UNIT * (m + mu)
    least = min(m - dm, mu - 2.0 * dz * mu)
    return 0.5 * apart * apart / least * (1.0 + 64.0 * UNIT) if dz < 0.01 and apart <= 0.01 * least else math.inf
