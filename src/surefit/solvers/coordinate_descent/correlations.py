"""Correlations of all columns with a slowly changing vector, mostly without reading the columns.

Let ``c_j = x_j' ref`` be known for unit-length columns. Then ``|x_j' theta - t c_j| <= |theta - t ref|`` for every ``t``; the projection
gives the best ``t``. A column whose bound stays below its threshold need not be read. The result (the columns above their threshold, and
their values) equals that of a full pass.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled
from surefit.operators import correlations
from surefit.solvers.coordinate_descent.problem import Prepared

READ_ALL_FROM = 0.25  # fraction of columns from which a full pass is worthwhile: it makes the next queries cheap


class LazyCorrelations:
    """Search for the columns above their threshold, for a sequence of vectors."""

    def __init__(self, prepared: Prepared):
        self._prepared = prepared
        self._all = np.arange(len(prepared.norms))
        self._reference = prepared.y  # replaced, never written to
        self._known = prepared.products
        self._share, self._change = 1.0, 0.0  # theta equals this multiple of the reference plus a vector of this length
        self.values = prepared.products.copy()  # exact for the columns of the last result, otherwise outdated

    def read(self, theta: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the exact correlations of some columns."""
        p = self._prepared
        correlations(p.design, p.weights * theta, p.means, p.scales, columns, self.values)
        return self.values[columns]

    def above(self, theta: np.ndarray, thresholds: np.ndarray, positive: bool, skip: np.ndarray) -> np.ndarray:
        """Return the columns (except the mask ``skip``) at or above their threshold; ``values`` is exact there."""
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
        self._share, rest = _compare(self._prepared.weights, theta, self._reference)
        self._change = rest * (1 + 1e-9)

    def _find(self, thresholds: np.ndarray, positive: bool, skip: np.ndarray) -> np.ndarray:
        return ((self.bounds(positive) >= thresholds) & ~skip).nonzero()[0]

    def bounds(self, positive: bool) -> np.ndarray:
        """Return upper bounds on the correlations (on their absolute values unless ``positive``) with the last vector."""
        known = self._share * self._known
        return (known if positive else np.abs(known)) + self._change


@compiled
def _compare(weights, theta, reference):
    """Return the projection of ``theta`` on ``reference`` as a multiple of it, and the norm of the remainder."""
    square, product = 0.0, 0.0
    same = True
    for i in range(len(weights)):
        square += weights[i] * reference[i] * reference[i]
        product += weights[i] * reference[i] * theta[i]
        same &= theta[i] == reference[i]
    share = 1.0 if same or square == 0.0 else product / square
    rest = 0.0
    for i in range(len(weights)):
        difference = theta[i] - share * reference[i]
        rest += weights[i] * difference * difference
    return share, np.sqrt(rest)
