r"""Calibration maps from scores to probabilities, by maximum likelihood or least squares: small convex problems.

All logistic maps minimize :math:`\sum_i w_i [\ln \sum_k e^{z_{ik}} - \sum_k t_{ik} z_{ik}]` over scores :math:`z_i =
\sum_m \theta_m u_{mi}` with given directions :math:`u_m` and target probabilities :math:`t_i`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq, isotonic_regression

MOST_STEPS = 100
MOST_HALVINGS = 40
ROUNDING = 2.0**-52  # relative decrease of the objective that rounding hides


def one_hot(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return one-hot target probabilities, one row per code."""
    return np.eye(n_classes)[codes]


def fit_directions(
    moves: np.ndarray, targets: np.ndarray, weights: np.ndarray, start: Any, *, ridge: Any = 0.0, positive: bool = False
) -> np.ndarray:
    """Minimize over ``theta`` by Newton's method with step halving; ``moves`` has shape (parameters, rows, classes).

    The penalty ``ridge / 2 * (theta - start)**2`` is added for each parameter. ``positive`` keeps the first parameter
    positive.
    """
    start = np.asarray(start, dtype=np.float64)
    theta, ridge = start.copy(), np.broadcast_to(ridge, start.shape)
    value, p = _loss(theta, moves, targets, weights)
    value += _pull(theta, start, ridge)
    for _ in range(MOST_STEPS):
        mean = np.sum(moves * p, axis=2)
        gradient = (mean - np.sum(moves * targets, axis=2)) @ weights + ridge * (theta - start)
        centered = (moves - mean[:, :, None]) * np.sqrt(p * weights[:, None])
        flat = centered.reshape(len(theta), -1)
        step = np.linalg.lstsq(flat @ flat.T + np.diag(ridge), gradient, rcond=1e-14)[0]
        if float(gradient @ step) <= ROUNDING * abs(value):
            break
        for halving in range(MOST_HALVINGS):  # the objective is convex, so a small enough step lowers it
            trial = theta - 0.5**halving * step
            found, new = _loss(trial, moves, targets, weights)
            found += _pull(trial, start, ridge)
            if found < value and (trial[0] > 0 or not positive):
                break
        else:
            break  # down to rounding
        theta, value, p = trial, found, new
    return theta


def _pull(theta: np.ndarray, start: np.ndarray, ridge: np.ndarray) -> float:
    return float(0.5 * ridge @ (theta - start) ** 2)


def _loss(theta: np.ndarray, moves: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    z = np.tensordot(theta, moves, axes=1)
    z -= z.max(axis=1, keepdims=True)
    p = np.exp(z)
    total = p.sum(axis=1, keepdims=True)
    return float(weights @ (np.log(total[:, 0]) - np.sum(targets * z, axis=1))), p / total


def fit_factor(scores: np.ndarray, targets: np.ndarray, weights: np.ndarray, low: float, high: float) -> float:
    """Return the factor in [``low``, ``high``] that minimizes the loss of the scaled scores: the root of a monotone derivative."""

    def derivative(log_factor: float) -> float:
        p = _loss(np.array([math.exp(log_factor)]), scores[None], targets, weights)[1]
        return float(weights @ np.sum((p - targets) * scores, axis=1))

    ends = math.log(low), math.log(high)
    if derivative(ends[0]) >= 0:
        return low
    if derivative(ends[1]) <= 0:
        return high
    return min(max(math.exp(brentq(derivative, *ends, xtol=1e-15, rtol=1e-15)), low), high)


def smoothed_targets(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Platt's targets for class 1: those of data in which each class has two more rows, one of them mislabeled."""
    zero, one = np.bincount(codes, weights, minlength=2)
    return np.where(codes == 1, (one + 1.0) / (one + 2.0), 1.0 / (zero + 2.0))


def fit_sigmoid(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    r"""Return slope and intercept of :math:`P(1) = \sigma(a s + b)` fitted to Platt's smoothed targets by Newton's method."""
    second = smoothed_targets(codes, weights)
    largest = float(np.max(np.abs(scores), initial=0.0))
    scale = 2.0 ** math.floor(math.log2(largest)) if 1e-300 < largest < math.inf else 1.0  # exact to undo
    moves = np.stack([scores / scale, np.ones(len(scores))])
    odds = float(weights @ second) / float(
        weights @ smoothed_targets(1 - codes, weights)
    )  # one minus a target may be zero
    theta = np.array([0.0, math.log(odds)])
    value, p = _sigmoid_loss(theta @ moves, second, weights)
    for _ in range(MOST_STEPS):
        gradient = moves @ (weights * (p - second))
        step = np.linalg.lstsq((moves * (weights * p * (1.0 - p))) @ moves.T, gradient, rcond=1e-14)[0]
        if float(gradient @ step) <= ROUNDING * value:
            break
        for halving in range(MOST_HALVINGS):  # the objective is convex, so a small enough step lowers it
            trial = theta - 0.5**halving * step
            found, new = _sigmoid_loss(trial @ moves, second, weights)
            if found < value:
                break
        else:
            break  # down to rounding
        theta, value, p = trial, found, new
    return float(theta[0]) / scale, float(theta[1])


def _sigmoid_loss(z: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the loss of scores of the second class, and its probabilities."""
    small = np.exp(-np.abs(z))
    p = np.where(z > 0.0, 1.0, small) / (1.0 + small)
    return float(weights @ (np.log1p(small) + np.maximum(z, 0.0) - targets * z)), p


def fit_isotonic(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return knots and values of the non-decreasing function with the smallest weighted sum of squares (pool adjacent violators)."""
    used = weights > 0
    knots, place = np.unique(scores[used], return_inverse=True)
    mass = np.bincount(place, weights[used])
    means = np.bincount(place, weights[used] * codes[used]) / mass
    values = np.maximum.accumulate(np.clip(isotonic_regression(means, weights=mass).x, 0.0, 1.0))
    inner = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])  # a constant piece needs only its two ends
    kept = np.concatenate([[True], ~inner, [True]]) if len(knots) > 1 else np.ones(1, dtype=bool)
    return knots[kept], values[kept]
