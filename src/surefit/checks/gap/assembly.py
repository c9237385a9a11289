"""Assembly of a bound on the gap: sums over the rows, terms of the penalty, and the objective, which bounds the gap too."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import BLOCK, UNIT, Enclosed, gamma, upper_sum
from surefit.checks.gap.penalties import Penalty

BLURRED = 1e-10  # largest accepted rounding of v, relative to the objective; otherwise conditions are met exactly
# Smooth losses have two proofs, by one pass and row by row. These margins let each imply what the other one states.
SAME = 1e-11  # largest rounding error of an objective by one pass, relative
MARGIN = 2e-3  # share of the gap that is added to its spread


NOTHING = Enclosed(np.zeros(0), np.zeros(0))


class Gap(NamedTuple):
    """Proved bounds for a point."""

    value: float  # upper bound on P - min P, including rounding
    spread: float  # rounding error, including that of other orders of summation
    plain: float  # the same sum in plain floats
    objective: float  # upper bound on P
    objective_spread: float
    dual: np.ndarray  # g, one per row
    dual_rad: np.ndarray
    correlations: np.ndarray  # upper bounds on |v_j| (on v_j for positive coefficients)
    least: np.ndarray  # lower bounds on the same
    z: Enclosed
    box: float = math.inf  # if finite, only coefficients up to this multiple of the data's scale are considered
    met: bool = False  # the dual point is exactly orthogonal to every column that is not excluded
    blur: float = 0.0  # contribution of the rounding of v for a quadratic penalty
    norms: np.ndarray | None = None  # of the columns with weighted rows, rounded up, if they are known
    squares: tuple[float, float] | None = None  # sum of squared residuals and an upper bound, if z is not stored


def shrinks(penalty: Penalty, v: np.ndarray, radii: np.ndarray) -> tuple[float, float]:
    """Return the factor that makes ``v`` feasible, and that of another evaluation."""
    return penalty.shrinks(v, radii)


def joined(penalty: Penalty, w: Any, exact: Any, shrinks: tuple[float, float], v: Any, radii: Any, sums: Any) -> Gap:
    """Add the terms of the penalty to the sums over the rows: plain, rounded up, and for other evaluations."""
    plain, upper, other = sums
    near, far, middle, blur, most, least = penalty.sums(w, exact, shrinks, v, radii)
    value = (upper + near) * (1 + 8 * UNIT)
    widest = (other + far) * (1 + 8 * UNIT)
    total = plain + middle if math.isfinite(value) else math.inf
    spread, none = widest - min(total, value), NOTHING
    return Gap(value, spread, total, math.inf, 0.0, none.mid, none.rad, most, least, none, blur=blur)


def with_objective(sizes: np.ndarray, count: int, sums: tuple[float, float], found: Gap, twice: bool = False) -> Gap:
    """Add the objective, which also bounds the gap because no loss is negative.

    ``sizes`` are the terms of the penalty, ``sums`` the rounded-up losses of ``count`` rows.

    ``twice``: there are two proofs (by one pass, or by terms of single rows), and each implies what the other one states.
    """
    upper, other = sums
    size = upper_sum(sizes) * (1 + 8 * UNIT)
    objective = (upper + size) * (1 + 8 * UNIT)
    rounding = max((other + size) * (1 + 8 * UNIT) - objective, 0.0) + 16 * UNIT * objective
    order = gamma(min(count + len(sizes), BLOCK)) + 64 * UNIT  # other orders of summation
    spread = max(found.spread, 0.0) + order * found.value if math.isfinite(found.spread) else math.inf
    rounding += order * objective
    if twice:
        spread, rounding = spread + MARGIN * found.value, rounding + 4 * SAME * objective
    if not found.value + 2.5 * spread <= objective + 2.5 * rounding:  # compare the bounds as they would be stated
        return found._replace(
            value=objective,
            spread=rounding,
            plain=objective,
            objective=objective,
            objective_spread=rounding,
            box=math.inf,
        )
    plain = min(found.plain, found.value)  # plain floats may leave the domain by rounding
    return found._replace(spread=spread, plain=plain, objective=objective, objective_spread=rounding)


def blurred(penalty: Penalty, found: Gap) -> bool:
    """Return whether the rounding of v matters because a quadratic penalty is small: its term is v^2 / (2 l2)."""
    if not found.blur > BLURRED * found.objective or penalty.box is not None:
        return False
    return bool((penalty.l2 > 0).any()) and not (penalty.l1[~penalty.excluded] > 0).any()
