r"""An independent algorithm for smoothing splines: plane rotations of the penalized least-squares problem.

Unknowns are the value and slope at every knot (the value alone for degree 1); the rows are :math:`\sqrt{w_i} f_i = \sqrt{w_i} y_i`
and, for every gap d, the square root of :math:`S \lambda \int (f'')^2`,

.. math:: \sqrt{S \lambda / d}\, (g_{i+1} - g_i) = 0, \qquad
          \sqrt{12 S \lambda / d^3}\, (f_{i+1} - f_i - d (g_i + g_{i+1}) / 2) = 0 .

Rotations reduce the rows to triangular form; back substitution gives the spline and the diagonal blocks of the inverse.
Normal equations are not formed.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.jit import compiled

TIE = 1e-60  # points closer than this share of the range are merged
BLOCK = 4096  # knots whose triangular rows are stored together
FLOOR = 1e-24  # squares below this share of those of the targets count as rounding


class Line(NamedTuple):
    """Data of one target on distinct knots; the origin of the special form is not a knot."""

    knots: np.ndarray
    weights: np.ndarray
    targets: np.ndarray  # means of tied rows, minus ``offset``
    offset: float
    lead: float  # distance of the first knot from the origin; -1 if there is none
    total: float
    within: float
    rows: np.ndarray  # knot of each row, -1 at the origin
    row_weights: np.ndarray
    row_targets: np.ndarray


def line(x: Any, y: Any, weights: Any, origin: float | None) -> Line:
    """Return the data with ties merged and without rows of zero weight."""
    s = np.broadcast_to(1.0, len(x)) if weights is None else weights
    if not s.all():
        x, y, s = x[s > 0], y[s > 0], s[s > 0]
    total = math.fsum(s)
    offset = math.fsum(s * y) / total if origin is None else 0.0
    knots, rows = np.unique(x, return_inverse=True)
    rows = rows.astype(np.int32 if len(x) < 2**31 else np.int64)
    tie = TIE * (knots[-1] - (knots[0] if origin is None else origin))
    first = np.concatenate([[True], np.diff(knots) > tie])
    if not first.all():
        knots, rows = knots[first], (np.cumsum(first, dtype=rows.dtype) - 1)[rows]
    mass = np.bincount(rows, s)
    means = np.bincount(rows, s * (y - offset)) / mass
    within, lead = math.fsum(s * (y - offset - means[rows]) ** 2), -1.0
    if origin is not None:
        if knots[0] - origin <= tie:
            within += float(mass[0] * means[0] ** 2)
            knots, mass, means, rows = knots[1:], mass[1:], means[1:], rows - 1
        lead = float(knots[0] - origin)
    return Line(knots, mass, means, offset, lead, total, within, rows, s, y)


class Solved(NamedTuple):
    """The spline computed by rotations."""

    values: np.ndarray
    variances: np.ndarray  # of the values, for noise of variance one
    log_det: float  # of the inverse covariance of all unknowns


def solve(problem: Line, degree: int, lam: float) -> Solved:
    """Solve the spline problem at ``lam``."""
    n = len(problem.knots)
    values, variances = np.empty(n), np.empty(n)
    rotate = _cubic if degree == 3 else _linear
    log_det = rotate(
        np.diff(problem.knots), problem.weights, problem.targets, problem.total * lam, problem.lead, values, variances
    )
    return Solved(values, variances, log_det)


def criterion(problem: Line, degree: int, lam: float, name: str) -> float:
    """Return the criterion at ``lam``; the likelihood is computed up to a constant."""
    found = solve(problem, degree, lam)
    r = problem.targets - found.values
    order = (degree + 1) // 2
    rounding = FLOOR * (problem.within + float((problem.weights * problem.targets) @ problem.targets))
    if name == "reml":
        free = problem.total - (order if problem.lead < 0 else 0)
        energy = problem.within + float((problem.weights * problem.targets) @ r)
        pieces = len(problem.knots) - (problem.lead < 0)
        return (
            free * math.log(max(energy, rounding, 1e-300) / free)
            + found.log_det
            - order * pieces * math.log(problem.total * lam)
        )
    if name == "gcv":
        left = problem.total - float(problem.weights @ found.variances)
        squares = max(problem.within + float((problem.weights * r) @ r), rounding)
        return problem.total * squares / left**2 if left > 0 else math.inf
    inside = problem.rows >= 0
    errors = problem.row_targets - problem.offset
    knot = problem.rows[inside]
    left = 1 - np.minimum(problem.row_weights[inside], 1.0) * found.variances[knot]
    with np.errstate(divide="ignore", invalid="ignore"):
        errors[inside] = (errors[inside] - found.values[knot]) / left
    return max(float(problem.row_weights @ errors**2), rounding) / problem.total


@compiled
def _rotate(rows: Any, i: Any, k: Any, column: Any) -> None:
    """Eliminate ``rows[k, column]`` by a rotation of rows i and k."""
    x, y = rows[i, column], rows[k, column]
    if y == 0.0:
        return
    size = math.hypot(x, y)
    c, s = x / size, y / size
    for j in range(column, rows.shape[1]):
        rows[i, j], rows[k, j] = c * rows[i, j] + s * rows[k, j], c * rows[k, j] - s * rows[i, j]
    rows[k, column] = 0.0


@compiled
def _reduce(gaps: Any, weights: Any, targets: Any, strength: Any, begin: Any, end: Any, carried: Any, kept: Any) -> Any:
    """Reduce the rows of some knots to triangular form, given those that the knots before leave; return the log-determinant."""
    n = len(targets)
    rows = np.zeros((5, 5))
    log_det = 0.0
    for i in range(begin, end):
        rows[:] = 0.0
        for k in range(2):
            rows[k, 0], rows[k, 1], rows[k, 4] = carried[k, 0], carried[k, 1], carried[k, 2]
        root = math.sqrt(weights[i])
        rows[2, 0], rows[2, 4] = root, root * targets[i]
        if i < n - 1:
            d = gaps[i]
            stiff, firm = math.sqrt(12.0 * strength / d**3), math.sqrt(strength / d)
            rows[3, 0], rows[3, 1], rows[3, 2], rows[3, 3] = -stiff, -0.5 * d * stiff, stiff, -0.5 * d * stiff
            rows[4, 1], rows[4, 3] = -firm, firm
        _rotate(rows, 0, 2, 0)  # rows of small weight first, then those of large weight
        _rotate(rows, 1, 2, 1)
        for column in range(4):
            for k in range(column + 1, 5):
                _rotate(rows, column, k, column)
        kept[i - begin] = rows[:2]
        log_det += 2.0 * math.log(abs(rows[0, 0] * rows[1, 1]))
        for k in range(2):
            carried[k, 0], carried[k, 1], carried[k, 2] = rows[2 + k, 2], rows[2 + k, 3], rows[2 + k, 4]
    return log_det


@compiled
def _cubic(gaps: Any, weights: Any, targets: Any, strength: Any, lead: Any, values: Any, variances: Any) -> Any:
    n = len(targets)
    blocks = (n + BLOCK - 1) // BLOCK
    kept = np.zeros((min(n, BLOCK), 2, 5))  # triangular rows: two own columns, two of the next knot, right-hand side
    before = np.zeros((blocks + 1, 2, 3))  # rows that the knots before each block leave
    log_det = 0.0
    if lead >= 0.0:
        stiff = math.sqrt(12.0 * strength / lead**3)
        before[0, 0, 0], before[0, 0, 1] = stiff, -0.5 * lead * stiff
        before[0, 1, 1] = math.sqrt(strength / lead)
    for block in range(blocks):
        begin = block * BLOCK
        before[block + 1] = before[block]
        log_det += _reduce(gaps, weights, targets, strength, begin, min(begin + BLOCK, n), before[block + 1], kept)
    f, g, p, q, r = 0.0, 0.0, 0.0, 0.0, 0.0  # the next knot: unknowns, and covariance [[p, q], [q, r]]
    for block in range(blocks - 1, -1, -1):
        begin, end = block * BLOCK, min((block + 1) * BLOCK, n)
        if block < blocks - 1:  # the rows of one block are stored; those of the others are computed again
            _reduce(gaps, weights, targets, strength, begin, end, before[block], kept)
        for i in range(end - 1, begin - 1, -1):
            t = kept[i - begin]
            c, d, e, h = t[0, 2], t[0, 3], t[1, 2], t[1, 3]
            first, second = t[0, 4] - c * f - d * g, t[1, 4] - e * f - h * g
            g = second / t[1, 1]
            f = (first - t[0, 1] * g) / t[0, 0]
            m11 = 1.0 + c * (c * p + d * q) + d * (c * q + d * r)
            m12 = c * (e * p + h * q) + d * (e * q + h * r)
            m22 = 1.0 + e * (e * p + h * q) + h * (e * q + h * r)
            r = m22 / t[1, 1] ** 2
            q = (m12 - t[0, 1] * m22 / t[1, 1]) / (t[0, 0] * t[1, 1])
            p = (m11 - 2.0 * t[0, 1] * m12 / t[1, 1] + (t[0, 1] / t[1, 1]) ** 2 * m22) / t[0, 0] ** 2
            values[i], variances[i] = f, p
    return log_det


@compiled
def _linear(gaps: Any, weights: Any, targets: Any, strength: Any, lead: Any, values: Any, variances: Any) -> Any:
    n = len(targets)
    own, following, right = np.zeros(n), np.zeros(n), np.zeros(n)
    rows = np.zeros((3, 3))
    log_det = 0.0
    if lead >= 0.0:
        rows[1, 1] = math.sqrt(strength / lead)
    for i in range(n):
        rows[0, 0], rows[0, 1], rows[0, 2] = rows[1, 1], 0.0, rows[1, 2]
        root = math.sqrt(weights[i])
        rows[1, 0], rows[1, 1], rows[1, 2] = root, 0.0, root * targets[i]
        stiff = math.sqrt(strength / gaps[i]) if i < n - 1 else 0.0
        rows[2, 0], rows[2, 1], rows[2, 2] = -stiff, stiff, 0.0
        _rotate(rows, 0, 1, 0)
        _rotate(rows, 0, 2, 0)
        _rotate(rows, 1, 2, 1)
        own[i], following[i], right[i] = rows[0, 0], rows[0, 1], rows[0, 2]
        log_det += 2.0 * math.log(abs(rows[0, 0]))
    f, p = 0.0, 0.0
    for i in range(n - 1, -1, -1):
        f = (right[i] - following[i] * f) / own[i]
        p = (1.0 + following[i] ** 2 * p) / own[i] ** 2
        values[i], variances[i] = f, p
    return log_det
