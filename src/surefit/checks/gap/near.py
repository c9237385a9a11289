"""Results of the proof by one pass for smooth losses (:mod:`surefit.checks.gap.smooth`), and bounds that follow from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed
from surefit.checks.gap.dual_points import Point
from surefit.checks.gap.rows import row_sums
from surefit.core.jit import compiled

NEAR = 0.01  # largest relative change of an exponential for which the bound is used


class Totals(NamedTuple):
    """Sums over the rows: of ``c g``, ``|c g|``, ``c g^2 / h``, ``c h``, losses, their sizes and squares, and extremes."""

    net: float
    size: float
    square: float
    curve: float
    loss: float
    loss_size: float  # the rounding error of the losses is a multiple of it
    size_squares: float  # of (c g)^2
    curve_squares: float  # of (c h)^2
    cube: float  # of c |g|^3 / h^2
    steepest: float  # largest |g| / h
    farthest: float  # largest |z|
    lightest: float  # smallest positive weight


class Near(NamedTuple):
    """Results of the pass."""

    totals: Totals
    v: np.ndarray
    radii: np.ndarray  # (2, d): of v, and including the difference of another evaluation
    rho: float  # radius of the scores
    error: float  # radius of the derivatives, relative to h
    tau: float
    tau_rad: float
    moves: float  # bound on the difference of tau in another evaluation
    rounding: float  # relative, of sums over the rows
    z: Enclosed  # scores, products and derivatives of a logistic loss, otherwise empty
    product: Enclosed
    g: np.ndarray

    def row_sums(self, shrink: tuple[float, float]) -> tuple[float, float, float] | None:
        """Return the Fenchel-Young terms: plain, rounded up, and for other evaluations; None if the point is too far."""
        t, tail = self.totals, 64 * UNIT * self.totals.steepest
        off = self.error + self.tau_rad
        near = 1.0 - shrink[0] + 32 * UNIT, abs(self.tau) + off
        far = 1.0 - shrink[1] + 96 * UNIT, abs(self.tau) + 4 * off + self.moves
        if not far[0] + far[1] + tail <= NEAR:
            return None
        plain, upper, other = (
            0.5 * (a * a * t.square + 2 * a * r * t.size + r * r * t.curve)
            for a, r in ((1.0 - shrink[0], abs(self.tau)), near, far)
        )
        up = 1 + 4 * self.rounding + 4 * self.rho + 128 * UNIT  # curvatures of the true scores may be smaller
        upper *= up / (1 - near[0] - near[1] - tail)
        return plain, upper, other * up**4 / (1 - far[0] - far[1] - tail)

    def terms_by_rows(
        self, loss: Any, point: Point, shrink: tuple[float, float]
    ) -> tuple[Enclosed, tuple[float, float, float]] | None:
        """Return the dual variables of a logistic loss, in place of the derivatives, and the sums of the terms of all rows.

        They may be far from the derivatives by ``shrink``, but not by ``tau``; None if they are, or if a curvature is
        so small that its rounding matters. In another evaluation, scores, ``tau`` and ``shrink`` may differ.
        """
        tilt = abs(self.tau) + 4 * (self.error + self.tau_rad) + self.moves
        if not len(self.g) or not shrink[0] > 0.0 or not tilt + 64 * UNIT * self.totals.steepest <= NEAR:
            return None
        _shift(self.g, self.tau, shrink[0])
        size, z = np.abs(self.g), self.z  # the curvature is smaller than the derivative
        rad = size * (64 * UNIT + 1.02 * self.tau_rad)
        moved = size * (2.1 * max(1.0 - shrink[1] / shrink[0], 0.0) + 4 * self.error + 2 * self.moves + 64 * UNIT)
        sums = row_sums(loss, point.y, point.c, z.mid, z.rad, self.g, rad, 2 * z.rad, moved)
        return Enclosed(self.g, rad), sums

    def not_quadratic(self, shrink: float, upper: float) -> float:
        """Estimate by how much the quadratic bound ``upper`` exceeds the exact terms: the third order of their series."""
        return (1.0 - shrink) ** 3 * self.totals.cube + abs(self.tau) * upper

    def loss_sums(self) -> tuple[float, float]:
        """Return the sum of the losses, rounded up, and an upper bound on that of another evaluation or by single rows."""
        t, up = self.totals, 1 + 4 * self.rounding + 32 * UNIT
        return (t.loss + self.objective_rounding()) * up, (
            t.loss + 3 * self.objective_rounding(2 * t.loss_size)
        ) * up**4

    def objective_rounding(self, steep: float = 0.0) -> float:
        """Return the rounding of the sum of the losses if their derivatives are larger by ``steep``."""
        t = self.totals
        return self.rho * (t.size + steep + 4 * self.rho * t.curve) + 32 * UNIT * t.loss_size

    def duals(self, shrink: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the dual variables of a logistic loss, in place of the derivatives, and their radii."""
        _shift(self.g, self.tau, shrink)
        rad = 64 * UNIT + self.tau_rad
        return self.g, np.broadcast_to(rad, self.g.shape)


@compiled
def _shift(g: Any, tau: Any, shrink: Any) -> None:
    for i in range(len(g)):
        p = abs(g[i])
        g[i] = shrink * (g[i] + tau * p * (1.0 - p))
