r"""Two-sided bounds on the maximal margin, including all rounding errors.

With :math:`t_i = \pm 1`, the maximal margin is :math:`\gamma^* = \max_{w, b} \min_i t_i (x_i^\top w + b) / \|w\|`. Any
:math:`(w, b)` bounds it from below, any weights :math:`\alpha \ge 0` from above:

.. math:: \gamma^* \le \tfrac12 \Bigl\| \sum_+ \alpha_i x_i - \sum_- \alpha_i x_i \Bigr\|, \quad \sum_+ \alpha = \sum_- \alpha = 1,

and without an intercept :math:`\gamma^* \le \| \sum \alpha_i t_i x_i \|`, :math:`\sum \alpha = 1` (theory: ``margin-bracket``).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import UNIT, gamma, row_blocks, times, transposed_times
from surefit.core.integers import integers, row_scores

EXACT_ROWS = 256  # largest number of rows with uncertain scores that are evaluated in integers


class Bounds(NamedTuple):
    """Interval that encloses a bound on the margin."""

    down: float
    up: float


def margin_of(X: Any, t: np.ndarray, w: np.ndarray, b: float) -> Bounds:
    """Enclose ``min_i t_i (x_i'w + b) / |w|``, a lower bound on the maximal margin; minus infinity for ``w = 0``."""
    if not np.any(w) or not np.all(np.isfinite(w)) or not math.isfinite(b):
        return Bounds(-math.inf, -math.inf)
    scale = 2.0 ** -math.frexp(float(np.max(np.abs(w))))[1]
    w, b = w * scale, b * scale  # exact, because the factor is a power of two, except for subnormal numbers
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scores = times(X, w)
        mid = t * (scores.mid + b)
        rad = scores.rad + 4 * UNIT * (np.abs(scores.mid) + abs(b)) + (X.shape[1] + 1) * 2.0**-1070
    vague = np.flatnonzero(~(rad <= 1e-3 * np.abs(mid)) & ~(mid - rad > np.min(mid + rad)))
    if 0 < len(vague) <= EXACT_ROWS:
        v = integers(np.append(w, b))
        for i, (m, e) in zip(vague, row_scores(X[vague], v[0], True), strict=True):
            mid[i], rad[i] = _rounded(int(t[i]) * m, e + v[1])
    norm = math.sqrt(math.fsum(w * w))
    with np.errstate(invalid="ignore"):
        low, high = float(np.min(mid - rad)), float(np.min(mid + rad))
    if math.isnan(low) or math.isnan(high):  # beyond the range of floats
        return Bounds(-math.inf, math.inf)
    return Bounds(_widen(low / norm, -1), _widen(high / norm, 1))


def hull_distance(X: Any, t: np.ndarray, alpha: np.ndarray, intercept: bool) -> Bounds:
    """Enclose the upper bound given by the hull weights ``alpha``, which are normalized here."""
    if np.any(alpha < 0) or not np.all(np.isfinite(alpha)):
        return Bounds(math.inf, math.inf)
    groups = [t > 0, t < 0] if intercept else [np.ones(len(t), dtype=bool)]
    mid, rad = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for group in groups:
        rows = np.flatnonzero(group & (alpha > 0))
        if len(rows) == 0:
            return Bounds(math.inf, math.inf)
        total = math.fsum(alpha[rows])
        part = transposed_times(X[rows], t[rows] * alpha[rows])
        mid, rad = mid + part.mid / total, rad + part.rad / total + gamma(8) * np.abs(part.mid) / total
    rad = (rad + gamma(4) * np.abs(mid)) * (1 + gamma(8))
    share = 1.0 / len(groups)
    down = share * _norm(np.maximum(np.abs(mid) - rad, 0.0))
    return Bounds(max(_widen(down, -1), 0.0), _widen(share * _norm(np.abs(mid) + rad), 1))


def radius_of(X: Any) -> Bounds:
    """Enclose ``R = max_i |x_i|``."""
    with np.errstate(over="ignore", under="ignore"):
        if sparse.issparse(X):
            squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
        else:
            squares = np.concatenate([_row_squares(X[rows]) for rows in row_blocks(X.shape[0])])
    largest = float(np.max(squares))
    if not math.isfinite(largest):
        return Bounds(0.0, math.inf)
    R, slack = math.sqrt(largest), gamma(X.shape[1] + 4)
    return Bounds(max(R * (1 - slack) - 2.0**-500, 0.0), R * (1 + slack) + 2.0**-500)


def _row_squares(block: np.ndarray) -> np.ndarray:
    block = np.asarray(block, dtype=np.float64)
    return np.einsum("ij,ij->i", block, block)


def _norm(values: np.ndarray) -> float:
    largest = float(np.max(values, initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    scaled = values / largest
    return largest * math.sqrt(math.fsum(scaled * scaled))


def _rounded(m: int, e: int) -> tuple[float, float]:
    """Return ``m * 2**e`` as a float, and a bound on its rounding error."""
    size = m.bit_length()
    head = m / (1 << size) if size else 0.0
    try:
        mid = math.ldexp(head, size + e)
    except OverflowError:
        return math.copysign(math.inf, m), math.inf
    return mid, 2 * UNIT * abs(mid) + (2.0**-1074 if m else 0.0)


def _widen(value: float, direction: int) -> float:
    """Move a number outward by more than the few rounding errors in it."""
    return value + direction * (8 * UNIT * abs(value))
