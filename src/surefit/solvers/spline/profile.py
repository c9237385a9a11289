r"""Residual sum of squares and trace of many splines, from one recursion and its derivative.

Let E be the minimum of the penalized sum of squares and D the log-determinant of the data covariance; the recursion
from the left computes both. Let a prime denote the derivative with respect to the logarithm of the prior's rate. Then

.. math:: RSS = E + E', \qquad \operatorname{tr} H = (\text{dimension not penalized}) + D',

so the recursion from the right and its memory are not needed. Several rates are processed together in vectorized loops. In the loops
``da`` and ``dc`` are derivatives of logarithms; ``db``, ``du`` and ``dv`` are plain derivatives. For the recursion
itself, see ``cubic`` and ``linear``.
"""

import numpy as np

from surefit.core.jit import compiled
from surefit.solvers.spline.problem import SWEEPS, Problem

LANES = L = 8
ROWS = 14  # rate; E, E', D'; a, b, c, u, v; their derivatives (one block of memory, or the loop is not vectorized)


def squares_and_trace(problem: Problem, lams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the residual sums of squares over all rows, and effective degrees of freedom, one per lambda."""
    squares, degrees_of_freedom = np.empty(len(lams)), np.empty(len(lams))
    sweep, known = cubic if problem.degree == 3 else linear, problem.lead >= 0
    for begin in range(0, len(lams), LANES):
        part = lams[begin : begin + LANES]
        z = np.zeros((ROWS, LANES))
        z[0] = problem.rate(np.resize(part, LANES))  # a short batch is padded by repetition
        for k in range(LANES if known else 0):
            state = np.ravel(SWEEPS[problem.degree].start(problem.lead, z[0, k]))
            z[4 : 4 + len(state), k] = state
            z[[9, 11], k] = -1.0  # a and c are inversely proportional to the rate
        sweep(problem.gaps, problem.weights, problem.targets, z.ravel(), known)
        squares[begin : begin + LANES] = problem.within + (z[1] + z[2])[: len(part)]
        degrees_of_freedom[begin : begin + LANES] = problem.free + z[3, : len(part)]
    return squares, degrees_of_freedom


@compiled(relaxed=True)
def cubic(gaps, weights, targets, z, known):
    """Run the recursion for the rows of ``z``, one column per rate, over the data; ``ROWS`` describes the rows."""
    n = len(targets)
    for i in range(n):
        w, y = weights[i], targets[i]
        d = gaps[i] if i < n - 1 else 0.0
        counts = 1.0 if known or i > 1 else 0.0  # the first data only determine the unpenalized part
        guard = 0.0 if known or i > 0 else 1.0  # avoids 0 / 0 at the first datum
        for k in range(L):
            a, b, c, u, v = z[4 * L + k], z[5 * L + k], z[6 * L + k], z[7 * L + k], z[8 * L + k]
            da, db, dc, du, dv = z[9 * L + k], z[10 * L + k], z[11 * L + k], z[12 * L + k], z[13 * L + k]
            share = a / (a + w)
            slip = share * (1.0 - share) * da  # derivative of the share
            lift = u - y
            pull, d_pull = w * share * b, w * (slip * b + share * db)
            more, d_more = pull * b, d_pull * b + pull * db
            inverse = 1.0 / (c + more + guard)
            error, d_error = b * v - lift, db * v + b * dv - du
            weight = counts * c * w * share * inverse
            dc_new = (c * dc + d_more) * inverse
            relative = dc + (1.0 - share) * da - dc_new
            z[L + k] += weight * error * error
            z[2 * L + k] += weight * error * (2.0 * d_error + error * relative)
            z[3 * L + k] -= counts * relative
            v_new = (c * v + pull * lift) * inverse
            dv_new = (c * (dc * (v - v_new) + dv) + d_pull * lift + pull * du - d_more * v_new) * inverse
            u, du = y + share * lift, share * du + slip * lift
            b, db = share * b, share * db + slip * b
            a, da, c = a + w, share * da, c + more
            # over the gap
            grown = z[k] * d
            kept = 1.0 / (1.0 + c * grown)
            lost = c * grown * kept
            d_kept = -kept * lost * (dc_new + 1.0)
            middle = b - 0.5 * d
            bulge = middle * (2.0 * kept * db + middle * d_kept)
            spread = grown * (d * d / 12.0 + middle * middle * kept)
            exhausted = 1.0 / (1.0 + a * spread)
            z[4 * L + k], z[9 * L + k] = a * exhausted, (da - a * (spread + grown * bulge)) * exhausted
            z[5 * L + k], z[10 * L + k] = middle * kept - 0.5 * d, kept * db + middle * d_kept
            z[6 * L + k], z[11 * L + k] = c * kept, kept * dc_new - lost
            z[7 * L + k] = u - middle * lost * v_new
            z[12 * L + k] = du - (db * lost - middle * d_kept) * v_new - middle * lost * dv_new
            z[8 * L + k], z[13 * L + k] = v_new, dv_new


@compiled(relaxed=True)
def linear(gaps, weights, targets, z, known):
    """Run the recursion for linear splines, which have no b, c, v."""
    n = len(targets)
    for i in range(n):
        w, y = weights[i], targets[i]
        d = gaps[i] if i < n - 1 else 0.0
        counts = 1.0 if known or i > 0 else 0.0
        for k in range(L):
            a, u, da, du = z[4 * L + k], z[7 * L + k], z[9 * L + k], z[12 * L + k]
            share = a / (a + w)
            relative = (1.0 - share) * da
            error = y - u
            weight = w * share
            z[L + k] += weight * error * error
            z[2 * L + k] += weight * error * (error * relative - 2.0 * du)
            z[3 * L + k] -= counts * relative
            z[7 * L + k], z[12 * L + k] = y - share * error, share * (du - relative * error)
            a, spread = a + w, z[k] * d
            exhausted = 1.0 / (1.0 + a * spread)
            z[4 * L + k], z[9 * L + k] = a * exhausted, (share * da - a * spread) * exhausted
