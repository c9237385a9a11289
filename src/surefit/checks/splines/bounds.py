r"""Bounds on the distance of a fitted smoothing spline from the exact one, from a dual point.

The derivatives of the dual function are sums from the right, its values are sums from the left. A pass from the right
stores these sums at the ends of blocks of gaps; the pass from the left repeats every block from there. Therefore two
vectors of the requested precision are stored, and the others have the length of a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.splines.rotations import Line

BLOCK = 8192  # gaps per block


class Bounds(NamedTuple):
    """Bounds on one target's spline in one precision."""

    gap: float
    apart: float  # largest difference between the fitted values and those of the spline that has the gap
    distance: float
    derivatives: float  # relative distance of the stored derivatives from those of the dual function


class Block(NamedTuple):
    """Some gaps between points; points are the knots, preceded by the origin in the special form."""

    points: slice  # all ends of the gaps
    knots: slice  # the right ends, and the first knot in the first block
    first: int  # 0 if the first point is among these knots, otherwise 1

    @property
    def left(self) -> slice:
        """Left ends of the gaps."""
        return slice(self.points.start, self.points.stop - 1)


class Precise:
    """Data of one target, converted to one precision block by block."""

    def __init__(self, target: Line, kind: Any) -> None:
        self.target, self.kind, self.origin = target, kind, kind(target.knots[0])
        general = target.lead < 0
        count = len(target.knots) - general
        self.blocks = []
        for begin in range(0, max(count, 1), BLOCK):
            end, first = min(begin + BLOCK, count), 0 if general and begin == 0 else 1
            self.blocks.append(Block(slice(begin, end + 1), slice(begin + first * general, end + general), first))
        self.mass = self.sum(lambda block: self.weights(block).sum())
        self.center = self.sum(lambda block: self.weights(block) @ self.place(block)) / self.mass

    def sum(self, part: Callable[[Block], Any]) -> Any:
        """Return the sum of ``part(block)``."""
        return sum(map(part, self.blocks), self.kind(0))

    def weights(self, block: Block) -> Any:
        """Return the weights at the knots of a block."""
        return self.target.weights[block.knots].astype(self.kind)

    def targets(self, block: Block) -> Any:
        """Return the targets at the knots of a block."""
        return self.target.targets[block.knots].astype(self.kind)

    def place(self, block: Block) -> Any:
        """Return the distances of the knots of a block from the first one."""
        return self.target.knots[block.knots].astype(self.kind) - self.origin

    def gaps(self, block: Block) -> Any:
        """Return the gaps of a block."""
        knots, lead = self.target.knots, self.target.lead
        if lead < 0:
            return np.diff(knots[block.points].astype(self.kind))
        if block.points.start == 0:
            return np.append(self.kind(lead), np.diff(knots[block.knots].astype(self.kind)))
        return np.diff(knots[block.points.start - 1 : block.points.stop - 1].astype(self.kind))

    def project(self, vector: Any, degree: int) -> None:
        """Make a vector orthogonal to the unpenalized polynomials, in place."""
        if self.target.lead >= 0:
            return
        mean = self.sum(lambda block: vector[block.knots].sum()) / self.mass
        inner, norm = self.kind(0), self.kind(0)
        for block in self.blocks:
            w = self.weights(block)
            vector[block.knots] -= w * mean
            if degree == 3:
                centered = self.place(block) - self.center
                inner, norm = inner + vector[block.knots] @ centered, norm + w @ centered**2
        for block in self.blocks if degree == 3 else []:
            vector[block.knots] -= self.weights(block) * (self.place(block) - self.center) * (inner / norm)


def bounds(target: Line, degree: int, lam: float, coef: Any, dual: Any, largest: float, kind: Any) -> Bounds:
    """Bound the gap and the distance of the values ``coef[0]``, if no value has a variance above ``largest``."""
    data, strength = Precise(target, kind), kind(target.total) * kind(lam)
    theta = dual.astype(kind)
    data.project(theta, degree)
    off = np.empty_like(theta)  # weights times the distance of the targets from the curve of the dual function
    squares, mismatch, stored = _compare(data, degree, strength, coef, theta, off)
    data.project(off, degree)
    through_values, through_dual, aparts = float(squares + strength * mismatch), kind(0), []
    for block in data.blocks:
        w, y = data.weights(block), data.targets(block)
        rest = off[block.knots] / w
        through_dual = through_dual + w @ rest**2
        fitted = coef[0, block.points].astype(kind)[block.first :] - kind(target.offset)
        aparts.append(_largest(fitted - (y - theta[block.knots] / w - rest)))
    through_dual, apart = float(through_dual), float(np.max(aparts))
    pairs = [(through_values, math.sqrt(through_values * largest) if through_values >= 0 else math.inf)]
    pairs.append((through_dual, apart + math.sqrt(through_dual * largest) if through_dual >= 0 else math.inf))
    gap, distance = (min(math.inf if math.isnan(b) else b for b in column) for column in zip(*pairs, strict=True))
    return Bounds(gap / target.total, 0.0 if gap == through_values else apart, distance, stored)


def _compare(data: Precise, degree: int, strength: Any, coef: Any, theta: Any, off: Any) -> tuple[Any, Any, float]:
    """Return the squares and the mismatch of the fitted spline, and how far its derivatives are from the dual function's.

    ``off`` is overwritten by the weighted distances of the targets from the dual function's curve.
    """
    kind, offset = data.kind, data.kind(data.target.offset)
    squares, mismatch, slope, height = kind(0), kind(0), kind(0), kind(0)
    sizes: list[list[float]] = []
    for block, total, bent in _from_the_right(data, strength, theta):
        gaps, w, y, part = data.gaps(block), data.weights(block), data.targets(block), theta[block.knots]
        f = coef[0, block.points].astype(kind) - offset
        right, bend = _derivatives(gaps, part[len(part) - len(gaps) :], total, bent, strength)
        if degree == 3:
            g, low, high, secant = coef[1, block.points].astype(kind), bend[:-1], bend[1:], np.diff(f) / gaps
            off_low = (6 * secant - 4 * g[:-1] - 2 * g[1:]) / gaps - low
            off_high = (2 * g[:-1] + 4 * g[1:] - 6 * secant) / gaps - high
            mismatch = mismatch + gaps @ (off_low**2 + off_low * off_high + off_high**2) / 3
            slopes = _sums(slope, gaps * (low + high) / 2)
            slope = slopes[-1]
            rise = gaps * slopes[:-1] + gaps**2 * (2 * low + high) / 6
            pairs = [(coef[2, block.left], low), (coef[3, block.left], -right)]
        else:
            mismatch = mismatch + gaps @ (np.diff(f) / gaps - right) ** 2
            rise = gaps * right
            pairs = [(coef[1, block.left], right)]
        curve = _sums(height, rise)
        height = curve[-1]
        off[block.knots] = w * (y - curve[block.first :] - part / w)
        squares = squares + w @ (y - f[block.first :] - part / w) ** 2
        sizes.append([_largest(one) for stored, found in pairs for one in (found, stored - found)])
    found = np.max(sizes, axis=0)
    return squares, mismatch, sum(_relative(size, apart) for size, apart in found.reshape(-1, 2).tolist())


def _from_the_right(data: Precise, strength: Any, theta: Any) -> list[tuple[Block, Any, Any]]:
    """Return the blocks from the left, each with the sum of ``theta`` right of it and the second derivative at its end."""
    found, total, bent = [], data.kind(0), data.kind(0)
    for block in data.blocks[:0:-1]:
        found.append((block, total, bent))
        gaps, part = data.gaps(block), theta[block.knots]
        _, bend = _derivatives(gaps, part, total, bent, strength)
        total, bent = _sums(total, part[::-1])[-1], bend[0]
    return [(data.blocks[0], total, bent), *found[::-1]]


def _derivatives(gaps: Any, theta: Any, total: Any, bent: Any, strength: Any) -> tuple[Any, Any]:
    """Return the two highest derivatives of the dual function in a block: on each gap, and at both ends of each gap."""
    right = _sums(total, theta[::-1])[:0:-1] / strength
    return right, _sums(bent, (gaps * right)[::-1])[::-1]


def _sums(start: Any, terms: Any) -> Any:
    """Return the partial sums of ``terms``, from ``start`` on."""
    sums = np.empty(len(terms) + 1, dtype=terms.dtype)
    sums[0], sums[1:] = start, terms
    return np.cumsum(sums, out=sums)


def _largest(part: Any) -> float:
    return float(np.max(np.abs(part), initial=0.0))


def _relative(size: float, apart: float) -> float:
    """Return a difference relative to the largest number found."""
    return apart / size if size > 0 else (0.0 if apart == 0 else math.inf)
