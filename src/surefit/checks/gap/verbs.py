r"""Functions of a loss for the gap theorem: derivatives, their domain, and upper bounds on Fenchel-Young terms."""

from __future__ import annotations

from typing import Any

from surefit.checks.enclosure import UNIT
from surefit.core.dispatch import generic
from surefit.core.jit import compiled


@generic
def domain(loss: Any, y: Any) -> Any:
    """Return the interval of possible derivatives at target ``y``."""


@generic
def slope(loss: Any, y: Any, z: Any, width: Any) -> Any:
    """Return a derivative at ``z``; with ``width`` > 0, that of the loss smoothed over this width around its kinks."""


@generic
def curvature(loss: Any, y: Any, z: Any) -> Any:
    """Return the second derivative at ``z``; zero at a kink."""


@generic
def excess(loss: Any, y: Any, z: Any, g: Any) -> Any:
    """Return an upper bound on the Fenchel-Young term, including rounding; ``g`` must be in the domain.

    Losses are smallest at zero, so the term at ``g = 0`` is the loss itself.
    """


@generic
def largest(loss: Any, y: Any, z: Any, dz: Any, g: Any, dg: Any) -> Any:
    """Return an upper bound on the term for scores within ``dz`` of ``z`` and derivatives within ``dg`` of ``g``."""


@compiled
def corners(loss: Any, y: Any, z: Any, dz: Any, g: Any, dg: Any) -> Any:
    """Return the largest term over the box, which is at a corner because the term is convex in both arguments."""
    low, high = domain(loss, y)
    most = 0.0
    for z_end in (z + dz, z - dz):
        for g_end in (g + dg, g - dg):
            most = max(most, excess(loss, y, z_end, min(max(g_end, low), high)))
    return most * (1.0 + 4.0 * UNIT)


@largest.register(object)
def _(loss: Any, y: Any, z: Any, dz: Any, g: Any, dg: Any) -> Any:
    return corners(loss, y, z, dz, g, dg)


@generic
def edge_size(loss: Any, y: Any) -> Any:
    """Return a bound on the numbers that are subtracted from ``z``; their rounding acts like a change of ``z``."""
