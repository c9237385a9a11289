"""Compiled passes of other perceptrons: margin, multiclass and batch perceptron."""

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.perceptron.passes import AHEAD
from surefit.solvers.perceptron.rows import dot_row, fetch_row, ieee_add, ieee_dot, ieee_shift


@compiled
def margin_pass(rows, t, order, begin, end, share, bias_step, squares, w, sums, counts, log):
    """Process rows as unit vectors; a row is accepted if its margin is at least ``share`` times the norm of the weights."""
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
    """Process rows with one weight vector per class: a mistake adds the row to the right class and subtracts it from the best wrong one.

    ``W`` and ``lazy`` have one row per class; the last column of ``lazy`` is for the intercepts ``b``. ``log.margin`` is the score of the
    right class minus that of its best rival.
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
        # Near ties, also among rivals, are decided by a fixed order of summation.
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
    """Return the best class other than ``right``; ties go to the lowest index."""
    best = 1 if right == 0 else 0
    for c in range(best + 1, len(scores)):
        if c != right and scores[c] > scores[best]:
            best = c
    return best


@compiled(relaxed=True)
def batch_sweep(rows, t, weights, cut, slack, w, b, mistaken, total):
    """Mark rows with ``m <= cut`` and positive weight, and set ``total`` to the sum of ``weight t x`` over them.

    Return the sums of ``weight t``, of ``weight`` and of the loss over the marked rows.
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
        signed = ieee_shift(signed, weights[i], np.float64(t[i]))  # in a fixed order: reproducible
        size += weights[i]
        loss += weights[i] * max(-m, 0.0)
    return signed, size, loss


@compiled(relaxed=True)
def vote(gram, updates, signs, survivals, zero, out):
    """Set ``out[i]`` to the sum of the votes of all weight vectors of a run, weighted by the number of rows each survived.

    ``gram[i, p]`` is the inner product of row ``i`` with support row ``p`` (including the intercept). ``updates``
    contains the support row of each update, and ``signs`` its signed step. ``zero`` (-1 or 1) is the vote of a score of
    zero, as for the first vector.
    """
    for i in range(len(out)):
        score, votes = 0.0, zero * survivals[0]
        for j in range(len(updates)):
            score += signs[j] * gram[i, updates[j]]
            positive = score > 0 or (score == 0 and zero > 0)
            votes += survivals[j + 1] if positive else -survivals[j + 1]
        out[i] = votes
