r"""Positive combinations of rows that vanish: the proof that no direction has all rows on its positive side.

Write :math:`a_i = t_i (x_i, 1)` for a labeled row. If :math:`\sum_i \alpha_i a_i = 0` with all :math:`\alpha_i > 0` on
some rows, then a direction :math:`v` with :math:`a_i^\top v \ge 0` there has :math:`a_i^\top v = 0` there (theory:
``gordan``). A small sum is not sufficient, so the sum must vanish exactly. There are two ways to prove this:

- ``exact``: the weights are integers and the sum is evaluated in integers;
- ``enclosed``: on :math:`p + 1` rows in :math:`p` dimensions, :math:`M \alpha = e` with :math:`M = (a_i; 1)`, floats prove that
  :math:`M` is invertible and that the exact solution is positive, although it is not computed exactly.
"""

import math
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import UNIT, gamma
from surefit.core.integers import integers, lifted_integers, rank_at_least, signs, vector


class Combination(NamedTuple):
    """Proved properties of a combination of rows."""

    residual: float  # |sum alpha a| / sum alpha; zero only if it vanishes exactly
    level: str
    spanned: int  # proved lower bound on the rank of the rows


def prove_combination(
    X: Any, t: np.ndarray, intercept: bool, rows: np.ndarray, weights: np.ndarray | None
) -> Combination:
    """Check that a positive combination of ``rows`` vanishes; without weights, that one exists."""
    if len(rows) == 0 or len(np.unique(rows)) < len(rows) or rows.min() < 0 or rows.max() >= X.shape[0]:
        return Combination(math.inf, "exact", 0)
    if weights is None:
        found, rank = _vanishing_by_floats(X[rows], t[rows], intercept)
        return Combination(0.0 if found else math.inf, "enclosed", rank)
    alpha = vector(weights)
    if len(alpha) != len(rows) or min(alpha) <= 0:
        return Combination(math.inf, "exact", 0)
    lifted, _, exponents = lifted_integers(X[rows], t[rows], intercept)
    sums = [sum(map(mul, alpha, column)) for column in zip(*lifted, strict=True)]
    if any(sums):
        return Combination(_norm(sums, exponents, sum(alpha)), "exact", 0)
    return Combination(0.0, "exact", rank_at_least(lifted))


def annihilates(X: Any, null: np.ndarray, intercept: bool) -> int:
    """Return how many independent directions of ``null`` (one per line) are zero on every row of ``X``, exactly."""
    vectors = [vector(line) for line in null]
    p = X.shape[1] + int(intercept)
    if any(len(v) != p for v in vectors) or any(signs(X, v, intercept)[0].any() for v in vectors):
        return 0
    return rank_at_least(vectors)


def _norm(sums: list[int], exponents: list[int], total: int) -> float:
    """Return the length of the sum per unit of weight, rounded to a float but never to zero."""
    parts = [abs(Fraction(s, total) * Fraction(2) ** e) for s, e in zip(sums, exponents, strict=True)]
    largest = max(parts)
    try:
        size = float(largest) * math.sqrt(math.fsum(float(part / largest) ** 2 for part in parts))
    except OverflowError:
        return math.inf
    return max(size, math.ulp(0.0))


def _vanishing_by_floats(X: Any, t: np.ndarray, intercept: bool) -> tuple[bool, int]:
    """Prove in floats that p + 1 rows in p dimensions have a positive vanishing combination and span the space."""
    dense = X.toarray().astype(np.float64) if sparse.issparse(X) else np.array(X, dtype=np.float64)
    lifted = np.column_stack([dense, np.ones(len(dense))]) if intercept else dense
    lifted = lifted * t[:, None]
    k, p = lifted.shape
    if k != p + 1 or not np.all(np.isfinite(lifted)):
        return False, 0
    # Positive factors for rows and columns do not change either property; powers of two keep every number exact.
    for axis in (0, 1, 0):
        largest = np.max(np.abs(lifted), axis=axis, keepdims=True)
        if not largest.all():
            return False, 0
        shift = -np.frexp(largest)[1]
        if np.min((np.frexp(lifted)[1] + shift)[lifted != 0]) < -1000:
            return False, 0  # entries so small, relative to others, that scaling would lose bits
        lifted = np.ldexp(lifted, shift)
    M = np.vstack([lifted.T, np.ones(k)])
    try:
        R = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return False, 0
    with np.errstate(over="ignore", invalid="ignore"):
        defect = np.abs(R @ M - np.eye(k)) + gamma(2 * k + 8) * (np.abs(R) @ np.abs(M) + 1)
        q = float(np.max(np.sum(defect, axis=1))) * (1 + gamma(k + 2))
        if not q < 0.5:  # also catches NaN
            return False, 0
        alpha = R[:, -1]
        goal = np.zeros(k)
        goal[-1] = 1.0
        alpha = alpha + R @ (goal - M @ alpha)  # one refinement step; its error is bounded below
        leftover = np.array([_exact_residual(M[i], alpha, goal[i]) for i in range(k)])
        error = float(np.max(np.abs(R) @ leftover)) * (1 + gamma(2 * k + 8)) / (1 - q) * (1 + 8 * UNIT)
    positive = bool(np.all(alpha > error))
    return positive, p


def _exact_residual(row: np.ndarray, alpha: np.ndarray, goal: float) -> float:
    """Return the absolute value of ``row . alpha - goal``, computed exactly and rounded up."""
    a, e = integers(row)
    b, f = integers(alpha)
    total = Fraction(sum(map(mul, a, b))) * Fraction(2) ** (e + f) - Fraction(goal)
    return abs(float(total)) * (1 + 4 * UNIT) + math.ulp(0.0)
