"""Claims of a linear discriminant: names and thresholds. The checker proves the values."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim
from surefit.solvers.discriminants.axes import Axes

CLEAR = 1e-6  # smallest gap between two eigenvalues, relative to the largest, for which a claim is made


def rule_claims(everything: bool, axes: Axes | None = None, following: float | None = None) -> list[Claim]:
    """Return the claims about the rule and the directions, the most important first.

    ``everything`` states that the within-class scatter was inverted in all dimensions. ``following`` is the first
    eigenvalue that is not used.
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
