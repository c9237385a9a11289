r"""Penalties for the interior-point method: bounds on dual variables become logarithmic barriers.

:math:`l_1|w| = \max_{|v| \le l_1} vw` becomes :math:`\max_v vw + \mu\ln(l_1 - v) + \mu\ln(l_1 + v)`, smooth in :math:`w`. Under a
constraint :math:`\sum_j l_{1,j}|w_j| \le R` the multiplier :math:`\lambda` is found for every :math:`w` as the maximizer of
:math:`\sum_j \Omega_\mu(w_j; \lambda l_{1,j}) - \lambda R + \mu\ln\lambda`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.penalties import L1Ball, elastic_terms


class PenaltyTerms(NamedTuple):
    """Penalty of each feature; with a radius, the constraint that the sum is at most the radius."""

    l1: np.ndarray
    l2: np.ndarray
    positive: bool = False
    radius: float | None = None

    @property
    def used(self) -> np.ndarray:
        """Mask of the features that are not excluded."""
        return np.isfinite(self.l1)

    @property
    def kinks(self) -> int:
        """Number of barrier terms."""
        return int(np.sum(self.l1 > 0)) + self.positive * len(self.l1) + (self.radius is not None)

    def restricted(self, columns: np.ndarray) -> PenaltyTerms:
        """Return the penalty restricted to some features."""
        return self._replace(l1=self.l1[columns], l2=self.l2[columns])

    def value(self, w: np.ndarray) -> float:
        """Return the penalty."""
        return 0.0 if self.radius is not None else float(np.sum(self.l1 * np.abs(w) + 0.5 * self.l2 * w * w))

    def gap(self, w: np.ndarray, v: np.ndarray, zero: np.ndarray) -> tuple[float, float]:
        """Return the penalty terms of the gap at ``factor * v``, and ``factor``, the largest one at most 1 that is feasible.

        Unpenalized columns need ``v = 0``; values up to ``zero`` count as zero.
        """
        size = np.maximum(v, 0.0) if self.positive else np.abs(v)
        hard = (self.l2 == 0) & (self.l1 > 0)
        if self.radius is not None:
            multiplier = float(np.max(size[self.l1 > 0] / self.l1[self.l1 > 0], initial=0.0))
            return multiplier * self.radius - float(w @ v), 1.0
        worst = float(np.max(size[hard] / self.l1[hard], initial=0.0))
        factor = 1.0 if worst <= 1.0 else 1.0 / worst
        beyond = np.maximum(factor * size - self.l1, 0.0)
        curved = self.l2 > 0
        conjugate = float(np.sum(beyond[curved] ** 2 / (2 * self.l2[curved])))
        penalized = curved | (self.l1 > 0)
        if np.any(size[~penalized] > zero[~penalized]):
            return math.inf, 0.0
        return self.value(w) + conjugate - factor * float(w[penalized] @ v[penalized]), factor


class Smoothed(NamedTuple):
    """Value, gradient and second derivatives of the smoothed penalty: a diagonal and, with a radius, a rank-one term."""

    value: float
    gradient: np.ndarray
    diagonal: np.ndarray
    direction: np.ndarray | None = None  # H = diag + direction direction'


def penalty_terms(penalty: Any, n_features: int) -> PenaltyTerms:
    """Convert a registered penalty to this form."""
    if isinstance(penalty, L1Ball):
        return PenaltyTerms(np.ones(n_features), np.zeros(n_features), False, float(penalty.radius))
    terms = elastic_terms(penalty, n_features)
    return PenaltyTerms(terms.slopes, terms.curvatures, bool(terms.positive))


def smoothed_penalty(terms: PenaltyTerms, w: np.ndarray, mu: float) -> Smoothed:
    """Evaluate the smoothed penalty; the value is infinite outside its domain."""
    ridge = 0.5 * float(np.sum(terms.l2 * w * w))
    if terms.positive:
        if not np.all(w > 0):
            return Smoothed(math.inf, w, w)
        value = float(np.sum(terms.l1 * w) - mu * np.sum(np.log(w)))
        return Smoothed(value + ridge, terms.l1 + terms.l2 * w - mu / w, terms.l2 + mu / (w * w))
    if terms.radius is not None:
        return _ball(terms, w, mu)
    value, v, h = _absolute(terms.l1, w, mu)
    return Smoothed(float(np.sum(value)) + ridge, v + terms.l2 * w, h + terms.l2)


def _absolute(l1: np.ndarray, w: np.ndarray, mu: float):
    """Return value, derivative and curvature of the smoothed ``l1 |w|``."""
    on = l1 > 0
    top = np.where(on, l1, 1.0)
    root = np.hypot(w * top, mu)
    t = np.where(on, (mu + root) / top, 0.0)  # minimizes l1 t - mu ln(t^2 - w^2)
    v = np.where(on, top * top * w / (mu + root), 0.0)
    inner = np.maximum(
        2 * (mu + root) * mu / (top * top), np.finfo(np.float64).tiny
    )  # mu may be so small that the product is zero
    value = np.where(on, top * t - mu * np.log(inner), 0.0)
    h = np.where(on, (mu / root) * (top * top / (mu + root)), 0.0)
    return value, v, h


def _ball(terms: PenaltyTerms, w: np.ndarray, mu: float) -> Smoothed:
    radius = float(terms.radius or 0.0)
    if not float(np.sum(terms.l1 * np.abs(w))) < radius:
        return Smoothed(math.inf, w, w)

    def rest(multiplier: float) -> float:
        root = np.sqrt((multiplier * terms.l1 * w) ** 2 + mu * mu)
        return float(np.sum((mu + root) / multiplier)) - radius + mu / multiplier  # decreases with the multiplier

    low = high = mu / radius
    while rest(high) > 0.0:
        low, high = high, 4.0 * high
    for _ in range(100):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if rest(middle) > 0.0 else (low, middle)
    multiplier = high
    value, v, h = _absolute(multiplier * terms.l1, w, mu)
    root = np.sqrt((multiplier * terms.l1 * w) ** 2 + mu * mu)
    # derivatives with respect to the multiplier: of the gradient, and of the equation that defines it
    cross = terms.l1 * w * multiplier * terms.l1 / root
    bend = float(np.sum(mu * (mu + root) / (multiplier**2 * root))) + mu / multiplier**2
    total = float(np.sum(value)) - multiplier * radius + mu * math.log(multiplier)
    return Smoothed(total, v, h, cross / math.sqrt(bend))
