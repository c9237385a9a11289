"""Quadratic model of a Newton step: Hessian in some coefficients, with the intercepts eliminated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.solvers.newton.rows import Rows


class Model(NamedTuple):
    """Hessian of the loss in the coefficients ``coords`` (flat indices into (K, d))."""

    coords: np.ndarray
    H: np.ndarray
    back: np.ndarray  # (K, len(coords)): the intercepts change by -back @ step

    def restricted(self, coords: np.ndarray) -> Model | None:
        """Return the model restricted to fewer coefficients, or None if some are not in this one."""
        if np.array_equal(coords, self.coords):
            return self
        place = np.searchsorted(self.coords, coords)
        if len(self.coords) == 0 or np.any(place == len(self.coords)) or np.any(self.coords[place] != coords):
            return None
        return Model(coords, self.H[np.ix_(place, place)], self.back[:, place])

    def scaled(self, factor: float) -> Model:
        """Return the model of ``factor`` times the loss."""
        return self._replace(H=self.H * factor)


def build(rows: Rows, scores, state, coords: np.ndarray, intercept: bool) -> Model:
    """Return the Hessian at ``state`` (the last result of ``scores.evaluate``); ``coords`` must ascend."""
    if scores.n_scores == 1:
        weights = scores.hessian_block(state, 0, 0)[1]
        means = rows.weighted_means(weights) if intercept else np.zeros(rows.shape[1])
        return Model(
            coords, rows.gram(coords, weights, means), means[None, coords] if intercept else np.zeros((1, len(coords)))
        )
    return _build_joint(rows, scores, state, coords, intercept)


def _build_joint(rows, scores, P, coords, intercept) -> Model:
    K, d = scores.n_scores, rows.shape[1]
    columns = np.unique(coords % d)
    m = len(columns)
    shift = np.zeros(d)
    if intercept and not rows.sparse:
        # centering at the rows with curvature preserves accuracy for columns far from the origin
        shift = rows.weighted_means(sum(scores.diagonal(P, k) for k in range(K)))
    H = np.empty((K, m, K, m))
    border, corner = np.empty((K, m, K)), np.empty((K, K))
    for k in range(K):
        for other in range(k, K):
            sign, weights = scores.hessian_block(P, k, other)
            block = sign * rows.gram(columns, weights, shift)
            H[k, :, other, :] = H[other, :, k, :] = block
            if intercept:
                total = weights.sum()
                sums = rows.transposed(weights[:, None])[0][columns] - shift[columns] * total
                border[k, :, other] = border[other, :, k] = sign * sums
                corner[k, other] = corner[other, k] = sign * total
    H = H.reshape(K * m, K * m)
    chosen = np.searchsorted(columns, coords % d) + (coords // d) * m
    H = H[np.ix_(chosen, chosen)]
    if not intercept:
        return Model(coords, H, np.zeros((K, len(coords))))
    border = border.reshape(K * m, K)[chosen]
    back = linalg.pinvh(corner, rtol=1e-12) @ border.T
    H = H - border @ back
    back[coords // d, np.arange(len(coords))] += shift[coords % d]
    return Model(coords, 0.5 * (H + H.T), back)
