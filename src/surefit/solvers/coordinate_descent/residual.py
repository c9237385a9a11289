"""Working set for large supports: coordinate descent on the residual instead of the Gram matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.jit import compiled
from surefit.operators import add_columns, column_axpy, column_dot, correlations
from surefit.penalties import ElasticTerms
from surefit.solvers.coordinate_descent.duality import duality_gap
from surefit.solvers.coordinate_descent.problem import Prepared

SWEEPS = 5  # over the support, after each sweep over the working set
FEW = 10  # rounds without progress after which only rounding remains


class ResidualSet:
    """Working set that stores a residual instead of a Gram matrix; a move costs one column of the design."""

    def __init__(self, prepared: Prepared, columns: np.ndarray, coefs: np.ndarray):
        self._prepared = prepared
        self.columns, self.coefs = columns, coefs
        self.contains = np.zeros(len(prepared.norms), dtype=bool)
        self.contains[columns] = True

    def __len__(self) -> int:
        return len(self.columns)

    def extend(self, new: np.ndarray, between_blocks: Callable[[], None]) -> None:
        """Add columns, with coefficient zero."""
        self.columns = np.concatenate([self.columns, new])
        self.coefs = np.concatenate([self.coefs, np.zeros(len(new))])
        self.contains[new] = True

    def solve(self, terms: ElasticTerms, target: float, tick: Callable[[], None]) -> None:
        """Minimize over the working set until its own duality gap is at most ``target`` or rounding stops progress."""
        p = self._prepared
        a, b = terms.slopes[self.columns], terms.curvatures[self.columns]
        residual = p.y.copy()
        add_columns(p.design, self.columns, -self.coefs * p.scales[self.columns], p.means, residual)
        weighted, values = p.weights * residual, np.empty(len(p.norms))
        best, idle = np.inf, 0
        while idle < FEW:
            offset = _residual_sweeps(
                p.design, self.columns, weighted, p.weights, p.means, p.scales, self.coefs, a, b, terms.positive, SWEEPS
            )
            weighted += offset * p.weights
            tick()
            correlations(p.design, weighted, p.means, p.scales, self.columns, values)
            squares = float(np.sum(np.divide(weighted**2, p.weights, out=np.zeros_like(weighted), where=p.weights > 0)))
            v = values[self.columns]
            unexplained = 0.5 * np.sum(v[(a == 0.0) & (b == 0.0)] ** 2)
            gap = duality_gap(v, self.coefs, a, b, terms.positive, squares, unexplained)[0]
            if gap <= target:
                return
            idle = idle + 1 if gap > 0.99 * best else 0
            best = min(best, gap)


@compiled(relaxed=True)
def _residual_sweeps(design, columns, weighted, weights, means, scales, u, a, b, positive, n_sweeps):
    """Sweep over all columns, then over those in use; return the constant that must still be added to the residual.

    The true weighted residual sums to zero if columns are centered, so the stored one sums to minus the constant.
    """
    offset = 0.0
    for sweep in range(n_sweeps + 1):
        for k in range(len(columns)):
            old = u[k]
            if sweep > 0 and old == 0.0:
                continue
            j = columns[k]
            v = old + scales[j] * column_dot(design, j, means[j], weighted, -offset)
            new = 0.0
            if v > a[k]:
                new = (v - a[k]) / (1.0 + b[k])
            elif v < -a[k] and not positive:
                new = (v + a[k]) / (1.0 + b[k])
            if new != old:
                u[k] = new
                offset += column_axpy(design, j, (old - new) * scales[j], means[j], weights, weighted)
    return offset
