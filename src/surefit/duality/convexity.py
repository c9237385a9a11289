"""Search for violations of convexity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefit.core.errors import InvalidParameter

ROUNDING = 1e-9  # tolerance for rounding errors, relative to the compared values


@dataclass(frozen=True)
class ConvexityReport:
    """Result of a search for violations of convexity; a violation is a proof, its absence is only evidence.

    Examples
    --------
    >>> from surefit.duality import convexity_check
    >>> report = convexity_check(lambda z: -(z @ z), [-1.0], [1.0])
    >>> report.disproved, report.violated
    (True, 'chord')
    """

    violated: str | None  # "chord", "tangent", "hessian", or None
    x: np.ndarray | None
    other: np.ndarray | None  # second point of the chord or tangent
    excess: float  # amount by which the inequality fails
    trials: int

    @property
    def disproved(self) -> bool:
        """Whether the function is proved not to be convex."""
        return self.violated is not None


def convexity_check(
    function: Callable[[np.ndarray], float],
    low,
    high,
    *,
    gradient: Callable | None = None,
    hessian: Callable | None = None,
    trials: int = 500,
    random_state: int | None = 0,
) -> ConvexityReport:
    r"""Search for points at which a function is not convex on a box.

    Chords: :math:`f(\tfrac{x + x'}2) \le \tfrac12 f(x) + \tfrac12 f(x')`, and at a random weight. Tangents, if ``gradient`` is given:
    :math:`f(x') \ge f(x) + \nabla f(x)^\top (x' - x)`. Curvature, if ``hessian`` is given: no negative eigenvalue.

    Parameters
    ----------
    function : callable
        Function of a vector that returns a number.
    low, high : array
        Corners of the box.
    gradient, hessian : callable or None, default=None
        Derivatives for the other two tests.
    trials : int, default=500
        Number of random pairs of points.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    ConvexityReport
        The first violation, or none.

    Notes
    -----
    Guarantee: a violation beyond rounding disproves convexity. If none is found, nothing is proved.

    Examples
    --------
    >>> from surefit.duality import convexity_check
    >>> convexity_check(lambda z: max(0.0, 1.0 - z[0]), [-3.0], [3.0]).disproved
    False
    >>> convexity_check(lambda z: float(z[0] <= 0), [-3.0], [3.0]).violated
    'chord'
    """
    low, high = np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float))
    if low.shape != high.shape or not np.all(low < high) or not np.all(np.isfinite(high - low)):
        raise InvalidParameter("convexity_check", "low, high", "finite corners with low < high", (low, high))
    if trials < 1:
        raise InvalidParameter("convexity_check", "trials", "an integer >= 1", trials)
    rng = np.random.default_rng(random_state)
    for trial in range(1, trials + 1):
        x, other = rng.uniform(low, high), rng.uniform(low, high)
        f, g = float(function(x)), float(function(other))
        for weight in (0.5, rng.random()):
            between = float(function(weight * x + (1 - weight) * other))
            excess = between - weight * f - (1 - weight) * g
            if excess > ROUNDING * (abs(between) + abs(f) + abs(g)):
                return ConvexityReport("chord", x, other, excess, trial)
        if gradient is not None:
            rise = float(np.atleast_1d(gradient(x)) @ (other - x))
            if f + rise - g > ROUNDING * (abs(f) + abs(g) + abs(rise)):
                return ConvexityReport("tangent", x, other, f + rise - g, trial)
        if hessian is not None:
            values = np.linalg.eigvalsh(np.atleast_2d(hessian(x)))
            if -values[0] > ROUNDING * float(np.max(np.abs(values))):
                return ConvexityReport("hessian", x, None, -float(values[0]), trial)
    return ConvexityReport(None, None, None, 0.0, trials)
