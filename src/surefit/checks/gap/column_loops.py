r"""Compiled loops over the columns: sums of the terms of the penalty :math:`\sum_j l_{1,j}|w_j| + \tfrac12 l_{2,j} w_j^2`, and products."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.core.jit import compiled


class Terms(NamedTuple):
    """A penalty in the form that the loops read."""

    l1: Any
    l2: Any
    box: Any  # infinite without a limit
    limited: Any  # columns whose ``v_j`` is at most ``l1`` in absolute value
    boxed: bool
    positive: bool
    quadratic: bool  # every column has a quadratic term and nothing else


class Column(NamedTuple):
    """The penalty of one column, in numbers: compiled code counts references to an array whenever it reads one from a tuple."""

    l1: Any
    l2: Any
    box: Any
    limited: Any
    boxed: bool
    positive: bool
    quadratic: bool


@compiled
def _column(terms: Any, j: Any) -> Any:
    return Column(
        terms.l1[j], terms.l2[j], terms.box[j], terms.limited[j], terms.boxed, terms.positive, terms.quadratic
    )


@compiled
def _excess(column: Any, w: Any, v: Any) -> Any:
    """Return the term of a column, by cases and without cancellation; an infinite ``l1`` excludes the column."""
    l1, l2, box, boxed, positive = column.l1, column.l2, column.box, column.boxed, column.positive
    if l1 == np.inf:
        return 0.0 if w == 0.0 else np.inf
    size, sign = abs(w), -1.0 if w < 0.0 else 1.0
    if w == 0.0 and not positive:
        sign = np.sign(v)
    along = sign * v - l1  # derivative toward the sign of w
    other = -np.inf if positive else -sign * v - l1  # and toward the opposite sign
    if not l2 > 0.0:
        if v == 0.0:  # a column of zeros has an infinite box
            return l1 * size
        if size == 0.0 and along <= 0.0 and other <= 0.0:
            return 0.0
        return ((box - size) * along if along > 0.0 else -size * along) + (box * other if other > 0.0 else 0.0)
    if along >= 0.0:
        inner = min(along / l2, box) if boxed else along / l2
        term = 0.5 * l2 * ((size - inner) * (size - inner))
    else:
        term = 0.5 * l2 * (size * size) - size * along
    if boxed and along > l2 * box:  # the best coefficient is on the boundary of the box
        term += (box - size) * (along - l2 * box)
    if other > 0.0:
        far = min(other / l2, box)
        term += far * (other - 0.5 * l2 * far)
    return term


@compiled
def kinds(l1: Any, l2: Any, box: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return the excluded columns, the free ones, and those whose ``v_j`` is at most ``l1``.

    The last two results are whether some column is free, and whether all columns are quadratic only.
    """
    excluded, free = np.empty(len(l1), dtype=np.bool_), np.empty(len(l1), dtype=np.bool_)
    limited, some, quadratic = np.empty(len(l1), dtype=np.bool_), False, True
    for j in range(len(l1)):
        hard = l2[j] == 0.0 and box[j] == np.inf
        excluded[j] = np.isinf(l1[j])
        free[j] = hard and l1[j] == 0.0
        limited[j] = hard and 0.0 < l1[j] < np.inf
        some = some or free[j]
        quadratic = quadratic and l1[j] == 0.0 and l2[j] > 0.0
    return excluded, free, limited, some, quadratic


@compiled
def _upper(column: Any, w: Any, v: Any, rad: Any) -> Any:
    """Return the largest term of a column for ``v`` within ``rad``."""
    l1, l2 = column.l1, column.l2
    up = 1.0 + 32.0 * UNIT
    if column.quadratic:
        apart = abs(w - v / l2) + (rad + 4.0 * UNIT * (abs(v) + l2 * abs(w))) / l2
        return 0.5 * l2 * (apart * apart) * up
    top = 0.0 if l1 == np.inf else l1
    rad = rad + 4.0 * UNIT * (abs(v) + top + l2 * abs(w))
    least, most = v - rad, v + rad
    if column.limited:
        least, most = top if least > top else least, top if most > top else most
        if not column.positive:
            least, most = -top if least < -top else least, -top if most < -top else most
    low = _excess(column, w, least)
    high = _excess(column, w, most)
    return (low if low > high or low != low else high) * up  # an undefined term stays undefined


@compiled
def _term(column: Any, w: Any, v: Any) -> Any:
    """Return the term of a column in plain floats."""
    if column.quadratic:
        apart = w - v / column.l2
        return 0.5 * column.l2 * (apart * apart)
    return _excess(column, w, v)


@compiled
def excesses(terms: Any, w: Any, v: Any) -> Any:
    """Return the terms in plain floats."""
    out = np.empty(len(w))
    for j in range(len(w)):
        out[j] = _term(_column(terms, j), w[j], v[j])
    return out


@compiled
def uppers(terms: Any, w: Any, v: Any, radii: Any) -> Any:
    """Return the largest terms for ``v`` within ``radii``."""
    out = np.empty(len(w))
    for j in range(len(w)):
        out[j] = _upper(_column(terms, j), w[j], v[j], radii[j])
    return out


@compiled
def values(terms: Any, w: Any) -> Any:
    """Return the penalty of each column; infinite if a constraint is violated."""
    l1, l2, box = terms.l1, terms.l2, terms.box
    out = np.empty(len(w))
    for j in range(len(w)):
        outside = (
            (l1[j] == np.inf and w[j] != 0.0) or (terms.positive and w[j] < 0.0) or (terms.boxed and abs(w[j]) > box[j])
        )
        first = 0.0 if l1[j] == np.inf else l1[j] * abs(w[j])
        out[j] = np.inf if outside else first + 0.5 * l2[j] * w[j] * w[j]
    return out


@compiled
def reaches(terms: Any, v: Any, radii: Any) -> tuple[Any, Any]:
    """Return the largest ratios of ``v`` to its limit: within ``radii[0]``, and within the radii of another evaluation."""
    worst, other = 0.0, 0.0
    for j in range(len(v)):
        if terms.limited[j]:
            size = max(v[j], 0.0) if terms.positive else abs(v[j])
            near, far = (size + radii[0, j]) / terms.l1[j], (size + (radii[0, j] + 2.0 * radii[1, j])) / terms.l1[j]
            worst, other = worst if worst > near else near, other if other > far else far
    return worst, other


@compiled
def term_sums(terms: Any, exact: Any, w: Any, v: Any, radii: Any, shrink: Any, other: Any) -> tuple[Any, ...]:
    """Return the sums over columns that are not ``exact`` at ``shrink * v``, and bounds on the absolute values of ``shrink * v``."""
    near, far, middle, blur = 0.0, 0.0, 0.0, 0.0
    most, least = np.empty(len(w)), np.empty(len(w))
    for j in range(len(w)):
        size, at = abs(v[j]), shrink * v[j]
        signed = max(v[j], 0.0) if terms.positive else size
        most[j] = shrink * (signed + radii[0, j]) * (1.0 + 4.0 * UNIT)
        least[j] = max(shrink * (signed - radii[0, j]) * (1.0 - 4.0 * UNIT), 0.0)
        if exact[j]:  # zero is exact for free columns, scaled or not
            continue
        column = _column(terms, j)
        own = (shrink * radii[0, j] + 4.0 * UNIT * size) * (1.0 + 4.0 * UNIT)
        moved = 2.0 * (radii[1, j] + 4.0 * UNIT * size) + (shrink - other) * size  # by another evaluation
        near += _upper(column, w[j], at, own)
        far += _upper(column, w[j], at, moved)
        middle += _term(column, w[j], at)
        if column.l2 > 0.0:
            blur += radii[1, j] * radii[1, j] / column.l2
    return near, far, middle, blur, most, least


@compiled
def column_bounds(
    columns: Any, norm: Any, root: Any, mean: Any, mean_rad: Any, k: Any, m: Any, lost: Any
) -> tuple[Any, Any, Any, Any]:
    """Return the products of the columns with the residuals minus ``mean``, their rounding, the norms, and whether all are finite.

    ``norm`` and ``root`` are the norms of the residuals and of the constant 1; ``k``, ``m`` and ``lost`` are the relative
    rounding errors of sums over columns and rows, and the loss by underflow.
    """
    d, finite = columns.shape[1], True
    v, v_rad, norms = np.empty(d), np.empty(d), np.empty(d)
    for j in range(d):
        product, total, square = columns[0, j], columns[1, j], columns[2, j]
        finite = finite and np.isfinite(product) and np.isfinite(total) and np.isfinite(square)
        norms[j] = np.sqrt(square + lost) * (1.0 + k)
        moved = mean * total
        v[j] = product - moved
        rad = k * norms[j] * norm + abs(mean) * k * norms[j] * root + mean_rad * (abs(total) + k * norms[j] * root)
        v_rad[j] = (rad + 4.0 * UNIT * (abs(product) + abs(moved)) + lost * (1.0 + abs(mean))) * (1.0 + 8.0 * m)
    return v, v_rad, norms, finite


@compiled
def scaled_products(v: Any, v_rad: Any, norms: Any, error: Any, off: Any, h: Any) -> tuple[Any, Any]:
    """Return ``-h v``, and its rounding in this evaluation and in any other one."""
    radii, out = np.empty((2, len(v))), np.empty(len(v))
    for j in range(len(v)):
        out[j] = -h * v[j]
        radii[0, j] = h * v_rad[j]
        radii[1, j] = h * ((1.5 * v_rad[j] + 2.0 * error * norms[j]) * (1.0 + 8.0 * off))
    return out, radii
