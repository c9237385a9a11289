"""Centering of columns that are far from the origin, which would lose digits; the intercept compensates for the shift."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Reason
from surefit.core.centering import center, moved_intercept
from surefit.solvers.newton.minimize import Fit
from surefit.solvers.newton.rounding import NEGLIGIBLE, gap_rounding, rounding_by_magnitudes
from surefit.solvers.newton.rows import Rows


class Centered(NamedTuple):
    """Rows with ``middle`` subtracted; ``middle`` is None if nothing was subtracted."""

    rows: Rows
    middle: np.ndarray | None
    intercept: bool

    def inward(self, W: np.ndarray, b: np.ndarray, level: float = 0.0) -> np.ndarray:
        """Return the intercepts for the centered rows and for targets minus ``level`` that give the scores of W and b."""
        return self._moved(W, b, 1.0, level)

    def outward(self, fit: Fit, level: float = 0.0) -> Fit:
        """Return the fit for the original rows and targets."""
        return fit._replace(intercept=self._moved(fit.coef, fit.intercept, -1.0, level))

    def with_rounding(self, fit: Fit, scores, l1: float, l2: float, limit: float, level: float = 0.0) -> Fit:
        """Return the fit for the original rows, with a gap that includes rounding.

        If rounding raises the gap above ``limit``, the reason is ``STALLED``: the gap cannot be reduced further.
        """
        free = l1 == 0.0 and l2 == 0.0
        if free or not np.isfinite(fit.gap):
            return fit
        if self.middle is None and level == 0.0 and fit.reason is Reason.CONVERGED:
            most = rounding_by_magnitudes(self.rows, scores, fit, l1, l2)
            if most <= NEGLIGIBLE * abs(fit.objective):
                return fit
            if fit.gap + most <= limit:
                return fit._replace(gap=fit.gap + most)
        inner, peak = self.inward(fit.coef, fit.intercept, level), float(np.max(np.abs(fit.intercept)))
        more = gap_rounding(self.rows, scores, fit.coef, inner, (l1, l2), fit.gap, peak, self.middle, self.intercept)
        reason = Reason.STALLED if fit.reason is Reason.CONVERGED and more and fit.gap + more > limit else fit.reason
        return fit._replace(gap=fit.gap + more, reason=reason)

    def _moved(self, W: np.ndarray, b: np.ndarray, sign: float, level: float) -> np.ndarray:
        if self.middle is None and level == 0.0:
            return b
        middle = np.zeros(W.shape[1]) if self.middle is None else self.middle
        line = np.append(sign * middle, -sign * level)
        return np.array([moved_intercept(float(b[k]), line, np.append(W[k], 1.0)) for k in range(len(W))])


def centered(X, intercept: bool) -> Centered:
    """Center the columns if some are far from the origin and there is an intercept."""
    middle = center(X) if intercept else None
    return Centered(Rows(X if middle is None else np.asarray(X, dtype=np.float64) - middle), middle, intercept)
