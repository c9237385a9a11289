r"""Bounds on how far a computed spline is from the exact minimiser (theory: ``smoothing-splines``).

With :math:`\theta` orthogonal to what is not penalised and :math:`M(t) = \sum_{x_i > t} \theta_i (x_i - t)_+^{m-1}`,

.. math:: P(f) - \min P \le \frac1S \sum_i s_i (r_i - \theta_i / s_i)^2
          + \lambda \int \Big( f^{(m)} \mp \frac{M}{S \lambda} \Big)^2 .

Two functions are tried: the one through the computed values and slopes, and the one whose m-th derivative is :math:`M`.
"""

import math
from typing import NamedTuple

import numpy as np

from surefit.solvers.spline.problem import Curve, Problem

EPS = float(np.finfo(np.float64).eps)


class Proof(NamedTuple):
    """What is proved of a curve."""

    objective: float
    gap: float  # of the better of the two functions
    distance: float  # no value at a knot is farther than this from that of the exact minimiser
    dual: np.ndarray


@np.errstate(over="ignore", invalid="ignore")
def prove(problem: Problem, lam: float, curve: Curve) -> Proof:
    """Bound the excess of ``curve`` in plain floats; what overflows between very close knots proves nothing."""
    w, n, rate = problem.weights, len(problem.knots), problem.rate(lam)
    special, cubic = problem.lead >= 0, problem.degree == 3
    place = np.concatenate([[0.0], np.cumsum(problem.gaps)]) + max(problem.lead, 0.0)
    basis = [] if special else [np.ones(n), place - w @ place / w.sum()][: problem.order]
    theta = w * curve.residuals
    for column in basis:  # orthogonal columns: one at a time
        theta = theta - w * column * (theta @ column / (w @ column**2))
    gaps = np.concatenate([[problem.lead], problem.gaps]) if special else problem.gaps
    pad = [0.0] if special else []
    f, g = np.concatenate([pad, curve.values]), np.concatenate([pad, curve.slopes])
    tail = np.cumsum(theta[::-1])[::-1]
    right = rate * (tail if special else tail[1:])  # (f^(m))' of the dual function, up to sign, in each gap
    if cubic:
        bend = np.zeros(len(f))
        bend[:-1] = np.cumsum((gaps * right)[::-1])[::-1]
        low, high = bend[:-1], bend[1:]
        secant = (f[1:] - f[:-1]) / gaps
        off_low = (6 * secant - 4 * g[:-1] - 2 * g[1:]) / gaps - low
        off_high = (2 * g[:-1] + 4 * g[1:] - 6 * secant) / gaps - high
        mismatch = float(gaps @ (off_low**2 + off_low * off_high + off_high**2)) / 3
        slope = np.concatenate([[0.0], np.cumsum(gaps * (low + high) / 2)])
        rise = gaps * slope[:-1] + gaps**2 * (2 * low + high) / 6
        penalty = float(gaps @ (low**2 + low * high + high**2)) / 3
    else:
        mismatch = float(gaps @ ((f[1:] - f[:-1]) / gaps - right) ** 2)
        rise = gaps * right
        penalty = float(gaps @ right**2)
    dual_values = np.concatenate([[0.0], np.cumsum(rise)])[len(pad) :]
    off = problem.targets - dual_values - theta / w
    for column in basis:
        part = column * ((w * off) @ column / (w @ column**2))
        off, dual_values = off - part, dual_values + part
    through_values = float(w @ (problem.targets - curve.values - theta / w) ** 2) + mismatch / rate
    through_dual = float(w @ off**2)
    apart = float(np.max(np.abs(curve.values - dual_values), initial=0.0))
    reach = float(
        np.max((1 - curve.spared + EPS) / w, initial=0.0)
    )  # f(x_i)^2 <= (variance at x_i) * (S times the excess)
    bounds = [(through_values, math.sqrt(through_values * reach))]
    bounds.append((through_dual, apart + math.sqrt(through_dual * reach)))
    gap, distance = (min(bound for bound in column if not math.isnan(bound)) for column in zip(*bounds, strict=True))
    squares = problem.within + float(w @ curve.residuals**2)
    noise = float(np.max(np.abs(problem.targets), initial=0.0)) * math.sqrt(problem.total * reach)
    distance += EPS * noise  # the differences above are not known better
    return Proof((squares + penalty / rate) / problem.total, gap / problem.total, distance, theta)
