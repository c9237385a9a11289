r"""Dual points that are exactly orthogonal to unpenalized columns.

Floating-point numbers rarely satisfy an equality, but a nearby point that does can be proved to exist. For columns
:math:`F` and weights :math:`D` of rows, the point :math:`\theta - DF(F^\top DF)^{-1}F^\top\theta` is orthogonal to
them. With :math:`T` such that :math:`B = \sqrt D F T` is nearly orthonormal, :math:`\|B^\top B - I\|` and the rounding
of :math:`B` bound the distance of that point from the computed one. The change may be restricted to some rows (:math:`D
= 0` elsewhere), which requires one pass over the data for :math:`F^\top\theta` and a factorization for those rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from surefit.checks.enclosure import UNIT, frobenius, gamma, row_lengths

LARGEST = 5e7  # largest number of entries of the free columns as a dense matrix
FEW = 2e7  # rows times squared columns up to which all rows are changed
ROWS_PER_COLUMN = 20  # number of changed rows otherwise
STEPS = 3  # of iterative refinement
TINY = 1e-290  # bound on the loss of a product by underflow


class Frame(NamedTuple):
    """Nearly orthonormal combinations ``B = root F T`` of some columns, on some rows."""

    rows: np.ndarray
    root: np.ndarray  # square root of the weights of these rows
    scale: np.ndarray  # powers of two by which the columns were divided
    T: np.ndarray
    B: np.ndarray
    off: np.ndarray  # error of each row of B
    M: np.ndarray  # B'B
    error: float  # of M
    least: float  # lower bound on the smallest eigenvalue of the exact B'B


def rows_to_move(D: np.ndarray, k: int) -> np.ndarray:
    """Return the rows that are changed for ``k`` columns: all, evenly spaced ones, or those of largest weight."""
    rows = (D > 0).nonzero()[0]
    count = max(ROWS_PER_COLUMN * k, int(FEW / max(k * k, 1)) // 4)
    if len(rows) * k * k <= FEW or len(rows) <= 2 * count:
        return rows
    if np.max(D) > 16 * np.median(D[rows]):
        return np.sort(rows[np.argpartition(-D[rows], count)[:count]])
    return rows[:: len(rows) // count]


def frame_of(F: np.ndarray, D: np.ndarray, rows: np.ndarray, roundings: int = 0) -> Frame | None:
    """Return a frame of the columns ``F``, given on ``rows``, or None if they are too dependent.

    Entries of ``F`` may result from one subtraction and ``roundings`` further operations.
    """
    m, k = F.shape
    root = np.sqrt(D[rows])
    Z = root[:, None] * F
    norms = row_lengths(Z.T)
    if k > m or not (norms > 1e-140).all() or not math.isfinite(norms.sum()):
        return None
    scale = 2.0 ** np.rint(np.log2(norms))
    Z /= scale
    # Any factor will do, because B is examined; the wrappers of NumPy and SciPy take longer for few columns.
    R = linalg.lapack.dgeqrf(Z, lwork=64 * k)[0][:k]
    if np.abs(R.diagonal()).min() < 64 * k * UNIT:
        return None
    T = np.triu(linalg.lapack.dtrtri(R)[0])
    B = Z @ T
    off = row_lengths(np.abs(Z) @ np.abs(T)) * (gamma(k + 6 + roundings) * 1.01) + TINY
    moved = frobenius(off) * 1.01
    M, size = B.T @ B, frobenius(B) * 1.01
    error = gamma(m + 2) * size**2 + 2 * size * moved + moved**2
    apart = 1.01 * frobenius(M - np.eye(k)) + error
    return Frame(rows, root, scale, T, B, off, M, error, 1.0 - apart) if apart < 0.5 else None


def orthogonal(frame: Frame, theta: Any, v: Any, radii: Any, slip: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return theta changed so that ``v`` becomes zero, the radius of the exact point, and that for other evaluations.

    ``v`` encloses the columns' products with theta, minus their target values, up to the first of ``radii``. In another
    evaluation, theta may differ by ``slip`` and ``v`` by the second of ``radii``.
    """
    rows, T, B, k = frame.rows, frame.T, frame.B, len(frame.T)
    t = T.T @ (v / frame.scale)
    t_rad, t_slip = ((radii + gamma(k + 4) * np.abs(v)) / frame.scale) @ np.abs(T) * (1 + 1e-9)
    moving = slip[rows]
    if np.count_nonzero(slip) == np.count_nonzero(moving):  # only these rows differ
        share = moving / frame.root
        direct = (share @ np.abs(B) + float(frame.off @ share)) * 1.01 + 2 * t_rad
        t_slip = np.minimum(t_slip, direct)
    u = t
    for _ in range(STEPS):
        u = u + (t - frame.M @ u)
    length = frobenius(u) * 1.01
    left = np.abs(t - frame.M @ u) + gamma(k + 4) * (np.abs(t) + np.abs(frame.M) @ np.abs(u)) + t_rad
    left_norm = (frobenius(left) + frame.error * length) * 1.01
    norms = row_lengths(B) * 1.01
    own, move, reach = theta[rows], frame.root * (B @ u), norms + frame.off
    out, rad, other = theta.copy(), np.zeros(len(theta)), slip.copy()
    out[rows] = own - move
    apart = reach * (left_norm / frame.least) + (frame.off + gamma(k + 4) * norms) * length
    rad[rows] = (frame.root * apart + 2 * UNIT * (np.abs(own) + np.abs(move))) * 1.01
    other[rows] = moving + frame.root * reach * (frobenius(t_slip) / frame.least * 1.01)
    return out, rad, other


def projected(F: np.ndarray, theta: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return theta minus its projection on the columns of ``F``, in plain floats; the columns may be dependent."""
    root = np.sqrt(D)
    Z = root[:, None] * F
    norms = np.linalg.norm(Z, axis=0)
    if not np.all(np.isfinite(norms)):
        return theta
    scale = np.where(norms > 0, norms, 1.0)
    U, values, V = linalg.svd(Z / scale, full_matrices=False)
    kept = values > max(F.shape) * 4 * UNIT * np.max(values, initial=0.0)
    for _ in range(STEPS):  # theta - D F (F'DF)^+ F'theta
        theta = theta - root * (U[:, kept] @ ((V[kept] @ ((F.T @ theta) / scale)) / values[kept]))
    return theta


def frame_on_rows(operator: Any, which: np.ndarray, ones: bool, D: np.ndarray) -> Frame | None:
    """Return a frame of some columns of ``operator`` (and a constant one), on few rows if possible."""
    k = len(which) + ones
    every = (D > 0).nonzero()[0]
    few = every if len(every) * k * k <= FEW else rows_to_move(D, k)
    for rows in (few, every) if len(few) < len(every) else (every,):
        if len(rows) * k > LARGEST or k > len(rows):
            continue
        F = operator.columns(which, rows)
        if ones:
            F, columns = np.ones((len(rows), k)), F
            F[:, :-1] = columns
        found = frame_of(F, D, rows, operator.roundings)
        if found is not None:
            return found
    return None
