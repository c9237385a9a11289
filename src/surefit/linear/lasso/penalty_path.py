"""Loss and penalty of a penalized model as functions of the penalty weight, and a check of their monotonicity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from surefit.core.errors import InvalidData, InvalidParameter


class PenaltyPath(NamedTuple):
    """Fits in order of increasing penalty weight."""

    alphas: np.ndarray
    coefs: np.ndarray  # (alphas, d)
    intercepts: np.ndarray
    losses: np.ndarray  # sum of squared residuals
    penalties: np.ndarray  # |w|_1, |w|^2, or the mixture that is penalized

    @property
    def violation(self) -> float:
        """Largest decrease of a loss or increase of a penalty, relative to its largest value."""
        steps = [0.0]
        for values, sign in ((self.losses, -1.0), (self.penalties, 1.0)):
            scale = max(float(np.max(np.abs(values))), np.finfo(float).tiny)
            steps.append(float(np.max(sign * np.diff(values), initial=0.0)) / scale)
        return max(steps)

    @property
    def monotone(self) -> bool:
        """Whether the losses increase and the penalties decrease, up to a relative violation of 1e-6."""
        return self.violation <= 1e-6


def penalty_path(estimator, X, y, alphas) -> PenaltyPath:
    r"""Fit a penalized least-squares model for a sequence of penalty weights and check the monotonicity of the path.

    For :math:`\alpha_1 < \alpha_2`, the penalties of exact solutions satisfy :math:`R(w_2) \le R(w_1)` and their losses
    :math:`L(w_2) \ge L(w_1)`. Guarantee: this holds for every penalty and loss, by adding the two optimality
    inequalities. A violation larger than the gaps of the fits would prove an error of the solver.

    Parameters
    ----------
    estimator : Ridge, Lasso or ElasticNet
        Cloned for each fit.
    X, y : arrays
        Rows and targets.
    alphas : array of float > 0
        Penalty weights; the result has them in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import Lasso, penalty_path
    >>> X = np.array([[-1.0, 0.5], [0.0, 0.1], [1.0, -0.2]])
    >>> path = penalty_path(Lasso(), X, [-2.0, 0.0, 2.0], [0.01, 0.1, 1.0])
    >>> print(path.monotone, path.penalties[-1].round(3))
    True 0.5
    """
    name = type(estimator).__name__
    ratio = {"Ridge": 0.0, "Lasso": 1.0}.get(name, getattr(estimator, "l1_ratio", None))
    if name not in ("Ridge", "Lasso", "ElasticNet") or ratio is None:
        raise InvalidParameter("penalty_path", "estimator", "Ridge, Lasso or ElasticNet", estimator)
    alphas = np.sort(np.ravel(np.asarray(alphas, dtype=np.float64)))
    if not len(alphas) or not np.all((alphas > 0) & np.isfinite(alphas)):
        raise InvalidData("penalty_path: alphas must be finite numbers > 0.")
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    fits = [clone(estimator).set_params(alpha=float(alpha)).fit(X, y) for alpha in alphas]
    coefs = np.stack([np.ravel(fit.coef_) for fit in fits])
    losses = np.array([float(np.sum((y - fit.predict(X)) ** 2)) for fit in fits])
    intercepts = np.array([float(fit.intercept_) for fit in fits])
    penalized = np.column_stack([coefs, intercepts]) if getattr(estimator, "penalize_intercept", False) else coefs
    penalties = ratio * np.abs(penalized).sum(axis=1) + 0.5 * (1 - ratio) * (penalized**2).sum(axis=1)
    return PenaltyPath(alphas, coefs, intercepts, losses, 2 * penalties if ratio == 0.0 else penalties)
