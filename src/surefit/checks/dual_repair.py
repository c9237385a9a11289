r"""Dual points that meet their equality: sums made zero, the best offset, and orthogonality to unpenalised columns."""

import math

import numpy as np
from scipy import sparse

from surefit.checks.score_losses import dual_numbers

#: Share of the sum of absolute terms that counts as zero where least squares solved an equation.
REMAINDER = 1e-9


def balanced(theta: np.ndarray, c: np.ndarray, largest: float) -> tuple[np.ndarray, int, float]:
    """Make the sum zero: rows between their bounds share the remainder, or the heavier side is scaled if they cannot.

    Returns the new vector, a row that has room, and what is still to be added to it because of rounding.
    """

    def room(values: np.ndarray) -> np.ndarray:
        inside = np.abs(values)
        return np.minimum(inside, largest * c - inside) if np.isfinite(largest) else inside

    remainder, spare = -math.fsum(theta), room(theta)
    total = math.fsum(spare)
    if total >= 4 * abs(remainder) > 0.0:
        theta = theta + spare * (remainder / total)
    elif remainder != 0.0:
        up, down = math.fsum(theta[theta > 0]), -math.fsum(theta[theta < 0])
        ratio = min(up, down) / max(up, down)
        theta = np.where((theta > 0) == (up > down), theta * ratio, theta)
    remainder = -math.fsum(theta)
    spare = room(theta)
    receiver = int(np.argmax(spare))
    if remainder != 0.0 and spare[receiver] < 2 * abs(remainder):
        return theta, receiver, math.inf
    return theta, receiver, remainder


def best_offset(problem, y, c, scores, start: float) -> float:
    """Offset at which the dual numbers sum to zero, by bisection: they fall as the offset grows."""

    def total(b: float) -> float:
        return float(np.sum(c * dual_numbers(problem, y, scores + b)))

    size = float(np.sum(np.abs(c * dual_numbers(problem, y, scores + start))))
    if abs(total(start)) <= 1e-15 * size:
        return start
    step = 1e-6 * (1 + abs(start))
    low, high = start - step, start + step
    while total(low) < 0 and step < 1e6:
        step *= 4
        low = start - step
    while total(high) > 0 and step < 1e12:
        step *= 4
        high = start + step
    for _ in range(80):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if total(middle) > 0 else (low, middle)
    return 0.5 * (low + high)


def orthogonal(X, c, z, theta, free) -> np.ndarray:
    """Remove from theta what the columns explain: without a penalty the dual constraint is an equality."""
    e = np.exp(-np.abs(z))
    curvature = np.sqrt(c * e / (1.0 + e) ** 2)
    Z = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    Z = np.hstack([Z, np.ones((len(c), 1))]) if free else Z
    scale = np.sqrt(np.sum((curvature[:, None] * Z) ** 2, axis=0))
    Z = curvature[:, None] * Z / np.where(scale > 0, scale, 1.0)
    used = curvature > 0
    for _ in range(2):  # twice: the first time coefficients, and with them their rounding, may be large
        goal = np.divide(theta, curvature, out=np.zeros(len(c)), where=used)
        theta = np.where(used, curvature * (goal - Z @ np.linalg.lstsq(Z, goal, rcond=None)[0]), theta)
    return theta


def solved(X, v, theta, free) -> bool:
    """Whether ``v``, the columns times theta, is zero up to rounding, and so is the sum of theta if an intercept is free."""
    size = np.abs(theta)
    sums = np.asarray(abs(X).T @ size).reshape(np.shape(v))
    small = bool(np.all(np.abs(v) <= REMAINDER * sums))
    return small and (not free or abs(float(np.sum(theta))) <= REMAINDER * float(np.sum(size)))
