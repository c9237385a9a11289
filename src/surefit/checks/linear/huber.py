r"""Duality gap of Huber regression with a fitted scale, which adds a ball constraint to the dual.

.. math:: P(w, b, \sigma) = S\sigma + \sum_i s_i \sigma H(r_i/\sigma) + \alpha\|w\|^2, \qquad S = \sum_i s_i .

Since :math:`\sigma H(r/\sigma) = \max_{|q| \le 2\varepsilon} (qr - \sigma q^2/4)`, dual variables :math:`q_i` with
:math:`\sum_i s_i q_i^2 \le 4S` bound the minimum over all scales. The gap is that of Huber's loss at the fitted scale
plus :math:`\sigma (S - \sum_i s_i q_i^2/4)` (theory: ``huber-gap``).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import BLOCK, UNIT, block_sum, gamma, upper_sum
from surefit.checks.gap import Dual, Gap, Penalty, Piecewise, Point, prove
from surefit.core.certificate import Certificate
from surefit.core.sample import Data

SCALINGS = 3  # number of scalings of a dual point into its ball


def at_scale(certificate: Certificate) -> Certificate:
    """Return the problem at the fitted scale: Huber's loss of the residuals, with edges moved inward by rounding."""
    problem, scale = certificate.problem, float(certificate.model["scale_"])
    if not 0.0 < scale < math.inf:
        raise ValueError(f"the scale must be a number > 0; it is {scale!r}")
    edge = problem["epsilon"] * scale * (1 - 4 * UNIT)
    return replace(certificate, problem={**problem, "loss": "huber", "delta": edge, "strength": 2.0 / scale})


def prove_huber(
    operator: Any, loss: Piecewise, penalty: Penalty, point: Point, dual: Dual, data: Data, scale: float
) -> Gap:
    """Bound P - min P over coefficients, intercepts and scales."""
    s = np.ones(len(point.y)) if data.weights is None else data.weights
    total = math.fsum(s)
    ball = total * scale * scale * (1 - 16 * UNIT)
    for _ in range(SCALINGS):
        found = prove(operator, loss, penalty, point, dual)
        sums = ball_sums(s, found.dual, found.dual_rad)
        if sums.largest <= ball:
            break
        dual = dual._replace(witness=found.dual * (math.sqrt(ball / sums.largest) * (1 - 1e-12)))
    apart = upper_sum(point.c * (np.abs(found.z.mid - point.y) + found.z.rad)) * 16 * UNIT * loss.high  # of the edges
    return with_scale(found, sums, apart, total, scale, min(len(s), BLOCK), sums.largest <= ball)


class BallSums(NamedTuple):
    """Weighted sums of squares of the dual variables: upper bound, lower bound, and effect of the radii."""

    largest: float
    least: float
    moves: float


def ball_sums(s: np.ndarray, dual: np.ndarray, rad: np.ndarray) -> BallSums:
    """Return the weighted sums of squares of the dual variables."""
    return BallSums(
        upper_sum(s * (np.abs(dual) + rad) ** 2) * (1 + 16 * UNIT),
        block_sum(s * np.maximum(np.abs(dual) - rad, 0.0) ** 2),
        upper_sum(s * (2 * np.abs(dual) + rad) * rad),
    )


def with_scale(found: Gap, sums: BallSums, apart: float, total: float, scale: float, terms: int, inside: bool) -> Gap:
    """Add the terms of the scale; ``apart`` bounds the rounding of the edges, ``terms`` the length of the sums."""
    objective = (total * scale * (1 + 4 * UNIT) + found.objective * (1 + 32 * UNIT) + apart) * (1 + 8 * UNIT)
    rounding = found.objective_spread * 2 + 2 * apart + 64 * UNIT * objective
    least = sums.least / scale * (1 - 2 * gamma(terms + 16))
    extra = max(total * scale * (1 + 8 * UNIT) - least, 0.0)
    value = (found.value * (1 + 32 * UNIT) + apart + extra) * (1 + 8 * UNIT)
    spread = 2 * found.spread + 2 * apart + 4 * sums.moves / scale + (64 * UNIT + gamma(terms + 16)) * total * scale
    if not inside or found.value >= found.objective or not value + 2.5 * spread <= objective + 2.5 * rounding:
        value, spread = objective, rounding  # no term is negative
        found = found._replace(box=math.inf)
    return found._replace(value=value, spread=spread, plain=value, objective=objective, objective_spread=rounding)


def null_objective(data: Data, free: bool) -> float:
    """Return twice the weighted spread of the targets, an upper bound on the objective of their mean (or of zero)."""
    y = np.asarray(data.target, dtype=np.float64)
    s = np.ones(len(y)) if data.weights is None else data.weights
    total = math.fsum(s)
    level = math.fsum(s * y) / total if free else 0.0
    return 2 * math.sqrt(total * math.fsum(s * (y - level) ** 2))
