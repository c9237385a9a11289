r"""The gap of one problem in the span of landmarks, from the terms of its rows and the images of its dual points.

See :mod:`surefit.checks.kernels.nystroem` for the theorem. Rows in memory and rows in partitions share this file.
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
    """Return what a fit states of a bound, so that other evaluations prove it."""
    return bound.value + BOTH_ROUNDINGS * bound.spread


class Found(NamedTuple):
    """Proved facts about one problem."""

    exact: Bound  # gap over the whole space of the kernel
    subset: Bound  # gap in the span
    objective: Bound


class Problem(NamedTuple):
    """One problem: its terms, its functions, and a dual point with what it costs."""

    span: Landmarks
    lines: np.ndarray  # coefficients of the landmarks, one line per function
    images: list[Image]  # of the dual point over the strength of the penalty, one per function
    slip: float  # norm by which an exactly feasible dual point may differ
    strength: float
    loss: Callable[[float], Bound]  # Fenchel-Young terms at a multiple of the dual point
    unit: float  # of the objective: squares are counted twice
    other: float = 0.0  # norm by which the dual point of another evaluation may differ

    def gap(self, scale: float) -> Bound:
        """Bound the gap over the whole space of the kernel with a multiple of the dual point."""
        total = self.loss(scale)
        for a, image in zip(self.lines, self.images, strict=True):
            norm = self.span.apart(a, image, scale)
            square = 0.5 * self.strength * (norm.value + scale * self.slip) ** 2 * (1 + 16 * UNIT)
            low = 0.5 * self.strength * max(norm.value - norm.spread, 0.0) ** 2
            away = 0.5 * self.strength * (norm.value + scale * (self.slip + self.other)) ** 2 * (1 + 16 * UNIT)
            total = total.plus(Bound(square, away - low))
        return total

    def found(self, exact: Bound) -> Found:
        """Return the gap in the span and the objective as well; ``exact`` is the best of the gaps over the whole space."""
        subset, penalty = self.loss(1.0), Bound(0.0, 0.0)
        for a, image in zip(self.lines, self.images, strict=True):
            gradient, away = (self.span.gradient(a, image, slip) for slip in (self.slip, self.slip + self.other))
            spread = gradient.spread + max(away.value - gradient.value, 0.0) if away.value < np.inf else gradient.spread
            subset = subset.plus(Bound(self.strength * gradient.value, self.strength * spread))
            penalty = penalty.plus(norm_square(self.span.form(a)).over(2.0 / self.strength))
        objective = self.loss(0.0).plus(penalty)  # no loss is negative, so it bounds the gaps too
        exact, subset = (min(bound, objective, key=_stated) for bound in (exact, subset))
        return Found(
            *(Bound(self.unit * bound.value, self.unit * bound.spread) for bound in (exact, subset, objective))
        )
