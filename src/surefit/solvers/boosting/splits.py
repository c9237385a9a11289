r"""Best split of a node from its histograms.

A child with gradient sum G and curvature sum H has the value :math:`v = -G / (H + \lambda)`, clipped to the limits of monotonicity
constraints. It lowers the second-order loss by :math:`-(2 G v + (H + \lambda) v^2) / 2`, which is :math:`\tfrac12 G^2 / (H + \lambda)`
without limits. Gains below are twice that. Ties go to the earlier column and bin.
"""

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled
from surefit.core.loops import ascending


class Rules(NamedTuple):
    """Constraints on splits, and regularization of leaf values."""

    l2: float
    min_rows: int
    min_curvature: float


class Node(NamedTuple):
    """Integer sums of a node, and the limits of its value."""

    gradient: int
    packed: int  # curvature in the high bits, number of rows in the low bits
    low: float
    high: float


@compiled
def value_of(G, H, l2, low, high):
    """Return the best value of a leaf within its limits."""
    v = -G / (H + l2) if H + l2 > 0.0 else 0.0
    return min(max(v, low), high)


@compiled
def drop_of(G, H, l2, v):
    """Return twice the decrease of the second-order loss."""
    return -(2.0 * G * v + (H + l2) * v * v)


@compiled
def scan(cells, n_bins, missing, order, node, scale, rules, sign, from_left, best):
    """Scan the bins in ``order`` (or in their own order) from below; missing rows go left if ``from_left``.

    Return the best gain (at least ``best``), its position and the packed sums on the left.
    """
    mask = (np.int64(1) << scale.count_bits) - 1
    rows = node.packed & mask
    l2, bits = rules.l2, scale.count_bits
    a, c = (cells[255, 0], cells[255, 1]) if from_left else (np.int64(0), np.int64(0))
    place, left = -1, np.int64(0)
    last = n_bins if missing and not from_left else n_bins - 1
    plain = sign == 0 and node.low == -np.inf and node.high == np.inf
    for k in range(last):
        b = order[k] if len(order) else k
        a += cells[b, 0]
        c += cells[b, 1]
        count = c & mask
        if count < rules.min_rows:
            continue
        if rows - count < rules.min_rows:
            break
        H, HR = (c >> bits) * scale.curvature, ((node.packed - c) >> bits) * scale.curvature
        if H < rules.min_curvature or HR < rules.min_curvature:
            continue
        G, GR = a * scale.gradient, (node.gradient - a) * scale.gradient
        if plain:
            P, Q = H + l2, HR + l2
            gain = (G * G * Q + GR * GR * P) / (P * Q)
        else:
            v, w = value_of(G, H, l2, node.low, node.high), value_of(GR, HR, l2, node.low, node.high)
            if sign * (w - v) < 0:
                continue
            gain = drop_of(G, H, l2, v) + drop_of(GR, HR, l2, w)
        if gain > best:
            best, place, left = gain, k, c
    return best, place, left


@compiled
def by_ratio(cells, n_bins, l2, scale, order):
    """Sort the categories of the node by their value and return their number; the best subset is a prefix of this order."""
    mask = (np.int64(1) << scale.count_bits) - 1
    ratios = np.empty(n_bins)
    count = 0
    for b in range(n_bins):
        if cells[b, 1] & mask:
            H = (cells[b, 1] >> scale.count_bits) * scale.curvature
            ratios[count] = cells[b, 0] * scale.gradient / (H + l2 + 1e-300)
            order[count] = b
            count += 1
    ranks, present = ascending(ratios[:count]), order[:count].copy()
    for k in range(count):
        order[k] = present[ranks[k]]
    return count
