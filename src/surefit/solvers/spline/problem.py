r"""Problem of a smoothing spline on distinct sorted points, and its solution at one :math:`\lambda`.

.. math:: P(f) = \frac1S \sum_i s_i (y_i - f(x_i))^2 + \lambda \int (f^{(m)})^2, \qquad m = (\text{degree} + 1) / 2 .

Tied rows are merged into one knot with the sum of their weights and the mean of their targets; the objective changes by a constant.
Lengths are measured in units of the range of x.
"""

from typing import NamedTuple

import numpy as np

from surefit.solvers.spline import cubic, linear

SWEEPS = {1: linear, 3: cubic}
TIE = 1e-60  # points closer than this fraction of the range are merged, because their cubes would underflow


class Problem(NamedTuple):
    """A smoothing problem of one target on distinct points."""

    degree: int
    knots: np.ndarray  # distinct, sorted, in units of the data
    gaps: np.ndarray  # between them, in units of ``length``
    weights: np.ndarray
    targets: np.ndarray  # mean of tied rows, minus ``offset``
    lead: float  # from the origin of the special form to the first knot, in units of ``length``; -1 if there is none
    length: float
    total: float  # S, all rows
    within: float  # within-tie sum of squares, which no function of x can explain
    offset: float
    rows: np.ndarray  # knot of each row of positive weight, -1 at the origin of the special form
    row_weights: np.ndarray
    row_targets: np.ndarray  # minus ``offset``

    @property
    def order(self) -> int:
        """Order of the penalized derivative."""
        return (self.degree + 1) // 2

    @property
    def free(self) -> int:
        """Dimension of the unpenalized space."""
        return self.order if self.lead < 0 else 0

    def rate(self, lam):
        """Return the variance per unit of length of the equivalent Gaussian-process prior, for noise of variance one."""
        return self.length ** (2 * self.order - 1) / (self.total * lam)


class Curve(NamedTuple):
    """A spline at the knots."""

    values: np.ndarray  # minus ``offset``
    derivatives: np.ndarray  # derivatives per unit of ``length``; zero for degree 1
    left_out: np.ndarray  # leave-one-out residuals of the knots
    residual_diagonal: np.ndarray  # 1 - h, h the diagonal of the hat matrix

    @property
    def residuals(self) -> np.ndarray:
        """Targets minus values, with full relative accuracy."""
        return self.residual_diagonal * self.left_out


def fold(x: np.ndarray, y: np.ndarray, weights: np.ndarray | None, degree: int, origin: float | None) -> Problem:
    """Sort, merge ties, drop rows of weight zero; with an ``origin`` the spline is zero there (special form)."""
    s = np.ones(len(x)) if weights is None else weights
    if not s.all():
        x, y, s = x[s > 0], y[s > 0], s[s > 0]
    if np.any(x[1:] < x[:-1]):
        order = np.argsort(x, kind="stable")
        x, y, s = x[order], y[order], s[order]
    total = float(s.sum())
    offset = float(s @ y) / total if origin is None else 0.0
    y = y - offset
    tie = TIE * (x[-1] - (x[0] if origin is None else min(origin, x[0])))
    first = np.concatenate([[True], np.diff(x) > tie])
    places, rows = np.flatnonzero(first), np.cumsum(first) - 1
    knots = x[places]
    if len(places) == len(x):
        mass, means, within = s, y, 0.0
    else:
        mass = np.add.reduceat(s, places)
        means = np.add.reduceat(s * y, places) / mass
        within = float(s @ (y - means[rows]) ** 2)
    lead = -1.0
    start = knots[0]
    if origin is not None:
        start = origin
        if knots[0] - origin <= tie:
            within += float(mass[0] * means[0] ** 2)
            knots, mass, means, rows = knots[1:], mass[1:], means[1:], rows - 1
    length = float(knots[-1] - start) if len(knots) and knots[-1] > start else 1.0
    if origin is not None and len(knots):
        lead = float(knots[0] - origin) / length
    gaps = np.ascontiguousarray(np.diff(knots) / length)
    return Problem(degree, knots, gaps, mass, means, lead, length, total, within, offset, rows, s, y)


def workspace(problem: Problem) -> np.ndarray:
    """Allocate reusable memory for a curve, because allocation takes as long as the recursions."""
    return np.empty((SWEEPS[problem.degree].STATE, len(problem.knots)))


def trace(problem: Problem, lam: float, room: np.ndarray | None = None) -> Curve:
    """Compute the smoothing spline at ``lam``; the result is a view of ``room``."""
    room = workspace(problem) if room is None else room
    SWEEPS[problem.degree].smooth(problem.gaps, problem.weights, problem.targets, problem.rate(lam), problem.lead, room)
    return Curve(*room[:4])


def coefficients(problem: Problem, lam: float, curve: Curve) -> np.ndarray:
    """Return the value and derivatives just right of every knot, one row per order, in units of the data.

    In the special form, the origin is the first column. The highest derivative is a cumulative sum of residuals (its jumps are ``w r / (S
    lam)``), which is accurate between close knots, unlike differences of values.
    """
    special, n, unit = problem.lead >= 0, len(problem.knots), problem.length
    coef = np.zeros((problem.degree + 1, n + special))
    np.add(curve.values, problem.offset, out=coef[0, special:])
    pulls = problem.rate(lam) * problem.weights
    pulls *= curve.residuals
    half = 0 if special else n // 2
    top = coef[-1]
    top[half:-1] = np.cumsum(pulls[::-1])[::-1][half + 1 - special :]
    if half:  # without an origin the sums vanish at both ends: each half is summed from its own end, where it is small
        top[:half] = -np.cumsum(pulls[:half])
    if problem.degree == 3:
        np.divide(curve.derivatives, unit, out=coef[1, special:])
        gaps = np.concatenate([[problem.lead], problem.gaps]) if special else problem.gaps
        terms, curvature = gaps * top[:-1], coef[2]
        curvature[half:-1] = np.cumsum(terms[half:][::-1])[::-1]
        if half:
            curvature[1:half] = -np.cumsum(terms[: half - 1])
        curvature /= unit**2
    top /= unit if problem.degree == 1 else -(unit**3)
    return coef


def spread(problem: Problem, lam: float, points: np.ndarray) -> np.ndarray:
    """Return the posterior variance of the spline at ``points`` for noise of variance one."""
    result = np.empty(len(points))
    places = np.searchsorted(problem.knots, points, side="right")
    shift, unit = problem.knots[0], problem.length
    SWEEPS[problem.degree].variances(
        (problem.knots - shift) / unit, problem.gaps, problem.weights, problem.rate(lam), problem.lead,
        (points - shift) / unit, places, result,
    )  # fmt: skip
    return result


def starting_at(knots: np.ndarray, weights: np.ndarray, degree: int, origin: float | None, total: float) -> Problem:
    """Rebuild the problem of a fitted model from its knots, for quantities that do not depend on the targets."""
    return fold(knots, np.zeros(len(knots)), weights, degree, origin)._replace(total=total)
