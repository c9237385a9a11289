r"""Lower and upper bounds on margins of augmented rows :math:`\hat x = (x, c)`.

Any weights bound the largest margin from below, and any :math:`\alpha \ge 0` bounds it from above:

.. math::

    \min_i \frac{t_i \hat w^\top \hat x_i}{\|\hat w\|} \;\le\; \gamma^* \;\le\;
    \frac{\|\sum_i \alpha_i t_i \hat x_i\|}{\sum_i \alpha_i}.

Rounding is bounded by norms: the computed :math:`x^\top w` has an error of at most :math:`\gamma_{d+2} \|x\| \|w\|`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import BLOCK, UNIT, Bound, gamma, rounded_sum, row_blocks
from surefit.core.sample import Data

SUBNORMAL = 2.0**-1074  # largest rounding error of a product that underflows


def squared_lengths(data: Data, beta: float) -> np.ndarray:
    """Return upper bounds on ``|x_i|^2 + beta``."""
    squares = _squares(data) * (1 + gamma(data.X.shape[1] + 3)) + 2.0**-1000
    return (squares + beta) * (1 + 2 * UNIT)


def longest_square(data: Data, beta: float) -> float:
    """Return a lower bound on the largest ``|x_i|^2 + beta``."""
    d = data.X.shape[1]
    largest = float(np.max(_squares(data), initial=0.0)) * (1 - gamma(d + 3)) - d * SUBNORMAL
    return max(largest + beta, 0.0) * (1 - 4 * UNIT)


def _squares(data: Data) -> np.ndarray:
    if "squares" not in data.memo:
        X, squares = data.X, np.empty(data.X.shape[0])
        for here in row_blocks(len(squares)):
            part = X[here]
            if sparse.issparse(part):
                squares[here] = np.asarray(part.multiply(part).sum(axis=1), dtype=np.float64).ravel()
            else:
                part = np.asarray(part, dtype=np.float64)
                squares[here] = np.einsum("ij,ij->i", part, part)
        data.memo["squares"] = squares
    return data.memo["squares"]


def lowest_margin(
    data: Data, t: np.ndarray, w: np.ndarray, b: float, norm: float, scale: Any = None, used: Any = None
) -> Bound:
    """Bound ``min_i t_i (x_i'w + b) / (norm scale_i)`` from below, over the rows in ``used`` (default: all)."""
    if not 0.0 < norm < math.inf:
        raise ValueError("the weights are zero and have no margin")
    mid = t * (np.asarray(data.X @ w, dtype=np.float64).ravel() + b)
    rad = gamma(data.X.shape[1] + 6) * (norm_of(w, 0.0, 0.0) * np.sqrt(squared_lengths(data, 0.0)) + abs(b))
    rad += (data.X.shape[1] + 2) * SUBNORMAL
    if scale is not None:
        mid, rad = mid / scale, rad / scale + gamma(data.X.shape[1] + 8) * np.abs(mid / scale)
    if used is not None:
        mid, rad = mid[used], rad[used]
    low, rounding = float(np.min(mid - rad)) / norm, float(np.max(rad)) / norm
    rounding += 16 * UNIT * abs(low)
    return Bound(low - 16 * UNIT * abs(low), rounding)


def norm_of(w: np.ndarray, b: float, beta: float) -> float:
    """Return the norm of augmented weights; squares of small weights do not underflow."""
    return math.hypot(*w.tolist(), b / math.sqrt(beta) if beta else 0.0)


def sum_of_rows(data: Data, s: np.ndarray, relative: float = 0.0) -> tuple[np.ndarray, float]:
    """Return ``sum_i s_i x_i`` and a bound on the norm of its error; ``relative`` is the relative error of ``s``."""
    total, pieces = np.zeros(data.X.shape[1]), row_blocks(len(s))
    for here in pieces:
        total += np.asarray(s[here] @ data.X[here], dtype=np.float64).ravel()
    size = float(np.abs(s) @ np.sqrt(squared_lengths(data, 0.0))) * (1 + gamma(len(s) + 4))
    return total, (gamma(min(BLOCK, len(s)) + len(pieces) + 4) + relative) * size


def hull_length(data: Data, s: np.ndarray, beta: float, relative: float = 0.0) -> Bound:
    """Bound ``|sum_i s_i (x_i, c)| / sum_i |s_i|`` from above; ``relative`` is the relative error of ``s``."""
    mass = rounded_sum(np.abs(s))
    if not 0 < mass < math.inf:
        raise ValueError("the weights of the rows must be finite and not all zero")
    scale = -math.frexp(mass)[1]  # a power of two, so that products of small steps and small rows do not underflow
    s, mass, shift = np.ldexp(s, scale), math.ldexp(mass, scale), math.ldexp(rounded_sum(s), scale)
    z, rad = sum_of_rows(data, s, relative)
    shift_rad = (relative + 4 * UNIT) * mass
    size = math.hypot(*z.tolist(), math.sqrt(beta) * shift)
    wiggle = math.hypot(rad, math.sqrt(beta) * shift_rad)
    value = (size + wiggle) / mass * (1 + 16 * UNIT + 2 * relative)
    return Bound(value, wiggle / mass + (16 * UNIT + 2 * relative) * value)


def most_updates(
    steps: tuple[float, float], threshold: float, radius_square: float, margin: Bound, start: Any
) -> Bound:
    r"""Bound the number of updates for any start (Novikoff): the largest k with :math:`k A + a \le \sqrt{s^2 + k B}`.

    ``start`` contains the squared norm of the initial weights and their component along the final ones.
    """
    slightly_less = margin.value - 2.5 * margin.spread
    if slightly_less <= 0:
        raise ValueError("the margin is not provably positive")
    found = [_most(steps, threshold, radius_square, gamma_low, start) for gamma_low in (margin.value, slightly_less)]
    return Bound(found[0] * (1 + 64 * UNIT), found[1] - found[0] + 256 * UNIT * found[1])


def _most(steps: Any, threshold: float, radius_square: float, margin: float, start: Any) -> float:
    square, along = start
    A = min(steps) * margin
    B = max(steps) ** 2 * radius_square + 2 * max(steps) * threshold
    head = B - 2 * along * A
    root = math.sqrt(head * head + 4 * A * A * max(square - along * along, 0.0))
    return (head + root) / (2 * A * A)


def start_and_component(start: np.ndarray, w: np.ndarray, b: Any, beta: float) -> tuple[float, float]:
    """Return the squared norm of the initial weights and their component along the final ones, safely rounded."""
    if not np.any(start):
        return 0.0, 0.0
    square = math.fsum(start[..., :-1].ravel() ** 2) + (math.fsum(start[..., -1].ravel() ** 2) / beta if beta else 0.0)
    norm = math.sqrt(math.fsum(w.ravel() ** 2) + (math.fsum(np.ravel(b) ** 2) / beta if beta else 0.0))
    inner = math.fsum((start[..., :-1] * w).ravel()) + (math.fsum(np.ravel(start[..., -1] * b)) / beta if beta else 0.0)
    rounding = 32 * UNIT * math.sqrt(square)
    return square * (1 + 16 * UNIT), inner / norm - rounding


def slack_of(data: Data, beta: float, start: np.ndarray, steps: float) -> float:
    """Bound the difference between two orders of summing a score, for weights that changed by ``steps`` rows."""
    longest = math.sqrt(float(np.max(squared_lengths(data, beta), initial=0.0)))
    size = float(np.linalg.norm(start)) * (1 + 1 / math.sqrt(beta) if beta else 1.0) + steps * longest
    return 8 * (data.X.shape[1] + 8) * UNIT * longest * size * (1.0 + math.sqrt(beta))
