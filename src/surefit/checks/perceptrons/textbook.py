r"""The checker's own implementation of the perceptron.

Products and sums are rounded one by one, from left to right, so IEEE arithmetic gives the same bits on every machine. A
run can therefore be repeated from its log, and the claim about it is exact: these rows, processed in this order, were
mistakes, and the updates give these weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import row_blocks
from surefit.core.dispatch import generic
from surefit.core.jit import compiled


class DenseRows(NamedTuple):
    """Rows of a dense matrix."""

    values: np.ndarray


class SparseRows(NamedTuple):
    """Stored entries of a sparse matrix, row by row."""

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray


class Rule(NamedTuple):
    """Class thresholds up to which a margin is a mistake, and the steps of an update."""

    step_minus: float
    step_plus: float
    threshold_minus: float
    threshold_plus: float
    bias_step: float  # square of the constant feature

    @property
    def threshold(self) -> float:
        """Largest margin at which an update can be made; at least zero."""
        return max(0.0, self.threshold_minus, self.threshold_plus)


def rows_of(X: Any) -> Any:
    """Return the rows of ``X`` in the form that the loops read."""
    if sparse.issparse(X):
        X = X.tocsr()
        return SparseRows(X.data, X.indices, X.indptr)
    return DenseRows(np.ascontiguousarray(X))


@generic
def row_dot(rows: Any, i: Any, w: Any) -> Any:
    """Return ``x_i . w``, summed from left to right."""


@generic
def quick_dot(rows: Any, i: Any, w: Any) -> Any:
    """Return ``x_i . w``, summed in four parts, which is faster and within rounding of every other order."""


@generic
def row_add(rows: Any, i: Any, step: Any, w: Any) -> Any:
    """Add ``step x_i`` to ``w``."""


@row_dot.register(DenseRows)
def _(rows: Any, i: Any, w: Any) -> Any:
    total = 0.0
    for j in range(len(w)):
        total += w[j] * rows.values[i, j]
    return total


@quick_dot.register(DenseRows)
def _(rows: Any, i: Any, w: Any) -> Any:
    a, b, c, e, whole = 0.0, 0.0, 0.0, 0.0, len(w) // 4 * 4
    for j in range(0, whole, 4):
        a += w[j] * rows.values[i, j]
        b += w[j + 1] * rows.values[i, j + 1]
        c += w[j + 2] * rows.values[i, j + 2]
        e += w[j + 3] * rows.values[i, j + 3]
    for j in range(whole, len(w)):
        a += w[j] * rows.values[i, j]
    return a + b + c + e


@row_add.register(DenseRows)
def _(rows: Any, i: Any, step: Any, w: Any) -> None:
    for j in range(len(w)):
        w[j] += step * rows.values[i, j]


@row_dot.register(SparseRows)
def _(rows: Any, i: Any, w: Any) -> Any:
    total = 0.0
    for k in range(rows.starts[i], rows.starts[i + 1]):
        total += w[rows.columns[k]] * rows.values[k]
    return total


@quick_dot.register(SparseRows)
def _(rows: Any, i: Any, w: Any) -> Any:
    return row_dot(rows, i, w)


@row_add.register(SparseRows)
def _(rows: Any, i: Any, step: Any, w: Any) -> None:
    for k in range(rows.starts[i], rows.starts[i + 1]):
        w[rows.columns[k]] += step * rows.values[k]


def walk(
    X: Any, visits: Any, t: Any, rule: Rule, slack: float, factors: Any, w: Any, b: float
) -> tuple[float, np.ndarray]:
    """Process rows in order and update ``w`` at mistakes; return the intercept, and which rows were mistakes.

    Rows are gathered in blocks, so that memory is read in order for any order of visits.
    """
    mistaken = np.zeros(len(visits), dtype=bool)
    for here in row_blocks(len(visits)):
        rows, k = visits[here], int(np.count_nonzero(mistaken[: here.start])) if len(factors) else 0
        left = factors[k:] if k < len(factors) or not len(factors) else np.zeros(1)
        b = visit(rows_of(X[rows]), np.arange(len(rows)), t[rows], rule, slack, left, w, b, mistaken[here])
    return b, mistaken


@compiled
def visit(rows: Any, visits: Any, t: Any, rule: Any, slack: Any, factors: Any, w: Any, b: Any, mistaken: Any) -> Any:
    """Process rows in order, update ``w`` at mistakes and mark them; return the intercept.

    Two orders of summation differ by less than ``slack``; margins within ``slack`` of a threshold are summed from left
    to right. ``factors`` multiply the steps, one per update; an empty array leaves them unchanged. NaN is returned if
    there are not enough factors.
    """
    k = 0
    for s in range(len(visits)):
        i = visits[s]
        sign = np.float64(t[i])
        cut = rule.threshold_plus if sign > 0 else rule.threshold_minus
        m = sign * (quick_dot(rows, i, w) + b)
        if m > cut + slack:
            continue
        if not m <= cut - slack:
            m = sign * (row_dot(rows, i, w) + b)
        if not m <= cut:
            continue
        step = rule.step_plus if sign > 0 else rule.step_minus
        if len(factors) > 0:
            if k == len(factors):
                return np.nan
            step *= factors[k]
        row_add(rows, i, step * sign, w)
        b = b + step * sign * rule.bias_step
        mistaken[s] = True
        k += 1
    return b


@compiled
def visit_classes(rows: Any, visits: Any, codes: Any, steps: Any, rule: Any, W: Any, b: Any, rivals: Any) -> None:
    """Process rows with one weight vector per class; ``rivals`` gets the class that lost weight at each row, or -1."""
    cut, bias_step, slack = rule
    scores = np.empty(len(b))
    for s in range(len(visits)):
        i = visits[s]
        right = codes[i]
        rivals[s] = -1
        for c in range(len(b)):
            scores[c] = quick_dot(rows, i, W[c]) + b[c]
        if scores[right] - scores[_rival(scores, right)] > cut + slack:
            continue
        for c in range(len(b)):
            scores[c] = row_dot(rows, i, W[c]) + b[c]
        rival = _rival(scores, right)
        if not scores[right] - scores[rival] <= cut:
            continue
        rivals[s] = rival
        row_add(rows, i, steps[right], W[right])
        row_add(rows, i, -steps[right], W[rival])
        b[right] = b[right] + steps[right] * bias_step
        b[rival] = b[rival] + -steps[right] * bias_step


@compiled
def _rival(scores: Any, right: Any) -> Any:
    best = 1 if right == 0 else 0
    for c in range(best + 1, len(scores)):
        if c != right and scores[c] > scores[best]:
            best = c
    return best


@compiled
def visit_unit(rows: Any, visits: Any, t: Any, lengths: Any, share: Any, bias_step: Any, w: Any, mistaken: Any) -> Any:
    """Process unit rows, on which a margin below ``share`` times the weight norm is a mistake; return the intercept."""
    b, square, k = 0.0, 0.0, 0
    for s in range(len(visits)):
        i = visits[s]
        sign = np.float64(t[i])
        m = sign * (row_dot(rows, i, w) + b) / lengths[i]
        if k > 0 and m >= share * np.sqrt(square):
            continue
        row_add(rows, i, sign / lengths[i], w)
        b += sign / lengths[i] * bias_step
        square += 2.0 * m + 1.0
        mistaken[s] = True
        k += 1
    return b


@compiled
def sweep(rows: Any, t: Any, weights: Any, slack: Any, w: Any, b: Any, total: Any) -> Any:
    """Set ``total`` to the sum of ``weight t x`` over the misclassified rows; return that of ``weight t``."""
    total[:] = 0.0
    signed = 0.0
    for i in range(len(t)):
        if weights[i] == 0.0:
            continue
        m = t[i] * (quick_dot(rows, i, w) + b)
        if m > slack:
            continue
        if not m <= -slack:
            m = t[i] * (row_dot(rows, i, w) + b)
        if not m <= 0.0:
            continue
        row_add(rows, i, weights[i] * t[i], total)
        signed += weights[i] * t[i]
    return signed
