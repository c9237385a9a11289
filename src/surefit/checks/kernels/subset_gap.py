r"""Duality gap of one problem in the span of landmarks, from the terms of its rows and the images of its dual point.

See :mod:`surefit.checks.kernels.nystroem` for the theorem. This module serves rows in memory and rows in partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Bound
from surefit.checks.judge import BOTH_ROUNDINGS
from surefit.checks.kernels.landmarks import Image, Landmarks
from surefit.checks.kernels.operator import norm_square


def _stated(bound: Bound) -> float:
    """Return the bound that a fit states: its value plus a margin for the rounding of another evaluation."""
    return bound.value + BOTH_ROUNDINGS * bound.spread


class Found(NamedTuple):
    """Bounds on both gaps and on the objective of one problem."""

    exact: Bound  # gap over the reproducing kernel Hilbert space
    subset: Bound  # gap in the span
    objective: Bound


class Problem(NamedTuple):
    """One problem: its functions, a dual point with its errors, and its Fenchel-Young terms."""

    span: Landmarks
    lines: np.ndarray  # coefficients of the landmarks, one line per function
    images: list[Image]  # images of the dual point divided by the strength of the penalty, one per function
    slip: float  # distance in norm to an exactly feasible dual point
    strength: float
    loss: Callable[[float], Bound]  # Fenchel-Young terms at a multiple of the dual point
    unit: float  # factor of the objective: 2 for least squares without the factor 1/2
    other: float = 0.0  # distance in norm to the dual point of another evaluation

    def gap(self, scale: float) -> Bound:
        """Bound the gap over the reproducing kernel Hilbert space with a multiple of the dual point."""
        total = self.loss(scale)
        for a, image in zip(self.lines, self.images, strict=True):
            norm = self.span.apart(a, image, scale)
            square = 0.5 * self.strength * (norm.value + scale * self.slip) ** 2 * (1 + 16 * UNIT)
            low = 0.5 * self.strength * max(norm.value - norm.spread, 0.0) ** 2
            away = 0.5 * self.strength * (norm.value + scale * (self.slip + self.other)) ** 2 * (1 + 16 * UNIT)
            total = total.plus(Bound(square, away - low))
        return total

    def found(self, exact: Bound) -> Found:
        """Add the gap in the span and the objective to ``exact``, the best bound on the gap over the reproducing kernel Hilbert space."""
        subset, penalty = self.loss(1.0), Bound(0.0, 0.0)
        for a, image in zip(self.lines, self.images, strict=True):
            gradient, away = (self.span.gradient(a, image, slip) for slip in (self.slip, self.slip + self.other))
            spread = gradient.spread + max(away.value - gradient.value, 0.0) if away.value < np.inf else gradient.spread
            subset = subset.plus(Bound(self.strength * gradient.value, self.strength * spread))
            penalty = penalty.plus(norm_square(self.span.form(a)).over(2.0 / self.strength))
        objective = self.loss(0.0).plus(penalty)  # losses are nonnegative, so the objective bounds both gaps
        exact, subset = (min(bound, objective, key=_stated) for bound in (exact, subset))
        return Found(
            *(Bound(self.unit * bound.value, self.unit * bound.spread) for bound in (exact, subset, objective))
        )
