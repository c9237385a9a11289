"""Compiled loops of the working-set solver: selection of rows, and the subproblem on them."""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled

TINY = (
    1e-12  # smallest curvature relative to the largest diagonal entry, so that indistinguishable rows still give a step
)


@compiled
def derivatives(g, beta, low, high, epsilon, up, down):
    """Compute the directional derivatives of the dual for raising (``up``) and lowering (``down``) each entry; infinite at bounds.

    Return the largest gain and the smallest cost: the point is optimal if the gain does not exceed the cost.
    """
    best, least = -np.inf, np.inf
    for i in range(len(g)):
        up[i] = -np.inf
        down[i] = np.inf
        if beta[i] < high[i]:
            up[i] = g[i] - epsilon if beta[i] >= 0.0 else g[i] + epsilon
            best = max(best, up[i])
        if beta[i] > low[i]:
            down[i] = g[i] + epsilon if beta[i] <= 0.0 else g[i] - epsilon
            least = min(least, down[i])
    return best, least


@compiled(relaxed=True)
def solve_pairs(K, g, beta, low, high, epsilon, tolerance, max_steps, scale):
    """Raise one entry and lower another until no pair increases the dual by more than ``tolerance`` per unit.

    The sum of ``beta`` is constant. Pairs are selected by second-order information: the entry with the largest gain,
    and the partner that increases the dual most. Modify ``beta`` and ``g`` in place; return the number of steps.
    """
    q = len(g)
    floor = TINY * scale
    up, down, gains, falls = np.empty(q), np.empty(q), np.empty(q), np.empty(q)
    values, diagonal = np.empty(q), np.empty(q)
    for k in range(q):
        diagonal[k] = K[k, k]
        _set_kinks(k, beta, low, high, epsilon, up, down)
    for step in range(max_steps):
        for k in range(q):
            gains[k] = g[k] + up[k]
        i = _first_largest(gains)
        best, row, own = gains[i], K[i], diagonal[i]
        for k in range(q):  # vectorized, since the comparisons are separate
            fall = max(best - g[k] - down[k], 0.0)
            curvature = own + diagonal[k] - 2.0 * row[k]
            falls[k] = fall
            values[k] = fall * fall / (curvature if curvature > floor else floor)
        j = _first_largest(values)
        if not (best > -np.inf and values[j] > 0.0):
            return step
        if falls[j] <= tolerance and falls[_first_largest(falls)] <= tolerance:
            return step
        t = falls[j] / max(own + diagonal[j] - 2.0 * row[j], floor)
        # the kink at zero is a bound that the next step may cross
        goal_i = 0.0 if epsilon > 0.0 and beta[i] < 0.0 else high[i]
        goal_j = 0.0 if epsilon > 0.0 and beta[j] > 0.0 else low[j]
        t_all = min(t, goal_i - beta[i], beta[j] - goal_j)
        beta[i] = goal_i if t_all == goal_i - beta[i] else beta[i] + t_all
        beta[j] = goal_j if t_all == beta[j] - goal_j else beta[j] - t_all
        _set_kinks(i, beta, low, high, epsilon, up, down)
        _set_kinks(j, beta, low, high, epsilon, up, down)
        other = K[j]
        for k in range(q):
            g[k] -= t_all * (row[k] - other[k])
    return max_steps


@compiled
def _set_kinks(k, beta, low, high, epsilon, up, down):
    """Set what the tube adds to the derivatives of the dual for raising and lowering entry ``k``; infinite at bounds."""
    up[k] = -np.inf if beta[k] >= high[k] else -epsilon if beta[k] >= 0.0 else epsilon
    down[k] = np.inf if beta[k] <= low[k] else epsilon if beta[k] <= 0.0 else -epsilon


@compiled
def _first_largest(values):
    """Return the first index of the largest value, found by four sequences of comparisons that do not wait for each other."""
    q = len(values)
    a = b = c = d = values[0]
    for k in range(0, q - 3, 4):
        a = values[k] if values[k] > a else a
        b = values[k + 1] if values[k + 1] > b else b
        c = values[k + 2] if values[k + 2] > c else c
        d = values[k + 3] if values[k + 3] > d else d
    for k in range(q - q % 4, q):
        a = values[k] if values[k] > a else a
    most = max(max(a, b), max(c, d))
    for k in range(q):
        if values[k] == most:
            return k
    return 0


@compiled(relaxed=True)
def solve_singles(K, g, beta, low, high, epsilon, tolerance, max_steps, scale):
    """Solve without an intercept: move one entry at a time, the one that increases the dual most."""
    q = len(g)
    floor = TINY * scale
    for step in range(max_steps):
        i, most, worst, move = -1, 0.0, 0.0, 0.0
        for k in range(q):
            derivative = 0.0
            if beta[k] < high[k]:
                derivative = max(g[k] - epsilon if beta[k] >= 0.0 else g[k] + epsilon, 0.0)
            if derivative == 0.0 and beta[k] > low[k]:
                derivative = min(g[k] + epsilon if beta[k] <= 0.0 else g[k] - epsilon, 0.0)
            worst = max(worst, abs(derivative))
            value = derivative * derivative / max(K[k, k], floor)
            if value > most:
                most, i, move = value, k, derivative
        if i < 0 or worst <= tolerance:
            return step
        old = beta[i]
        new = old + move / max(K[i, i], floor)
        if epsilon > 0.0 and old != 0.0 and old * new < 0.0:
            new = 0.0
        beta[i] = min(max(new, low[i]), high[i])
        t = beta[i] - old
        for k in range(q):
            g[k] -= t * K[i, k]
    return max_steps


@compiled(relaxed=True)
def subtract_rows(rows, slots, change, g, start, stop):
    """Compute ``g -= change @ rows[slots]`` from ``start`` to ``stop``, eight rows at a time, so that g is read once per eight rows."""
    count = len(slots)
    first = 0
    while first + 8 <= count:
        a, b, c, d = rows[slots[first]], rows[slots[first + 1]], rows[slots[first + 2]], rows[slots[first + 3]]
        e, f, p, q = rows[slots[first + 4]], rows[slots[first + 5]], rows[slots[first + 6]], rows[slots[first + 7]]
        ca, cb, cc, cd = change[first], change[first + 1], change[first + 2], change[first + 3]
        ce, cf, cp, cq = change[first + 4], change[first + 5], change[first + 6], change[first + 7]
        for k in range(start, stop):
            g[k] -= ca * a[k] + cb * b[k] + cc * c[k] + cd * d[k] + ce * e[k] + cf * f[k] + cp * p[k] + cq * q[k]
        first += 8
    for s in range(first, count):
        row, amount = rows[slots[s]], change[s]
        for k in range(start, stop):
            g[k] -= amount * row[k]


@compiled
def gather(rows, slots, columns):
    """Return ``rows[slots][:, columns]`` in float64; the lower triangle is read and mirrored."""
    q = len(slots)
    block = np.empty((q, q))
    for i in range(q):
        row = rows[slots[i]]
        for k in range(i + 1):
            block[i, k] = row[columns[k]]
    for i in range(q):
        for k in range(i):
            block[k, i] = block[i, k]
    return block
