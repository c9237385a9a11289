"""Rows seen from a centre: columns far from the origin cost digits, and a free intercept makes up for any centre."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.checks.centring import centre, moved_intercept
from surefit.core.budget import Reason
from surefit.solvers.newton.minimise import Fit
from surefit.solvers.newton.rounding import gap_rounding, tame
from surefit.solvers.newton.rows import Rows


class Centred(NamedTuple):
    """Rows with ``middle`` taken from every one; None if nothing was taken."""

    rows: Rows
    middle: np.ndarray | None
    intercept: bool

    def inward(self, W: np.ndarray, b: np.ndarray, level: float = 0.0) -> np.ndarray:
        """Return the intercepts for these rows, and targets less ``level``, that give the scores of W and b."""
        return self._moved(W, b, 1.0, level)

    def outward(self, fit: Fit, level: float = 0.0) -> Fit:
        """Return the fit to the rows and targets as they were."""
        return fit._replace(intercept=self._moved(fit.coef, fit.intercept, -1.0, level))

    def with_rounding(self, fit: Fit, scores, l1: float, l2: float, limit: float, level: float = 0.0) -> Fit:
        """Return the fit, to the rows as they were, its gap with what rounding may add to it.

        A gap that rounding lifts above ``limit`` is one that cannot be made smaller.
        """
        free = l1 == 0.0 and l2 == 0.0
        if free or not np.isfinite(fit.gap):
            return fit
        near = self.middle is None and level == 0.0 and l1 == 0.0
        if near and tame(self.rows, scores, fit.coef, fit.intercept, l2, fit.gap, fit.objective):
            return fit
        inner, peak = self.inward(fit.coef, fit.intercept, level), float(np.max(np.abs(fit.intercept)))
        more = gap_rounding(self.rows, scores, fit.coef, inner, l1, l2, fit.gap, peak, self.middle, self.intercept)
        reason = Reason.STALLED if fit.reason is Reason.CONVERGED and more and fit.gap + more > limit else fit.reason
        return fit._replace(gap=fit.gap + more, reason=reason)

    def _moved(self, W: np.ndarray, b: np.ndarray, sign: float, level: float) -> np.ndarray:
        if self.middle is None and level == 0.0:
            return b
        middle = np.zeros(W.shape[1]) if self.middle is None else self.middle
        line = np.append(sign * middle, -sign * level)
        return np.array([moved_intercept(float(b[k]), line, np.append(W[k], 1.0)) for k in range(len(W))])


def centred(X, intercept: bool) -> Centred:
    """Centre the columns if some are far from the origin and an intercept is free."""
    middle = centre(X) if intercept else None
    return Centred(Rows(X if middle is None else np.asarray(X, dtype=np.float64) - middle), middle, intercept)
