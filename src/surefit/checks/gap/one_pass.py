"""Bounds on the gap by one pass over the rows, for the squared loss and, near the optimum, for other smooth losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed
from surefit.checks.gap import smooth, squared
from surefit.checks.gap.assembly import MARGIN, SAME, Gap, blurred, joined, shrinks, with_objective
from surefit.checks.gap.dual_points import Dual, Point
from surefit.checks.gap.near import Near
from surefit.checks.gap.penalties import Penalty

AGREE = 4e-3  # largest share of rounding in a bound by one pass; otherwise terms of single rows are evaluated


def by_one_pass(operator: Any, loss: Any, penalty: Penalty, point: Point, dual: Dual) -> Gap | None:
    """Return the bound; None if no such proof applies or rounding matters."""
    weights = squared.applies(operator, loss, penalty, point, dual)
    if weights is not None:
        found = _squared(operator, loss.h, penalty, point, weights)
    elif dual.own and penalty.radius is None and not penalty.any_free:
        found = _smooth(operator, loss, penalty, point)
    else:
        return None
    return None if found is None or blurred(penalty, found) else found


def _squared(operator: Any, h: float, penalty: Penalty, point: Point, weights: tuple[float, float]) -> Gap | None:
    own = squared.residuals(operator, point, weights)
    if own is None:
        return None
    d, free = len(point.w), penalty.any_free
    if free:  # the terms of the penalty are zero
        frame = operator.frame(np.arange(d), point.intercept, point.c)
        if frame is None or len(frame.rows) < np.count_nonzero(point.c):
            return None
        v, radii, shrink, sums = np.zeros(d), np.zeros((2, d)), (1.0, 1.0), squared.projected_sums(own, frame, h)
    else:
        v, radii = squared.dual_products(own, h)
        shrink = shrinks(penalty, v, radii)
        sums = squared.row_sums(own, h, *shrink)
    found = joined(penalty, point.w, np.full(d, free), shrink, v, radii, sums)
    found = with_objective(penalty.value(point.w), len(point.y), squared.loss_sums(own, h), found)
    squares = own.plain, (own.norm + own.error) ** 2 * (1 + 4 * UNIT)
    return found._replace(norms=own.norms, squares=squares, met=free)


def _smooth(operator: Any, loss: Any, penalty: Penalty, point: Point) -> Gap | None:
    near = smooth.one_pass(operator, loss, point)
    if near is None:
        return None
    shrink = shrinks(penalty, near.v, near.radii)
    sums = near.row_sums(shrink)
    found = (
        None if sums is None else _accepted(near, penalty, point, shrink, sums, near.not_quadratic(shrink[0], sums[1]))
    )
    if found is not None:
        dual = Enclosed(*near.duals(shrink[0]))
    else:  # the same dual point, with the terms of single rows
        terms = near.terms_by_rows(loss, point, shrink)
        if terms is None:
            return None
        dual, sums = terms
        found = _accepted(near, penalty, point, shrink, sums, abs(near.tau) * sums[1])
    if found is None:
        return None
    if len(near.product.mid) and not blurred(penalty, found):
        operator._last = point.w.copy(), near.product  # other claims need it
    return found._replace(dual=dual.mid, dual_rad=dual.rad, z=near.z, met=bool(penalty.excluded.all()))


def _accepted(
    near: Near, penalty: Penalty, point: Point, shrink: tuple[float, float], sums: Any, excess: float
) -> Gap | None:
    """Return the bound with these sums over the rows; None if ``excess`` or rounding makes the general proof sharper."""
    found = joined(penalty, point.w, np.zeros(len(point.w), dtype=bool), shrink, near.v, near.radii, sums)
    found = with_objective(penalty.value(point.w), len(point.y), near.loss_sums(), found, True)
    rounding = found.value - found.plain + 2.5 * (found.spread - MARGIN * found.value)
    beyond = (excess + rounding) / AGREE  # the other proof may be sharper by this
    sharp = beyond <= found.value < found.objective and near.objective_rounding() <= SAME * found.objective
    return found if sharp else None
