"""Saturation of logistic probabilities as a separating direction is scaled up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from surefit.core.errors import InvalidData


class Saturation(NamedTuple):
    """Probabilities for multiples of a direction, one row per scale."""

    scales: np.ndarray
    probabilities: np.ndarray  # (scales, rows), probability of the second class
    exactly_one: np.ndarray  # (scales,), number of rows whose class has probability exactly 1 in double precision
    losses: np.ndarray | None  # (scales,), sum of the logistic losses, if labels were given

    @property
    def saturated(self) -> bool:
        """Whether the label (or, without labels, the predicted class) of every row has probability 1 at the largest scale."""
        return bool(self.exactly_one[-1] == self.probabilities.shape[1])


def saturation_report(direction, X, y=None, *, intercept: float = 0.0, scales=(1.0, 10.0, 1e5)) -> Saturation:
    r"""Compute the probabilities :math:`\sigma(c (\langle w, x\rangle + b))` for increasing scales c of a direction.

    On separable data the likelihood increases with c without limit, so no finite unpenalized estimate exists. Rows near
    the boundary and far from it are then predicted with the same confidence. A penalty prevents this (theory:
    :ref:`separation-and-mle`).

    Parameters
    ----------
    direction : array of shape (n_features,), or a fitted linear classifier of two classes
        Coefficients w, or a model, which also supplies the intercept. For a model without a finite estimate, its first
        diverging direction is used.
    X : array of shape (n, n_features)
        Rows.
    y : array of shape (n,) or None, default=None
        Labels; the larger one is the second class. If given, the losses are reported too.
    intercept : float, default=0.0
        Intercept b, used if ``direction`` is an array.
    scales : sequence of float > 0, default=(1, 10, 1e5)
        Scales c.

    Examples
    --------
    The weights (1, -2) for a point near the boundary and a point far from it:

    >>> from surefit import saturation_report
    >>> report = saturation_report([1.0, -2.0], [[0.1, 0.0], [3.0, 0.0]], [1, 1])
    >>> report.probabilities[:2].round(5), report.saturated
    (array([[0.52498, 0.95257],
           [0.73106, 1.     ]]), True)
    """
    if hasattr(direction, "coef_"):
        levels: Any = getattr(direction, "diverging_coef_", ())
        if len(levels):  # no finite estimate: use the first diverging direction
            intercept, direction = float(np.ravel(direction.diverging_intercept_[0])[0]), levels[0]
        else:
            intercept, direction = float(np.ravel(direction.intercept_)[0]), direction.coef_
    w, X = np.ravel(np.asarray(direction, dtype=np.float64)), np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != len(w):
        raise InvalidData(f"saturation_report: X needs {len(w)} columns, one per weight; got shape {X.shape}.")
    c = np.asarray(scales, dtype=np.float64)
    z = c[:, None] * (X @ w + intercept)
    p, losses, own = expit(z), None, expit(np.abs(z))
    if y is not None:
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(codes) != len(X) or len(classes) > 2:
            raise InvalidData(
                f"saturation_report: y must have one label per row and at most two classes; got {len(codes)} labels of "
                f"{len(classes)} classes."
            )
        sign = np.where(codes == len(classes) - 1, 1.0, -1.0)
        losses = np.logaddexp(0.0, -sign * z).sum(axis=1)
        own = expit(sign * z)
    return Saturation(c, p, np.sum(own == 1.0, axis=1), losses)
