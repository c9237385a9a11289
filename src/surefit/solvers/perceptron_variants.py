"""Compiled passes of the other perceptrons: with a margin, with one weight vector a class, with all rows at once."""

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.perceptron_passes import AHEAD
from surefit.solvers.perceptron_rows import dot_row, fetch_row, ieee_add, ieee_dot, ieee_shift


@compiled
def margin_pass(rows, t, order, begin, end, share, bias_step, squares, w, sums, counts, log):
    """Visit rows as unit vectors; a row is accepted if its margin is at least ``share`` times the norm of the weights."""
    b, square, k = sums.offset[0], sums.square[0], sums.updates[0]
    for s in range(begin, end):
        i = np.int64(order[s])
        sign = np.float64(t[i])
        length = np.sqrt(squares[i] + bias_step)
        m = sign * (ieee_dot(rows, i, w) + b) / length
        if k > 0 and m >= share * np.sqrt(square):
            continue
        ieee_add(rows, i, sign / length, w)
        b += sign / length * bias_step
        square += 2.0 * m + 1.0
        if k < len(log.row):
            log.row[k], log.place[k], log.margin[k] = i, s, m
        k += 1
        counts[i] += 1
        sums.loss[0] += max(-m, 0.0)
    sums.offset[0], sums.square[0], sums.updates[0] = b, square, k


@compiled(relaxed=True)
def joint_pass(
    rows, labels, order, begin, end, visits, steps, cut, bias_step, slack, W, b, sums, counts, log, rivals, lazy
):  # fmt: skip
    """Visit rows with one weight vector a class: a mistake moves the right one towards the row, the best wrong one away.

    ``W`` and ``lazy`` have one line a class; the last column of ``lazy`` is that of the offsets ``b``. ``log.margin`` is
    the score of the right class minus that of its best rival.
    """
    n_classes = len(b)
    scores = np.empty(n_classes)
    loss, k = sums.loss[0], sums.updates[0]
    for s in range(begin, end):
        if order is None:
            i = np.uint64(s)
        else:
            i = np.uint64(order[s])
            fetch_row(rows, order[min(s + AHEAD, len(order) - 1)])
        right = labels[i]
        for c in range(n_classes):
            scores[c] = dot_row(rows, i, W[c]) + b[c]
        if scores[right] - scores[best_other(scores, right)] > cut + slack:
            continue
        # Close calls, among rivals too, are settled by the one order of summation.
        for c in range(n_classes):
            scores[c] = ieee_dot(rows, i, W[c]) + b[c]
        rival = best_other(scores, right)
        m = scores[right] - scores[rival]
        if m > cut:
            continue
        step = steps[right]
        ieee_add(rows, i, step, W[right])
        ieee_add(rows, i, -step, W[rival])
        b[right] = ieee_shift(b[right], step, bias_step)
        b[rival] = ieee_shift(b[rival], -step, bias_step)
        if k < len(log.row):
            log.row[k], log.place[k], log.margin[k] = i, s, m
            rivals[k] = rival
        k += 1
        counts[i] += 1
        loss += max(-m, 0.0)
        if len(lazy) > 0:
            late = np.float64(visits + s - begin) * step
            ieee_add(rows, i, late, lazy[right, :-1])
            ieee_add(rows, i, -late, lazy[rival, :-1])
            lazy[right, -1] += late * bias_step
            lazy[rival, -1] -= late * bias_step
    sums.loss[0], sums.updates[0] = loss, k


@compiled
def best_other(scores, right):
    """Best class other than ``right``; the lowest number wins a tie."""
    best = 1 if right == 0 else 0
    for c in range(best + 1, len(scores)):
        if c != right and scores[c] > scores[best]:
            best = c
    return best


@compiled(relaxed=True)
def batch_sweep(rows, t, weights, cut, slack, w, b, mistaken, total):
    """Mark rows with ``m <= cut`` and positive weight, and set ``total`` to the sum of ``weight t x`` over them.

    Returns the sums of ``weight t``, of ``weight`` and of the loss over the marked rows.
    """
    total[:] = 0.0
    signed, size, loss = 0.0, 0.0, 0.0
    for i in range(len(t)):
        mistaken[i] = False
        if weights[i] == 0.0:
            continue
        m = t[i] * (dot_row(rows, i, w) + b)
        if m > cut + slack:
            continue
        if m > cut - slack:
            m = t[i] * (ieee_dot(rows, i, w) + b)
        if m > cut:
            continue
        mistaken[i] = True
        ieee_add(rows, i, weights[i] * t[i], total)
        signed += weights[i] * t[i]
        size += weights[i]
        loss += weights[i] * max(-m, 0.0)
    return signed, size, loss


@compiled(relaxed=True)
def vote(gram, updates, signs, survivals, start, out):
    """Set ``out[i]`` to the votes of all weight vectors of a run, each weighted by the rows it survived.

    ``gram[i, p]`` is the inner product of row ``i`` with support row ``p`` (offset included), ``updates`` the support row
    of each update, ``signs`` its signed step, ``start[i]`` the score of the first vector, which survived ``survivals[0]``.
    """
    for i in range(len(out)):
        score = start[i]
        votes = survivals[0] if score > 0 else -survivals[0]
        for j in range(len(updates)):
            score += signs[j] * gram[i, updates[j]]
            votes += survivals[j + 1] if score > 0 else -survivals[j + 1]
        out[i] = votes
