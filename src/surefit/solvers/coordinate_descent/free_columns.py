"""Projection onto the orthogonal complement of unpenalized columns, in which the dual point must lie."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.operators import add_columns, correlations, gram_rows
from surefit.solvers.coordinate_descent.problem import Prepared

MOST_FREE = 5000  # number of unpenalized columns beyond which no dual point is built and the gap is infinite
WELL_CONDITIONED = 1e-8  # smallest eigenvalue of the Gram matrix (of columns of length one) that keeps half the digits

Projection = Callable[[np.ndarray], np.ndarray]


class FreeColumns:
    """Projection that removes the part of a residual explained by unpenalized columns.

    If coefficients must be non-negative, the product of the residual with an unpenalized column must not be positive.
    Columns with non-zero coefficients are made orthogonal to the residual, and so are other columns that would violate
    this condition.
    """

    def __init__(self, prepared: Prepared, columns: np.ndarray, positive: bool):
        self._prepared, self.columns, self.positive = prepared, columns, positive
        self.too_many = len(columns) > MOST_FREE
        self._last: tuple[np.ndarray, Projection] | None = None
        if 0 < len(columns) <= MOST_FREE:
            p = prepared
            self._gram = gram_rows(p.design, columns, 0, p.weights, p.means, p.scales, lambda: None)

    def remove_from(self, residual: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Return the residual of a regression of ``residual`` on the unpenalized columns; ``used`` is the mask of non-zero features."""
        if len(self.columns) == 0 or self.too_many:
            return residual
        chosen = used[self.columns] if self.positive else np.ones(len(self.columns), dtype=bool)
        p, products = self._prepared, np.empty(len(self._prepared.norms))
        while True:
            theta = self._projection(np.flatnonzero(chosen))(residual)
            correlations(p.design, p.weights * theta, p.means, p.scales, self.columns, products)
            above = ~chosen & (products[self.columns] > 0.0)
            if not above.any():
                return theta
            chosen = chosen | above

    def _projection(self, which: np.ndarray) -> Projection:
        if self._last is None or not np.array_equal(self._last[0], which):
            gram = self._gram[np.ix_(which, which)]
            good = len(which) == 0 or np.linalg.eigvalsh(gram)[0] > WELL_CONDITIONED
            make = self._by_normal_equations if good else self._by_singular_vectors
            self._last = which, make(self.columns[which], gram)
        return self._last[1]

    def _by_normal_equations(self, columns: np.ndarray, gram: np.ndarray) -> Projection:
        p, products, inverse = self._prepared, np.empty(len(self._prepared.norms)), np.linalg.inv(gram)

        def project(residual: np.ndarray) -> np.ndarray:
            left = residual.copy()
            for _ in range(2):  # the second pass removes rounding errors of the first
                correlations(p.design, p.weights * left, p.means, p.scales, columns, products)
                add_columns(p.design, columns, -(inverse @ products[columns]) * p.scales[columns], p.means, left)
            return left

        return project

    def _by_singular_vectors(self, columns: np.ndarray, gram: np.ndarray) -> Projection:
        p, roots = self._prepared, np.sqrt(self._prepared.weights)
        table = np.zeros((len(columns), len(roots)))
        for row, j in zip(table, columns, strict=True):
            add_columns(p.design, np.array([j]), p.scales[[j]], p.means, row)
        vectors, sizes, _ = np.linalg.svd((table * roots).T, full_matrices=False)
        basis = vectors[:, sizes > sizes[0] * max(table.shape) * np.finfo(float).eps]

        def project(residual: np.ndarray) -> np.ndarray:
            left = roots * residual
            for _ in range(2):
                left = left - basis @ (basis.T @ left)
            return np.divide(left, roots, out=residual.copy(), where=roots > 0)

        return project
