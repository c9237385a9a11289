r"""The gap theorem: Fenchel-Young terms, one per row and one per coordinate, bound the suboptimality of a point.

For :math:`P(w, b) = \sum_i c_i\,\phi(y_i, z_i) + \sum_j \Omega_j(w_j)` with :math:`z = Aw + b`, and dual variables
:math:`g_i` in the domain of the conjugates, :math:`\theta = -cg`, :math:`v = A^\top\theta` (and :math:`\sum_i \theta_i
= 0` if :math:`b` is free),

.. math:: P(w, b) - \min P \le \sum_i c_i [\phi(z_i) + \phi^*(g_i) - z_i g_i] + \sum_j [\Omega_j(w_j) + \Omega_j^*(v_j) - w_j v_j],

where every bracket is non-negative. In a kernel's space :math:`f = K\beta + Tb` with free functions :math:`T` (the
constant, or more), the penalty is :math:`\tfrac\lambda2\beta^\top K\beta`, and :math:`T^\top\theta = 0`. The dual point
is computed from the scores or given by a witness. Its equality constraints hold exactly at a point within a radius,
which the bound includes (theory: ``fenchel-gap``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import BLOCK, UNIT, Enclosed, block_sum, gamma, upper_sum
from surefit.checks.gap import rows, smooth, squared
from surefit.checks.gap.dual_points import Dual, Free, Point, Terms, dual_point, kernel_dual_point, met, slopes_at
from surefit.checks.gap.penalties import Penalty

BLURRED = 1e-10  # largest accepted rounding of v, relative to the objective; otherwise conditions are met exactly
AGREE = 4e-3  # largest share of rounding in a bound by one pass; otherwise terms of single rows are evaluated
SAME = 1e-11  # largest rounding of its objective, relative
MARGIN = 2e-3  # spread of such bounds, so that both proofs imply what either of them states
BOX = 1e6  # if columns are dependent, coefficients up to this multiple of the data's scale are considered


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


def prove(operator: Any, loss: Any, penalty: Penalty, point: Point, dual: Dual = Dual()) -> Gap:  # noqa: B008
    """Bound ``P(w, b) - min P`` at ``point``."""
    if squared.applies(operator, loss, penalty, point, dual):
        at_once = _squared(operator, loss.h, penalty, point)
        if at_once is not None and not blurred(penalty, at_once):
            return at_once
    near = _by_one_pass(operator, loss, penalty, point) if dual.own and penalty.radius is None else None
    if near is not None:
        return near
    product = operator.times(point.w)
    mid = product.mid + point.b
    rad = product.rad + 2 * UNIT * (np.abs(product.mid) + abs(point.b)) + point.b_rad
    if point.offset is not None:
        mid, rad = mid + point.offset, rad + UNIT * (np.abs(mid) + np.abs(point.offset)) * (1 + UNIT)
    z = Enclosed(mid, rad)
    if penalty.radius is not None and dual.multiplier == 0.0:  # without the constraint the minimum is not larger
        _require_radius(penalty, point.w)
        penalty = penalty.scaled(0.0)
    start = slopes_at(loss, point, dual, z)
    terms = dual_point(operator, loss, penalty, point, start)
    found = _bounded(operator, loss, penalty, point, dual, z, terms)
    if penalty.radius is None and blurred(penalty, found):  # satisfy the optimality conditions of all columns exactly
        closer = met(operator, loss, penalty, point, start)
        other = found if closer is None else _bounded(operator, loss, penalty, point, dual, z, closer)
        found = min(found, other, key=lambda gap: gap.value + 2.5 * gap.spread)
    return found


def _squared(operator: Any, h: float, penalty: Penalty, point: Point) -> Gap | None:
    """Bound the gap of the squared loss in one pass; None if its sums overflow."""
    own = squared.residuals(operator, point)
    if own is None:
        return None
    v, radii = squared.dual_products(own, h)
    shrink, none = shrinks(penalty, v, radii), np.zeros(len(v), dtype=bool)
    found = joined(penalty, point.w, none, shrink, v, radii, squared.row_sums(own, h, *shrink))
    found = with_objective(penalty, point.w, len(point.y), squared.loss_sums(own, h), found)
    return found._replace(norms=own.norms, squares=(own.plain, (own.norm + own.error) ** 2 * (1 + 4 * UNIT)))


def _by_one_pass(operator: Any, loss: Any, penalty: Penalty, point: Point) -> Gap | None:
    """Return the bound of :mod:`surefit.checks.gap.smooth`; None if it does not apply or rounding matters."""
    near = None if penalty.free.any() else smooth.one_pass(operator, loss, point)
    if near is None:
        return None
    shrink = shrinks(penalty, near.v, near.radii)
    sums = near.row_sums(shrink)
    if sums is None:
        return None
    found = joined(penalty, point.w, np.zeros(len(point.w), dtype=bool), shrink, near.v, near.radii, sums)
    found = with_objective(penalty, point.w, len(point.y), near.loss_sums(), found, smooth.proves(loss))
    rounding = found.value - found.plain + 2.5 * (found.spread - MARGIN * found.value)
    beyond = (near.not_quadratic(shrink[0], sums[1]) + rounding) / AGREE  # the other proof may be sharper by this
    if not (beyond <= found.value < found.objective and near.objective_rounding() <= SAME * found.objective):
        return None
    if blurred(penalty, found):
        return None
    if len(near.product.mid):
        operator._last = point.w.copy(), near.product  # other claims need it
    dual, dual_rad = near.duals(shrink[0])
    return found._replace(dual=dual, dual_rad=dual_rad, z=near.z, met=bool(penalty.excluded.all()))


def _bounded(operator: Any, loss: Any, penalty: Penalty, point: Point, dual: Dual, z: Enclosed, terms: Terms) -> Gap:
    """Sum the terms at a dual point."""
    excluded = penalty.excluded
    if (terms.exact | excluded).all():  # no pass is needed if every column is exact
        v, radii = np.zeros(len(point.w)), np.zeros((2, len(point.w)))
    else:  # with a box, every evaluation removes the projection on the columns
        slip = np.zeros(len(point.y)) if terms.boxed else terms.slip
        v, radii = operator.transposed(terms.theta, np.array([terms.rad, terms.rad + slip]))
        if terms.exact.any():
            v, radii = np.where(terms.exact, 0.0, v), np.where(terms.exact, 0.0, radii)
    box = math.inf
    if terms.boxed:  # only coefficients in a box are considered
        box, penalty = BOX, penalty.boxed(_box(operator, point, z))
    if penalty.radius is not None:
        return _constrained(loss, penalty, point, dual, z, terms, v, radii)
    found = _assembled(loss, penalty, point, z, terms, v, radii)
    met = bool(((terms.exact & penalty.free) | excluded).all())
    return found._replace(met=met, box=found.box if found.value == found.objective else box)


def blurred(penalty: Penalty, found: Gap) -> bool:
    """Return whether the rounding of v matters because a quadratic penalty is small: its term is v^2 / (2 l2)."""
    if not found.blur > BLURRED * found.objective or penalty.box is not None:
        return False
    return bool((penalty.l2 > 0).any()) and not (penalty.l1[~penalty.excluded] > 0).any()


def _box(operator: Any, point: Point, z: Enclosed) -> np.ndarray:
    """Return the largest absolute coefficients that are considered: ``BOX`` times the scale of the data."""
    size = math.sqrt(upper_sum(point.c * (z.mid**2 + point.y**2))) + 1e-300
    with np.errstate(divide="ignore"):
        return np.maximum(BOX * size / operator.norms(point.c), 2 * np.abs(point.w))


def _assembled(loss: Any, penalty: Penalty, point: Point, z: Enclosed, terms: Terms, v: Any, radii: Any) -> Gap:
    y, c = point.y, point.c
    shrink = shrinks(penalty, v, radii)
    g, g_rad, slip = row_duals(terms, c, shrink)
    sums = rows.row_sums(loss, y, c, z.mid, z.rad, g, g_rad, 2 * z.rad, slip)
    found = joined(penalty, point.w, terms.exact, shrink, v, radii, sums)
    return _trivial(loss, penalty, point, z, found._replace(dual=g, dual_rad=g_rad, z=z))


def shrinks(penalty: Penalty, v: np.ndarray, radii: np.ndarray) -> tuple[float, float]:
    """Return the factor that makes ``v`` feasible, and that of another evaluation."""
    return penalty.shrink(v, radii[0]), penalty.shrink(v, radii[0] + 2 * radii[1])


def row_duals(terms: Terms, c: np.ndarray, shrink: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the dual variables of the scaled dual point, their radii, and bounds for another evaluation."""
    return rows.scaled_shares(terms.theta, terms.rad, terms.slip, c, *shrink)


def joined(penalty: Penalty, w: Any, exact: Any, shrinks: tuple[float, float], v: Any, radii: Any, sums: Any) -> Gap:
    """Add the terms of the penalty to the sums over the rows: plain, rounded up, and for other evaluations."""
    plain, upper, other = sums
    shrink, size = shrinks[0], np.abs(v)
    kept = ~exact  # zero is exact for free columns, scaled or not
    every = bool(kept.all())
    near = far = middle = blur = 0.0
    if every or kept.any():
        at = shrink * v
        near_rad = (shrink * radii[0] + 4 * UNIT * size) * (1 + 4 * UNIT)
        far_rad = 2 * (radii[1] + 4 * UNIT * size) + (shrinks[0] - shrinks[1]) * size  # moved by another evaluation
        terms, wide = penalty.upper(w, at, near_rad), penalty.upper(w, at, far_rad)
        near, far = upper_sum(terms if every else terms[kept]), upper_sum(wide if every else wide[kept])
        middle = math.inf
        if math.isfinite(upper + near):
            terms = penalty.excess(w, at)
            middle = block_sum(terms if every else terms[kept])
        blur = _blur(penalty, kept, radii[1])
    value = (upper + near) * (1 + 8 * UNIT)
    widest = (other + far) * (1 + 8 * UNIT)
    total = plain + middle if math.isfinite(value) else math.inf
    signed = np.maximum(v, 0.0) if penalty.positive else size
    most, least = shrink * (signed + radii[0]) * (1 + 4 * UNIT), shrink * (signed - radii[0]) * (1 - 4 * UNIT)
    none, least = np.zeros(0), np.maximum(least, 0.0)
    spread, z = widest - min(total, value), Enclosed(none, none)
    return Gap(value, spread, total, math.inf, 0.0, none, none, most, least, z, blur=blur)


def _blur(penalty: Penalty, kept: np.ndarray, rad: np.ndarray) -> float:
    """Return the contribution of the rounding of v for a quadratic penalty."""
    curved = kept & (penalty.l2 > 0)
    if not curved.any():
        return 0.0
    with np.errstate(over="ignore"):
        return float((rad[curved] ** 2 / penalty.l2[curved]).sum())


def _trivial(loss: Any, penalty: Penalty, point: Point, z: Enclosed, found: Gap) -> Gap:
    sums = rows.loss_sums(loss, point.y, point.c, z.mid, z.rad, 2 * z.rad)
    return with_objective(penalty, point.w, len(point.y), sums, found, smooth.proves(loss))


def with_objective(
    penalty: Penalty, w: np.ndarray, count: int, sums: tuple[float, float], found: Gap, twice: bool = False
) -> Gap:
    """Add the objective, which also bounds the gap because no loss is negative; ``sums`` are the rounded-up losses.

    ``twice``: there are two proofs (by one pass, or by terms of single rows), and each implies what the other one states.
    """
    upper, other = sums
    size = upper_sum(penalty.value(w)) * (1 + 8 * UNIT)
    objective = (upper + size) * (1 + 8 * UNIT)
    rounding = max((other + size) * (1 + 8 * UNIT) - objective, 0.0) + 16 * UNIT * objective
    order = gamma(min(count + len(w), BLOCK)) + 64 * UNIT  # other orders of summation
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


def _constrained(
    loss: Any, penalty: Penalty, point: Point, dual: Dual, z: Enclosed, terms: Terms, v: Any, radii: Any
) -> Gap:
    """Bound the gap under a radius: that of the multiplier times the penalty, plus the multiplier times the slack."""
    multiplier = dual.multiplier
    if multiplier is None:  # the smallest for which v is feasible
        sized = (penalty.l1 > 0) & ~penalty.excluded
        reach = ((np.maximum(v, 0.0) if penalty.positive else np.abs(v)) + 2 * radii[1])[sized]
        multiplier = float(np.max(reach / penalty.l1[sized], initial=0.0)) * (1 + 8 * UNIT)
    slack = _require_radius(penalty, point.w)
    found = _assembled(loss, penalty.scaled(multiplier), point, z, terms, v, radii)
    cost = multiplier * slack * (1 + 4 * UNIT)
    found = found._replace(
        value=(found.value + cost) * (1 + 4 * UNIT), spread=found.spread + 8 * UNIT * cost, plain=found.plain + cost
    )
    return _trivial(loss, penalty.scaled(0.0), point, z, found)


def _require_radius(penalty: Penalty, w: np.ndarray) -> float:
    slack = float(penalty.slack(w))
    if slack < 0.0:
        raise ValueError(f"the coefficients violate the radius {float(penalty.radius or 0.0)!r} by {-slack:.3g}")
    return slack


def prove_kernel(
    operator: Any,
    loss: Any,
    strength: float,
    point: Point,
    dual: Dual = Dual(),  # noqa: B008
    free: Free | None = None,
) -> Gap:
    """Bound the gap of ``f = K beta + b`` with penalty ``strength / 2 beta' K beta``; ``point.w`` is ``beta``.

    Free functions, if given, replace the intercept. The dual point is ``strength * beta`` unless a witness is given.
    The penalty's term is ``strength / 2`` times the squared norm of ``beta - theta / strength`` in the kernel's space.
    """
    y, c, beta = point.y, point.c, point.w
    product = operator.times(beta)
    z = Enclosed(product.mid + point.b, product.rad + 2 * UNIT * (np.abs(product.mid) + abs(point.b)) + point.b_rad)
    if free is not None:
        p = free.values
        z = Enclosed(z.mid + p.mid, z.rad + p.rad + 2 * UNIT * (np.abs(z.mid) + np.abs(p.mid)))
    terms = kernel_dual_point(loss, strength, point, dual, z, free)
    theta, rad = terms.theta, terms.rad
    apart = beta - theta / strength
    off = (rad / strength + 4 * UNIT * (np.abs(beta) + np.abs(theta) / strength)) * (1 + 4 * UNIT)
    root = np.sqrt(np.maximum(operator.diagonal(), 0.0)) * (1 + 4 * UNIT)
    norm = upper_sum((np.abs(apart) + off) * root)  # triangle inequality
    plain_norm = norm
    if upper_sum(np.abs(apart) * root) > upper_sum(off * root):
        image = operator.times(apart)
        square = float(apart @ image.mid)
        high = square + upper_sum(np.abs(apart) * (image.rad + gamma(len(beta) + 2) * np.abs(image.mid)))
        norm = min(norm, math.sqrt(max(high, 0.0)) * (1 + 4 * UNIT) + upper_sum(off * root))
        plain_norm = math.sqrt(max(square, 0.0))
    g, g_rad = rows.shares(theta, rad, c)
    slip = rows.shares(theta, terms.slip, c)[1]
    plain, upper, other = rows.row_sums(loss, y, c, z.mid, z.rad, g, g_rad, 2 * z.rad, slip)
    value = (upper + 0.5 * strength * norm**2) * (1 + 8 * UNIT)
    moved = upper_sum(terms.slip * root) / strength if free is not None else 0.0  # by another evaluation
    widest = (other + 0.5 * strength * (norm + 2 * abs(norm - plain_norm) + moved) ** 2) * (1 + 8 * UNIT)
    total = plain + 0.5 * strength * min(plain_norm, norm) ** 2
    # the RKHS norm of the function itself, for the objective
    square = float(beta @ product.mid)
    high = max(square, 0.0) + upper_sum(np.abs(beta) * (product.rad + gamma(len(beta) + 2) * np.abs(product.mid)))
    penalty = Penalty(np.zeros(1), np.array([strength]))
    inner = point._replace(w=np.array([math.sqrt(high) * (1 + 4 * UNIT)]))
    return _trivial(
        loss,
        penalty,
        inner,
        z,
        Gap(value, widest - min(total, value), total, math.inf, 0.0, g, g_rad, np.zeros(0), np.zeros(0), z),
    )
