r"""Rows of the simplex as dual points of the multinomial loss, and their divergences, including rounding errors.

For rows :math:`Q_i` of the simplex and :math:`\theta = c (Y - Q)`, with zero column sums if the intercepts are free,

.. math:: P - \min P \le \tfrac12 \sum_k \|f_k - g_k\|^2 + \sum_i c_i\, \mathrm{KL}(Q_i \,\|\, P_i), \qquad
          g_k = \sum_i \theta_{ik} k(x_i, \cdot) .

:math:`Q` is the softmax at the model's scores, mixed with one constant row that makes the sums exact. Each entry is
known up to a radius. The bound includes this radius, because :math:`q \ln(q/p) - q + p` is convex in :math:`q` and at
most :math:`(q - p)^2 / p` (theory: ``kernel-softmax-gap``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, Enclosed, upper_sum

SWEEPS = 30  # number of alternating scalings of columns and rows


def indicators(codes: np.ndarray, count: int) -> np.ndarray:
    """Return one indicator vector per label."""
    Y = np.zeros((len(codes), count))
    Y[np.arange(len(codes)), codes] = 1.0
    return Y


def with_column_sums(Q: np.ndarray, Y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return rows near ``Q`` whose weighted column sums are those of ``Y``.

    Columns and rows are scaled alternately, which keeps small entries small. The remaining difference is mixed in as
    one constant row.
    """
    goal, total = c @ Y, float(c.sum())
    for _ in range(SWEEPS):
        q = c @ Q
        if not np.all(q > 0) or np.max(np.abs(q - goal)) <= 8 * UNIT * total:
            break
        Q = Q * (goal / q)
        Q = Q / Q.sum(axis=1, keepdims=True)
    q = c @ Q
    share = float(np.max(np.maximum(q - goal, 0.0) / np.where(q > 0, q, 1.0)))
    if share == 0.0:
        return Q
    return (1.0 - share) * Q + (goal - (1.0 - share) * q)[None, :] / total


def log_probabilities(F: Enclosed, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms of the softmax of ``F + b``, and bounds on their errors."""
    Z = F.mid + b
    log_p = Z - Z.max(axis=1, keepdims=True)
    log_p = log_p - np.log(np.exp(log_p).sum(axis=1, keepdims=True))
    size = np.abs(F.mid) + np.abs(b) + np.abs(Z - Z.max(axis=1, keepdims=True)) + np.abs(log_p)
    own = np.max(F.rad + 8 * UNIT * size, axis=1, keepdims=True)
    return log_p, np.broadcast_to(2 * own + (4 * F.mid.shape[1] + 64) * UNIT, Z.shape)


def divergences(Q: np.ndarray, moved: np.ndarray, log_p: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Bound ``q ln(q/p) - q + p`` for all q within ``moved`` of ``Q`` and ``ln p`` within ``off`` of ``log_p``."""
    P, low, high = np.exp(log_p), np.maximum(Q - moved, 0.0), Q + moved
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        grown = 2 * np.expm1(off)
        near = (np.abs(Q - P) + moved + P * grown) ** 2 / (P * np.exp(-2 * off))
        ends = [np.where(q > 0.0, q * (np.log(q) - log_p), 0.0) for q in (low, high)]
        size = np.maximum(np.abs(ends[0]), np.abs(ends[1])) + high + P
        far = np.maximum(*ends) + off * high - low + P * (1 + grown) + 16 * UNIT * size
    near, far = (np.where(np.isnan(part), np.inf, part) for part in (near, far))
    return np.minimum(near, np.maximum(far, 0.0)) * (1 + 64 * UNIT) + np.finfo(np.float64).tiny


def divergence(c: np.ndarray, Q: np.ndarray, moved: np.ndarray, log_p: np.ndarray, off: np.ndarray) -> Bound:
    """Bound the weighted sum of the divergences; the spread covers the logarithms of another evaluation."""
    value, widest = (
        upper_sum(c * np.sum(divergences(Q, times * moved, log_p, times * off), axis=1)) * (1 + 64 * UNIT)
        for times in (1, 3)
    )
    return Bound(value, widest - value + 64 * UNIT * value)


def simplex_moves(P: np.ndarray, Y: np.ndarray, c: np.ndarray, offset: bool) -> np.ndarray | None:
    """Bound the entrywise distance from ``P`` to rows of the simplex with the right sums; None if there are none."""
    moved = row_moves(P)
    if not offset:
        return moved
    lacking, noise, sums = column_sums(P, Y, c, moved)
    constant = constant_row(lacking, noise, sums, math.fsum(c))
    return None if constant is None else mixed_moves(P, moved, *constant)


def row_moves(P: np.ndarray) -> np.ndarray:
    """Bound the entrywise distance from ``P`` to rows with sums of exactly one."""
    slip = np.abs(P.sum(axis=1, keepdims=True) - 1.0) + 2 * (P.shape[1] + 4) * UNIT
    return P * slip * (1 + 2 * slip)


def column_sums(P: np.ndarray, Y: np.ndarray, c: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the missing amounts of the weighted column sums of ``P``, their errors, and the sums."""
    lacking = np.array([math.fsum(column) for column in (c[:, None] * (Y - P)).T])
    noise = np.array([upper_sum(c * column) for column in (moved + 4 * UNIT * (Y + P)).T])
    return lacking, noise, np.array([math.fsum(c * column) for column in P.T])


def constant_row(lacking: Any, noise: Any, sums: Any, total: float) -> tuple[float, np.ndarray] | None:
    """Return weight and entries of a constant row whose admixture makes the sums exact; None if there is none."""
    least = (sums - noise) * (1 - 8 * UNIT)
    if not np.all(least > 0.0):
        return None
    share = float(np.max(np.maximum(noise - lacking, 0.0) / least)) * (1 + 8 * UNIT)
    constant = (np.abs(lacking) + noise + share * (sums + noise)) / total * (1 + 16 * UNIT)
    return (share, constant) if share < 1.0 else None


def mixed_moves(P: np.ndarray, moved: np.ndarray, share: float, constant: np.ndarray) -> np.ndarray:
    """Bound the distance of the rows from ``P`` after mixing in a constant row."""
    return (moved + share * (P + moved) + constant) * (1 + 16 * UNIT)
