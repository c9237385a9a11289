"""Evaluation of a dual vector: best intercept, primal objective and gap; hard margins by scaling."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.threads import sum_blocks
from surefit.solvers.smo.gaussian_rows import PIECE, GaussianRows, share_of
from surefit.solvers.smo.problem import BoxProblem, best_offsets, row_gaps
from surefit.solvers.smo.rows import LinearRows, StoredRows

UNIT = 2e-16
NOISE = 0.1 * UNIT  # rounding error of a score relative to the kernel times the dual vector, allowing for cancellation


class Point(NamedTuple):
    """Dual vector with its primal objective and gap. For a hard margin, ``scale`` makes its primal point feasible."""

    beta: np.ndarray
    scores: np.ndarray  # K beta, in float64
    b: float
    interval: tuple[float, float]  # all best intercepts
    gap: float
    primal: float
    dual: float
    scale: float = 1.0


def combine(gram, beta: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return ``K beta`` in float64, from the rows with non-zero weights; identical for any ``n_jobs``."""
    if isinstance(gram, (LinearRows, StoredRows)):
        return gram.times(beta)
    if isinstance(gram, GaussianRows):
        return gram.times(beta, n_jobs)
    support = np.flatnonzero(beta)
    step = max(1, PIECE // (8 * gram.n))

    def add(first, last):
        scores = np.zeros(gram.n)
        for start in range(first, last, step):
            part = support[start : min(start + step, last)]
            scores += beta[part] @ gram.block(part)
        return scores

    return sum_blocks(add, len(support), share_of(len(support), step), n_jobs) + np.zeros(gram.n)


def evaluate(problem: BoxProblem, beta: np.ndarray, scores: np.ndarray) -> Point:
    """Return the point of a dual vector: best intercept, primal objective and gap."""
    if problem.hard:
        return _evaluate_hard(problem, beta, scores)
    g = problem.y - scores
    low, high = best_offsets(problem, g)
    b = 0.5 * (low + high)
    gap = float(np.sum(row_gaps(g, beta, problem.low, problem.high, problem.epsilon, b)))
    dual = float(problem.y @ beta) - problem.epsilon * float(np.abs(beta).sum()) - 0.5 * float(beta @ scores)
    return Point(beta, scores, b, (low, high), gap, dual + gap, dual)


def _evaluate_hard(problem: BoxProblem, beta: np.ndarray, scores: np.ndarray) -> Point:
    r"""Scale ``(K beta, b)`` so that the smallest margin is one.

    If all margins are at least :math:`m > 0`, dividing by m is feasible, with primal objective at most :math:`\|w\|^2 / (2 m^2)`. The
    dual is largest at the multiple :math:`\sum\alpha / \|w\|^2` of beta, where it is :math:`(\sum\alpha)^2 / (2\|w\|^2)`.
    """
    g, positive = problem.y - scores, problem.y > 0
    b, m = 0.0, 1.0 - float(np.max(problem.y * g, initial=-np.inf))
    if problem.offset:
        top, bottom = float(np.max(g[positive])), float(np.min(g[~positive]))
        b, m = 0.5 * (top + bottom), 1.0 - 0.5 * (top - bottom)
    square, total = float(beta @ scores), float(problem.y @ beta)
    if m <= 0.0 or square <= 0.0:
        dual = (total / square) * (0.5 * total) if square > 0.0 else 0.0  # a square could overflow
        return Point(beta, scores, b, (b, b), math.inf, math.inf, dual)
    dual, primal = (total / square) * (0.5 * total), square / (2 * m * m)
    return Point(beta, scores, b, (b, b), max(primal - dual, 0.0), primal, dual, 1.0 / m)


def in_noise(problem: BoxProblem, point: Point, largest: float) -> bool:
    """Return whether the gap is within the rounding error of the scores, so that it cannot be reduced."""
    bounds = float(np.sum(np.maximum(problem.high, -problem.low)))
    return 0.0 < point.gap <= NOISE * largest * float(np.linalg.norm(point.beta)) * bounds


def quick_gap(problem: BoxProblem, beta, g, low, high, best: float, least: float) -> float:
    """Return an upper bound on the gap of the active rows without sorting: the intercept is the midpoint of the derivatives."""
    if problem.hard:
        m = 1.0 - (0.5 * (best - least) if problem.offset else max(best, -least))
        square = float(beta @ (np.sign(high + low) - g))
        total = float(np.abs(beta).sum())
        return math.inf if m <= 0.0 or square <= 0.0 else square / (2 * m * m) - total**2 / (2 * square)
    b = 0.5 * (best + least) if problem.offset else 0.0
    return float(np.sum(row_gaps(g, beta, low, high, problem.epsilon, b)))
