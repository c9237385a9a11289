"""Exact evaluation of a point: residual, dual point, gap, and features proved inactive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.operators import add_columns
from surefit.penalties import ElasticTerms
from surefit.solvers.coordinate_descent.correlations import LazyCorrelations
from surefit.solvers.coordinate_descent.duality import duality_gap
from surefit.solvers.coordinate_descent.free_columns import FreeColumns
from surefit.solvers.coordinate_descent.problem import Prepared, mean_square

FEW_ULPS = 1e-13  # relative to the mean of y: rounding error of a constant y after centering
ROUNDING = 1e-11  # relative to the null objective: margin for recomputing a gap near zero in another order


class Evaluation(NamedTuple):
    """A point and its gap."""

    columns: np.ndarray
    coefs: np.ndarray  # for columns of length one
    gap: float
    scale: float  # the dual point is this multiple of the residual
    objective: float
    n_violating: int  # number of columns outside the working set that violate optimality


class Evaluator:
    """Evaluator of a sequence of points and penalties."""

    def __init__(self, prepared: Prepared):
        self._prepared = prepared
        self._lazy = LazyCorrelations(prepared)
        self._free = FreeColumns(prepared, np.empty(0, dtype=np.int64), False)
        self._nothing = np.zeros(len(prepared.norms), dtype=bool)

    def set_terms(self, terms: ElasticTerms) -> None:
        """Set the penalty (for columns of length one)."""
        self._terms = terms
        free = ((terms.slopes == 0.0) & (terms.curvatures == 0.0)).nonzero()[0]
        if not np.array_equal(free, self._free.columns) or self._free.positive != terms.positive:
            self._free = FreeColumns(self._prepared, free, terms.positive)

    def at(self, columns: np.ndarray, coefs: np.ndarray) -> Evaluation:
        """Evaluate the point with these coefficients, zero elsewhere."""
        p, terms = self._prepared, self._terms
        used = coefs.nonzero()[0]
        residual = p.y.copy()
        add_columns(p.design, columns[used], -coefs[used] * p.scales[columns[used]], p.means, residual)
        mask = self._nothing.copy()
        mask[columns[used]] = True
        theta = self._free.remove_from(residual, mask)
        inside = self._lazy.read(theta, columns)
        a, b = terms.slopes[columns], terms.curvatures[columns]
        sizes = inside if terms.positive else np.abs(inside)
        # the dual point is at most theta / largest, so columns below largest times their l1 weight are irrelevant
        largest = min(np.max(np.divide(sizes, a, out=np.zeros(len(a)), where=a > 0), initial=0.0), 1.0)
        thresholds = np.where(np.isinf(terms.slopes), np.inf, largest) * terms.slopes if largest < 1 else terms.slopes
        skip = np.zeros(len(p.norms), dtype=bool)
        skip[columns] = True
        outside = self._lazy.above(theta, thresholds, terms.positive, skip)
        values = self._lazy.values[outside]
        gap, scale = duality_gap(
            np.concatenate([inside, values]),
            np.concatenate([coefs, np.zeros(len(outside))]),
            np.concatenate([a, terms.slopes[outside]]),
            np.concatenate([b, terms.curvatures[outside]]),
            terms.positive,
            mean_square(p.weights, theta),
            0.0 if theta is residual else 0.5 * mean_square(p.weights, residual - theta),
        )
        penalty = a[used] @ np.abs(coefs[used]) + 0.5 * (b[used] @ coefs[used] ** 2)
        objective = 0.5 * mean_square(p.weights, residual) + float(penalty)
        violating = (values if terms.positive else np.abs(values)) > terms.slopes[outside]
        gap = np.inf if self._free.too_many else float(gap)
        self._theta, self._inside = theta, inside
        return Evaluation(columns, coefs, gap, float(scale), objective, int(np.count_nonzero(violating)))

    def candidates(self, count: int, inside: np.ndarray) -> np.ndarray:
        """Return the ``count`` columns outside the mask ``inside`` with the largest violation of optimality, or closest to a violation."""
        values = self._lazy.values if self._terms.positive else np.abs(self._lazy.values)
        ratios = np.divide(values, self._terms.slopes, out=np.full(len(values), -np.inf), where=~inside)
        count = min(count, len(ratios))
        best = np.argpartition(-ratios, count - 1)[:count]
        return np.sort(best[ratios[best] > 0.0])

    def inactive(self, point: Evaluation, thorough: bool) -> np.ndarray:
        """Return the mask of features that are zero in every solution, as proved by ``point``, the last one evaluated.

        If the available bounds are not sufficient, ``thorough`` reads the columns.
        """
        return self._surely_zero(point, 1.0, thorough)

    def inactive_within(self, point: Evaluation, limit: float) -> np.ndarray:
        r"""Return the same mask for the problem with a radius; ``limit`` is the radius times the current multiplier.

        The optimal multiplier :math:`\mu^*` is unknown, but every correlation with the optimal residual is at most
        :math:`\mu^* (a_i + b_i |u_i^*|)`, and :math:`a_i |u_i^*|` is at most the radius. These inequalities bound it
        from below.
        """
        terms = self._terms
        a, b = terms.slopes[point.columns], terms.curvatures[point.columns]
        used = a > 0.0
        sizes = abs(point.scale) * (self._inside if terms.positive else np.abs(self._inside)) - self._error_radius(
            point
        )
        lowest = np.max(sizes[used] / (a[used] + b[used] * limit / a[used]), initial=0.0)
        return self._surely_zero(point, min(float(lowest), 1.0), True)

    def _surely_zero(self, point: Evaluation, share: float, thorough: bool) -> np.ndarray:
        """Return the features whose correlation with the optimal residual stays below ``share`` times their l1 weight."""
        terms, scale, radius = self._terms, abs(point.scale), self._error_radius(point)
        excluded = np.isinf(terms.slopes)
        limits = np.where(excluded, 0.0, terms.slopes) * share - radius
        sizes = self._lazy.bounds(terms.positive)
        sizes[point.columns] = self._inside if terms.positive else np.abs(self._inside)
        mask = excluded | (scale * sizes < limits)
        if thorough:
            unread = ~mask
            unread[point.columns] = False
            unread = np.flatnonzero(unread)
            values = self._lazy.read(self._theta, unread)
            mask[unread] = scale * (values if terms.positive else np.abs(values)) < limits[unread]
        mask[point.columns[point.coefs != 0.0]] = False
        return mask

    def _error_radius(self, point: Evaluation) -> float:
        """Return the error radius of the dual point, including the rounding errors of a recomputation."""
        p = self._prepared
        return float(np.sqrt(2 * (point.gap + ROUNDING * p.null_objective)) + FEW_ULPS * abs(p.y_mean))

    def largest_ratio(self) -> float:
        """Return the largest ratio of correlation to l1 weight at the null point; the penalty times this ratio gives zero coefficients."""
        p, terms = self._prepared, self._terms
        theta = self._free.remove_from(p.y, self._nothing)
        values = self._lazy.read(theta, np.arange(len(p.norms)))
        sizes = values if terms.positive else np.abs(values)
        ratios = np.divide(sizes, terms.slopes, out=np.zeros(len(sizes)), where=terms.slopes > 0)
        return float(np.max(ratios, initial=0.0))
