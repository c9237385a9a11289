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
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, gamma, upper_sum
from surefit.checks.gap import rows, smooth
from surefit.checks.gap.assembly import NOTHING, Gap, blurred, joined, shrinks, with_objective
from surefit.checks.gap.dual_points import Dual, Free, Point, Terms, dual_point, kernel_dual_point, met, slopes_at
from surefit.checks.gap.one_pass import by_one_pass
from surefit.checks.gap.penalties import Penalty

BOX = 1e6  # if columns are dependent, coefficients up to this multiple of the data's scale are considered


def prove(
    operator: Any,
    loss: Any,
    penalty: Penalty,
    point: Point,
    dual: Dual = Dual(),  # noqa: B008
    at_once: bool = True,
) -> Gap:
    """Bound ``P(w, b) - min P`` at ``point``, with ``at_once`` by one pass over the rows if that proof applies."""
    near = by_one_pass(operator, loss, penalty, point, dual) if at_once else None
    if near is not None:
        return near
    z = scores_at(operator, point)
    if penalty.radius is not None and dual.multiplier == 0.0:  # without the constraint the minimum is not larger
        _require_radius(penalty, point.w)
        penalty = penalty.scaled(0.0)
    terms = dual_point(operator, loss, penalty, point, slopes_at(loss, point, dual, z))
    found = _bounded(operator, loss, penalty, point, dual, z, terms)
    if penalty.radius is None and blurred(penalty, found):  # satisfy the optimality conditions of all columns exactly
        closer = met(operator, loss, penalty, point, slopes_at(loss, point, dual, z))  # rare: not stored until then
        other = found if closer is None else _bounded(operator, loss, penalty, point, dual, z, closer)
        found = min(found, other, key=lambda gap: gap.value + 2.5 * gap.spread)
    return found


def scores_at(operator: Any, point: Point) -> Enclosed:
    """Return the enclosed scores of the rows."""
    product = operator.times(point.w)
    mid = product.mid + point.b
    rad = product.rad + 2 * UNIT * (np.abs(product.mid) + abs(point.b)) + point.b_rad
    if point.offset is not None:
        mid, rad = mid + point.offset, rad + UNIT * (np.abs(mid) + np.abs(point.offset)) * (1 + UNIT)
    return Enclosed(mid, rad)


def _bounded(operator: Any, loss: Any, penalty: Penalty, point: Point, dual: Dual, z: Enclosed, terms: Terms) -> Gap:
    """Sum the terms at a dual point, whose arrays are overwritten."""
    excluded = penalty.excluded
    if (terms.exact | excluded).all():  # no pass is needed if every column is exact
        v, radii = np.zeros(len(point.w)), np.zeros((2, len(point.w)))
    else:  # with a box, every evaluation removes the projection on the columns
        slip = np.zeros(len(point.y)) if terms.boxed else terms.slip
        v, radii = operator.transposed(terms.theta, (terms.rad, terms.rad + slip))
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


def _box(operator: Any, point: Point, z: Enclosed) -> np.ndarray:
    """Return the largest absolute coefficients that are considered: ``BOX`` times the scale of the data."""
    size = math.sqrt(upper_sum(point.c * (z.mid**2 + point.y**2))) + 1e-300
    with np.errstate(divide="ignore"):
        return np.maximum(BOX * size / operator.norms(point.c), 2 * np.abs(point.w))


def _assembled(loss: Any, penalty: Penalty, point: Point, z: Enclosed, terms: Terms, v: Any, radii: Any) -> Gap:
    shrink = shrinks(penalty, v, radii)
    g, g_rad, slip = row_duals(terms, point.c, shrink, (terms.theta, terms.rad, terms.slip))  # in place
    sums = rows.row_sums(loss, point.y, point.c, z.mid, z.rad, g, g_rad, 2 * z.rad, slip)
    found = joined(penalty, point.w, terms.exact, shrink, v, radii, sums)
    return _trivial(loss, penalty.value(point.w), point, z, found._replace(dual=g, dual_rad=g_rad, z=z))


def row_duals(
    terms: Terms, c: np.ndarray, shrink: tuple[float, float], out: tuple[np.ndarray, ...] | None = None
) -> tuple[np.ndarray, ...]:
    """Return the dual variables of the scaled dual point, their radii, and bounds for another evaluation, in ``out`` if given."""
    out = out or (np.empty(len(c)), np.empty(len(c)), np.empty(len(c)))
    rows.scaled_shares(terms.theta, terms.rad, terms.slip, c, *shrink, out)
    return out


def _trivial(loss: Any, sizes: np.ndarray, point: Point, z: Enclosed, found: Gap) -> Gap:
    sums = rows.loss_sums(loss, point.y, point.c, z.mid, z.rad, 2 * z.rad)
    return with_objective(sizes, len(point.y), sums, found, smooth.proves(loss))


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
    return _trivial(loss, penalty.scaled(0.0).value(point.w), point, z, found)


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
    size = math.sqrt(high) * (1 + 4 * UNIT)
    found = Gap(value, widest - min(total, value), total, math.inf, 0.0, g, g_rad, NOTHING.mid, NOTHING.rad, z)
    return _trivial(loss, np.array([0.5 * strength * size * size]), point, z, found)
