r"""Dual points of the multinomial loss that are exactly orthogonal to unpenalized columns.

The numbers :math:`t_{il} = c_i q_{il}`, one for every row and wrong class, can be chosen freely; the probability of a
row's own class is one minus the others. Class :math:`k` requires :math:`\sum_i x_i \theta_{ik} = 0`, with
:math:`\theta_{ik} = -t_{ik}` for rows of other classes and the sum of a row's numbers for its own class. These are
linear equations in :math:`t`, which are satisfied exactly as for a single score.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.gap.equalities import LARGEST, Frame, frame_of, orthogonal, rows_to_move
from surefit.checks.gap.penalties import Penalty
from surefit.checks.gap.rows import side_sums


def free_point(
    operator: Any, penalty: Penalty, Y: Any, P: Any, off: Any, c: Any, used: list[int], ones: bool
) -> tuple[Any, ...] | None:
    """Return rows of the simplex near ``P``, their radius, and bounds on the difference in another evaluation.

    Return None if the columns are too dependent or a probability would be negative.
    """
    n, K = P.shape
    which = np.flatnonzero(penalty.free)
    wrong = (Y == 0) & (c > 0)[:, None]
    table = np.where(wrong, c[:, None] * P, 0.0)
    grown = np.expm1(2 * off)  # relative change of a probability due to rounding of the scores
    own = np.sum(table, axis=1)
    theta = np.where(Y > 0, own[:, None], -table)
    slips = np.where(Y > 0, np.sum(table * grown, axis=1)[:, None], table * grown)
    asked = used if len(used) < K else used[:-1]  # the sum over all classes is always zero
    v, radii = [], []
    for k in asked:
        product, rad = operator.transposed(theta[:, k], np.array([2 * K * UNIT * np.abs(theta[:, k]), slips[:, k]]))
        up, down = side_sums(theta[:, k])
        rounding = (4 + 2 * K) * UNIT * (up - down)
        v.append(np.append(product[which], [up + down] * ones))
        total = np.array([[rounding], [rounding + float(np.sum(slips[:, k])) * 1.01]])
        radii.append(np.column_stack([rad[:, which], total[:, : int(ones)]]))
    cells = np.flatnonzero(wrong.ravel() & (table.ravel() > 0))
    t = table.ravel()[cells]
    frame = _frame(operator, which, ones, Y, t, cells, asked)
    if frame is None:
        return None
    slip = (table * grown).ravel()[cells]
    moved, rad, other = orthogonal(frame, t, np.concatenate(v), np.hstack(radii), slip)
    if not np.all(moved - rad >= 0):
        return None
    weight = np.repeat(c, K)[cells]
    Q, off_q, slip_q = np.zeros(n * K), np.zeros(n * K), np.zeros(n * K)
    Q[cells], off_q[cells], slip_q[cells] = moved / weight, rad / weight * (1 + 4 * UNIT), other / weight
    off_q += 4 * UNIT * Q
    Q, off_q, slip_q = (part.reshape(n, K) for part in (Q, off_q, slip_q))
    rest = 1.0 - Q.sum(axis=1)
    rest_rad = off_q.sum(axis=1) * (1 + 8 * UNIT) + 2 * K * UNIT
    if np.any((rest < rest_rad)[c > 0]):
        return None
    Q = np.where(Y > 0, rest[:, None], Q)
    off_q = np.where(Y > 0, rest_rad[:, None], off_q)
    return Q, off_q, np.where(Y > 0, slip_q.sum(axis=1)[:, None], slip_q)


def _frame(operator: Any, which: Any, ones: bool, Y: Any, t: Any, cells: Any, asked: list[int]) -> Frame | None:
    """Return a frame of the equations of all classes, on few variables if possible."""
    K, width = Y.shape[1], len(which) + ones
    few, every = rows_to_move(t, width * len(asked)), np.arange(len(t))
    place = np.full(K, -1)
    place[asked] = np.arange(len(asked))
    own = Y.argmax(axis=1)
    for chosen in (few, every) if len(few) < len(every) else (every,):
        if len(chosen) * width * len(asked) > LARGEST or width * len(asked) > len(chosen):
            continue
        rows, wrong = np.divmod(cells[chosen], K)
        F = operator.columns(which, rows)
        F = np.column_stack([F, np.ones(len(rows))]) if ones else F
        A = np.zeros((len(chosen), len(asked), width))
        at = np.arange(len(chosen))
        mine, other = place[own[rows]], place[wrong]
        A[at[mine >= 0], mine[mine >= 0]] += F[mine >= 0]
        A[at[other >= 0], other[other >= 0]] -= F[other >= 0]
        found = frame_of(A.reshape(len(chosen), -1), t, chosen)
        if found is not None:
            return found
    return None
