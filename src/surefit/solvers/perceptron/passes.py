r"""Compiled passes of online perceptrons: process rows in order, update the weights at mistakes, keep a log.

A row is classified by its margin :math:`m = t (x^\top w + b)`. The sum of a vectorized loop is within ``slack`` of every other order of
summation; a margin that close to its threshold is recomputed from left to right in IEEE arithmetic. The decisions, and
therefore all weights, are bitwise equal to those of the textbook loop on every machine.
"""

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.perceptron.rows import (
    fetch_row,
    ieee_add,
    ieee_dot,
    ieee_shift,
    narrow_vectors,
    score_row,
    shift_row,
)

AHEAD = 16  # rows between the prefetch of a row and its use

#: Threshold for which a zero margin is not a mistake: the largest negative normal number.
BELOW_ZERO = -(2.0**-1022)


class Rule(NamedTuple):
    """Condition for a mistake (``m <= cut`` of its class) and the effect of an update."""

    step_minus: float  # factor of an update on a row of the negative class
    step_plus: float
    threshold_minus: float
    threshold_plus: float
    bias_step: float  # c^2 for the constant feature c; 0 without an intercept
    radius_square: float  # largest |x|^2 + c^2: bound on the increase of the squared norm by an update of step 1


class Log(NamedTuple):
    """Log of mistakes: row, position in the order of the pass (if there is one), margin before the update."""

    row: np.ndarray
    place: np.ndarray
    margin: np.ndarray


def new_log() -> Log:
    """Return an empty log."""
    return Log(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


class Sums(NamedTuple):
    """Scalars that a pass reads and writes, each an array of length 1."""

    offset: np.ndarray  # b
    square: np.ndarray  # |w|^2 + b^2 / c^2, for passes that cannot compute it from the weights
    loss: np.ndarray  # sum of (-m)_+ over the pass
    offset_sum: np.ndarray  # part of b in the lazy average
    updates: np.ndarray  # int64


def new_sums(offset: float = 0.0, square: float = 0.0) -> Sums:
    """Return the scalars of a run that starts from weights of this squared norm."""
    return Sums(np.array([offset]), np.array([square]), np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64))


@compiled(relaxed=True)
def online_pass(rows, t, order, begin, end, visits, rule, slack, schedule, w, sums, counts, log, lazy):
    """Process the rows ``order[begin:end]``, or ``begin..end`` without an order; ``visits`` rows were processed before.

    A non-empty ``schedule`` contains the factors of the coming updates; a non-empty ``lazy`` accumulates the average of all weights.
    """
    narrow_vectors()
    b, loss, b_sum, k = sums.offset[0], sums.loss[0], sums.offset_sum[0], sums.updates[0]
    clear, vague = (
        max(rule.threshold_minus, rule.threshold_plus) + slack,
        min(rule.threshold_minus, rule.threshold_plus) - slack,
    )
    # Thresholds are looked up by class: a branch on the label would be mispredicted half of the time.
    cuts, steps = np.array((rule.threshold_minus, rule.threshold_plus)), np.array((rule.step_minus, rule.step_plus))
    first = k
    for s in range(begin, end):
        # Unsigned indices skip the check for negative values, which saves a tenth of the time.
        if order is None:
            i = np.uint64(s)
        else:
            i = np.uint64(order[s])
            fetch_row(rows, order[min(s + AHEAD, len(order) - 1)])
        sign = np.float64(t[i])
        m = sign * (score_row(rows, i, w) + b)
        if m > clear:
            continue
        if m > vague:
            m = sign * (ieee_dot(rows, i, w) + b)
        side = np.int64(sign > 0)
        if m > cuts[side]:
            continue
        step = steps[side]
        if len(schedule) > 0:
            step *= schedule[k - first]
        if step == 1.0:
            shift_row(rows, i, sign, w)
        else:
            ieee_add(rows, i, step * sign, w)
        b = ieee_shift(b, step * sign, rule.bias_step)
        if k < len(log.row):
            log.row[k], log.margin[k] = i, m
            if order is not None:
                log.place[k] = s
        k += 1
        counts[i] += 1
        loss += max(-m, 0.0)
        if len(lazy) > 0:
            late = np.float64(visits + s - begin) * (step * sign)
            ieee_add(rows, i, late, lazy)
            b_sum += late * rule.bias_step
    sums.offset[0], sums.loss[0], sums.offset_sum[0], sums.updates[0] = b, loss, b_sum, k
