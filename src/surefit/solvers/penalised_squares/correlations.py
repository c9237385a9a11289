"""Correlations of all columns with a slowly changing vector, most of them without reading the columns.

Let ``c_j = x_j' ref`` be known for unit-length columns. Then ``|x_j' theta - t c_j| <= |theta - t ref|`` for every ``t``, best
for the projection. A column whose bound stays below its threshold need not be read. The answer (which columns are above,
and their values) is that of a full pass.
"""

from __future__ import annotations

import numpy as np

from surefit.designs import correlations
from surefit.solvers.penalised_squares.problem import Prepared

READ_ALL_FROM = 0.25  # share of columns to read from which a full pass pays: it makes the next answers cheap


class LazyCorrelations:
    """Answers "which columns are above their threshold" for one vector after another."""

    def __init__(self, prepared: Prepared):
        self._prepared = prepared
        self._all = np.arange(len(prepared.norms))
        self._reference = prepared.y  # replaced, never written to
        self._known = prepared.products
        self._share, self._change = 1.0, 0.0  # theta is so much of the reference, and something of this length
        self.values = prepared.products.copy()  # exact where the last answer says so, else the last ones known

    def read(self, theta: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the exact correlations of some columns."""
        p = self._prepared
        correlations(p.design, p.weights * theta, p.means, p.scales, columns, self.values)
        return self.values[columns]

    def above(self, theta: np.ndarray, thresholds: np.ndarray, positive: bool, skip: np.ndarray) -> np.ndarray:
        """Return the columns (but those of the mask ``skip``) at or above their threshold; ``values`` is exact there."""
        self._compare(theta)
        found = self._find(thresholds, positive, skip)
        if self._change == 0.0:
            self.values[~skip] = self._share * self._known[~skip]
        elif len(found) <= READ_ALL_FROM * len(self._all):
            self.read(theta, found)
        else:
            self._known = self.read(theta, self._all).copy()
            self._reference, self._share, self._change = theta, 1.0, 0.0
            found = self._find(thresholds, positive, skip)
        return found

    def _compare(self, theta: np.ndarray) -> None:
        reference, weights = self._reference, self._prepared.weights
        square = float(weights @ reference**2)
        if square == 0.0 or np.array_equal(theta, reference):
            self._share = 1.0
        else:
            self._share = float((weights * reference) @ theta) / square
        rest = theta - self._share * reference
        self._change = float(np.sqrt(weights @ rest**2)) * (1 + 1e-9)

    def _find(self, thresholds: np.ndarray, positive: bool, skip: np.ndarray) -> np.ndarray:
        return np.flatnonzero((self.bounds(positive) >= thresholds) & ~skip)

    def bounds(self, positive: bool) -> np.ndarray:
        """Upper bounds of the correlations (of their absolute values unless ``positive``) with the last vector."""
        known = self._share * self._known
        return (known if positive else np.abs(known)) + self._change
