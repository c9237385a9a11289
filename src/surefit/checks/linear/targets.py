"""Targets and weights of rows in the form of the gap theorem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, gamma, upper_sum
from surefit.checks.gap import rows as row_loops
from surefit.checks.gap.losses import strong_convexity
from surefit.checks.gap.squared_loops import PART, squares_about
from surefit.problems.labels import class_codes, indicators

ROUNDING = 256 * UNIT  # of scores of the size of the targets; no smaller gap can be required


def row_targets(
    problem: dict[str, Any], n: int, y: np.ndarray, weights: np.ndarray | None, total: float | None = None
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the targets and weights of ``n`` rows; ``total`` is the weight of all rows if these are only a part."""
    ones, weights = weights is None, np.ones(n) if weights is None else weights
    if problem["mean"]:
        total = (float(n) if ones else math.fsum(weights)) if total is None else total  # a sum of ones is exact
        weights = weights / total
    if problem["classes"] is None:
        Y = np.asarray(y, dtype=np.float64).reshape(n, -1)
        return list(Y.T), weights
    codes = class_codes(y, problem["classes"])
    positives = [1] if len(problem["classes"]) == 2 else range(len(problem["classes"]))
    other = 0.0 if problem.get("indicators") else -1.0
    return [indicators(codes, k, other) for k in positives], weights * np.asarray(problem["class_weights"])[codes]


def constant_objective(
    loss: Any, y: np.ndarray, c: np.ndarray, intercept: bool, known: np.ndarray | None = None
) -> tuple[float, float, float]:
    """Return the objective of the best constant, its rounding, and the effect of rounding of the scores."""
    size = ROUNDING * (1 + float(max(y.max(initial=0.0), -y.min(initial=0.0))))
    if not intercept:
        offset = 0.0
    elif strong_convexity(loss) > 0.0 and known is None:
        offset = _mean(y, c)
    else:
        offset = row_loops.best_offset(loss, y, c, np.zeros(len(y)) if known is None else known)
    return rounded(constant_sums(loss, y, c, offset, size, known), offset)


def _mean(y: np.ndarray, c: np.ndarray) -> float:
    """Return the weighted mean; that of the differences from a first mean corrects its rounding."""
    offset = 0.0
    for _ in range(2):
        total, _, weight = squares_about(y, c, offset)
        offset += total / weight if weight > 0.0 else 0.0
    return offset


def constant_sums(
    loss: Any, y: np.ndarray, c: np.ndarray, offset: float, size: float, known: np.ndarray | None = None
) -> np.ndarray:
    """Return losses of a constant score, plain and rounded up, the effect of changes by ``size``, and the weight."""
    h = strong_convexity(loss)
    if h > 0.0 and known is None:  # half the squared error times h
        _, squares, weight = squares_about(y, c, offset)
        up = 1 + 2 * gamma(min(len(y), PART) + len(y) // PART + 8)
        other = weight * (size * (1 + 1 / 32)) ** 2 * up
        return np.array([0.5 * h * squares, 0.5 * h * squares * up, 0.5 * h * other, weight * up])
    scores = np.full(len(y), float(offset)) if known is None else known + offset
    return np.array([*row_loops.constant_sums(loss, y, c, scores, size), upper_sum(c)])


def rounded(sums: np.ndarray, offset: float) -> tuple[float, float, float]:
    """Return the objective, its rounding (including that of the best constant), and the effect of score rounding."""
    plain, upper, other, weight = sums.tolist()
    return plain, upper - plain + 64 * UNIT * (upper + abs(offset) * weight), other
