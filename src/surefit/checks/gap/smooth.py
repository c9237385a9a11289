r"""Proof by one pass over the rows, for smooth losses near the optimum.

The derivatives :math:`g_i = \phi'(z_i)` and :math:`h_i = \phi''(z_i)` of the logistic, Poisson, gamma and Tweedie losses satisfy
:math:`|\phi'''| \le \phi''`. The dual variables :math:`\lambda (g_i + \tau h_i)` with :math:`\tau = -\sum c_i g_i / \sum c_i
h_i` sum to zero, and :math:`\lambda \le 1` makes them feasible. They differ from the derivatives by at most :math:`\alpha |g_i| +
\rho h_i` with :math:`\alpha = 1 - \lambda`, :math:`\rho = |\tau|` (larger with rounding), and the sum of their Fenchel-Young terms
is at most

.. math:: \frac{1}{2(1 - \kappa)} \sum_i c_i \frac{(\alpha |g_i| + \rho h_i)^2}{h_i},

where no exponential decreases by more than a fraction :math:`\kappa`. This consists of three sums that do not depend on
:math:`\lambda`, so no row is read twice. If :math:`\lambda` is too small for this bound, as with an l1 penalty far from the
optimum, the terms of a logistic loss are evaluated row by row at the same dual point, from the scores, without another pass
over the matrix. Rounding errors of the scores are bounded by one number, from the largest entry of each column or the
largest sum over a sparse row, and those of the products with the columns by Euclidean norms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.gap import exponentials, loops
from surefit.checks.gap.dual_points import Point
from surefit.checks.gap.losses import Logistic
from surefit.checks.gap.near import Near, Totals
from surefit.checks.gap.operators import TINY, Dense, Sparse
from surefit.core.jit import compiled
from surefit.core.threads import PARTS, map_parts, one_blas_thread, tree_sum

ENTRIES = 1 << 17  # entries of a block of rows, which stays in the cache between its two products
LONGEST = 8192  # rows of a block
TREE = (PARTS - 1).bit_length()  # additions that join the sums of parts
FARTHEST = 200.0  # largest score: no exponential of it overflows, and weights times exponentials are normal numbers
LIGHTEST = 1e-200  # smallest positive weight, for the same reason
NO_ROWS = np.array([0.0] * 11 + [math.inf])  # totals of no rows
SMALLEST, LARGEST = 1e-280, 1e280  # range of sums of squares without relevant underflow


def proves(loss: Any) -> bool:
    """Return whether this proof exists for a loss."""
    return isinstance(loss, Logistic) or getattr(loss, "rates", None) is not None


def one_pass(operator: Any, loss: Any, point: Point) -> Near | None:
    """Return the sums over the rows, or None if the numbers are not in the range of this proof."""
    rates = None if isinstance(loss, Logistic) else getattr(loss, "rates", None)
    if not proves(loss) or not _readable(operator) or (rates is not None and np.min(point.y, initial=0.0) < 0.0):
        return None
    n, d = operator.shape
    step = min(max(ENTRIES // max(d, 1) // loops.PART * loops.PART, loops.PART), LONGEST)
    step = step if isinstance(operator, Dense) else LONGEST
    rows = _Rows(rates, point, n if rates is None else 0)
    add_up = _dense if isinstance(operator, Dense) else _sparse
    with np.errstate(all="ignore"):
        products, totals, reach = add_up(operator, rows, step)
        t = Totals(*totals.tolist())
        squares = t.size_squares, t.curve_squares
        if not (t.farthest <= FARTHEST and t.lightest >= LIGHTEST and math.isfinite(t.square + t.loss + t.loss_size)):
            return None
        if not all(SMALLEST <= part <= LARGEST for part in squares) or not np.isfinite(products).all():
            return None
        return _enclosed(operator, point, rows, t, products, reach, gamma(step + -(-n // step) + TREE + 8))


def _readable(operator: Any) -> bool:
    return type(operator) is Dense or (
        type(operator) is Sparse and operator.by_rows and bool(operator.X.has_canonical_format)
    )


class _Rows:
    """Derivatives of the rows of a block, and those of all rows of a logistic loss."""

    def __init__(self, rates: Any, point: Point, kept: int) -> None:
        self.rates, self.point = rates, point
        self.products, self.g = np.empty(kept), np.empty(kept)

    def add(self, rows: slice, z: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add the rows with products ``z``, which become their scores, to the totals; return ``c g`` and ``c h``."""
        point, y = self.point, self.point.y[rows]
        if self.rates is None:
            self.products[rows] = z
        z += point.b
        if point.offset is not None:
            z += point.offset[rows]
        terms = np.empty((4, len(z)))
        if self.rates is None:
            e = np.exp(-np.abs(z))
            _logistic(y, z, e, np.log1p(e), terms)
            self.g[rows] = terms[0]
        else:
            (a, b), logs = self.rates, exponentials.logarithms(y)
            _exponential(
                a, b, y, z, logs, exponentials.powers(a, b, y, logs), *exponentials.quiet_parts(a, b, y, z), terms
            )
        _reduce(point.c[rows], z, terms, totals)
        return terms[0], terms[1]


def _dense(operator: Dense, rows: _Rows, step: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the products with the columns, the totals, and a bound on all ``sum_j |x_ij w_j|``; threads share fixed parts of the rows."""

    def part(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        products, totals = np.zeros((4, operator.shape[1])), NO_ROWS.copy()
        with np.errstate(all="ignore"), one_blas_thread():  # each thread has an error state of its own
            for piece, block in _blocks(operator, first, last, step):
                loops.pair_sums(block, *rows.add(piece, block @ rows.point.w, totals), products)
        return products, totals

    found = map_parts(part, operator.shape, loops.LEAST)
    products, totals = (np.stack(parts) for parts in zip(*found, strict=True))
    reach = float(products[:, 3].max(axis=0) @ np.abs(rows.point.w)) * (1 + gamma(operator.shape[1] + 4))
    return tree_sum(products[:, :3]), _joined(totals), reach


def _blocks(operator: Dense, first: int, last: int, step: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield slices of rows, and these rows in the order of memory."""
    for start in range(first, last, step):
        piece = slice(start, min(start + step, last))
        part = np.ascontiguousarray(operator.X[piece], dtype=np.float64)
        yield piece, part if operator.shift is None else part - operator.shift


def _sparse(operator: Sparse, rows: _Rows, step: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the same; a block of rows stays in the cache between its two products."""
    values, indices, starts = operator.A
    width = operator.shape[1]

    def part(first: int, last: int) -> tuple[np.ndarray, np.ndarray, float]:
        products, totals, reach = np.zeros((width, 4)), NO_ROWS.copy(), 0.0
        with np.errstate(all="ignore"):
            for start in range(first, last, step):
                piece = slice(start, min(start + step, last))
                block = values, indices, starts[start : piece.stop + 1]
                z, sizes, _ = loops.dots_of_rows(*block, rows.point.w)
                reach = np.maximum(reach, sizes.max())
                loops.sparse_pair_sums(*block, *rows.add(piece, z, totals), products)
        return products, totals, reach

    products, totals, reaches = zip(*map_parts(part, *loops.sparse_parts(values, starts, width)), strict=True)
    joined = tree_sum(products).T
    operator._outer = int(joined[3].max(initial=0))
    return joined[:3], _joined(np.stack(totals)), float(np.max(reaches)) * (1 + gamma(operator.row_terms + 4))


def _joined(totals: np.ndarray) -> np.ndarray:
    """Return the totals of all parts."""
    return np.concatenate([tree_sum(totals[:, :9]), totals[:, 9:11].max(axis=0), totals[:, 11:].min(axis=0)])


def _enclosed(
    operator: Any, point: Point, rows: _Rows, t: Totals, products: np.ndarray, reach: float, rounding: float
) -> Near:
    """Bound the rounding errors of the scores, of the dual variables and of their products with the columns."""
    operator._squares = products[2]
    n, d = operator.shape
    terms = d + 2 + operator.roundings if isinstance(operator, Dense) else operator.row_terms
    known = 0.0 if point.offset is None else float(np.abs(point.offset).max(initial=0.0))
    product_rad = gamma(terms + 4) * reach + d * TINY
    rho = product_rad + 4 * UNIT * (reach + abs(point.b) + known + 2 * t.farthest) + point.b_rad
    exponents = () if rows.rates is None else tuple(rate for rate in rows.rates if rate > 0.0)
    error = 1.02 * rho + sum(16 * UNIT / rate for rate in exponents)
    tau = tau_rad = moves = 0.0
    share = t.size / t.curve * (1 + 4 * rounding)
    if point.intercept:
        tau = -t.net / t.curve
        tau_rad = 1.01 * (rounding * share + (2 * rounding + 8 * UNIT) * abs(tau))
        moves = 1.01 * (2 * error + 2 * tau_rad + 64 * UNIT * share + 8 * rho * abs(tau))
    steep, curved = (math.sqrt(part) * (1 + 2 * rounding) for part in (t.size_squares, t.curve_squares))
    k, norms = gamma(operator.column_terms + 4), operator.norms()
    near = k * (steep + abs(tau) * curved) + tau_rad * curved
    slip = (2 * error + moves + 8 * rho * abs(tau)) * curved + 64 * UNIT * (steep + abs(tau) * curved)
    v = -(products[0] + tau * products[1])
    last = 4 * UNIT * (np.abs(products[0]) + abs(tau) * np.abs(products[1])) + 4 * n * TINY * (1 + abs(tau))
    radii = np.array([near * norms + last, (near + slip) * norms + last]) * (1 + 8 * k)
    z, product = _scores(rows, product_rad, rho)
    return Near(t, v, radii, rho, error, tau, tau_rad, moves, rounding, z, product, rows.g)


def _scores(rows: _Rows, product_rad: float, rho: float) -> tuple[Enclosed, Enclosed]:
    """Return the scores of a logistic loss, and the products without the intercept."""
    point, mid = rows.point, rows.products
    product = Enclosed(mid, np.broadcast_to(product_rad, mid.shape))
    if len(mid) and (point.b != 0.0 or point.offset is not None):
        mid = mid + point.b if point.offset is None else mid + point.b + point.offset
    return Enclosed(mid, np.broadcast_to(rho, mid.shape)), product


@compiled
def _logistic(y: Any, z: Any, e: Any, soft: Any, terms: Any) -> None:
    """Write the derivatives, the losses and their sizes; ``e`` is ``exp(-|z|)``, ``soft`` is ``log(1 + e)``."""
    for i in range(len(y)):
        large = 1.0 / (1.0 + e[i])
        small = e[i] * large
        right = y[i] * z[i] >= 0.0
        terms[0, i] = -y[i] * (small if right else large)
        terms[1, i] = small * large
        terms[2, i] = soft[i] + (0.0 if right else abs(z[i]))
        terms[3, i] = 1.0 + terms[2, i]  # at least the derivative


@compiled
def _exponential(a: Any, b: Any, y: Any, z: Any, logs: Any, powers: Any, fall: Any, rise: Any, terms: Any) -> None:
    for i in range(len(y)):
        value, size = exponentials.loss_of_row(a, b, y[i], z[i], logs[i], powers[i], fall[i], rise[i])
        terms[0, i] = rise[i] - fall[i]
        terms[1, i] = a * fall[i] + b * rise[i]
        terms[2, i], terms[3, i] = max(value, 0.0), size


@compiled
def _reduce(c: Any, z: Any, terms: Any, totals: Any) -> None:
    """Add the rows to the totals, and multiply the derivatives by the weights."""
    net, size, square, curve, loss, sizes, squares, bends, cube = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    steepest, farthest, lightest = totals[9], totals[10], totals[11]
    for i in range(len(c)):
        if not c[i] > 0.0:
            terms[0, i] = terms[1, i] = 0.0
            continue
        g, h = c[i] * terms[0, i], c[i] * terms[1, i]
        ratio = abs(terms[0, i]) / terms[1, i]
        net, size, square, curve = net + g, size + abs(g), square + abs(g) * ratio, curve + h
        loss, sizes = loss + c[i] * terms[2, i], sizes + c[i] * terms[3, i]
        squares, bends, cube = squares + g * g, bends + h * h, cube + abs(g) * ratio * ratio
        steepest, farthest, lightest = max(steepest, ratio), max(farthest, abs(z[i])), min(lightest, c[i])
        terms[0, i], terms[1, i] = g, h
    for k, part in enumerate((net, size, square, curve, loss, sizes, squares, bends, cube)):
        totals[k] += part
    totals[9], totals[10], totals[11] = steepest, farthest, lightest
