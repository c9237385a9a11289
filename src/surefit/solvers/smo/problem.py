r"""Problem of the working-set solvers: a dual vector in a box, with a kernel, an epsilon-insensitive tube and an optional intercept.

.. math::

    D(\beta) = y^\top\beta - \varepsilon\|\beta\|_1 - \tfrac12\,\beta^\top K\beta, \qquad l_i \le \beta_i \le h_i, \quad
    \textstyle\sum_i \beta_i = 0 \text{ if the intercept is free.}

A classifier has labels :math:`y_i = \pm1`, no tube, and the box between 0 and :math:`y_i c_i`; a regression has a tube and the box
:math:`\pm c_i`. With residuals :math:`r_i = y_i - (K\beta)_i - b` the gap to the primal is a sum of non-negative terms,

.. math:: P - D = \sum_i \bigl[h_i (r_i - \varepsilon)_+ - l_i (-r_i - \varepsilon)_+ + \varepsilon|\beta_i| - \beta_i r_i\bigr],

one per row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled


class BoxProblem(NamedTuple):
    """Targets, box and tube; the kernel is passed separately, as rows."""

    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    epsilon: float
    offset: bool  # whether there is a free intercept, which requires the sum of beta to be zero

    @property
    def hard(self) -> bool:
        """Whether the margin is hard (infinite ``C``)."""
        return bool(self.high.max(initial=0.0) == np.inf)

    @property
    def one_sided(self) -> bool:
        """Whether the box of every row lies on one side of zero, as in classification."""
        return self.epsilon == 0.0 and not bool(np.any((self.low < 0.0) & (self.high > 0.0)))


def classification(labels: np.ndarray, weights: np.ndarray, offset: bool) -> BoxProblem:
    """Return the soft-margin problem: ``labels`` are -1 and 1, ``weights`` the parameters ``C`` of the rows (infinite: hard margin)."""
    positive = labels > 0
    labels, weights = np.asarray(labels, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    return BoxProblem(labels, np.where(positive, 0.0, -weights), np.where(positive, weights, 0.0), 0.0, offset)


def regression(y: np.ndarray, weights: np.ndarray, epsilon: float, offset: bool) -> BoxProblem:
    """Return the regression problem with a tube of half-width ``epsilon``; ``weights`` are the parameters ``C`` of the rows."""
    return BoxProblem(y, -weights, weights, float(epsilon), offset)


def best_offsets(problem: BoxProblem, g: np.ndarray) -> tuple[float, float]:
    """Return the interval of all intercepts that minimize the primal for given ``g = y - K beta``.

    The primal is piecewise linear in b with kinks at ``g - epsilon`` and ``g + epsilon``.
    """
    if not problem.offset:
        return 0.0, 0.0
    kinks, weights = g, problem.high - problem.low
    if problem.epsilon > 0.0:
        kinks = np.concatenate([g - problem.epsilon, g + problem.epsilon])
        weights = np.concatenate([problem.high, -problem.low])
    order = kinks.argsort(kind="stable")
    # derivative of the primal just right of each kink: minus the weights above it, plus those passed
    derivatives = weights[order].cumsum() - problem.high.sum()
    size = float(weights.sum()) * 1e-15 * len(weights)
    first = int(derivatives.searchsorted(-size))
    first = min(first, len(order) - 1)
    last = first
    while last + 1 < len(order) and derivatives[last] <= size:
        last += 1
    return float(kinks[order[first]]), float(kinks[order[last]])


def balanced(problem: BoxProblem, beta: np.ndarray) -> np.ndarray:
    """Make the sum of beta zero if there is an intercept, by changing the entries farthest from their bounds."""
    if not problem.offset:
        return beta
    inside = np.minimum(problem.high - beta, beta - problem.low)
    inside[beta == 0.0] = 0.0
    widest = int(inside.argmax())
    for _ in range(3):
        rest = -math.fsum(beta.tolist())
        if rest == 0.0:
            return beta
        if inside[widest] >= 4 * abs(rest) and (beta[widest] + rest) * beta[widest] >= 0.0:
            beta = beta.copy()
            beta[widest] += rest  # usually only a rounding error, which one free row absorbs
            continue
        room = np.maximum((problem.high - beta) if rest > 0 else (beta - problem.low), 0.0)
        for chosen in ((beta > problem.low) & (beta < problem.high) & (beta != 0.0), beta != 0.0):
            if float(np.sum(room[chosen])) >= abs(rest):  # rows without weight stay at zero
                room = np.where(chosen, room, 0.0)
                break
        total = float(np.sum(room[np.isfinite(room)]))
        if total == 0.0:
            return beta
        if np.isfinite(room).all():
            beta = np.clip(beta + math.copysign(min(1.0, abs(rest) / total), rest) * room, problem.low, problem.high)
        else:
            beta = beta * (1.0 - 1e-16)
    return beta


@compiled
def row_gaps(y_minus, beta, low, high, epsilon, b):
    """Return the terms of the gap, one per row, at residuals ``y_minus - b``."""
    terms = np.empty(len(beta))
    for i in range(len(beta)):
        r = y_minus[i] - b
        term = epsilon * abs(beta[i]) - beta[i] * r
        if r > epsilon and high[i] > 0.0:
            term += high[i] * (r - epsilon)
        elif r < -epsilon and low[i] < 0.0:
            term += low[i] * (r + epsilon)
        terms[i] = max(term, 0.0)
    return terms
