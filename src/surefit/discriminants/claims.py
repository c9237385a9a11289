"""Claims of a linear discriminant: names, and the threshold below which no direction was kept. The checker proves the numbers."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim
from surefit.solvers.discriminants.axes import Axes

CLEAR = 1e-6  # of the largest eigenvalue: a gap between two of them that is worth a claim


def rule_claims(everything: bool, axes: Axes | None = None, following: float | None = None) -> list[Claim]:
    """Return the claims about rule and directions, the most important first.

    ``everything``: the scatter within classes was inverted in all dimensions. ``following`` is the first eigenvalue left out.
    """
    if not everything:
        return [Claim("discriminant.restricted_gap"), Claim("discriminant.moments"), Claim("discriminant.discarded")]
    found = [Claim("discriminant.gap")]
    if axes is not None and axes.vectors.shape[1]:
        found.append(Claim("discriminant.directions"))
        last = float(axes.values[-1])
        if following is not None and last - following > CLEAR * abs(float(axes.values[0])):
            found.append(Claim("discriminant.complete", numbers={"threshold": float(np.mean([last, following]))}))
    return [*found, Claim("discriminant.moments")]
