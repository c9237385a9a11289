from __future__ import annotations

import numpy as np

from surefit.designs import add_columns, correlations, gram_rows
from surefit.solvers.penalised_squares.problem import Prepared

MOST_FREE = 5000  # unpenalised columns beyond which no dual point is built, and the gap is infinite
SINGULAR = 1e-12  # eigenvalues of their Gram matrix below this share of the largest count as zero


class FreeColumns:
    """The columns that no penalty restrains: the dual point must be orthogonal to them, as to the constant.

    If coefficients must not be negative, it is enough that no product is positive: columns in use are made orthogonal, and
    others that would violate this join them.
    """

    def __init__(self, prepared: Prepared, columns: np.ndarray, positive: bool):
        self._prepared, self.columns, self.positive = prepared, columns, positive
        self.too_many = len(columns) > MOST_FREE
        if 0 < len(columns) <= MOST_FREE:
            p = prepared
            self._gram = gram_rows(p.design, columns, 0, p.weights, p.means, p.scales, lambda: None)
            self._inverse = np.linalg.pinv(self._gram, rcond=SINGULAR, hermitian=True)

    def remove_from(self, residual: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Return what a regression on the free columns leaves of ``residual``; ``used`` is the mask of non-zero features."""
        if len(self.columns) == 0 or self.too_many:
            return residual
        if not self.positive:
            return self._regress(residual, np.arange(len(self.columns)), self._inverse)
        p, products = self._prepared, np.empty(len(self._prepared.norms))
        chosen = used[self.columns]
        while True:
            which = np.flatnonzero(chosen)
            inverse = np.linalg.pinv(self._gram[np.ix_(which, which)], rcond=SINGULAR, hermitian=True)
            theta = self._regress(residual, which, inverse)
            correlations(p.design, p.weights * theta, p.means, p.scales, self.columns, products)
            above = ~chosen & (products[self.columns] > 0.0)
            if not above.any():
                return theta
            chosen = chosen | above

    def _regress(self, residual: np.ndarray, which: np.ndarray, inverse: np.ndarray) -> np.ndarray:
        p, products, left = self._prepared, np.empty(len(self._prepared.norms)), residual.copy()
        columns = self.columns[which]
        for _ in range(2):  # the second time removes what rounding left of the first
            correlations(p.design, p.weights * left, p.means, p.scales, columns, products)
            add_columns(p.design, columns, -(inverse @ products[columns]) * p.scales[columns], p.means, left)
        return left
