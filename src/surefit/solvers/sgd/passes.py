r"""Stochastic gradient descent on :math:`\frac1S\sum_i s_i\phi(y_i, x_i^\top w + b) + l_1\|w\|_1 + \frac{l_2}{2}\|w\|^2`, one row per step.

The weights are stored as :math:`w = \sigma v`, so that shrinkage needs no pass over all weights for sparse rows. The
sum of all weights is stored as :math:`\sum_t w_t = G v - \ell` with :math:`G = \sum_t\sigma_t`: a change :math:`\delta`
of :math:`v` adds :math:`G\delta` to :math:`\ell`, so averaging takes as long as the change itself. The l1 penalty of a
weight is applied when a row uses it, for all steps since the last time (cumulative penalty).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.dispatch import generic
from surefit.core.jit import compiled
from surefit.losses import value
from surefit.solvers.perceptron.rows import WholeRows, add_row, dot_row, fetch_row, square_row
from surefit.solvers.sgd.rows import ScatteredRows
from surefit.solvers.sgd.steps import needs_square, score_change, step_size

AHEAD = 12  # steps between the prefetch of a row and its use
SMALLEST_SCALE = 1e-9  # smaller scales are multiplied into v

SCALE, OFFSET, TIME, DUE, MASS, OFFSET_SUM, COUNTED = range(7)  # positions in ``Walk.numbers``


class Walk:
    """State of a descent: everything a later pass needs to continue.

    Parameters
    ----------
    w, b : ndarray and float
        Starting point.
    average : int
        Step from which the weights are averaged; 0: never.
    l1 : float
        Weight of the l1 norm; if positive, the penalty applied to each weight is tracked.
    """

    def __init__(self, w: np.ndarray, b: float, average: int = 0, l1: float = 0.0):
        self.v = np.array(w, dtype=np.float64)
        self.numbers = np.array([1.0, b, 1.0, 0.0, 0.0, 0.0, 0.0])
        self.average = int(average)
        self.lag = np.zeros(len(self.v) if average else 0)
        self.paid = np.zeros(len(self.v) if l1 > 0 else 0)

    def go(self, rows: Any, order, y, lengths, loss, rule, penalty: tuple[float, float], intercept: bool) -> float:
        """Process the rows in ``order`` once; return the sum of the losses before each step."""
        l1, l2 = penalty
        return _pass(
            rows, order, y, lengths, loss, rule, float(l1), float(l2), bool(intercept), self.average,
            self.v, self.numbers, self.lag, self.paid,
        )  # fmt: skip

    @property
    def state(self) -> dict[str, np.ndarray]:
        """Return the state as plain arrays, to be kept between calls."""
        return {"v": self.v, "numbers": self.numbers, "lag": self.lag, "paid": self.paid}

    @classmethod
    def resume(cls, state: dict[str, np.ndarray], average: int, l1: float) -> Walk:
        """Restore a descent from ``state``; quantities that were not tracked start at zero."""
        walk = cls(state["v"], 0.0, average, l1)
        walk.numbers = state["numbers"].copy()
        if len(walk.lag) == len(state["lag"]):
            walk.lag = state["lag"].copy()
        else:  # averaging was switched on or off
            walk.numbers[[MASS, OFFSET_SUM, COUNTED]] = 0.0
        if len(walk.paid) == len(state["paid"]):
            walk.paid = state["paid"].copy()
        else:
            walk.numbers[DUE] = 0.0
        return walk

    @property
    def w(self) -> np.ndarray:
        """Weights after the last step."""
        return self.numbers[SCALE] * self.v

    @property
    def b(self) -> float:
        """Intercept after the last step."""
        return float(self.numbers[OFFSET])

    @property
    def point(self) -> tuple[np.ndarray, float]:
        """The average of the weights, or the last weights if nothing was averaged."""
        count = self.numbers[COUNTED]
        if count == 0:
            return self.w, self.b
        return (self.numbers[MASS] * self.v - self.lag) / count, float(self.numbers[OFFSET_SUM] / count)

    def finite(self) -> bool:
        """Return whether nothing has overflowed."""
        return bool(np.isfinite(self.b) and np.all(np.isfinite(self.v)) and np.isfinite(self.numbers[SCALE]))


@generic
def pay_row(rows, i, v, paid, scale, due, mass, lag):
    """Apply the l1 penalty due since the last update to the weights of row ``i``; no weight crosses zero."""


@pay_row.register(WholeRows)
def _(rows, i, v, paid, scale, due, mass, lag):
    _pay_all(v, paid, scale, due, mass, lag)


@pay_row.register(ScatteredRows)
def _(rows, i, v, paid, scale, due, mass, lag):
    for k in range(rows.starts[i], rows.starts[i + 1]):
        _pay(rows.columns[0, k], v, paid, scale, due, mass, lag)


@compiled
def _pay(j, v, paid, scale, due, mass, lag):
    before = scale * v[j]
    if before > 0.0:
        after = max(0.0, before - (due + paid[j]))
    elif before < 0.0:
        after = min(0.0, before + (due - paid[j]))
    else:
        return
    paid[j] += after - before
    change = after / scale - v[j]
    v[j] = after / scale
    if len(lag):
        lag[j] += mass * change


@compiled
def _pay_all(v, paid, scale, due, mass, lag):
    """Apply the penalty to every weight, without branches, so that the compiler vectorizes the loops."""
    inverse = 1.0 / scale
    if mass > 0.0:
        for j in range(len(v)):
            lag[j] -= mass * v[j]
    for j in range(len(v)):
        before = scale * v[j]
        lower, upper = before - (due + paid[j]), before + (due - paid[j])
        below = (upper if upper < 0.0 else 0.0) if before < 0.0 else before  # zero and NaN stay
        after = (lower if lower > 0.0 else 0.0) if before > 0.0 else below
        paid[j] += after - before
        v[j] = after * inverse
    if mass > 0.0:
        for j in range(len(v)):
            lag[j] += mass * v[j]


@compiled(relaxed=True)
def _pass(rows, order, y, lengths, loss, rule, l1, l2, intercept, average, v, numbers, lag, paid):
    scale, b, t, due = numbers[SCALE], numbers[OFFSET], numbers[TIME], numbers[DUE]
    mass, b_sum, counted = numbers[MASS], numbers[OFFSET_SUM], numbers[COUNTED]
    total, n = 0.0, len(order)
    for k in range(n):
        if k + AHEAD < n:
            fetch_row(rows, order[k + AHEAD])
        i = order[k]
        z = scale * dot_row(rows, i, v) + b
        eta = step_size(rule, t)
        total += lengths[i] * value(loss, y[i], z)
        square = square_row(rows, i) if needs_square(rule) else 0.0
        step = lengths[i] * score_change(rule, loss, y[i], z, eta, square)
        if l2 > 0.0:
            scale *= max(0.0, 1.0 - eta * l2)
            if scale < SMALLEST_SCALE:
                mass = _multiply_out(v, scale, mass, lag)
                scale = 1.0
        if step != 0.0:
            add_row(rows, i, step / scale, v)
            if mass > 0.0:
                add_row(rows, i, mass * step / scale, lag)
            if intercept:
                b += step
        if 0 < average <= t:
            mass += scale
            b_sum += b
            counted += 1.0
        if l1 > 0.0:
            due += eta * l1
            pay_row(rows, i, v, paid, scale, due, mass, lag)
        t += 1.0
    numbers[SCALE], numbers[OFFSET], numbers[TIME], numbers[DUE] = scale, b, t, due
    numbers[MASS], numbers[OFFSET_SUM], numbers[COUNTED] = mass, b_sum, counted
    return total


@compiled
def _multiply_out(v, scale, mass, lag):
    """Set the scale to 1 without changing the weights or their sum; return the new mass."""
    if scale > 0.0:
        for j in range(len(v)):
            v[j] *= scale
        return mass / scale
    for j in range(len(v)):
        if len(lag):
            lag[j] -= mass * v[j]
        v[j] = 0.0
    return mass
