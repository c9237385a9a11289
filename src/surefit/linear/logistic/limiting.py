r"""Limiting logistic fit for separable classes, for which the likelihood has no finite maximum.

Along a separating direction :math:`V` the probabilities of the separated rows tend to one, and the likelihood tends to
that of the remaining comparisons: row :math:`i` is compared only with the classes :math:`k` that tie with its own along
:math:`V`. The remaining comparisons may be separable again. The recursion ends with a finite maximum, or with no
comparison (complete separation). The limiting model decides lexicographically: first by the directions, then by the
finite coefficients.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

UNIT = 2.0**-53
MOST_LEVELS = 20
MOST_STEPS = 100


class Limit(NamedTuple):
    """Directions in order of precedence, each with one row per class and the intercept last, and the finite part."""

    directions: np.ndarray  # (levels, classes, features + 1)
    finite: np.ndarray  # (classes, features + 1), the last class zero
    complete: bool  # no comparison is left for the finite part


def limiting_fit(
    X, codes: np.ndarray, weights: np.ndarray, n_classes: int, intercept: bool, first: np.ndarray, separate
) -> Limit:
    """Return the limiting fit; ``separate`` returns a separating direction of given difference rows, or None."""
    A = augmented(X, intercept)
    alive = np.ones((A.shape[0], n_classes), dtype=bool)
    levels: list[np.ndarray] = []
    direction: np.ndarray | None = first
    while direction is not None and len(levels) < MOST_LEVELS:
        levels.append(direction / max(float(np.max(np.abs(direction))), np.finfo(float).tiny))
        before = int(alive.sum())
        alive &= ties(A, levels[-1], alive)
        open_rows = np.flatnonzero(alive.sum(axis=1) > 1)
        if len(open_rows) == 0 or int(alive.sum()) == before:
            break
        direction = separate(difference_rows(A[open_rows], codes[open_rows], alive[open_rows]))
        direction = (
            None if direction is None else np.vstack([direction.reshape(n_classes - 1, -1), np.zeros((1, A.shape[1]))])
        )
    open_rows = np.flatnonzero(alive.sum(axis=1) > 1)
    finite = np.zeros((n_classes, A.shape[1]))
    if len(open_rows):
        finite = maximum_likelihood(A[open_rows], codes[open_rows], weights[open_rows], alive[open_rows])
    return Limit(np.array(levels), finite, len(open_rows) == 0)


def augmented(X, intercept: bool) -> np.ndarray:
    """Return dense rows with a last column of ones, or of zeros without an intercept."""
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    return np.column_stack([dense, np.full(len(dense), 1.0 if intercept else 0.0)])


def ties(A: np.ndarray, direction: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Return a mask of the remaining classes whose score along ``direction`` is the largest up to rounding."""
    scores = np.where(alive, A @ direction.T, -np.inf)
    rounding = 64 * UNIT * A.shape[1] * (np.abs(A) @ np.abs(direction).T).max(axis=1, keepdims=True)
    return scores >= scores.max(axis=1, keepdims=True) - rounding


def difference_rows(A: np.ndarray, codes: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Return the rows ``x (e_y - e_k)`` for every remaining wrong class k; the last class has zero coefficients."""
    K, m = alive.shape[1], A.shape[1]
    rows, wrong = np.nonzero(alive & (np.arange(K) != codes[:, None]))
    lifted = np.zeros((len(rows), K, m))
    lifted[np.arange(len(rows)), codes[rows]] = A[rows]
    lifted[np.arange(len(rows)), wrong] -= A[rows]
    return lifted[:, : K - 1].reshape(len(rows), -1)


def maximum_likelihood(A: np.ndarray, codes: np.ndarray, weights: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Maximize the multinomial likelihood of the remaining classes by Newton's method with minimum-norm steps."""
    m = A.shape[1]
    K = alive.shape[1]
    size = np.maximum(np.max(np.abs(A), axis=0), np.finfo(float).tiny)
    A = A / size
    theta, own = np.zeros((K, m)), np.arange(K) == codes[:, None]
    value, P = _likelihood(A, own, weights, alive, theta)
    for _ in range(MOST_STEPS):
        gradient = ((own - P) * weights[:, None]).T @ A
        H = np.zeros((K, m, K, m))
        for k in range(K):
            for j in range(K):
                curvature = weights * P[:, k] * ((k == j) - P[:, j])
                H[k, :, j] = (A * curvature[:, None]).T @ A
        free = (K - 1) * m
        step = np.zeros((K, m))
        flat = np.linalg.lstsq(H[: K - 1, :, : K - 1].reshape(free, free), gradient[: K - 1].ravel(), rcond=1e-13)[0]
        step[: K - 1] = flat.reshape(K - 1, m)
        rise, length = float(np.sum(gradient * step)), 1.0
        while True:
            other, Q = _likelihood(A, own, weights, alive, theta + length * step)
            decided = rise <= 1e-11 * abs(
                value
            )  # smaller changes of the likelihood are rounding, so take the Newton step
            if decided or other >= value + 1e-4 * length * rise or length < 1e-10:
                break
            length /= 2
        theta, value, P = theta + length * step, other, Q
        if rise <= 1e-15 * (abs(value) + 1e-300):
            break
    return theta / size


def _likelihood(A, own, weights, alive, theta) -> tuple[float, np.ndarray]:
    scores = np.where(alive, A @ theta.T, -np.inf)
    logs = scores - logsumexp(scores, axis=1, keepdims=True)
    return float(weights @ np.where(own, logs, 0.0).sum(axis=1)), np.exp(logs)


def limiting_scores(model: Any, X, scores: np.ndarray) -> np.ndarray:
    """Replace the scores decided by a direction: minus infinity if excluded (two classes: plus or minus infinity)."""
    A = augmented(X, True)
    lines = model.diverging_coef_.shape[1]
    F = scores if lines > 1 else np.column_stack([np.zeros(len(scores)), scores])
    alive = np.ones(F.shape, dtype=bool)
    for coef, offset in zip(model.diverging_coef_, model.diverging_intercept_, strict=True):
        direction = np.column_stack([coef, offset])
        direction = direction if lines > 1 else np.vstack([np.zeros(direction.shape), direction])
        alive &= ties(A, direction, alive)
    if lines > 1:
        return np.where(alive, F, -np.inf)
    return np.where(alive.all(axis=1), scores, np.where(alive[:, 1], np.inf, -np.inf))
